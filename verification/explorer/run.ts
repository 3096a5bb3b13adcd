/** `npm run explore -- [--model name] [--workers N] [--ticks T] [--most states] [--stuck-every n] [--json]` */
import { parseArgs } from 'node:util'
import { type Exploration, explore } from './explore.ts'
import { fleetModel, MODELS, type ModelName } from './models.ts'

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    workers: { type: 'string' },
    ticks: { type: 'string' },
    most: { type: 'string' },
    'stuck-every': { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
})

const names = values.model === undefined ? (Object.keys(MODELS) as ModelName[]) : [readModel(values.model)]
const results: Exploration[] = []
for (const name of names) {
  const size = { workers: readNumber(values.workers), ticks: readNumber(values.ticks) }
  const options = { mostStates: readNumber(values.most), stuckEvery: readNumber(values['stuck-every']) }
  const result = await explore(fleetModel(name, size), options)
  results.push(result)
  if (!values.json) tell(result)
}
if (values.json) console.log(JSON.stringify(results.map(withExpectation), null, 2))
process.exitCode = results.map(withExpectation).some(({ violation, isExpected }) => violation !== null && !isExpected)
  ? 1
  : 0

/** Of a store that forgets what it acknowledged, nothing else is to be expected. */
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

function readModel(name: string): ModelName {
  if (name in MODELS) return name as ModelName
  throw new Error(`There is no model ${name}. There are ${Object.keys(MODELS).join(', ')}.`)
}

function readNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
