// One app in virtual time, measured in some of its rounds: all rounds have the same heap, code and machine, and nothing waits.
import { measuredApp } from './measured-app.ts'
import type { Kind, Round } from './metrics-plan.ts'

const [schedules = 0, triples = 0] = process.argv.slice(2).map(Number)
/** Before these, code is still being compiled, and the store is not yet as full as it gets. */
const WARM_UP = 40
const KINDS: readonly Kind[] = ['without', 'control', 'measured']

const app = await measuredApp(schedules)
const found: Round[] = []
for (let triple = -WARM_UP; triple < triples; triple++) {
  const round: Partial<Record<Kind, number>> = {}
  for (const kind of shuffled(KINDS)) round[kind] = await cpuOfRound(kind === 'measured')
  if (triple >= 0) found.push(round as Round)
}
await app.stop()
process.send!(found)

/** CPU microseconds of the main thread per fire. */
async function cpuOfRound(isMeasured: boolean): Promise<number> {
  const measuring = isMeasured ? app.measure() : null
  const before = process.threadCpuUsage()
  await app.round()
  const { user, system } = process.threadCpuUsage(before)
  measuring?.stop()
  return (user + system) / schedules
}

/** By chance, so that nothing periodic always meets the same kind. */
function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
