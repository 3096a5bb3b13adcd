import { breaksConnection, losesPreparation, silent, translate } from '../errors.ts'
import { type Connect, type Connection, type Deadline, type Lanes, type Query, type Row, within } from './connection.ts'

/** What the store needs from a driver. It throws StoreErrors, except for errors that users throw in their transactions. */
export interface Driver {
  readonly name: string
  /** One statement on its own. */
  query(query: Query, deadline: Deadline): Promise<readonly Row[]>
  script(sql: string, deadline: Deadline): Promise<readonly Row[]>
  /** `null`: it cannot reserve a connection. `onTaken` receives a function that ends the connection, where that is possible. */
  readonly begin:
    | (<Value>(
        work: (tx: unknown) => Promise<Value>,
        deadline: Deadline,
        onTaken: (abandon: () => void) => void,
      ) => Promise<Value>)
    | null
  /** A connection beside all others. `null`: not supported. */
  readonly connect: Connect | null
  close(): Promise<void>
}

export interface LaneOptions {
  readonly name: string
  readonly lanes: Lanes
  readonly connect: Connect | null
  /** `undefined`: only if no pooler is between this process and the server. */
  readonly prepare: boolean | undefined
}

/** On connections that can be destroyed one by one. */
export function laneDriver({ name, lanes, connect, prepare }: LaneOptions): Driver {
  let isDirect: boolean | undefined
  let mayPrepare = true

  const isPrepared = async (connection: Connection): Promise<boolean> => {
    if (!mayPrepare || prepare === false) return false
    if (prepare === true) return true
    isDirect ??= (await backendPid(connection)) === connection.pid
    return isDirect
  }

  const use = async <Value>(deadline: Deadline, work: (connection: Connection) => Promise<Value>): Promise<Value> => {
    const connection = await lanes.take('statement', deadline)
    try {
      return await within(work(connection), deadline.leftMs(), () => {
        connection.destroy()
        throw silent(name, deadline.timeoutMs, false)
      })
    } catch (error) {
      if (losesPreparation(error)) mayPrepare = false
      if (breaksConnection(error)) connection.destroy()
      throw translate(error, name, 'sent')
    } finally {
      lanes.put(connection)
    }
  }

  return {
    name,
    connect,
    query: (query, deadline) =>
      use(deadline, async (connection) =>
        connection.query((await isPrepared(connection)) ? query : { ...query, name: undefined }),
      ),
    script: (sql, deadline) => use(deadline, (connection) => connection.script(sql)),
    async begin(work, deadline, onTaken) {
      const connection = await lanes.take('transaction', deadline)
      onTaken(connection.destroy)
      let thrown: { readonly error: unknown } | undefined
      try {
        return await connection.begin(async (tx) => {
          try {
            return await work(tx)
          } catch (error) {
            thrown = { error }
            throw error
          }
        })
      } catch (error) {
        // After any other error the state of the connection is unknown.
        if (thrown === undefined || thrown.error !== error) connection.destroy()
        throw error
      } finally {
        lanes.put(connection)
      }
    },
    close: () => lanes.close(),
  }
}

/** The server's number of this session. */
export async function backendPid(connection: Connection): Promise<number> {
  const [row] = await connection.script('select pg_backend_pid()::text as answer')
  return Number(row?.answer)
}
