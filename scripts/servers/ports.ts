import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/**
 * Below the range from which kernels take the local ports of outgoing connections. Otherwise, while a server
 * is down, a client that keeps trying could be given the server's port: it would talk to itself, or keep the
 * server from coming back.
 */
export const LOWEST = 15_000
const BEYOND = 32_000
const TRIES = 100

/** Distinct free ports. Another process may still take one first: the caller must retry. */
export async function pickFreePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  for (let tries = 0; tries < TRIES && ports.size < count; tries += 1) {
    const port = randomInt(LOWEST, BEYOND)
    if (await isFree(port)) ports.add(port)
  }
  if (ports.size < count) throw new Error(`No ${count} free ports among ${TRIES} tried.`)
  return [...ports]
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
