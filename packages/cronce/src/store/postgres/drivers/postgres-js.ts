import { connect as connectSocket, type Socket } from 'node:net'
import { noConnection, silent, translate } from '../errors.ts'
import { type Connect, type Connection, within } from './connection.ts'
import type { Driver } from './driver.ts'

interface Rows extends ReadonlyArray<Readonly<Record<string, unknown>>> {}

interface PendingQuery extends Promise<Rows | Rows[]> {
  /** The state of the session that it was sent on. */
  readonly state: { readonly pid: number | null } | null
  cancel(): void
}

/** An `sql` of postgres.js, of any version and type. */
export interface PostgresJsLike {
  readonly options: object
  unsafe(...args: never[]): unknown
  begin(...args: never[]): unknown
}

/** The parts of it that cronce uses. */
export interface Sql {
  readonly options: object
  unsafe(text: string, values?: readonly string[], options?: { prepare?: boolean }): PendingQuery
  begin<Value>(work: (tx: unknown) => Promise<Value>): Promise<Value>
  end(options?: { timeout: number }): Promise<void>
}

export type PostgresJs = ((url: string, options: object) => Sql) & ((options: object) => Sql)

export function isPostgresJs(target: unknown): target is Sql {
  return typeof target === 'function' && 'unsafe' in target && 'begin' in target && 'options' in target
}

/** A dedicated connection: an `sql` with exactly one. */
export async function connectPostgresJs(
  postgres: PostgresJs,
  target: string | Sql,
  timeoutMs: number,
): Promise<Connection> {
  let isOpen = true
  let socket: Socket | undefined
  const lostListeners: (() => void)[] = []
  const notifyListeners: ((channel: string, payload: string) => void)[] = []
  const lost = (): void => {
    if (!isOpen) return
    isOpen = false
    for (const listener of lostListeners) listener()
    // Otherwise it would reconnect by itself.
    sql.end({ timeout: 0 }).catch(() => {})
  }
  const options = {
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    connect_timeout: Math.max(1, Math.ceil(timeoutMs / 1_000)),
    keep_alive: 10,
    fetch_types: false,
    onnotice: () => {},
    onclose: lost,
    onnotify(channel: string, payload: string) {
      for (const listener of notifyListeners) listener(channel, payload)
    },
    // The socket of postgres.js cannot be destroyed while the server does not answer.
    async socket(resolved: SocketOptions) {
      socket = await openSocket(resolved)
      return socket
    },
  }
  const sql = typeof target === 'string' ? postgres(target, options) : postgres({ ...target.options, ...options })
  const first = sql.unsafe('select 1')
  try {
    await within(first, timeoutMs, () => {
      throw new Error(`no connection within ${Math.ceil(timeoutMs)} ms`)
    })
  } catch (error) {
    lost()
    socket?.destroy()
    throw error
  }
  return {
    pid: first.state?.pid ?? null,
    get isOpen() {
      return isOpen
    },
    query: async ({ text, values, name }) => lastOf(await sql.unsafe(text, values, { prepare: name !== undefined })),
    script: async (text) => lastOf(await sql.unsafe(text)),
    begin: (work) => sql.begin(work),
    onLost: (listener) => void lostListeners.push(listener),
    onNotify: (listener) => void notifyListeners.push(listener),
    keepsProcess(keeps) {
      if (keeps) socket?.ref()
      else socket?.unref()
    },
    destroy() {
      lost()
      socket?.destroy()
    },
  }
}

interface SocketOptions {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path: string | false
}

/** The first of these hosts that answers. */
async function openSocket({ host, port, path }: SocketOptions): Promise<Socket> {
  const places = path ? [{ path }] : host.map((name, at) => ({ host: name, port: port[at] ?? port[0]! }))
  let failure: unknown
  for (const place of places) {
    try {
      const socket = await connected(connectSocket(place))
      // The host name that certificates are checked against.
      return Object.assign(socket, 'host' in place ? place : {})
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/**
 * The user's own `sql`, which is not closed here. A statement that takes too long is cancelled; its connection can't be ended.
 */
export function postgresJsDriver(sql: Sql, name: string, connect: Connect | null, prepare: boolean): Driver {
  const run = async (pending: PendingQuery, leftMs: number, timeoutMs: number): Promise<Rows> => {
    try {
      const rows = await within(pending, leftMs, () => {
        const wasSent = pending.state !== null
        pending.catch(() => {})
        pending.cancel()
        throw wasSent ? silent(name, timeoutMs, false) : noConnection(name, `none was free for ${timeoutMs} ms`)
      })
      return lastOf(rows)
    } catch (error) {
      throw translate(error, name, pending.state === null ? 'connecting' : 'sent')
    }
  }
  return {
    name,
    connect,
    query: ({ text, values, name: own }, { leftMs, timeoutMs }) =>
      run(sql.unsafe(text, values, { prepare: prepare && own !== undefined }), leftMs(), timeoutMs),
    script: (text, { leftMs, timeoutMs }) => run(sql.unsafe(text), leftMs(), timeoutMs),
    begin: (work) => sql.begin(work),
    close: async () => {},
  }
}

/** Several statements return several results. */
function lastOf(rows: Rows | Rows[]): Rows {
  return Array.isArray(rows[0]) ? ((rows as Rows[]).at(-1) as Rows) : (rows as Rows)
}
