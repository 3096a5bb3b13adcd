/**
 * Fastify and cronce in one process: `node examples/frameworks/fastify.ts`. Start as many replicas as you need. Each of them
 * serves requests, and each fire of the job runs in one of them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'
import fastify from 'fastify'

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

const web = fastify()
web.get('/', async () => 'hello')
// Ready from the moment in which this instance is part of the fleet until it leaves.
web.get('/readyz', async (_request, reply) => reply.code(app.instance === null ? 503 : 200).send())

console.log(`listening on ${await web.listen({ port: Number(PORT) })}`)
// Before start(): a platform may end a process that is still starting.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, shutDown)
// Not in the hook onListen, whose errors Fastify only logs. If the store can't be opened, the process exits.
await app.start()

async function shutDown(): Promise<void> {
  // Not in the hook onClose, which is called after the last request: until then this instance would go on claiming fires.
  await Promise.all([Promise.race([web.close(), sleep(DRAIN_MS)]), app.stop()])
  process.exit()
}
