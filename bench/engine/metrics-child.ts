// Two apps in one process, of which one is measured. They have their fires in turn, so both have the same machine.
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce, type NewSchedule, type StoreSource } from 'cronce'
import { memory } from 'cronce/memory'
import { metrics } from 'cronce/metrics'
import { sqlite } from 'cronce/sqlite'
import type { Rounds } from './metrics-plan.ts'

const [file = '', ...numbers] = process.argv.slice(2)
const [count = 0, rounds = 0, periodMs = 0] = numbers.map(Number)
/** Before these, code is still being compiled. */
const WARM_UP = 3
/** Claims begin up to half a second before a due time: each round begins before that. */
const LEAD_MS = 600

const anchor = Date.now() + 3_000 + count / 4
const apps = [await startApp('without', anchor), await startApp('measured', anchor + periodMs / 2)]
const found: Rounds = { without: [], measured: [], incomplete: 0 }
for (let round = -WARM_UP; round < rounds; round++) {
  for (const { name, firstAt, runs } of apps) {
    const dueAt = firstAt + (round + WARM_UP) * periodMs
    await until(dueAt - LEAD_MS)
    const before = { cpu: process.threadCpuUsage(), runs: runs() }
    await until(dueAt + periodMs / 2 - LEAD_MS - 50)
    const { user, system } = process.threadCpuUsage(before.cpu)
    if (runs() - before.runs !== count) found.incomplete++
    else if (round >= 0) found[name].push((user + system) / count)
  }
}
await Promise.all(apps.map(({ app }) => app.stop()))
process.send!(found)

async function startApp(name: 'without' | 'measured', firstAt: number) {
  const store = (file === '' ? memory() : sqlite(`${file}-${name}`)) as StoreSource
  const app = cronce({ store, app: name, deployment: 'one', concurrency: 1_000, signals: false, logger: false })
  let runs = 0
  app.job('noop', {}, () => {
    runs++
  })
  if (name === 'measured') metrics(app)
  const schedule: NewSchedule = { job: 'noop', every: { interval: periodMs, anchor: firstAt } }
  await app.schedules.createMany(Array.from({ length: count }, (_, number) => [String(number), schedule] as const))
  await app.start()
  return { name, app, firstAt, runs: () => runs }
}

function until(at: number): Promise<void> {
  return sleep(Math.max(0, at - Date.now()))
}
