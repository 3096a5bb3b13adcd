import { simulate } from '../simulation/simulate.ts'
import type { Effort, Found } from './judge.ts'

/** Simulates one seed after the other until something is wrong. Run in a process that is a mutant. */
const { seeds, history } = JSON.parse(process.argv[2]!) as Effort

let found: Found = { by: [], message: '', tried: seeds.length, seed: null }
for (const [index, seed] of seeds.entries()) {
  const { violations } = await simulate(seed, { goOn: history })
  const counting = violations.filter(({ name }) => !history || name.startsWith('C'))
  if (counting.length === 0) continue
  const by = [...new Set(counting.map(({ name }) => name.split(' ', 1)[0]!))]
  found = { by, message: `seed ${seed}: ${counting[0]!.message}`, tried: index + 1, seed }
  break
}
console.log(JSON.stringify(found))
