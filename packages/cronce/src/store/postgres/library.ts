import type { PgPool } from './drivers/pool-lanes.ts'
import type { PostgresJsLike } from './drivers/postgres-js.ts'
import type { OpenTransaction } from './transaction.ts'

/** What jobs get as `tx` when the store has its own connections: a connection with an open transaction. */
export interface PostgresTransaction {
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
}

/** Opens a transaction, calls `work` with it, and commits when `work` has resolved. */
export type TransactionFunction = (work: never) => Promise<unknown>

/** A Drizzle database. It knows the `pg` pool, or the postgres.js `sql`, that it was created with. */
export interface DrizzleLike {
  readonly $client: unknown
  transaction(...args: never[]): Promise<unknown>
}

/** A `Kysely`. */
export interface KyselyLike {
  executeQuery(...args: never[]): unknown
  transaction(): { execute(...args: never[]): Promise<unknown> }
}

/** A `Knex`. */
export interface KnexLike {
  raw(...args: never[]): unknown
  transaction(...args: never[]): Promise<unknown>
}

/** A `PrismaClient`. */
export interface PrismaLike {
  $transaction(...args: never[]): Promise<unknown>
}

/** Anything that opens transactions: a library's object, or a function. */
export type TransactionOpener = TransactionFunction | DrizzleLike | KyselyLike | KnexLike | PrismaLike

/** The transaction that `work` gets. For overloaded methods TypeScript infers from the last one. */
export type TransactionOf<Opener> = Opener extends string
  ? PostgresTransaction
  : Opener extends { $transaction(work: (tx: infer Tx) => Promise<unknown>): unknown }
    ? Tx
    : Opener extends { transaction(): { execute(work: (tx: infer Tx) => Promise<unknown>): unknown } }
      ? Tx
      : Opener extends { transaction(work: (tx: infer Tx) => Promise<unknown>): unknown }
        ? Tx
        : Opener extends { begin(options: string, work: (tx: infer Tx) => unknown): unknown }
          ? Tx
          : Opener extends { connect(done: (error: never, client: infer Client, release: never) => void): void }
            ? NonNullable<Client>
            : Opener extends (work: (tx: infer Tx) => Promise<void>) => unknown
              ? Tx
              : PostgresTransaction

/** Recognized by shape: none of these libraries is a dependency. `null`: it opens no transactions of a known kind. */
export function openerOf(opener: TransactionOpener): OpenTransaction | null {
  const like = opener as OpenerLike
  if (typeof like.$transaction === 'function') return (work) => like.$transaction!(work)
  if (typeof like.executeQuery === 'function') return (work) => like.transaction!().execute(work)
  if (typeof like.transaction === 'function') return (work) => like.transaction!(work)
  return typeof opener === 'function' ? (opener as OpenTransaction) : null
}

/** All members that any of them may have. */
interface OpenerLike {
  readonly executeQuery?: unknown
  $transaction?: OpenTransaction
  transaction?: OpenTransaction & (() => { execute: OpenTransaction })
}

export function isDrizzle(target: unknown): target is DrizzleLike & { readonly $client: PgPool | PostgresJsLike } {
  return typeof target === 'object' && target !== null && '$client' in target && 'transaction' in target
}
