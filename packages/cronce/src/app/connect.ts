import { type Client, createClient } from '../client/client.ts'
import { systemClock } from '../clock.ts'
import { newId } from './identity.ts'
import { lazyStore } from './lazy-store.ts'
import { stderrLogger } from './logger.ts'
import { storeSource } from './open-store.ts'
import { type CronceOptions, resolveOptions } from './options.ts'

export type Connection<Tx = unknown> = Client<Tx> & { readonly close: () => Promise<void> }

/** The client alone, for programs that run no jobs: scripts, servers, the command line. */
export async function connect<Tx = unknown>(
  options: Pick<CronceOptions<Tx>, 'store' | 'namespace' | 'adopt' | 'logger'>,
): Promise<Connection<Tx>> {
  const { NODE_ENV } = process.env
  const { tz = '' } = process.versions
  const { namespace, adopt, logger } = resolveOptions({ logger: stderrLogger, ...options })
  const source = storeSource(options.store)
  const lazy = lazyStore<Tx>(() =>
    source.open({
      namespace,
      adopt,
      production: NODE_ENV === 'production',
      warn: (code, message) => logger.warn(`${message} (${code})`),
    }),
  )
  await lazy.open()
  const client = createClient<Tx>({
    store: lazy.store,
    context: () => ({ zoneData: tz, random: Math.random, newId, sleep: systemClock().sleep }),
    emit: () => {},
  })
  return { ...client, close: lazy.close }
}
