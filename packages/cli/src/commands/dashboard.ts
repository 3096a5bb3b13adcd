import { aborted } from '../aborted.ts'
import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import { Interrupted } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { findStoreOrDefault, STORE_FLAGS, storeWords } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { printJson } from '../output.ts'
import { redactSecrets } from '../redact.ts'
import { demandFile } from '../steer/sqlite-file.ts'
import { sanitize } from '../terminal.ts'
import type { Command } from './command.ts'

export const dashboard: Command = {
  operands: '',
  examples: [
    ['cronce dashboard', 'look at the store of this folder or of CRONCE_STORE'],
    ['cronce dashboard --store postgres://me@db/app --operate', 'and change things: pause, run, retry'],
    ['cronce dashboard --environment production', 'with a badge, so that it is not mistaken for another'],
  ],
  about: [
    'Prints an address with a token; open it in a browser on this machine. It runs no jobs, and changes nothing without',
    '--operate. While the store is away, the page says so and tries again. On other addresses than those of this machine',
    'it wants CRONCE_READ_TOKEN, CRONCE_OPERATE_TOKEN or access in the configuration.',
  ].join('\n'),
  flags: {
    ...STORE_FLAGS,
    listen: { type: 'string', value: 'HOST:PORT', help: 'Where (default 127.0.0.1:7070, or any free port)' },
    operate: { type: 'boolean', help: 'Let the user of the printed address change things' },
    environment: { type: 'string', value: 'LABEL', help: 'A badge in the header, such as production' },
    audit: { type: 'string', value: 'FILE', help: 'A SARIF report to show, such as that of cronce audit in CI' },
    json: { type: 'boolean', help: 'Print the address as one JSON object, for programs that open it' },
  },
  run: runDashboard,
}

const DEFAULT_ADDRESS = '127.0.0.1:7070'

async function runDashboard(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'dashboard')
  const setting = await findStoreOrDefault(args, io)
  const { store, namespace, secrets } = setting
  demandFile(store)
  const tell = (message: string): void => io.err(`${sanitize(redactSecrets(message, secrets))}\n`)
  const { listen, protectionFor, readAddress } = await import('../service/listen.ts')
  const address = readAddress(args.text('listen') ?? DEFAULT_ADDRESS)
  const level = args.has('operate') ? 'operate' : 'read'
  const protection = protectionFor(address, setting.config.access, io, level)
  const { cronce } = await import('cronce')
  // Never started: it runs nothing, and connects when the page first asks.
  const app = cronce({ store, namespace, signals: false, logger: { warn: tell, error: tell } })
  const listener = await listen(app, {
    ...{ address, protection, ready: () => true, log: { tell: (_, message) => tell(message) } },
    dashboard: { environment: args.text('environment'), audit: args.text('audit') },
    otherwiseAny: !args.has('listen'),
  })
  if (args.has('json')) printJson({ url: listener.dashboard, level: listener.token === null ? null : level }, io)
  else io.out(`The dashboard of ${storeWords(store)} is at ${listener.dashboard}\n`)
  if (listener.token !== null && level === 'read')
    io.err('It changes nothing. To pause, run or retry: add --operate.\n')
  try {
    await aborted(io.signal)
  } finally {
    await listener.close()
    await app.stop()
  }
  const { reason } = io.signal
  return reason instanceof Interrupted && reason.exitCode === EXIT.interrupted ? EXIT.interrupted : EXIT.ok
}
