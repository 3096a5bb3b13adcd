import { StoreError } from '../store-error.ts'
import type { Row } from './drivers/connection.ts'
import { isPgPool } from './drivers/pool-lanes.ts'

/** Runs a statement in a transaction, whatever library opened it. */
export type QueryIn = (text: string, values: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>

/**
 * How to run statements in this transaction object. Recognized by its shape, since cronce does not import any of these
 * libraries.
 */
export function queryIn(tx: unknown): QueryIn {
  if ((typeof tx !== 'object' && typeof tx !== 'function') || tx === null)
    throw notOpen('The argument tx is not a transaction.')
  const like = tx as TransactionLike
  return (
    postgresJs(like) ?? kysely(like) ?? knex(like) ?? prisma(like) ?? drizzle(like) ?? anyQuery(like) ?? refuse(like)
  )
}

/** All members that any of them may have. */
interface TransactionLike {
  readonly begin?: unknown
  readonly isTransaction?: unknown
  readonly session?: unknown
  unsafe?(text: string, values: readonly string[], options: object): Promise<readonly Row[]>
  executeQuery?(query: object): Promise<{ readonly rows: readonly Row[] }>
  raw?(text: string, values: readonly string[]): Promise<{ readonly rows: readonly Row[] }>
  $queryRawUnsafe?(text: string, ...values: string[]): Promise<readonly Row[]>
  on?(event: 'error', listener: () => void): unknown
  query?(text: string, values: readonly string[]): Promise<readonly Row[] | { readonly rows: readonly Row[] }>
}

function postgresJs(tx: TransactionLike): QueryIn | null {
  if (typeof tx.unsafe !== 'function') return null
  if (tx.begin !== undefined) throw notOpen('The argument tx is a connection pool of postgres.js, not a transaction.')
  return async (text, values) => tx.unsafe!(text, values, { prepare: false })
}

function kysely(tx: TransactionLike): QueryIn | null {
  if (typeof tx.executeQuery !== 'function') return null
  if (tx.isTransaction !== true) throw notOpen('The argument tx is a Kysely instance outside of a transaction.')
  return async (sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
    const queryId = { queryId: 'cronce' }
    return (await tx.executeQuery!({ sql, parameters, query, queryId })).rows
  }
}

function knex(tx: TransactionLike): QueryIn | null {
  if (typeof tx.raw !== 'function') return null
  if (tx.isTransaction !== true) throw notOpen('The argument tx is a Knex instance outside of a transaction.')
  return async (text, values) => {
    const bindings: string[] = []
    // Knex numbers its own parameters: one for each place.
    const own = text.replaceAll('?', '\\?').replace(/\$(\d+)/g, (_, number) => {
      bindings.push(values[Number(number) - 1]!)
      return '?'
    })
    return (await tx.raw!(own, bindings)).rows
  }
}

function prisma(tx: TransactionLike): QueryIn | null {
  if (typeof tx.$queryRawUnsafe !== 'function') return null
  return (text, values) => tx.$queryRawUnsafe!(text, ...values)
}

/** Its session has the client below it, of `pg` or of postgres.js. */
function drizzle(tx: TransactionLike): QueryIn | null {
  if (typeof tx.session !== 'object' || tx.session === null || !('client' in tx.session)) return null
  return queryIn(tx.session.client)
}

/** A `pg` client, a TypeORM entity manager, and anything similar. */
function anyQuery(tx: TransactionLike): QueryIn | null {
  if (typeof tx.query !== 'function') return null
  if (isPgPool(tx)) throw notOpen('The argument tx is a connection pool, not a transaction.')
  listenToErrors(tx)
  return async (text, values) => {
    const result = await tx.query!(text, values)
    return 'rows' in result ? result.rows : result
  }
}

const listenedTo = new WeakSet<object>()

/** A pg pool stops listening while a client is in use, and an `error` event without a listener would end the process. */
function listenToErrors(client: TransactionLike): void {
  if (typeof client.on !== 'function' || listenedTo.has(client)) return
  listenedTo.add(client)
  client.on('error', () => {})
}

function refuse(_tx: TransactionLike): never {
  throw notOpen('The argument tx is not a transaction of a supported library.')
}

export function notOpen(message: string, cause?: unknown): StoreError {
  return new StoreError('TRANSACTION_NOT_OPEN', message, {
    hint: 'Pass a client of pg after "begin", or the transaction of postgres.js, Drizzle, Kysely, Knex or Prisma, or anything with query(text, values).',
    cause,
  })
}

/** Fails outside of a transaction, and does nothing in one: every statement has this lock already. */
export const REQUIRE_OPEN = 'lock table pg_catalog.pg_am in access share mode'
