import { parseArgs } from 'node:util'
import { type Judged, judgeMutant } from './judge.ts'
import type { Mutant } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

/**
 * Judges the judges: every mutant has to be noticed, by what it says would notice it.
 *
 *     node verification/mutants/run.ts [--only name,name] [--seconds 60] [--json]
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    judge: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})

const only = values.only?.split(',')
const wanted = MUTANTS.filter(
  ({ name, caughtBy }) =>
    (only === undefined || only.includes(name)) && (values.judge === undefined || values.judge === caughtBy.judge),
)
const judged = await judgeAll(wanted, Number(values.seconds), Number(values.jobs))
if (values.json) console.log(JSON.stringify(judged.map(plain), null, 2))
const missed = judged.filter(({ verdict }) => verdict !== 'caught')
console.error(`${judged.length - missed.length} of ${judged.length} mutants were caught.`)
for (const one of missed) console.error(`${one.mutant.name}: ${one.verdict}. ${one.mutant.breaks}\n${one.message}`)
process.exitCode = missed.length === 0 && judged.length > 0 ? 0 : 1

async function judgeAll(mutants: readonly Mutant[], seconds: number, jobs: number): Promise<readonly Judged[]> {
  const results: Judged[] = []
  const left = [...mutants]
  const work = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const result = await judgeMutant(mutant, seconds)
      results.push(result)
      if (!values.json) console.log(lineOf(result))
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return results
}

function lineOf({ mutant, verdict, by, seeds, seconds }: Judged): string {
  const effort = `${mutant.caughtBy.judge}, ${seeds} seeds, ${seconds.toFixed(1)} s`
  return `${verdict.padEnd(8)} ${mutant.name.padEnd(34)} ${mutant.ruling}: ${by.join(', ')} (${effort})`
}

function plain({ mutant: { name, ruling, caughtBy }, ...rest }: Judged) {
  return { name, ruling, judge: caughtBy.judge, ...rest }
}
