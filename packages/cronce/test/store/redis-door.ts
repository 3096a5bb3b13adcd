import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What clients are connected to can be exchanged behind their backs, as by a failover. */
export interface Door {
  readonly url: string
  lead(to: { readonly port: number }): void
  close(): void
}

export async function startDoor(target: { readonly port: number }): Promise<Door> {
  let { port } = target
  const sockets = new Set<Socket>()
  const door = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server).pipe(client)
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const closeAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: `redis://127.0.0.1:${(door.address() as AddressInfo).port}`,
    lead(to) {
      port = to.port
      closeAll()
    },
    close() {
      door.close()
      closeAll()
    },
  }
}
