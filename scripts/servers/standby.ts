import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { type PostgresOptions, postgresPlan } from './postgres.ts'
import { type Server, startServer, unready } from './server.ts'
import { POSTGRES_DATA } from './shared-memory.ts'

export interface StandbyOptions extends PostgresOptions {
  /** The server to follow: what `startPostgres` returned, or anything with such a URL. */
  readonly primary: { readonly url: string }
  /** Where it reaches the primary: the port of a proxy, that can cut them apart. @default the primary's own */
  readonly port?: number
}

/**
 * A copy of a PostgreSQL server that follows it asynchronously, and answers reads. Its URL is the primary's with another port. Settings
 * that bound connections must not be below the primary's.
 */
export async function startStandby(options: StandbyOptions, locate: Obtain = obtain): Promise<Server> {
  const bin = dirname(realpathSync(await locate('initdb')))
  const file = await locate('basebackup')
  const at = (port: number | string): string => {
    const url = new URL(options.primary.url)
    url.host = `${LOOPBACK}:${port}`
    return url.href
  }
  return startServer({
    ...postgresPlan(options, bin),
    prepare: async (home) => {
      const primary = at(options.port ?? new URL(options.primary.url).port)
      const args = ['-d', primary, '-D', POSTGRES_DATA, '-X', 'stream', '-c', 'fast', '-R', '--no-sync']
      const code = await home.run({ file, args })
      if (code !== 0) throw unready({ name: 'postgres' }, home, `pg_basebackup ended with ${code}`)
    },
    url: at,
  })
}

const run = promisify(execFile)
const PROMOTE_LIMIT_MS = 60_000

/** Promotes a standby, regardless of the old primary. It accepts writes when this returns. */
export async function promote(standby: { readonly url: string }, locate: Obtain = obtain): Promise<void> {
  const psql = await locate('psql')
  await run(psql, [standby.url, '-XAtqc', 'select pg_promote()'], { timeout: PROMOTE_LIMIT_MS })
}
