import { noConnection, translate } from '../errors.ts'
import { type Connection, type Deadline, type Lanes, within } from './connection.ts'
import { type PgClient, type PgClientClass, pgConnection } from './pg.ts'

/** The parts of a `pg` Pool that cronce uses. */
export interface PgPool {
  readonly options: { readonly max?: unknown; readonly password?: unknown }
  readonly Client?: PgClientClass
  readonly totalCount?: number
  connect(): Promise<PooledClient>
  query(text: string, values?: readonly unknown[]): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect', listener: (client: PgClient) => void): unknown
}

interface PooledClient extends PgClient {
  release(destroy?: boolean): void
}

export function isPgPool(target: unknown): target is PgPool {
  if (typeof target !== 'object' || target === null) return false
  const pool = target as Partial<PgPool>
  return (
    typeof pool.connect === 'function' &&
    typeof pool.query === 'function' &&
    typeof pool.on === 'function' &&
    typeof pool.options === 'object'
  )
}

/** Connections of the user's own pool, which is not closed here. */
export function poolLanes(pool: PgPool, name: string): Lanes {
  // A lost connection without an `error` listener ends the process. Idle clients report to the pool, so we listen there.
  listenOnce(pool)
  const taken = new Map<Connection, { readonly client: PooledClient; detach(): void }>()
  return {
    async take(_use, deadline) {
      let client = await connectIn(pool, name, deadline)
      // The application returned it in the middle of a transaction: our writes would be acknowledged but never committed.
      while (isInTransaction(client)) {
        client.release(true)
        client = await connectIn(pool, name, deadline)
      }
      const connection = pgConnection(client)
      taken.set(connection, { client, detach: connection.detach })
      return connection
    },
    put(connection) {
      const { client, detach } = taken.get(connection)!
      taken.delete(connection)
      client.release(!connection.isOpen)
      // Only now, since the pool's own listener is back.
      detach()
    },
    async close() {
      for (const connection of taken.keys()) connection.destroy()
    },
  }
}

async function connectIn(pool: PgPool, name: string, deadline: Deadline): Promise<PooledClient> {
  const connecting = pool.connect()
  let isLate = false
  connecting.then(
    (client) => isLate && client.release(),
    () => {},
  )
  try {
    return await within(connecting, deadline.leftMs(), () => {
      isLate = true
      const max = pool.options.max
      if (typeof max === 'number' && (pool.totalCount ?? 0) >= max) {
        throw noConnection(name, `all ${max} of the pool were in use for ${deadline.timeoutMs} ms`)
      }
      throw new Error(`no connection within ${deadline.timeoutMs} ms`)
    })
  } catch (error) {
    // The message of pg-pool when its timeout ends; it has no code.
    if (error instanceof Error && /^timeout exceeded when trying to connect/.test(error.message)) {
      throw noConnection(name, error.message)
    }
    throw translate(error, name, 'connecting')
  }
}

const listening = new WeakSet<PgPool>()

/** Never removed: without a listener a broken connection ends the process. Added once per pool, however many stores use it. */
function listenOnce(pool: PgPool): void {
  if (listening.has(pool)) return
  listening.add(pool)
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
}

function isInTransaction(client: PooledClient): boolean {
  const { getTransactionStatus } = client as { getTransactionStatus?(): string | null }
  const status = getTransactionStatus?.call(client)
  return status === 'T' || status === 'E'
}
