import { connect, type NetConnectOpts } from 'node:net'

const PROBE_LIMIT_MS = 10_000

/** One question to a server. `judge` sees all bytes so far and answers once they suffice; no answer is a no. */
export function probe(
  address: NetConnectOpts,
  question: Uint8Array | string,
  judge: (reply: Buffer) => boolean | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address)
    let reply = Buffer.alloc(0)
    const settle = (verdict: boolean) => {
      socket.destroy()
      resolve(verdict)
    }
    socket.setTimeout(PROBE_LIMIT_MS, () => settle(false))
    socket.once('error', () => settle(false))
    socket.once('close', () => resolve(false))
    socket.on('data', (chunk) => {
      reply = Buffer.concat([reply, chunk])
      const verdict = judge(reply)
      if (verdict !== undefined) settle(verdict)
    })
    socket.write(question)
  })
}
