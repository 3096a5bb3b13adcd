import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import cron, { type TaskContext } from 'node-cron'
import { runCoordinator } from '../../src/node-cron.ts'
import type { Line, Message, Order, OrderedTask } from './coordinator-order.ts'

/** One process of a fleet of node-cron users: tasks, and now a coordinator. */
const { CRONCE_TEST_ORDER = '' } = process.env
const order = JSON.parse(CRONCE_TEST_ORDER) as Order
const BACKGROUND = fileURLToPath(new URL('./coordinator-background.ts', import.meta.url))
/** On a busy machine the process of a background task takes long to start. */
const START_MS = 60_000
const SILENT = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }

const coordinator = runCoordinator(order.store, { ...order.options, logger: false, lease: '2s' })
cron.setRunCoordinator(coordinator)
cron.setLogger(SILENT)
process.once('disconnect', () => process.exit())
await coordinator.ready()

for (const { name, isBackground = false, workMs = 5 } of order.tasks) {
  const target = isBackground ? BACKGROUND : (context: TaskContext) => work(name, workMs, context)
  const options = { name, distributed: true, startTimeout: START_MS }
  const task = coordinator.watch(cron.createTask('* * * * * *', target, options))
  task.on('execution:skipped', ({ reason }) => tell({ type: 'skipped', task: name, reason: reason! }))
  task.on('execution:finished', () => tell({ type: 'ran', task: name }))
  await task.start()
}
tell({ type: 'ready' })

async function work(task: OrderedTask['name'], workMs: number, { date }: TaskContext): Promise<void> {
  const about = { process: order.name, task, slot: date.getTime() }
  const note = (what: Line['what']): void => {
    const line: Line = { what, ...about, token: String(coordinator.current()?.token) }
    appendFileSync(order.witness, `${JSON.stringify(line)}\n`)
  }
  note('started')
  await sleep(workMs)
  note('ended')
}

function tell(message: Message): void {
  if (process.connected) process.send!(message, () => {})
}
