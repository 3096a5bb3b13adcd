/** One process of the experiment, until its parent has ended: a task of five milliseconds, every second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import cron, { type RunCoordinator } from 'node-cron'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { runCoordinator } from '../../packages/cronce/src/node-cron/coordinator.ts'
import { EVERY_SECOND, type Message, type Order, TASK, WORK_MS } from './order.ts'
import { plainLock } from './plain-lock.ts'

const { system, redis } = JSON.parse(process.argv[2]!) as Order
process.once('disconnect', () => process.exit())

switch (system) {
  case 'lock':
    schedule(plainLock(new Redis(redis)))
    break
  case 'coordinator': {
    const coordinator = runCoordinator(redis, { logger: false, signals: false })
    await coordinator.ready()
    schedule(coordinator)
    break
  }
  case 'jobs': {
    const app = cronce({ store: redis, logger: false, signals: false, app: 'skew', deployment: 'one' })
    // As node-cron would: a run that is slow to end keeps no other from beginning.
    app.job(TASK, { cron: EVERY_SECOND, overlap: 'allow' }, ({ fire }) => work(fire.dueAt))
    await app.start()
  }
}
tell({ type: 'ready' })

function schedule(coordinator: RunCoordinator): void {
  cron.setLogger({ info() {}, warn() {}, error() {}, debug() {} })
  cron.schedule(EVERY_SECOND, ({ date }) => work(date.getTime()), {
    name: TASK,
    distributed: true,
    runCoordinator: coordinator,
  })
}

async function work(slot: number): Promise<void> {
  tell({ type: 'run', slot })
  await sleep(WORK_MS)
}

function tell(message: Message): void {
  if (process.connected) process.send!(message, () => {})
}
