import type { TestContext } from 'node:test'
import pg from 'pg'
import { startPgbouncer } from '../../../../scripts/servers/index.ts'
import { type Connection, connect } from '../../src/app/connect.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { type Processes, startProcesses } from './fleet.ts'

/** Real processes on one database of a real server. */
export interface PostgresFleet extends Processes {
  /** Of the database, straight to the server. */
  readonly url: string
  /** What processes are to use: the same, or by way of what is in between. */
  readonly postgres: string
  /** The user's own connections. */
  readonly sql: pg.Pool
  readonly client: Connection<pg.ClientBase>
}

export interface PostgresFleetOptions {
  /** Connect through a PgBouncer in transaction mode with this many connections. */
  readonly poolSize?: number
}

/** On a database of its own, with the tables in it and `effects` for the user's rows. */
export async function startPostgresFleet(
  context: TestContext,
  server: { readonly url: string },
  { poolSize }: PostgresFleetOptions = {},
): Promise<PostgresFleet> {
  const url = await createDatabase(server.url)
  const bouncer = poolSize === undefined ? null : await startPgbouncer({ upstream: { url }, poolSize })
  const sql = openPool(url)
  await sql.query('create table effects (schedule text not null, due_at bigint not null)')
  const client = await connect<pg.ClientBase>({ store: postgres(url, { migrate: 'auto' }), logger: false })
  const processes = await startProcesses(context, async () => {
    await client.close()
    await sql.end()
    await bouncer?.stop()
  })
  return { ...processes, url, postgres: bouncer?.url ?? url, sql, client }
}

/** Nothing that ends its connections is an error here. */
export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  pool.on('error', () => {})
  return pool
}

/** Committed when the work is done, rolled back if it throws. */
export async function inTransaction(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

let databases = 0

/** Another one on this server. Returns its URL. */
export async function createDatabase(server: string): Promise<string> {
  const name = `test_${process.pid}_${++databases}`
  const client = new pg.Client(server)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = name
  return url.href
}
