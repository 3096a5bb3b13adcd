/**
 * A route of Vercel, such as `app/api/fires/route.ts` of Next.js, that its cron jobs call:
 * `{ "crons": [{ "path": "/api/fires?schedule=report", "schedule": "* * * * *" }] }` in vercel.json, and CRON_SECRET among the
 * variables of the project. Vercel may deliver twice or late; the job has the same expression, so cronce finds the due time that is
 * meant. There is no start() and no stop(): the fire runs before the answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'

const { STORE = 'sqlite:./shop.db', CRON_SECRET } = process.env
// A store that all functions reach: PostgreSQL or Redis. A lease shorter than the time limit of the function.
const app = cronce({ store: STORE, lease: '5s' })

// Vercel does not deliver again, so retries follow within seconds.
app.job('report', { cron: '* * * * *', retry: { attempts: 3, backoff: { base: '1s', cap: '5s' } } }, async (run) => {
  console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
  await sleep(1_000, undefined, { signal: run.signal }) // your work
  console.log(`done ${run.fire.dueAt}`)
})

export function GET(request: Request): Promise<Response> {
  return app.handleFire(request, { token: CRON_SECRET })
}
