import type { AboutProcess, CronceEvent, EventOf, EventType } from '../model/event.ts'
import { isExclusive, isRunByCaller, LEADER_JOB } from '../model/exclusive-jobs.ts'
import { counted } from '../words.ts'

/**
 * Where cronce reports what people should know. `console` is one, and so are pino's and winston's loggers.
 *
 * @example
 * const app = cronce({ store: 'sqlite:./cronce.db', logger: pino() })
 */
export interface Logger {
  /** Failures. */
  error(message: string): void
  /** What endangers fires. */
  warn(message: string): void
  /** That the app has started, and what a stop waits for. Without it, neither is reported. */
  info?(message: string): void
}

/** Failures and what endangers fires, on stderr. The rest is in the events and in the store. */
export const stderrLogger: Logger = {
  error: (message) => write('error', message),
  warn: (message) => write('warning', message),
  info: (message) => process.stderr.write(`cronce: ${message}\n`),
}

function write(level: string, message: string): void {
  process.stderr.write(`cronce ${level}: ${message}\n`)
}

/** A logger is the user's code: what it throws, now or later, must not reach the engine. */
export function guarded(logger: Logger): Required<Logger> {
  const guard = (tell: (message: string) => unknown) => (message: string) => {
    try {
      // The logger itself failed, so there is nowhere to report it.
      Promise.resolve(tell(message)).catch(() => {})
    } catch {
      // The same applies to an asynchronous failure of the logger.
    }
  }
  return {
    error: guard((message) => logger.error(message)),
    warn: guard((message) => logger.warn(message)),
    info: guard((message) => logger.info?.(message)),
  }
}

/** Logs an event that people should know about. */
export function logEvent(logger: Logger, event: CronceEvent): void {
  const warning = warningOf(event)
  const failure = failureOf(event)
  if (failure !== null) logger.error(failure)
  else if (warning !== null) logger.warn(warning)
  else if (event.type === 'run.retried' || event.type === 'fire.ended') reportNext(logger, event)
}

/** What follows a failed run. Its own line comes before: programs match a line with the event that it is about. */
function reportNext(logger: Logger, event: EventOf<'run.retried'> | EventOf<'fire.ended'>): void {
  // A node-cron slot has one attempt, and its caller gets the outcome: no log line.
  if (isRunByCaller(event.job)) return
  if (event.type === 'run.retried') {
    logger.info?.(`${about(event)}: attempt ${event.attempt + 1} follows at ${iso(event.readyAt)}.`)
  } else if (event.outcome === 'failed') {
    logger.info?.(`${about(event)}: no attempt is left after attempt ${event.attempt}.`)
  }
}

function failureOf(event: CronceEvent): string | null {
  switch (event.type) {
    case 'run.ended': {
      // For locks, elections and keys the error is thrown to the caller.
      if (event.outcome !== 'failed' || isExclusive(event.job)) return null
      return `${about(event)} failed: ${event.error?.stack ?? event.error?.message ?? event.reason}`
    }
    case 'schedule.refused': {
      const by = event.process === undefined ? '' : ` by ${processText(event.process)}`
      return `${event.schedule} could not be declared${by}: ${event.message} (${event.code})`
    }
    case 'schedule.failed':
      return `${event.schedule} can't be planned here: ${event.error.message}`
    case 'fire.ended':
      // No line for a leader's term: `instance.died` reports the death, and a peer takes over.
      return event.outcome === 'abandoned' && event.job !== LEADER_JOB
        ? `${about(event)} was abandoned: ${event.reason}.`
        : null
    default:
      return null
  }
}

function warningOf(event: CronceEvent): string | null {
  // Each function takes the event of its own type, which the table's type says and TypeScript cannot follow here.
  const warning = WARNINGS[event.type] as ((event: CronceEvent) => string | null) | undefined
  return warning === undefined ? null : warning(event)
}

const WARNINGS: { readonly [Type in EventType]?: (event: EventOf<Type>) => string | null } = {
  'fire.missed': (event) => `${event.schedule} missed ${event.count} from ${iso(event.dueAt)} on: ${event.reason}.`,
  'run.stuck': (event) => `${about(event)} has been running for ${Math.round(event.runningMs / 60_000)} minutes.`,
  'run.overran': (event) => `${about(event)} ignored its signal and was given up; its handler may still be computing.`,
  'run.failedLate': (event) =>
    `${about(event)} succeeded with its transaction, but its handler failed afterwards: ` +
    `${event.error.stack ?? event.error.message}\nIt is not run again.`,
  'run.untransacted': ({ job }) =>
    `Job ${JSON.stringify(job)} is exactly-once, but its run did not commit a run.transaction: what it wrote may be there twice after a crash. ` +
    'Write in run.transaction((tx) => …), or leave out the guarantee.',
  'run.fenced': (event) => `${about(event)} was overtaken: its ${event.refused} was refused (token ${event.token}).`,
  'execution.duplicated': ({ name, windowMs, isRefused, first, second }) =>
    `${name} is executed more than once within ${windowMs / 1_000} s: at ${iso(first.at)} by process ${first.pid} on ${first.host}, ` +
    `and at ${iso(second.at)} by process ${second.pid} on ${second.host}, which was ${isRefused ? 'refused' : 'executed as well'}.`,
  'run.lost': (event) => `${about(event)} was lost with instance ${event.instance}.`,
  'lease.lost': ({ instance, runs }) =>
    `The lease of instance ${instance} ran out; ${counted(runs, 'run is', 'runs are')} aborted.`,
  'instance.fenced': (event) => `Instance ${event.instance} was declared dead; it goes on as ${event.successor}.`,
  'instance.died': ({ instance, by }) =>
    `Instance ${instance} died (its ${by === 'probe' ? 'process is gone' : 'lease ran out'}).`,
  'schedule.retired': (event) => `${event.schedule} is retired: ${RETIRED[event.cause](event.deployment)}.`,
  'schedule.returned': (event) => `${event.schedule} is declared again. It was retired since ${iso(event.retiredAt)}.`,
  'schedule.contested': contested,
  'deployment.disjoint': ({ other, app, jobs }) =>
    `Another process runs the same app ${JSON.stringify(app)} with other jobs (${few(jobs)}): ${processText(other)}. ${ANOTHER_PROGRAM}`,
  'schedule.paused': (event) =>
    event.author === 'cronce' ? `${event.schedule} is paused: ${event.note ?? 'no reason is on record.'}` : null,
  'store.failed': (event) => `The store failed (${event.operation}): ${event.error.message}`,
  'store.recovered': () => 'The store answers again.',
  'store.rolledBack': rolledBack,
  'alert.fired': ({ rule, subjects, count }) =>
    `Alert ${rule}: ${few(subjects)}${count > subjects.length ? `; ${count} in all` : ''}.`,
  'alert.resolved': ({ rule, subjects }) => `Alert ${rule} is resolved: ${few(subjects)}.`,
  'clock.skewed': (event) => `This machine's clock is ${event.offsetMs} ms off the store's.`,
}

const ANOTHER_PROGRAM =
  "If it is another program, name one of them: cronce({ app: 'worker' }), or cronce start --app worker."

const RETIRED: { readonly [Cause in EventOf<'schedule.retired'>['cause']]: (deployment: string) => string } = {
  dropped: (deployment) => `the newest deployment ${deployment} does not declare it`,
  absent: () => 'no live process declares it any more',
  renamed: (deployment) => `the deployment ${deployment} renamed it`,
}

function contested({ schedule, app, newest, retireInMs, declaredBy }: EventOf<'schedule.contested'>): string {
  const who = few(declaredBy.map(processText))
  return (
    `${schedule} will be retired in ${Math.ceil(retireInMs / 1_000)} s: the newest deployment ${newest} of the app ` +
    `${JSON.stringify(app)} does not declare it, but ${who} still does. ${ANOTHER_PROGRAM}`
  )
}

function processText({ pid, host, deployment }: AboutProcess): string {
  return `process ${pid} on ${host} (deployment ${deployment})`
}

const FEW = 5

function few(texts: readonly string[]): string {
  return texts.length <= FEW ? texts.join(', ') : `${texts.slice(0, FEW).join(', ')} and ${texts.length - FEW} more`
}

/** How many fires a log line names; the event has all of them. */
const NAMED = 20

function rolledBack({ epoch, restored, doubtful, incomplete }: EventOf<'store.rolledBack'>): string {
  const words = [`The store went back in time, and goes on in epoch ${epoch}.`]
  if (restored.length > 0) words.push(`Written again: ${named(restored)}.`)
  if (doubtful.length > 0) words.push(`May have run twice: ${named(doubtful)}.`)
  if (incomplete) words.push('More may be lost than this instance remembers.')
  return words.join(' ')
}

function named(fires: EventOf<'store.rolledBack'>['restored']): string {
  const names = fires.slice(0, NAMED).map(about).join(', ')
  return fires.length > NAMED ? `${names} and ${fires.length - NAMED} more` : names
}

function about({ schedule, dueAt }: { readonly schedule: string; readonly dueAt: number }): string {
  return `${schedule} (due ${iso(dueAt)})`
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
