/**
 * AWS Lambda behind a rule of EventBridge that is named like the schedule. EventBridge delivers at least once; the store makes one
 * fire of all deliveries of one time, in however many functions they arrive. There is no start() and no stop(): the fire runs
 * before the handler returns, and Lambda freezes the process.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'

const { STORE = 'sqlite:./shop.db' } = process.env
// A store that all functions reach: PostgreSQL or Redis. A lease shorter than the time limit of the function.
const app = cronce({ store: STORE, lease: '5s' })

app.job('report', { retry: 3, timeout: '1m' }, async (run) => {
  console.log(`began ${run.fire.dueAt}, attempt ${run.attempt}`)
  await sleep(1_000, undefined, { signal: run.signal }) // your work
  console.log(`done ${run.fire.dueAt}`)
})

/** IAM decides who may invoke the function. This token never leaves the process. */
const token = randomUUID()

export async function handler(event: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = new Request('https://lambda.invalid/', { method: 'POST', headers, body: JSON.stringify(event) })
  const answer = await app.handleFire(request, { token })
  // Lambda delivers an event again if its handler throws, twice by default.
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  return answer.json()
}
