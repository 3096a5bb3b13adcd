/** One of the three processes: an ordinary application, and a witness. */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce, type Run } from 'cronce'
import { sqlite } from 'cronce/sqlite'
import type { Message, Order } from './order.ts'
import { type DemoSchedule, SCHEDULES } from './schedules.ts'
import { type Line, openWitness } from './witness.ts'

const { file, witness, leaseMs } = JSON.parse(process.argv[2]!) as Order
const write = openWitness(witness)
const app = cronce<DatabaseSync>({ store: sqlite(file), app: 'demo', lease: leaseMs, drain: '1s', logger: false })

for (const schedule of SCHEDULES) {
  const { name, everyMs, options } = schedule
  app.job(name, { every: everyMs, ...options }, async (run) => {
    note('started', run)
    try {
      await work(schedule, run)
    } catch (error) {
      note('threw', run)
      throw error
    }
    note('ended', run)
  })
}

async function work({ everyMs, workMs, fails, pays }: DemoSchedule, run: Run<unknown, DatabaseSync>): Promise<void> {
  // This job ignores its signal on purpose: a handler that continues regardless is the harder case.
  await sleep(workMs, undefined, pays === true ? {} : { signal: run.signal })
  if (fails === true && run.attempt === 1 && (run.fire.dueAt / everyMs) % 2 === 0) throw new Error('no mail server')
  if (pays === true) await pay(run)
}

async function pay(run: Run<unknown, DatabaseSync>): Promise<void> {
  const { schedule, dueAt } = run.fire
  try {
    await run.transaction((tx) => {
      tx.prepare('insert into payments (schedule, due_at) values (?, ?)').run(schedule, dueAt)
    })
  } catch (error) {
    note('refused', run)
    const { code } = error as { readonly code?: unknown }
    tell({ type: 'demo.refused', schedule, dueAt, code: String(code) })
    throw error
  }
}

function note(what: Line['what'], { fire, token }: Run<unknown, DatabaseSync>): void {
  write({ what, schedule: fire.schedule, dueAt: fire.dueAt, token: String(token) })
}

function tell(message: Message): void {
  // With a callback: otherwise a closed channel to the parent would throw here.
  if (process.connected) process.send!(message, () => {})
}

process.once('disconnect', () => process.exit())
app.on('*', tell)
await app.start()
