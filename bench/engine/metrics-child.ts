// One app in one process, measured in some of its rounds: all rounds have the same heap, code and machine.
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce, type NewSchedule, type StoreSource } from 'cronce'
import { memory } from 'cronce/memory'
import { metrics } from 'cronce/metrics'
import { sqlite } from 'cronce/sqlite'
import type { Kind, Round } from './metrics-plan.ts'

const [file = '', ...numbers] = process.argv.slice(2)
const [count = 0, triples = 0, periodMs = 0] = numbers.map(Number)
/** Before these, code is still being compiled. */
const WARM_UP = 4
/** Claims begin up to half a second before a due time: each round begins before that. */
const LEAD_MS = 600
const KINDS: readonly Kind[] = ['without', 'control', 'measured']

let runs = 0
const anchor = Date.now() + 3_000 + count / 4
const app = await startApp()
const found: Round[] = []
let dueAt = anchor
for (let triple = -WARM_UP; triple < triples; triple++) {
  const round: Partial<Record<Kind, number | undefined>> = {}
  for (const kind of shuffled(KINDS)) {
    await until(dueAt - LEAD_MS)
    round[kind] = await cpuOfRound(kind === 'measured')
  }
  const { without, control, measured } = round
  if (triple >= 0) found.push({ without: without ?? null, control: control ?? null, measured: measured ?? null })
}
await app.stop()
process.send!(found)

/** CPU microseconds of the main thread per fire; `undefined`: not every fire ran in its own period. */
async function cpuOfRound(isMeasured: boolean): Promise<number | undefined> {
  const measuring = isMeasured ? metrics(app) : null
  const before = { cpu: process.threadCpuUsage(), runs }
  dueAt += periodMs
  await until(dueAt - LEAD_MS)
  const { user, system } = process.threadCpuUsage(before.cpu)
  measuring?.stop()
  return runs - before.runs === count ? (user + system) / count : undefined
}

async function startApp() {
  const store = (file === '' ? memory() : sqlite(file)) as StoreSource
  const made = cronce({ store, app: 'bench', deployment: 'one', concurrency: 1_000, signals: false, logger: false })
  made.job('noop', {}, () => {
    runs++
  })
  const schedule: NewSchedule = { job: 'noop', every: { interval: periodMs, anchor } }
  await made.schedules.createMany(Array.from({ length: count }, (_, number) => [String(number), schedule] as const))
  await made.start()
  return made
}

/** By chance, so that nothing periodic always meets the same kind. */
function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

function until(at: number): Promise<void> {
  return sleep(Math.max(0, at - Date.now()))
}
