// One app in virtual time, measured by turns: all turns have the same heap, code and machine, and nothing waits.
import { measuredApp } from './measured-app.ts'
import type { Kind, Measured, Round } from './metrics-plan.ts'

const [schedules = 0, triples = 0] = process.argv.slice(2).map(Number)
/** Before these, code is still being compiled, and the store is not yet as full as it gets. */
const WARM_UP = 3
/** Measured together: a kernel may count the time of a running thread in steps of 4 ms, some percent of one round. */
const ROUNDS = 20
const COUNTED = 5_000_000
const KINDS: readonly Kind[] = ['without', 'control', 'measured']

const app = await measuredApp(schedules)
const found: Round[] = []
for (let triple = -WARM_UP; triple < triples; triple++) {
  const round: Partial<Record<Kind, number>> = {}
  for (const kind of shuffled(KINDS)) round[kind] = await cpuOfRounds(kind === 'measured')
  if (triple >= 0) found.push(round as Round)
}
// The first loop compiles it.
app.countingNs(COUNTED)
const sent: Measured = { rounds: found, countingNs: app.countingNs(COUNTED) }
await app.stop()
process.send!(sent)

/** CPU microseconds of the main thread per fire, of some rounds. */
async function cpuOfRounds(isMeasured: boolean): Promise<number> {
  const measuring = isMeasured ? app.measure() : null
  const before = process.threadCpuUsage()
  for (let round = 0; round < ROUNDS; round++) await app.round()
  const { user, system } = process.threadCpuUsage(before)
  measuring?.stop()
  return (user + system) / (schedules * ROUNDS)
}

/** By chance, so that nothing periodic always meets the same kind. */
function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
