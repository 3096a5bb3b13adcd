import { setTimeout as sleep } from 'node:timers/promises'
import { type Cronce, CronceError, cronce } from 'cronce'
import { aborted } from '../aborted.ts'
import { EXIT } from '../exit-code.ts'
import { Interrupted } from '../interrupt.ts'
import { storeWords } from '../open-store.ts'
import { version } from '../version.ts'
import type { Listener } from './listen.ts'
import { declareJobs } from './load-jobs.ts'
import type { Log } from './log.ts'
import type { ServiceSettings } from './settings.ts'

/** `running`: this instance takes runs. */
export type ServiceState = 'starting' | 'running' | 'draining'

export interface ServiceParts {
  readonly settings: ServiceSettings
  readonly log: Log
  /** Aborted: drain, and leave. */
  readonly signal: AbortSignal
  /** A store that is away ends it, instead of being waited for. */
  readonly failFast: boolean
  /** Open the HTTP API, if there is to be one: before anything else, so that probes are answered. */
  readonly listen?: (app: Cronce, ready: () => boolean) => Promise<Listener>
  /** This instance takes runs. */
  readonly onStarted?: (app: Cronce) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000
/** It may be there a moment later; all other errors need an operator. */
const AWAY = /^STORE_(UNREACHABLE|FAILED|SILENT|LOST|TIMEOUT|BUSY|CONFLICT|FULL_OF_CONNECTIONS)$/

/** Run the jobs until the signal comes, then let runs finish. Returns the exit code. */
export async function runService(parts: ServiceParts): Promise<number> {
  const { settings, log, signal } = parts
  const app = await makeApp(settings, log)
  let state: ServiceState = 'starting'
  const listener = await parts.listen?.(app, () => state === 'running')
  if (listener !== undefined) {
    const { url, token, dashboard } = listener
    log.tell('info', `The HTTP API is at ${url}`, { url })
    if (token !== null)
      log.tell('info', `Its token until it stops (CRONCE_OPERATE_TOKEN sets one): ${token}`, { token })
    if (dashboard !== null) log.tell('info', `The dashboard is at ${dashboard}`, { dashboard })
  }
  try {
    if (await startWhenPossible(app, parts)) {
      state = 'running'
      log.tell('info', startedWords(app, settings), { instance: app.instance })
      parts.onStarted?.(app)
      await aborted(signal)
    }
    state = 'draining'
    const { message = '' } = signal.reason as Partial<Error>
    log.tell('info', `${message.replace(/\.$/, '')}: nothing new is taken, runs may finish.`)
    await app.stop()
    log.tell('info', 'Stopped.')
    return exitCodeFor(signal.reason)
  } finally {
    // Not before: until then a probe must hear that this instance is not ready.
    await listener?.close()
  }
}

async function makeApp({ jobs, options }: ServiceSettings, log: Log): Promise<Cronce> {
  // Of these two there is one: an app of its own has no options here.
  const app = jobs.kind === 'app' ? jobs.app : cronce({ ...options!, signals: false, logger: log.logger })
  log.follow(app)
  if ((await declareJobs(jobs, app)) === 0) {
    log.tell('warn', `${jobs.place} declares no jobs, so this instance runs nothing.`)
  }
  return app
}

/** False: stopped before it came to that. */
async function startWhenPossible(app: Cronce, { settings, log, signal, failFast }: ServiceParts): Promise<boolean> {
  const stop = (): void => void app.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await start(app)
        return !signal.aborted
      } catch (error) {
        if (failFast || !isAway(error, settings)) throw error
        log.tell('warn', `${error.message}${settings.origin} Trying again in ${pauseMs / 1_000}s.`, {
          code: error.code,
        })
        await sleep(pauseMs, undefined, { signal }).catch(() => {})
      }
    }
    return false
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** A file that exports its app may have started it, too. */
async function start(app: Cronce): Promise<void> {
  try {
    await app.start()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ALREADY_STARTED')) throw error
  }
}

/** A file is not away: its folder is missing, or its rights are. */
function isAway(error: unknown, { store }: ServiceSettings): error is CronceError {
  if (typeof store === 'string' && /^(sqlite|memory):/.test(store)) return false
  return error instanceof CronceError && AWAY.test(error.code)
}

function startedWords(app: Cronce, { jobs, options, store }: ServiceSettings): string {
  const of = options?.app === undefined ? '' : ` of ${options.app}`
  const where = store === null ? '' : ` on ${storeWords(store)}`
  return `cronce ${version()} runs the jobs${of} in ${jobs.place}${where}, as instance ${app.instance}.`
}

/** SIGTERM is how a service is meant to be stopped, and SIGHUP is a terminal that is gone; SIGINT is a person who interrupts it. */
function exitCodeFor(reason: unknown): number {
  return reason instanceof Interrupted && reason.exitCode === EXIT.interrupted ? EXIT.interrupted : EXIT.ok
}
