import { parseArgs } from 'node:util'
import { type Judged, judgeMutant, judgeSound, seedsFrom } from './judge.ts'
import type { Mutant } from './mutant.ts'
import { MUTANTS } from './mutants.ts'
import { savedSeeds, saveSeeds } from './saved-seeds.ts'

/**
 * Judges the judges: every mutant has to be noticed, by what it says would notice it.
 *
 *     node verification/mutants/run.ts [--only name,name] [--judge simulation] [--seeds 200] [--quick] [--history] [--save] [--json]
 *
 * `--quick` begins with the seeds that were saved; `--save` saves those that were found. `--history`: judged by the checker alone.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    judge: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    jobs: { type: 'string', default: '2' },
    quick: { type: 'boolean', default: false },
    history: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const only = options.only?.split(',')
const { judge } = options
const judged = await judgeAll(
  MUTANTS.filter(({ name }) => only === undefined || only.includes(name)).filter(
    ({ caughtBy }) => judge === undefined || judge === caughtBy.judge,
  ),
)
if (options.json) console.log(JSON.stringify(judged.map(plain), null, 2))
const missed = judged.filter(({ verdict }) => verdict !== 'caught')
for (const { mutant, verdict, message } of missed) {
  console.error(`\n${mutant.name} (${verdict}): ${mutant.breaks}\n${message}`)
}
console.error(`\n${judged.length - missed.length} of ${judged.length} mutants were caught by what they name.`)
const shown = [...new Set(judged.flatMap(({ seed }) => (seed === null ? [] : [seed])))]
const control = await judgeSound({ seeds: shown, history: options.history })
const isSound = control.by.length === 0
console.error(
  isSound ? `Without them, the same ${shown.length} seeds show nothing.` : `Without them: ${control.message}`,
)
// A seed that shows something anyway shows no mutant.
if (options.save && isSound) saveSeeds(judged)
process.exitCode = missed.length === 0 && judged.length > 0 && isSound ? 0 : 1

async function judgeAll(mutants: readonly Mutant[]): Promise<readonly Judged[]> {
  const results: Judged[] = []
  const left = [...mutants]
  const saved = options.quick ? savedSeeds() : null
  const work = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const seeds = seedsFrom(Number(options.seeds), saved?.get(mutant.name)?.seed)
      const result = await judgeMutant(mutant, { seeds, history: options.history })
      results.push(result)
      if (!options.json) console.log(lineOf(result))
    }
  }
  await Promise.all(Array.from({ length: Number(options.jobs) }, work))
  return results
}

function lineOf({ mutant, verdict, by, tried, seconds }: Judged): string {
  const effort = `${mutant.caughtBy.judge}, ${tried} tried, ${seconds.toFixed(1)} s`
  return `${verdict.padEnd(8)} ${mutant.name.padEnd(32)} ${mutant.rule}: ${by.join(', ')} (${effort})`
}

function plain({ mutant: { name, rule, breaks, caughtBy }, ...rest }: Judged) {
  return { name, rule, breaks, judge: caughtBy.judge, ...rest }
}
