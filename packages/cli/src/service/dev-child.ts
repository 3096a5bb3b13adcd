import type { Cronce } from 'cronce'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import type { FromChild, ToChild } from './dev-messages.ts'
import { endProcessSoon } from './end-process.ts'
import { type Listener, listen, protectionFor } from './listen.ts'
import { createLog, type Log, logOptions } from './log.ts'
import { runService } from './run-service.ts'
import { readService, type ServiceSettings } from './settings.ts'
import { watchLoads } from './watch-loads.ts'

/** How many keys there are. */
const MOST_SCHEDULES = 20
const DRAIN = '2s'
const DEV_ADDRESS = { host: '127.0.0.1', port: 7070 } as const

/** The process that runs the jobs for `dev`. It ends when its parent does, however that ends. */
export async function runDevChild(args: Args, io: Io): Promise<number> {
  const tell = (message: FromChild): void => void process.send?.(message)
  watchLoads((file) => tell({ kind: 'loaded', files: [file] }))
  const settings = forDevelopment(await readService(args, io, 'dev'))
  const { file } = settings.config
  tell({ kind: 'loaded', files: [settings.jobs.place, ...(file === null ? [] : [file])] })
  const log = createLog({ ...logOptions(args, settings.secrets), isVerbose: true }, io)
  const orphaned = new AbortController()
  process.once('disconnect', () => orphaned.abort())
  try {
    return await runService({
      settings,
      log,
      signal: AbortSignal.any([io.signal, orphaned.signal]),
      failFast: false,
      listen: (app, ready) => listenForDev(app, ready, log, io),
      onStarted: (app) => {
        process.on('message', (message: ToChild) => void fire(app, message.schedule, log))
        void tellStarted(app, settings, tell)
      },
    })
  } finally {
    // Else the channel to the parent keeps this process alive.
    if (process.connected) process.disconnect()
    endProcessSoon()
  }
}

/** The dashboard, at the usual address if that is free. Its token stays the same when the file changes, so that an open page goes on. */
async function listenForDev(app: Cronce, ready: () => boolean, log: Log, io: Io): Promise<Listener> {
  const { CRONCE_DEV_TOKEN } = io.env
  const protection = protectionFor(DEV_ADDRESS, undefined, { env: { CRONCE_DEV_TOKEN } })
  const listener = await listen(app, {
    ...{ address: DEV_ADDRESS, protection, ready, log, otherwiseAny: true },
    dashboard: { environment: 'dev' },
  })
  // The address of the dashboard has it.
  return { ...listener, token: null }
}

/**
 * Each start is a deployment of its own: what was declared a minute ago and is declared again must count at once, while in
 * production an old process that comes back must not.
 */
function forDevelopment(settings: ServiceSettings): ServiceSettings {
  if (settings.options === null) return settings
  const { options } = settings
  return {
    ...settings,
    options: {
      ...options,
      deployment: options.deployment ?? `dev-${Date.now()}`,
      holdDown: options.holdDown ?? '1s',
      drain: options.drain ?? DRAIN,
    },
  }
}

async function tellStarted(
  app: Cronce,
  { options }: ServiceSettings,
  tell: (message: FromChild) => void,
): Promise<void> {
  const { items } = await app.schedules.list({ app: options?.app, state: 'active', limit: MOST_SCHEDULES })
  tell({ kind: 'started', schedules: items.map(({ name }) => name) })
}

async function fire(app: Cronce, schedule: string, log: Log): Promise<void> {
  try {
    await app.schedules.trigger(schedule, { author: 'cronce dev' })
  } catch (error) {
    log.tell('error', `${schedule} could not be fired: ${(error as Error).message}`)
  }
}
