/** `npm run explore -- [--model name] [--workers N] [--ticks T] [--moments M] [--leaps L] [--most states] [--stuck-every n] [--json]` */
import { parseArgs } from 'node:util'
import { AHEAD_MODELS, type AheadModelName, aheadModel } from './ahead/model.ts'
import { type Exploration, type ExploreOptions, explore } from './explore.ts'
import { fleetModel, MODELS, type ModelName } from './models.ts'

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    workers: { type: 'string' },
    ticks: { type: 'string' },
    moments: { type: 'string' },
    leaps: { type: 'string' },
    most: { type: 'string' },
    'stuck-every': { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
})

type AnyName = ModelName | AheadModelName

const ALL = [...Object.keys(MODELS), ...Object.keys(AHEAD_MODELS)] as AnyName[]
const names = values.model === undefined ? ALL : [readModel(values.model)]
const results: Exploration[] = []
for (const name of names) {
  const options = { mostStates: readNumber(values.most), stuckEvery: readNumber(values['stuck-every']) }
  const result = await exploreModel(name, options)
  results.push(result)
  if (!values.json) tell(result)
}
if (values.json) console.log(JSON.stringify(results.map(withExpectation), null, 2))
process.exitCode = results.map(withExpectation).some(({ violation, isExpected }) => violation !== null && !isExpected)
  ? 1
  : 0

function exploreModel(name: AnyName, options: ExploreOptions): Promise<Exploration> {
  const workers = readNumber(values.workers)
  if (!isAhead(name)) return explore(fleetModel(name, { workers, ticks: readNumber(values.ticks) }), options)
  const given = { workers, moments: readNumber(values.moments), leaps: readNumber(values.leaps) }
  return explore(aheadModel(name, given), options)
}

function isAhead(name: AnyName): name is AheadModelName {
  return name in AHEAD_MODELS
}

/** Expected of a store that loses acknowledged writes. */
function withExpectation(result: Exploration): Exploration & { readonly isExpected: boolean } {
  return { ...result, isExpected: result.model.startsWith('failover') }
}

function tell({ model, states, edges, depth, continued, isComplete, violation, seconds }: Exploration): void {
  const extent = isComplete ? 'all' : 'not all'
  const size = `${states} states (${extent}), ${edges} moves, ${depth} deep, ${continued} continued`
  console.log(`${model}: ${size}, ${seconds.toFixed(1)} s, ${Math.round(states / seconds)} states/s`)
  if (violation === null) return
  console.log(`  ${violation.message}`)
  for (const [index, words] of violation.trace.entries()) console.log(`  ${index + 1}. ${words}`)
}

function readModel(name: string): AnyName {
  const found = ALL.find((known) => known === name)
  if (found === undefined) throw new Error(`There is no model ${name}. There are ${ALL.join(', ')}.`)
  return found
}

function readNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
