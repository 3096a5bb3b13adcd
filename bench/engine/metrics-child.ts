// One app that is measured in every other round, so that both kinds of rounds have the same process and the same machine.
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce, type NewSchedule, type StoreSource } from 'cronce'
import { memory } from 'cronce/memory'
import { type Metrics, metrics } from 'cronce/metrics'
import { sqlite } from 'cronce/sqlite'
import type { Rounds } from './metrics-plan.ts'

const [file = '', ...numbers] = process.argv.slice(2)
const [count = 0, rounds = 0, periodMs = 0] = numbers.map(Number)
/** Before these, code is still being compiled. */
const WARM_UP = 4
/** Claims begin up to half a second before a due time: each round begins before that. */
const LEAD_MS = 600

const store = (file === '' ? memory() : sqlite(file)) as StoreSource
const app = cronce({ store, app: 'bench', deployment: 'one', concurrency: 1_000, signals: false, logger: false })
let runs = 0
app.job('noop', {}, () => {
  runs++
})
const anchor = Date.now() + 2_000 + count / 8
const schedule: NewSchedule = { job: 'noop', every: { interval: periodMs, anchor } }
await app.schedules.createMany(Array.from({ length: count }, (_, number) => [String(number), schedule] as const))
await app.start()

const found: Rounds = { without: [], measured: [], incomplete: 0 }
let measuring: Metrics | null = null
for (let round = -WARM_UP; round < rounds; round++) {
  const dueAt = anchor + (round + WARM_UP) * periodMs
  await until(dueAt - LEAD_MS)
  // Without, with, with, without: what grows from round to round is the same for both.
  const isMeasured = (round + WARM_UP) % 4 === 1 || (round + WARM_UP) % 4 === 2
  measuring?.stop()
  measuring = isMeasured ? metrics(app) : null
  const before = { cpu: process.threadCpuUsage(), runs }
  await until(dueAt + periodMs - LEAD_MS - 50)
  const { user, system } = process.threadCpuUsage(before.cpu)
  if (runs - before.runs !== count) found.incomplete++
  else if (round >= 0) found[isMeasured ? 'measured' : 'without'].push((user + system) / count)
}
await app.stop()
process.send!(found)

function until(at: number): Promise<void> {
  return sleep(Math.max(0, at - Date.now()))
}
