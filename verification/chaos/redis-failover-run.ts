/**
 * `node verification/chaos/redis-failover-run.ts [--fate all-move|one-dies|one-stays] [--loss 1500] [--times 1] [--keep folder] [--json]`: a replica that is behind becomes the
 * primary. Some of that can't be kept from running twice; this says how much was, and whether cronce said so.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { enterNamespace } from './namespace.ts'
import { FATES, type FailoverResult, runFailover } from './redis-failover.ts'

const { values } = parseArgs({
  options: {
    fate: { type: 'string', multiple: true, default: [...FATES] },
    loss: { type: 'string', default: '1500' },
    times: { type: 'string', default: '1' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  const entered = await enterNamespace(false)
  if (typeof entered === 'number') return entered
  const results: FailoverResult[] = []
  for (const fate of FATES.filter((one) => values.fate.includes(one))) {
    for (let time = 0; time < Number(values.times); time++) {
      const result = await runFailover(fate, Number(values.loss), values.keep && join(values.keep, `${time}`))
      results.push(result)
      if (!values.json) console.log(textOf(result))
    }
  }
  if (values.json)
    console.log(
      JSON.stringify(
        results.map(({ history: _history, ...rest }) => rest),
        null,
        2,
      ),
    )
  return results.every(isAsPromised) ? 0 : 1
}

/** Runs known to living processes run once or are reported, and data loss is always reported. */
function isAsPromised({ fate, ranTwice, unnamed, rollbacks, surprises }: FailoverResult): boolean {
  if (surprises.length > 0 || !rollbacks.some(({ lost }) => lost)) return false
  if (fate === 'all-move') return ranTwice.length === 0
  return fate === 'one-dies' || unnamed.length === 0
}

function textOf({ fate, ...result }: FailoverResult): string {
  const { lostWrites, starts, ranTwice, unnamed, restored, doubtful, rollbacks, violations, surprises } = result
  const properties = Map.groupBy(violations, ({ property }) => property)
  const found = [...properties].map(([property, some]) => `${property} ${some.length}`).join(', ')
  return [
    `${isAsPromised({ fate, ...result }) ? '✔' : '✖'} ${fate}: ${lostWrites} acknowledged writes lost, ${starts} runs`,
    `  ran twice ${ranTwice.length}, of them not named ${unnamed.length}; named ${doubtful}, written again ${restored}`,
    `  told by ${rollbacks.map(({ node, lost, incomplete }) => `${node}${lost ? '' : ' (not lost)'}${incomplete ? ' (incomplete)' : ''}`).join(', ') || 'nobody'}`,
    `  the judge: ${found || 'nothing'}`,
    ...violations.slice(0, 10).map(({ property, message }) => `    ${property}: ${message}`),
    ...surprises.map((line) => `  ✖ ${line}`),
  ].join('\n')
}

process.exitCode = await main()
