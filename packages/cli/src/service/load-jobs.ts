import { dirname, isAbsolute, resolve } from 'node:path'
import type { Cronce } from 'cronce'
import { CronceError } from 'cronce/cron'
import { importFile } from './import-file.ts'
import { jobsError } from './jobs-error.ts'

/** What a jobs file exports: a function that declares on the app it is given, jobs by name, or an app of its own. */
export type Jobs =
  | { readonly kind: 'function'; readonly place: string; readonly declare: (app: Cronce) => unknown }
  | { readonly kind: 'record'; readonly place: string; readonly folder: string; readonly jobs: JobsRecord }
  | { readonly kind: 'app'; readonly place: string; readonly app: Cronce }

/** Name to options of `app.job` with `file`, `command`, `http`, or, in code, a function `run`. */
export type JobsRecord = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const FORMS = [
  'Export default (app) => { app.job(…) },',
  "or { 'name': { cron: '0 3 * * *', command: ['pg_dump', 'app'] } },",
  'or an app made with cronce().',
].join(' ')

/** JSON has no comments: what stands under this name, beside the jobs or in one of them, is for people. */
const COMMENT = '$comment'

/** Load a file with jobs. */
export async function loadJobsFile(file: string): Promise<Jobs> {
  return readJobs(await importFile(file), file, dirname(file))
}

/** Jobs as they were exported, or written into the configuration; `place` names them in messages. */
export function readJobs(exported: unknown, place: string, folder: string): Jobs {
  if (typeof exported === 'function') return { kind: 'function', place, declare: exported as (app: Cronce) => unknown }
  if (isApp(exported)) return { kind: 'app', place, app: exported }
  if (typeof exported === 'object' && exported !== null && !Array.isArray(exported)) {
    const { [COMMENT]: _, ...jobs } = exported as Record<string, unknown>
    for (const [name, options] of Object.entries(jobs)) demandOptions(name, options, place)
    return { kind: 'record', place, folder, jobs: jobs as JobsRecord }
  }
  const what = exported === undefined ? 'has no default export' : `exports no jobs, but ${nameOf(exported)}`
  throw new CronceError('JOBS_INVALID', `${place} ${what}.`, { hint: FORMS })
}

/** Declare them on an app. For jobs that are an app of their own there is nothing to do. */
export async function declareJobs(jobs: Jobs, app: Cronce): Promise<void> {
  switch (jobs.kind) {
    case 'app':
      return
    case 'function':
      try {
        await jobs.declare(app)
      } catch (error) {
        throw inPlace(jobs.place, error)
      }
      return
    case 'record':
      for (const [name, options] of Object.entries(jobs.jobs)) {
        try {
          declareOne(app, name, options, jobs.folder)
        } catch (error) {
          throw inPlace(`Job ${JSON.stringify(name)} in ${jobs.place}`, error)
        }
      }
  }
}

/** By what it can do: the file may have another copy of the library than this program. */
function isApp(value: unknown): value is Cronce {
  if (typeof value !== 'object' || value === null) return false
  const app = value as Partial<Record<keyof Cronce, unknown>>
  return [app.job, app.start, app.stop, app.on].every((method) => typeof method === 'function')
}

function demandOptions(name: string, options: unknown, place: string): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return
  throw new CronceError('JOBS_INVALID', `Job ${JSON.stringify(name)} in ${place} is ${nameOf(options)}.`, {
    hint: "Write { cron: '0 3 * * *', command: ['pg_dump', 'app'] }, with file, http, or run: (run) => … instead of command.",
  })
}

/** What the library takes: a name, options of any kind (it says itself what is wrong with them), and perhaps a function. */
type Declare = (name: string, options: unknown, handler?: unknown) => unknown

function declareOne(app: Cronce, name: string, options: Readonly<Record<string, unknown>>, folder: string): void {
  const { run, [COMMENT]: _, ...given } = options
  const declare = app.job.bind(app) as Declare
  if (run !== undefined && typeof run !== 'function') {
    throw new CronceError('OPTION_INVALID', `run is ${nameOf(run)}.`, {
      hint: 'run is a function; what is no function is file, command or http.',
    })
  }
  // As the author sees it: from where it is written, and not from where it was started.
  const { file, cwd } = given
  const placed = {
    ...given,
    ...(isRelative(file) ? { file: resolve(folder, file) } : {}),
    ...(isRelative(cwd) ? { cwd: resolve(folder, cwd) } : {}),
  }
  if (run === undefined) declare(name, placed)
  else declare(name, placed, run)
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && !isAbsolute(path) && !/^[a-z]+:/i.test(path)
}

function inPlace(place: string, error: unknown): CronceError {
  if (!(error instanceof CronceError)) return jobsError(`${place} failed`, error)
  return new CronceError(error.code, `${place}: ${error.message}`, { hint: error.hint, cause: error })
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
