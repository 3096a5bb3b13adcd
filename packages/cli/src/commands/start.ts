import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { DEFAULT_STORE } from '../open-store.ts'
import { note } from '../output.ts'
import { endProcessSoon } from '../service/end-process.ts'
import { detailLines } from '../service/jobs-error.ts'
import { createLog, LOG_FLAGS, type Log, logOptions } from '../service/log.ts'
import { runService, type ServiceParts } from '../service/run-service.ts'
import { readService, SERVICE_FLAGS, type ServiceSettings } from '../service/settings.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const start: Command = {
  operands: '[FILE]',
  examples: [
    ['cronce start jobs.ts', 'run the jobs of a file, on CRONCE_STORE'],
    ['cronce start --store postgres://me@db/app', 'run the jobs of the configuration on this store'],
    ['cronce start jobs.ts --listen 127.0.0.1:7070', 'with the HTTP API: /readyz, /metrics, /api/v1'],
    ['cronce start jobs.ts --listen 127.0.0.1:7070 --dashboard', 'and the dashboard'],
  ],
  about: [
    'Start any number of instances on any number of machines: every fire runs on one of them. FILE is TypeScript, JavaScript or JSON;',
    'its default export is a function (app) => { app.job(…) }, jobs by name, or an app. SIGTERM lets runs finish, then ends',
    'with 0; a second signal does not wait. The HTTP API needs CRONCE_OPERATE_TOKEN or CRONCE_READ_TOKEN, its metrics',
    'CRONCE_METRICS_TOKEN; on loopback, without any of them, the token that is printed at the start.',
  ].join('\n'),
  flags: {
    ...SERVICE_FLAGS,
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Serve the HTTP API on this address (default: CRONCE_LISTEN; without both, no API)',
    },
    dashboard: { type: 'boolean', help: 'Serve the dashboard beside the HTTP API' },
    environment: { type: 'string', value: 'LABEL', help: 'The badge of the dashboard, such as production' },
    audit: {
      type: 'string',
      value: 'FILE',
      help: 'A SARIF report for the dashboard, such as that of cronce audit in CI',
    },
    'fail-fast': { type: 'boolean', help: 'Exit if the store is not reachable at start, instead of waiting for it' },
    ...LOG_FLAGS,
  },
  run: runStart,
}

async function runStart(args: Args, io: Io): Promise<number> {
  try {
    const settings = await readService(args, io, 'start')
    if (settings.isDefaultStore) {
      note(`No store was named, so it is ${DEFAULT_STORE} here: fine for this machine alone. See --store.`, io)
    }
    const log = createLog(logOptions(args, settings.secrets), io)
    const opened = await openApi(args, io, settings, log)
    return await serve({ settings, log, signal: io.signal, failFast: args.has('fail-fast'), ...opened })
  } catch (error) {
    // Programs get the error alone, as one object.
    if (!args.has('json')) io.err(detailLines(error))
    throw error
  }
}

async function serve(parts: ServiceParts): Promise<number> {
  try {
    return await runService(parts)
  } finally {
    endProcessSoon()
  }
}

/** How to open the HTTP API, if there is to be one. What is wrong with that is known before anything is started. */
async function openApi(
  args: Args,
  io: Io,
  { config: { config } }: ServiceSettings,
  log: Log,
): Promise<Pick<ServiceParts, 'listen'>> {
  const { CRONCE_LISTEN } = io.env
  const where = args.text('listen') ?? (CRONCE_LISTEN || config.listen)
  if (where === undefined) {
    if (!args.has('dashboard')) return {}
    throw new UsageError('--dashboard needs an address.', 'Add --listen 127.0.0.1:7070, or set CRONCE_LISTEN.')
  }
  const { listen, protectionFor, readAddress } = await import('../service/listen.ts')
  const address = readAddress(String(where))
  const protection = protectionFor(address, config.access, io)
  const settings = { environment: args.text('environment'), audit: args.text('audit') }
  const dashboard = args.has('dashboard') ? settings : null
  return { listen: (app, ready) => listen(app, { address, protection, ready, log, dashboard }) }
}
