import { StoreError } from '../../store-error.ts'
import { isIdleEnd, sqlStateOf } from '../errors.ts'
import type { Connection, Query, Row } from './connection.ts'

/** The parts of a `pg` client that cronce uses. */
export interface PgClient {
  readonly processID?: number | null
  /** Not with native bindings. */
  readonly connection?: { readonly stream?: { destroy(): void } }
  connect(): Promise<unknown>
  query(query: string | PgQuery): Promise<PgResult | PgResult[]>
  end(): Promise<void>
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown
  off(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
  ref?(): void
  unref?(): void
}

interface PgQuery {
  readonly text: string
  readonly values: readonly string[]
  readonly name?: string
}

interface PgResult {
  readonly rows: readonly Row[]
  readonly command?: string
}

export type PgClientClass = new (config: object) => PgClient

/** A dedicated client, which detects a dead peer by itself. */
export async function connectPg(Client: PgClientClass, config: object, timeoutMs: number): Promise<Connection> {
  const client = new Client({
    ...config,
    // The pool's statement timeout is not meant for a session, which waits.
    query_timeout: undefined,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: Math.max(1, Math.ceil(timeoutMs)),
  })
  const connection = pgConnection(client)
  const begunAt = performance.now()
  try {
    await client.connect()
  } catch (error) {
    connection.destroy()
    // pg reports that the connection ended, not that our own limit ended it.
    if (sqlStateOf(error) === null && performance.now() - begunAt >= timeoutMs) throw noAnswer(timeoutMs, error)
    throw error
  }
  return connection
}

function noAnswer(timeoutMs: number, cause: unknown): Error {
  return new Error(`no answer within ${Math.round(timeoutMs)} ms, the limit that timeoutMs sets`, { cause })
}

/** `detach` removes our listeners from a client that goes back to the application's pool. */
export function pgConnection(client: PgClient): Connection & { detach(): void } {
  let isOpen = true
  const listeners: (() => void)[] = []
  const lost = (): void => {
    if (!isOpen) return
    isOpen = false
    for (const listener of listeners) listener()
  }
  client.on('error', lost)
  client.on('end', lost)
  return {
    get pid() {
      return client.processID ?? null
    },
    get isOpen() {
      return isOpen
    },
    async query({ text, values, name }: Query) {
      const result = await client.query(name === undefined ? { text, values } : { text, values, name })
      return lastOf(result).rows
    },
    async script(sql) {
      return lastOf(await client.query(sql)).rows
    },
    begin: (work) => begin(client, work),
    onLost: (listener) => void listeners.push(listener),
    onNotify(listener) {
      client.on('notification', ({ channel, payload }) => listener(channel, payload ?? ''))
    },
    keepsProcess(keeps) {
      if (keeps) client.ref?.()
      else client.unref?.()
    },
    destroy() {
      lost()
      const stream = client.connection?.stream
      // `end` would send a message and wait for a server that does not answer.
      if (stream === undefined) client.end().catch(() => {})
      else stream.destroy()
    },
    detach() {
      client.off('error', lost)
      client.off('end', lost)
    },
  }
}

async function begin<Value>(client: PgClient, work: (tx: unknown) => Promise<Value>): Promise<Value> {
  await client.query('begin')
  // The server says why it ends an idle session before the next request, which only fails.
  let reason: unknown
  const listen = (error: unknown): void => {
    if (isIdleEnd(error)) reason = error
  }
  client.on('error', listen)
  try {
    return await finish(client, work)
  } catch (error) {
    throw reason ?? error
  } finally {
    client.off('error', listen)
  }
}

async function finish<Value>(client: PgClient, work: (tx: unknown) => Promise<Value>): Promise<Value> {
  let value: Value
  try {
    value = await work(client)
  } catch (error) {
    await client.query('rollback')
    throw error
  }
  // The server answers the commit of an aborted transaction with a rollback, which drivers report as success.
  if (lastOf(await client.query('commit')).command === 'ROLLBACK') throw aborted()
  return value
}

export function aborted(cause?: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_ABORTED',
    'A statement failed in the transaction, and all of it was rolled back.',
    { hint: 'Let the error of a failed statement through, or put a savepoint before it.', cause },
  )
}

function lastOf(result: PgResult | PgResult[]): PgResult {
  return Array.isArray(result) ? result[result.length - 1]! : result
}
