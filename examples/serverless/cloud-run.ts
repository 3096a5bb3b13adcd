/**
 * A service of Cloud Run that Cloud Scheduler calls: an HTTP target `https://…/fires` with the header `Authorization: Bearer …`, no body,
 * and a job that is named like the schedule. Its headers contain the due time, so however often it is delivered, there is one fire.
 * The service may scale to zero. There is no start(): the fire runs before the answer, while Cloud Run grants CPU time.
 */
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { cronce } from 'cronce'
import { Hono } from 'hono'

const { STORE = 'sqlite:./shop.db', PORT = '8080', CRONCE_FIRE_TOKEN } = process.env
// A store that all containers reach: PostgreSQL or Redis.
const app = cronce({ store: STORE, signals: false })

app.job('report', { retry: 3, timeout: '10m' }, async (run) => {
  console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
  await sleep(1_000, undefined, { signal: run.signal }) // your work
  console.log(`done ${run.fire.dueAt}`)
})

const web = new Hono()
web.get('/', (context) => context.text('hello'))
web.post('/fires', (context) => app.handleFire(context.req.raw, { token: CRONCE_FIRE_TOKEN }))

const server = serve({ fetch: web.fetch, port: Number(PORT) }, () => {
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`)
})
// Cloud Run waits 10 s after SIGTERM. Requests that are under way end first, and with them their runs; then the store is closed.
process.once('SIGTERM', () => server.close(() => void app.stop().then(() => process.exit())))
