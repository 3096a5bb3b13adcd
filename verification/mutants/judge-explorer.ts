import { explore } from '../explorer/explore.ts'
import { fleetModel, type ModelName } from '../explorer/models.ts'
import type { Found } from './judge.ts'

/** Explores one model after the other until something is wrong. Run in a process that is a mutant. */
const MODELS: readonly ModelName[] = ['one-fire', 'at-most-once', 'skip', 'queue', 'change', 'transaction']
/** What a mutant breaks shows soon, since the nearest states come first. */
const MOST_STATES = 20_000

let found: Found = { by: [], message: '', tried: MODELS.length, seed: null }
for (const [index, name] of MODELS.entries()) {
  const { violation } = await explore(fleetModel(name), { mostStates: MOST_STATES, stuckEvery: 20 })
  if (violation === null) continue
  const message = [`${name}: ${violation.message}`, ...violation.trace].join('\n')
  found = { by: [violation.name], message, tried: index + 1, seed: null }
  break
}
console.log(JSON.stringify(found))
