import { type Cronce, connect, cronce, type NewSchedule, type ScheduleView } from 'cronce'
import { declareJobs, type Jobs } from '../service/load-jobs.ts'
import { UsageError } from '../usage-error.ts'
import type { ExportedJob, ExportedTarget } from './exported.ts'

type Options = Readonly<Record<string, unknown>>

/** Of a target, or of a function: a schedule in a store has none of these. */
const NOT_OF_SCHEDULE =
  /^(command|shell|cwd|env|stdin|successCodes|file|isolate|memoryMb|http|schema|run|on|hosts|\$comment)$/

/** The jobs of a file, each with all defaults. They are declared on an app that is never started, so nothing runs. */
export async function readExportedJobs(jobs: Jobs): Promise<ExportedJob[]> {
  if (jobs.kind === 'app') {
    throw new UsageError(
      `${jobs.place} exports an app, which keeps its jobs to itself.`,
      'Export a function (app) => { app.job(…) }, or jobs by name.',
    )
  }
  const declared = new Map<string, Options>()
  await declareJobs(jobs, recorder(declared))
  const client = await connect({ store: 'memory:', logger: false })
  try {
    const exported: ExportedJob[] = []
    for (const [name, options] of declared) {
      const view = await client.schedules.put(name, { ...scheduleOptions(options), job: name } as NewSchedule)
      exported.push(exportedJob(view, readTarget(options)))
    }
    return exported
  } finally {
    await client.close()
  }
}

export function exportedJob(view: ScheduleView, target: ExportedTarget): ExportedJob {
  const { name, trigger, policy, startAt, endAt, limit, tenant } = view
  return { name, trigger, policy, bounds: { startAt, endAt, limit, tenant }, target }
}

/** An app that also notes what is declared on it. */
function recorder(declared: Map<string, Options>): Cronce {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  const job = (name: string, options: unknown, handler?: unknown): Cronce => {
    const declare = app.job.bind(app) as (name: string, options: unknown, handler?: unknown) => unknown
    if (handler === undefined) declare(name, options)
    else declare(name, options, handler)
    const given = typeof options === 'string' ? { cron: options } : (options as Options)
    declared.set(name, handler === undefined ? given : { ...given, run: handler })
    return recording
  }
  const recording: Cronce = new Proxy(app, {
    get(target, property) {
      if (property === 'job') return job
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return recording
}

function scheduleOptions(options: Options): Options {
  const of = Object.fromEntries(Object.entries(options).filter(([name]) => !NOT_OF_SCHEDULE.test(name)))
  const { retry } = of
  if (typeof retry !== 'object' || retry === null) return of
  const { if: _worth, ...plain } = retry as Options
  return { ...of, retry: plain }
}

function readTarget(options: Options): ExportedTarget {
  const { command, shell, cwd, env, stdin, successCodes, file, http, on, hosts } = options
  if (on !== undefined || hosts !== undefined)
    return { kind: 'other', what: 'work that belongs to machines (on, hosts)' }
  if (file !== undefined) return { kind: 'other', what: 'a file with a function' }
  if (http !== undefined) return { kind: 'other', what: 'an HTTP request' }
  if (command === undefined) return { kind: 'other', what: 'a function' }
  if (stdin === 'input') return { kind: 'other', what: 'a command that reads the input of its fire' }
  if (successCodes !== undefined) return { kind: 'other', what: 'a command with successCodes' }
  const texts = Object.entries((env ?? {}) as Options).filter(([, value]) => typeof value === 'string')
  return {
    kind: 'command',
    words: wordsOf(command, shell),
    cwd: typeof cwd === 'string' ? cwd : null,
    env: Object.fromEntries(texts) as Record<string, string>,
    stdin: typeof stdin === 'object' && stdin !== null ? String((stdin as { text?: unknown }).text ?? '') : null,
  }
}

function wordsOf(command: unknown, shell: unknown): string[] {
  if (Array.isArray(command)) return command.map(String)
  const program = typeof shell === 'string' ? shell : '/bin/sh'
  return shell ? [program, '-c', String(command)] : [String(command)]
}
