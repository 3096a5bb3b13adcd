import { dirname, isAbsolute, resolve } from 'node:path'
import type { Cronce } from 'cronce'
import { CronceError } from 'cronce/cron'
import { importFile } from './import-file.ts'
import { inLoadTime } from './in-load-time.ts'
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
  if (isOptions(exported)) {
    const { [COMMENT]: _, ...jobs } = exported
    demandNoWrapper(jobs, place)
    for (const [name, options] of Object.entries(jobs)) demandOptions(name, options, place)
    return { kind: 'record', place, folder, jobs: jobs as JobsRecord }
  }
  const what = exported === undefined ? 'has no default export' : `exports no jobs, but ${nameOf(exported)}`
  throw new CronceError('JOBS_INVALID', `${place} ${what}.`, { hint: FORMS })
}

/**
 * Declare them on an app. For jobs that are an app of their own there is nothing to do. Returns how many jobs and elections were
 * declared; `null`: an app does not say.
 */
export async function declareJobs(jobs: Jobs, app: Cronce, limitMs?: number): Promise<number | null> {
  switch (jobs.kind) {
    case 'app':
      return null
    case 'function':
      return declareByFunction(jobs, app, limitMs)
    case 'record':
      declareRecord(jobs, app)
      return Object.keys(jobs.jobs).length
  }
}

async function declareByFunction(
  { declare, place }: Extract<Jobs, { kind: 'function' }>,
  app: Cronce,
  limitMs: number | undefined,
): Promise<number> {
  let declared = 0
  const counting = new Proxy(app, {
    get(target, property) {
      if (property === 'job' || property === 'elect') declared++
      return Reflect.get(target, property, target)
    },
  })
  try {
    await inLoadTime(place, Promise.resolve(declare(counting)), limitMs)
  } catch (error) {
    throw inPlace(place, error)
  }
  return declared
}

/** All jobs are tried, so that one start reports every job that is wrong. */
function declareRecord({ jobs, place, folder }: Extract<Jobs, { kind: 'record' }>, app: Cronce): void {
  const wrong = Object.entries(jobs).flatMap(([name, options]) => {
    try {
      declareOne(app, name, options, folder)
      return []
    } catch (error) {
      return [inPlace(`Job ${JSON.stringify(name)} in ${place}`, withoutSubject(name, error))]
    }
  })
  const [first, ...more] = wrong
  if (first === undefined) return
  if (more.length === 0) throw first
  const detail = wrong.map(({ message, hint }) => `${message}${hint === undefined ? '' : ` ${hint}`}`).join('\n')
  const all = new CronceError(first.code, `${wrong.length} jobs in ${place} are wrong.`, {
    hint: `Put them right, beginning with this: ${first.message} ${first.hint ?? ''}`.trimEnd(),
    cause: first,
  })
  throw Object.assign(all, { detail })
}

/** The library's message begins with the job, and the file's place names it as well. */
function withoutSubject(name: string, error: unknown): unknown {
  if (!(error instanceof CronceError)) return error
  const subject = `Job ${JSON.stringify(name)}: `
  if (!error.message.startsWith(subject)) return error
  return new CronceError(error.code, error.message.slice(subject.length), { hint: error.hint, cause: error })
}

/** `{ "jobs": { … } }` is how the configuration has them, and other schedulers. */
function demandNoWrapper(jobs: Readonly<Record<string, unknown>>, place: string): void {
  const { jobs: inner } = jobs
  if (typeof inner !== 'object' || inner === null) return
  const within = Object.values(inner)
  if (within.length === 0 || !within.every((job) => isOptions(job) && OF_A_JOB.some((option) => option in job))) return
  throw new CronceError('JOBS_INVALID', `${place} has its jobs within "jobs".`, {
    hint: "Leave out the outer object: the file itself is { 'name': { cron: '0 3 * * *', command: ['pg_dump', 'app'] } }.",
  })
}

const OF_A_JOB = ['cron', 'every', 'at', 'command', 'file', 'http', 'run']

function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** By what it can do: the file may have another copy of the library than this program. */
function isApp(value: unknown): value is Cronce {
  if (typeof value !== 'object' || value === null) return false
  const app = value as Partial<Record<keyof Cronce, unknown>>
  return [app.job, app.start, app.stop, app.on].every((method) => typeof method === 'function')
}

function demandOptions(name: string, options: unknown, place: string): void {
  if (isOptions(options)) return
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
    throw new CronceError('OPTION_INVALID', `The option run can't be ${nameOf(run)}: expected a function.`, {
      hint: 'Write run: async (run) => { … }; for other targets use file, command or http.',
    })
  }
  // A schema may be a function as well.
  const misnamed = Object.keys(given).find((option) => typeof given[option] === 'function' && option !== 'schema')
  if (misnamed !== undefined && run === undefined) {
    throw new CronceError('OPTION_UNKNOWN', `There is no option ${JSON.stringify(misnamed)}.`, {
      hint: 'In a file of jobs by name, the function is run: { run: async (run) => { … } }.',
    })
  }
  // As the author sees it: from where it is written, and not from where it was started.
  const { file, cwd } = given
  const placed = {
    ...given,
    ...(isRelative(file) ? { file: resolve(folder, file) } : {}),
    ...(isRelative(cwd) ? { cwd: resolve(folder, cwd) } : {}),
  }
  if (run !== undefined) declare(name, placed, run)
  else declareTarget(() => declare(name, placed), folder)
}

function declareTarget(declare: () => unknown, folder: string): void {
  try {
    declare()
  } catch (error) {
    const hint = error instanceof CronceError ? TARGET_HINTS[error.code]?.(folder) : undefined
    if (hint === undefined) throw error
    const { code, message } = error as CronceError
    throw new CronceError(code, message, { hint, cause: error })
  }
}

/** What to do in a file of jobs by name, where the library's hint is about app.job. */
const TARGET_HINTS: Readonly<Record<string, (folder: string) => string>> = {
  HANDLER_MISSING: () =>
    "Add command: ['pg_dump', 'app'], file: './task.js' or http: { url: 'https://…' }; in code also run: async (run) => { … }.",
  FILE_MISSING: (folder) => `Check the path: file is relative to the folder of the jobs file, ${folder}.`,
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && !isAbsolute(path) && !/^[a-z]+:/i.test(path)
}

function inPlace(place: string, error: unknown): CronceError {
  if (!(error instanceof CronceError)) return jobsError(`${place} failed`, error)
  if (error.message.startsWith(place)) return error
  return new CronceError(error.code, `${place}: ${error.message}`, { hint: error.hint, cause: error })
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
