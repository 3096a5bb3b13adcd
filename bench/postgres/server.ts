import pg from 'pg'
import { startPostgres } from '../../scripts/servers/index.ts'

/** The server of one run of the benchmark: PostgreSQL's own defaults, fsync included. */
export interface BenchServer {
  readonly version: string
  /** The main process: its children are the backends. */
  readonly pid: number
  /** A connection to another database than the measured ones, so that its reads do not count. */
  readonly admin: pg.Client
  /** An empty database for each measurement, dropped afterwards. */
  withDatabase<Value>(work: (database: BenchDatabase) => Promise<Value>): Promise<Value>
  stop(): Promise<void>
}

export interface BenchDatabase {
  readonly name: string
  readonly url: string
  readonly server: BenchServer
}

export async function startBenchServer(): Promise<BenchServer> {
  const server = await startPostgres({
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      // Planning is work that a statement causes as well.
      'pg_stat_statements.track_planning': 'on',
    },
  })
  const admin = new pg.Client({ connectionString: server.url })
  admin.on('error', () => {})
  await admin.connect()
  await admin.query('create extension pg_stat_statements')
  const { rows } = await admin.query<{ readonly server_version: string }>('show server_version')
  let databases = 0
  const bench: BenchServer = {
    version: rows[0]!.server_version.split(' ')[0]!,
    pid: server.pid,
    admin,
    async withDatabase(work) {
      const name = `bench_${++databases}`
      await admin.query(`create database ${name}`)
      const url = new URL(server.url)
      url.pathname = `/${name}`
      try {
        return await work({ name, url: url.href, server: bench })
      } finally {
        await admin.query(`drop database ${name} with (force)`)
        // Dropping leaves dirty pages and full segments behind: the next measurement starts clean.
        await admin.query('checkpoint')
      }
    },
    async stop() {
      await admin.end()
      await server.stop()
    },
  }
  return bench
}

/** One statement on a connection of its own to the measured database; it counts there. */
export async function tell<Row extends pg.QueryResultRow>({ url }: BenchDatabase, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}
