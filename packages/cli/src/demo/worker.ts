import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cronce, cronce, type Run } from 'cronce'
import { sqlite } from 'cronce/sqlite'
import { aborted } from '../aborted.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { Message, Order } from './order.ts'
import { type DemoSchedule, ENCORE, SCHEDULES } from './schedules.ts'
import { declareShop, SHOP_APP } from './shop.ts'
import { type Line, openWitness } from './witness.ts'

/** How a process of the demo is started with its order. */
export const ORDER_VARIABLE = 'CRONCE_DEMO_ORDER'

/** The order of a process that the demo has started; `null` in all others. */
export function orderOf({ env }: Pick<Io, 'env'>): Order | null {
  const text = env[ORDER_VARIABLE]
  return text === undefined || process.send === undefined ? null : (JSON.parse(text) as Order)
}

type DemoRun = Run<unknown, DatabaseSync>

/** One of the three processes: an ordinary application, and a witness. */
export async function runWorker(order: Order, io: Io): Promise<number> {
  const { file, witness, leaseMs, deployment, isEncore, brokenFrom } = order
  const write = openWitness(witness)
  const testify = (what: Line['what'], { fire, token }: DemoRun): void =>
    write({ what, schedule: fire.schedule, dueAt: fire.dueAt, token: String(token) })
  const app = cronce<DatabaseSync>({
    ...{ store: sqlite(file), app: SHOP_APP, deployment, lease: leaseMs, drain: '1s' },
    ...{ logger: false, signals: false },
    ...(brokenFrom === null ? {} : { alerts: {} }),
  })
  for (const schedule of isEncore ? ENCORE : SCHEDULES) {
    const { name, everyMs, options } = schedule
    app.job(name, { every: everyMs, ...options }, async (run) => {
      testify('started', run)
      try {
        await work(schedule, run, testify)
      } catch (error) {
        testify('threw', run)
        throw error
      }
      testify('ended', run)
    })
  }
  if (brokenFrom !== null) {
    const wait = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal })
    declareShop(app as unknown as Cronce, { sleep: wait, brokenFrom, detailFrom: 0 }, 0)
  }
  app.on('*', tell)
  const orphaned = new AbortController()
  process.once('disconnect', () => orphaned.abort())
  await app.start()
  await aborted(AbortSignal.any([io.signal, orphaned.signal]))
  await app.stop()
  // Else the channel to the parent keeps this process alive.
  if (process.connected) process.disconnect()
  return EXIT.ok
}

async function work(
  { everyMs, workMs, fails, pays }: DemoSchedule,
  run: DemoRun,
  testify: (what: Line['what'], run: DemoRun) => void,
): Promise<void> {
  // This job ignores its signal on purpose: a handler that continues regardless is the harder case.
  await sleep(workMs, undefined, pays === true ? {} : { signal: run.signal })
  if (fails === true && run.attempt === 1 && (run.fire.dueAt / everyMs) % 2 === 0) throw new Error('no mail server')
  if (pays !== true) return
  const { schedule, dueAt } = run.fire
  try {
    await run.transaction((tx) => {
      tx.prepare('insert into payments (schedule, due_at) values (?, ?)').run(schedule, dueAt)
    })
  } catch (error) {
    testify('refused', run)
    const { code } = error as { readonly code?: unknown }
    tell({ type: 'demo.refused', schedule, dueAt, code: String(code) })
    throw error
  }
}

function tell(message: Message): void {
  // With a callback: otherwise a closed channel to the parent would throw here.
  if (process.connected) process.send!(message, () => {})
}
