/** What only the connection tells about a request. */
export interface Connection {
  /** The address of the other side; `undefined` where it has none any more. */
  readonly address: string | undefined
  /** The port on which it was accepted. */
  readonly port: number | undefined
  /** Such as `1.1`. */
  readonly httpVersion: string
}

const connections = new WeakMap<Request, Connection>()

export function setConnection(request: Request, connection: Connection): void {
  connections.set(request, connection)
}

/** `undefined` where the host hands over Requests of its own. */
export function connectionOf(request: Request): Connection | undefined {
  return connections.get(request)
}
