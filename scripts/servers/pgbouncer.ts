import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

export interface PgbouncerOptions {
  /** The PostgreSQL server to pool for: what `startPostgres` returned, or anything with such a URL. */
  readonly upstream: { readonly url: string }
  /** Server connections per user and database. @default 10 */
  readonly poolSize?: number
  /** When a server connection goes back to the pool: at the end of which of these. @default 'transaction' */
  readonly mode?: 'session' | 'transaction' | 'statement'
}

/** A PgBouncer in front of a PostgreSQL server. Its URL is the upstream's with another port. */
export async function startPgbouncer(options: PgbouncerOptions, locate: Obtain = obtain): Promise<Server> {
  return startServer(pgbouncerPlan(options, await locate('pgbouncer'), await locate('psql')))
}

function pgbouncerPlan(options: PgbouncerOptions, file: string, psql: string): ServerPlan {
  const upstream = new URL(options.upstream.url)
  const user = decodeURIComponent(upstream.username)
  const password = decodeURIComponent(upstream.password)
  const url = (port: number, database = upstream.pathname.slice(1)) => {
    const own = new URL(upstream)
    own.host = `${LOOPBACK}:${port}`
    own.pathname = database
    return own.href
  }
  return {
    name: 'pgbouncer',
    portCount: 1,
    endSignal: 'SIGTERM', // Immediate in PgBouncer's terms: it does not wait for its clients.
    restartSignal: 'SIGTERM',
    prepare: async (home) => {
      writeFileSync(join(home.directory, 'users.txt'), `"${user}" "${password}"\n`)
    },
    command: async ([port], directory) => {
      const lines = [
        '[databases]',
        `* = host=${upstream.hostname} port=${upstream.port || 5432}`,
        '[pgbouncer]',
        `listen_addr = ${LOOPBACK}`,
        `listen_port = ${port}`,
        // With a socket to listen on it would run on without its TCP port; without one it ends, and we retry.
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${join(directory, 'users.txt')}`,
        `admin_users = ${user}`,
        `pool_mode = ${options.mode ?? 'transaction'}`,
        `default_pool_size = ${options.poolSize ?? 10}`,
        'max_client_conn = 1000',
        // By default PgBouncer refuses clients for 15 s after it has lost its server.
        'server_login_retry = 1',
        // Drivers send this at login, and PgBouncer turns away what it cannot track.
        'ignore_startup_parameters = extra_float_digits',
      ]
      const config = join(directory, 'pgbouncer.ini')
      writeFileSync(config, `${lines.join('\n')}\n`)
      return { file, args: [config] }
    },
    // The console answers even while the upstream is down. Logging in with SCRAM proves the server to the client
    // as well, so another PgBouncer on this port does not pass for ours.
    isReady: ([port]) => answers(psql, [url(port!, 'pgbouncer'), '-X', '-c', 'show version']),
    url,
  }
}

function answers(file: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 60_000 }, (error) => resolve(error === null))
  })
}
