import { createHash } from 'node:crypto'
import { nameOfUrl } from '../name-of-url.ts'
import { StoreError } from '../store-error.ts'
import { shown, targetHint } from '../store-options.ts'
import type { Database, Session, Statement } from './database.ts'
import { type Connect, deadlineIn, type Row, within } from './drivers/connection.ts'
import { type Driver, laneDriver } from './drivers/driver.ts'
import { connectorFor, loadPostgresJs } from './drivers/load.ts'
import { OwnLanes } from './drivers/own-lanes.ts'
import { connectPg } from './drivers/pg.ts'
import { isPgPool, type PgPool, poolLanes } from './drivers/pool-lanes.ts'
import {
  connectPostgresJs,
  isPostgresJs,
  type PostgresJsLike,
  postgresJsDriver,
  type Sql,
} from './drivers/postgres-js.ts'
import { isQueryable, type Queryable, queryableDriver } from './drivers/queryable.ts'
import { silent, sqlStateOf, translate } from './errors.ts'
import { type DrizzleLike, isDrizzle, openerOf, type TransactionOpener } from './library.ts'
import { OwnSession } from './session.ts'
import { type OpenTransaction, runTransaction } from './transaction.ts'
import { notOpen, queryIn, REQUIRE_OPEN } from './tx.ts'

const DEFAULT_TIMEOUT_MS = 5_000
const DEFAULT_CONNECTIONS = 2

/** Migrations may take long: they build indexes. */
const SCRIPT_TIMEOUT_MS = 10 * 60_000

const NOTIFY: Statement = { name: 'notify', sql: "select pg_notify($1::text, '')::text as answer" }

const WITHOUT_SESSION =
  'Peers notice the death of a process by its lease only, after 15 s, and changes when something is due next. Fires are not claimed ahead.'
const DIRECT = 'Set directUrl to a URL around it, which only one connection of each instance uses.'

/** A URL, a `pg` Pool, a postgres.js `sql`, a Drizzle database on one of these, or any object that runs statements. */
export type Target = string | PgPool | PostgresJsLike | DrizzleLike | Queryable

export interface ConnectOptions {
  /** The longest that any statement may take, the wait for a connection included. @default 5000 */
  readonly timeoutMs?: number | undefined
  /** Of our own, from a URL, beside the session; user transactions take all but one. @default 2 */
  readonly connections?: number | undefined
  /** Prepare statements under names. @default if no pooler stands in between */
  readonly prepare?: boolean | undefined
  /** Keep a session that tells of deaths and wake-ups at once. @default true */
  readonly session?: boolean | undefined
  /** A URL that bypasses a connection pooler, for the session only. */
  readonly directUrl?: string | undefined
  /** What opens the transactions of users. @default the target */
  readonly transaction?: TransactionOpener | undefined
  readonly warn: (code: string, message: string) => void
}

/** Refuses at once what is not a way to a database. */
export function demandTarget(given: unknown): void {
  const target = isDrizzle(given) ? given.$client : given
  const isUrl = typeof target === 'string' && target !== ''
  if (isUrl || isPgPool(target) || isPostgresJs(target) || isQueryable(target)) return
  throw new StoreError('STORE_INVALID', `postgres() can't reach a database through ${shown(target)}.`, {
    hint: targetHint(
      target,
      'Pass a URL, a pg Pool, a postgres.js sql, a Drizzle database, or an object with query(text, values). For Kysely, Knex and Prisma, write postgres(URL, { transaction: db }).',
    ),
  })
}

/** Does not connect yet. */
export function openDatabase(target: Target, options: ConnectOptions): Database {
  demandTarget(target)
  if (!isDrizzle(target)) return new DriverDatabase(driverFor(target, options), options)
  return new DriverDatabase(driverFor(target.$client, options), {
    ...options,
    transaction: options.transaction ?? target,
  })
}

function driverFor(target: Target, options: ConnectOptions): Driver {
  const { connections = DEFAULT_CONNECTIONS, prepare, directUrl } = options
  const direct = directUrl === undefined ? null : lazily(directUrl)
  if (typeof target === 'string') {
    const name = nameOfUrl(target) ?? 'the database'
    const connect = lazily(target)
    return laneDriver({
      name,
      lanes: new OwnLanes(name, connect, connections),
      connect: direct ?? connect,
      prepare,
    })
  }
  if (isPgPool(target)) {
    const name = nameOfPool(target)
    return laneDriver({ name, lanes: poolLanes(target, name), connect: direct ?? connectLike(target), prepare })
  }
  if (isPostgresJs(target)) {
    return postgresJsDriver(target, 'the database of sql', direct ?? connectLikeSql(target), prepare ?? false)
  }
  return queryableDriver(target as Queryable, 'the database', direct)
}

/** Where the pool connects to, if its options say so. */
function nameOfPool({ options }: PgPool): string {
  const { connectionString, host, port, database } = options as Readonly<Record<string, unknown>>
  const url = typeof connectionString === 'string' ? nameOfUrl(connectionString) : null
  const place = typeof port === 'number' ? `${host}:${port}` : host
  const named = typeof host === 'string' && typeof database === 'string' ? `postgres://${place}/${database}` : null
  const where = url ?? named
  return where === null ? 'the database of the pool' : `the database of the pool (${where})`
}

/** Loads the driver on the first connection. */
function lazily(url: string): Connect {
  let connector: Promise<Connect> | undefined
  return async (timeoutMs) => {
    connector ??= connectorFor(url)
    return (await connector)(timeoutMs)
  }
}

/** Uses the pool's own client and settings. Its password is kept from being listed. */
function connectLike(pool: PgPool): Connect | null {
  const { Client, options } = pool
  if (Client === undefined) return null
  return (timeoutMs) => connectPg(Client, { ...options, password: options.password }, timeoutMs)
}

function connectLikeSql(sql: Sql): Connect {
  return async (timeoutMs) => {
    const postgres = await loadPostgresJs()
    if (postgres === null) throw new Error('the package postgres was not found')
    return connectPostgresJs(postgres, sql, timeoutMs)
  }
}

class DriverDatabase implements Database {
  readonly name: string
  readonly transactions: boolean
  readonly #driver: Driver
  readonly #options: ConnectOptions
  readonly #opener: OpenTransaction | null
  readonly #timeoutMs: number
  /** Transactions that `transaction` opened: it knows that they are open. */
  readonly #own = new WeakSet<object>()
  readonly #names = new WeakMap<Statement, string>()
  #session: Promise<Session | null> | undefined
  #ownSession: OwnSession | undefined
  #isClosed = false

  constructor(driver: Driver, options: ConnectOptions) {
    this.name = driver.name
    this.#driver = driver
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#opener = options.transaction === undefined ? null : openerOf(options.transaction)
    this.transactions = driver.begin !== null || this.#opener !== null
  }

  async ask(statement: Statement, values: readonly string[]): Promise<string> {
    const query = { text: statement.sql, values, name: this.#preparedName(statement) }
    return answerOf(await this.#driver.query(query, deadlineIn(this.#timeoutMs)), statement)
  }

  async askIn(tx: unknown, statement: Statement, values: readonly string[]): Promise<string> {
    const query = queryIn(tx)
    const ask = (text: string, given: readonly string[]): Promise<readonly Row[]> =>
      within(query(text, given), this.#timeoutMs, () => {
        throw silent(this.name, this.#timeoutMs, false)
      })
    try {
      if (!this.#own.has(tx as object)) await ask(REQUIRE_OPEN, [])
      return answerOf(await ask(statement.sql, values), statement)
    } catch (error) {
      if (sqlStateOf(error) === '25P01') throw notOpen('No transaction is open on tx.', error)
      throw translate(error, this.name, 'in transaction')
    }
  }

  script(sql: string): Promise<readonly Row[]> {
    return this.#driver.script(sql, deadlineIn(SCRIPT_TIMEOUT_MS))
  }

  async transaction<Value>(work: (tx: unknown, requireOpen: () => Promise<void>) => Promise<Value>): Promise<Value> {
    const { begin } = this.#driver
    let abandon = (): void => {}
    const deadline = deadlineIn(this.#timeoutMs)
    const open: OpenTransaction | undefined =
      this.#opener ??
      (begin === null
        ? undefined
        : (own) =>
            begin(own, deadline, (destroy) => {
              abandon = destroy
            }))
    if (open === undefined) {
      throw new StoreError('STORE_CANNOT_TRANSACT', `${this.name} was given without a way to open transactions.`, {
        hint: 'Pass a URL, a Pool or the option transaction.',
      })
    }
    const plan = { name: this.name, open, timeoutMs: this.#timeoutMs, abandon: () => abandon() }
    return runTransaction(plan, async (tx, requireOpen) => {
      this.#own.add(tx as object)
      try {
        return await work(tx, requireOpen)
      } finally {
        this.#own.delete(tx as object)
      }
    })
  }

  session(): Promise<Session | null> {
    this.#session ??= this.#openSession()
    return this.#session
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#ownSession?.close()
    await this.#driver.close()
  }

  async #openSession(): Promise<Session | null> {
    const { session = true, warn } = this.#options
    const { connect } = this.#driver
    if (!session || this.#isClosed) return null
    if (connect === null) {
      warn('STORE_NO_LOCK', `${this.name} was given without a way to open a session. ${WITHOUT_SESSION}`)
      return null
    }
    const own = new OwnSession({
      name: this.name,
      connect,
      timeoutMs: this.#timeoutMs,
      notify: (channel) => this.ask(NOTIFY, [channel]),
      onPooled: () =>
        warn('STORE_POOLED', `A connection pooler stands before ${this.name}. ${WITHOUT_SESSION} ${DIRECT}`),
    })
    this.#ownSession = own
    await own.opened
    return own.isPooled ? null : own
  }

  /** Identified by its text: the same statement for another schema is another one, and both may use one connection. */
  #preparedName(statement: Statement): string {
    let name = this.#names.get(statement)
    if (name === undefined) {
      const hash = createHash('sha256').update(statement.sql).digest('hex').slice(0, 16)
      name = `cronce_${statement.name.slice(0, 30)}_${hash}`
      this.#names.set(statement, name)
    }
    return name
  }
}

function answerOf(rows: readonly Row[], { name }: Statement): string {
  const answer = rows[0]?.answer
  if (typeof answer === 'string') return answer
  throw new StoreError('STORE_FAILED', `The statement ${name} answered no text.`, {
    hint: 'Report this: it should not happen.',
    notApplied: false,
  })
}
