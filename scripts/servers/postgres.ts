import { realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { postgresTemplate } from './postgres-template.ts'
import { probe } from './probe.ts'
import { type Server, type ServerPlan, startServer, unready } from './server.ts'
import { POSTGRES_DATA } from './shared-memory.ts'

export interface PostgresOptions {
  /** Server settings over the defaults, for example `{ fsync: 'off' }`. The defaults are our users': fsync is on. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Over TCP as our users log in. The socket lies in a directory that is closed to everyone else. */
const AUTH = ['--auth-host=scram-sha-256', '--auth-local=trust']
const INITDB = ['-D', POSTGRES_DATA, '-U', 'postgres', '-E', 'UTF8', '--no-locale', '--no-sync', ...AUTH]

/** A PostgreSQL server. Its URL logs in as the superuser `postgres` into the database `postgres`. */
export async function startPostgres(options: PostgresOptions = {}, locate: Obtain = obtain): Promise<Server> {
  // Resolved, because the link on a PATH may point into the folder where the rest of that version is.
  const bin = dirname(realpathSync(await locate('initdb')))
  const { password, copy, keep } = postgresTemplate(bin, INITDB)
  return startServer({
    ...postgresPlan(options, bin),
    prepare: async (home) => {
      const pwfile = join(home.directory, 'password')
      writeFileSync(pwfile, password)
      const code = await home.run(copy ?? { file: join(bin, 'initdb'), args: [...INITDB, '--pwfile', pwfile] })
      if (code !== 0) throw unready({ name: 'postgres' }, home, `its data could not be made: ${code}`)
      keep(home.directory)
    },
    url: (port) => `postgres://postgres:${password}@${LOOPBACK}:${port}/postgres`,
  })
}

/** All that is the same however its data came about. */
export function postgresPlan(options: PostgresOptions, bin: string): Omit<ServerPlan, 'prepare' | 'url'> {
  return {
    name: 'postgres',
    portCount: 1,
    endSignal: 'SIGQUIT', // Immediate: no checkpoint for data that is about to be removed.
    restartSignal: 'SIGINT', // Fast: ends the sessions, then writes a checkpoint.
    command: async ([port], directory) => {
      const settings = {
        listen_addresses: LOOPBACK,
        port: String(port),
        unix_socket_directories: directory,
        // In the data directory instead of /dev/shm, where a killed server's segments would stay.
        dynamic_shared_memory_type: 'mmap',
        ...options.settings,
      }
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      return { file: join(bin, 'postgres'), args: ['-D', join(directory, POSTGRES_DATA), ...args] }
    },
    // Only this server can be on this socket, and a server that did not get its TCP port does not open it.
    isReady: ([port], directory) => probe({ path: join(directory, `.s.PGSQL.${port}`) }, startup(), judgeStartup),
  }
}

/** The first message of PostgreSQL's protocol 3.0: user and database. */
function startup(): Buffer {
  const body = Buffer.from('user\0postgres\0database\0postgres\0\0')
  const head = Buffer.alloc(8)
  head.writeInt32BE(head.length + body.length, 0)
  head.writeInt32BE(3 << 16, 4)
  return Buffer.concat([head, body])
}

const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05I')

function judgeStartup(reply: Buffer): boolean | undefined {
  if (reply[0] === 'E'.charCodeAt(0)) return false // "The database system is starting up."
  return reply.subarray(-READY_FOR_QUERY.length).equals(READY_FOR_QUERY) ? true : undefined
}
