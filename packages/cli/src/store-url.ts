import type { Args } from './args.ts'
import type { Io } from './io.ts'
import { findStore } from './open-store.ts'
import { UsageError } from './usage-error.ts'

/** The PostgreSQL database that is meant. */
export async function postgresUrl(args: Args, io: Io): Promise<string> {
  const { store: url } = await findStore(args, io)
  if (typeof url !== 'string') {
    throw new UsageError('The store of the configuration is not a URL.', 'Add --store postgres://USER@HOST/DATABASE.')
  }
  if (/^postgres(ql)?:\/\//.test(url)) return url
  const kind = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]
  if (/^(sqlite|memory|rediss?|etcds?|zookeepers?)$/.test(kind ?? '')) {
    throw new UsageError(
      `A ${kind} store needs no command: it has no tables to migrate, or migrates them when it is opened.`,
      'Leave the command out, or name a PostgreSQL database with --store.',
    )
  }
  // What is wrong with it may be a password.
  throw new UsageError('This is not a URL of a PostgreSQL database.', 'Write postgres://USER@HOST/DATABASE.')
}
