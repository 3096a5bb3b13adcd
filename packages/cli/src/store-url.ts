import type { Args, Flags } from './args.ts'
import type { Io } from './print.ts'
import { UsageError } from './usage-error.ts'

export const STORE_FLAGS = {
  store: {
    type: 'string',
    value: 'URL',
    help: 'Which store: postgres://USER@HOST/DATABASE (default: the environment, CRONCE_STORE or DATABASE_URL)',
  },
} as const satisfies Flags

/** The store that is meant: by the flag or, so that passwords need not be on the command line, by the environment. */
export function postgresUrl(args: Args, { env }: Io): string {
  const { CRONCE_STORE: ours, DATABASE_URL: everybodys } = env
  const url = args.text('store') ?? (ours || everybodys || '')
  if (url === '') {
    throw new UsageError('Which store?', 'Set DATABASE_URL, or add --store postgres://USER@HOST/DATABASE.')
  }
  if (/^postgres(ql)?:\/\//.test(url)) return url
  const kind = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]
  if (kind === 'sqlite' || kind === 'memory') {
    throw new UsageError(`A ${kind} store needs no command: it is migrated when it is opened.`)
  }
  // What is wrong with it may be a password.
  throw new UsageError('This is no URL of a PostgreSQL database.', 'Write postgres://USER@HOST/DATABASE.')
}
