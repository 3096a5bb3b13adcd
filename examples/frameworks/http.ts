/**
 * A server without a framework and cronce in one process, on Node.js, Deno and Bun: `node examples/frameworks/http.ts`,
 * `deno run -A http.ts`, `bun http.ts`. Start as many replicas as you need. Each fire of the job runs in one of them.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'

const { STORE = 'sqlite:./shop.db', PORT = '3000' } = process.env
/** Less than the platform waits between SIGTERM and SIGKILL: Kubernetes 30 s, Docker 10 s. */
const DRAIN_MS = 25_000

// By itself, cronce ends the process after its runs, and would cut off requests. shutDown() waits for both.
const app = cronce({ store: STORE, drain: DRAIN_MS, signals: false })

app.job('report', { every: '2s' }, async (run) => {
  console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
  await sleep(1_000, undefined, { signal: run.signal }) // your work
  console.log(`done ${run.fire.dueAt}`)
})

const server = createServer((request, response) => {
  // Ready from the moment in which this instance is part of the fleet until it leaves.
  if (request.url === '/readyz') response.writeHead(app.instance === null ? 503 : 200).end()
  else response.end('hello')
})
server.listen(Number(PORT), () => {
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`)
})
// Before start(): a platform may end a process that is still starting.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, shutDown)
// Rejects if the store can't be opened: the process exits, and the platform restarts it.
await app.start()

async function shutDown(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  // stop() claims nothing more, and waits for runs. What takes longer than `drain` is handed to a peer.
  await Promise.all([Promise.race([closed, sleep(DRAIN_MS)]), app.stop()])
  process.exit()
}
