import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postgres } from '../../../packages/cronce/src/store/postgres/postgres.ts'
import { type Server, startPgbouncer, startPostgres } from '../../../scripts/servers/index.ts'
import type { EffectRow } from '../order.ts'
import type { ChaosStore, PreparedStore, ServerEnd, ServerUnderChaos, StoreModule } from './store.ts'

interface PostgresChaosOptions {
  readonly name: string
  /** Of the server, over its defaults. */
  readonly settings?: Readonly<Record<string, string>>
  /** Connect through a PgBouncer in transaction mode with this many connections. */
  readonly poolSize?: number
}

export function postgresChaos({ name, settings = {}, poolSize }: PostgresChaosOptions): ChaosStore {
  /** One server for all runs, with one database each. The server ends with this process. */
  let started: Promise<Server> | undefined
  let databases = 0
  return {
    name,
    mounts: false,
    transacts: true,
    async prepare(): Promise<PreparedStore> {
      started ??= startPostgres({ settings: { ...SETTINGS, ...settings } })
      const server = await started
      const database = `chaos_${++databases}`
      await inDatabase(server.url, (client) => client.query(`create database ${database}`))
      const direct = urlOf(server.url, { database })
      const bouncer =
        poolSize === undefined
          ? null
          : await startPgbouncer({ upstream: { url: direct }, poolSize, mode: 'transaction' })
      const user = new pg.Pool({ connectionString: direct, max: 2 })
      user.on('error', () => {})
      await user.query(`create table effects
        (schedule text, due_at bigint, nonce text, attempt integer, token text, node text, at double precision)`)
      const { port } = bouncer ?? server
      const prober = new pg.Pool({ connectionString: urlOf(direct, { port }), max: 1 })
      prober.on('error', () => {})
      await prober.query('create table probes (count integer); insert into probes values (0)')
      return {
        module: import.meta.filename,
        url: direct,
        source: source(direct),
        network: { host: '127.0.0.1', port, urlBy: (proxy) => urlOf(direct, { port: proxy }) },
        now: async () => {
          const { rows } = await user.query('select floor(extract(epoch from clock_timestamp()) * 1000) as now')
          return Number(rows[0].now)
        },
        probe: () => prober.query('update probes set count = count + 1'),
        clock: 'own',
        server: underChaos(server, user),
        isFree: () => true,
        disk: { reason: 'the server has it' },
        effects: async () => (await user.query('select * from effects')).rows.map(rowOf),
        async close() {
          await Promise.all([user.end(), prober.end()])
          await bouncer?.stop()
          await inDatabase(server.url, (client) => client.query(`drop database ${database} with (force)`))
        },
      }
    },
  }
}

/** What crashes lose here is what they lose at our users': nothing is switched off. */
const SETTINGS = { max_connections: '80' }

/** Longer than any delay of a busy machine, and short enough that a lost answer does not block its caller for long. */
const TIMEOUT_MS = 3_000

export const source: StoreModule['source'] = (url) => postgres(url, { migrate: 'auto', timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = async (tx, { schedule, dueAt, nonce, attempt, token, node, at }) => {
  const values = [schedule, dueAt, nonce, attempt, token, node, at]
  await (tx as pg.ClientBase).query('insert into effects values ($1, $2, $3, $4, $5, $6, $7)', values)
}

const SIGNALS: Readonly<Record<ServerEnd, NodeJS.Signals>> = { fast: 'SIGINT', immediate: 'SIGQUIT', crash: 'SIGKILL' }

function underChaos(server: Server, user: pg.Pool): ServerUnderChaos {
  return {
    async restart(end, downMs) {
      await server.halt(SIGNALS[end])
      await sleep(downMs)
      await server.restart()
    },
    async disconnect(share) {
      const { rowCount } = await user.query(
        `select pg_terminate_backend(pid) from (
           select pid, row_number() over (order by random()) as place, count(*) over () as all from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()) as others
         where place <= others.all * $1::float8`,
        [share],
      )
      return rowCount ?? 0
    },
    clock: { reason: 'the server has its own' },
    tricks: [],
  }
}

function rowOf({ schedule, due_at, nonce, attempt, token, node, at }: Record<string, unknown>): EffectRow {
  return {
    schedule: String(schedule),
    dueAt: Number(due_at),
    nonce: String(nonce),
    attempt: Number(attempt),
    token: String(token),
    node: String(node),
    at: Number(at),
  }
}

function urlOf(base: string, { port, database }: { readonly port?: number; readonly database?: string }): string {
  const url = new URL(base)
  if (port !== undefined) url.port = String(port)
  if (database !== undefined) url.pathname = database
  return url.href
}

async function inDatabase(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
