/** Simulates the seeds from, from + step, … and writes a line of JSON about each. Ends after so many, or so many seconds. */
import { simulate } from './simulate.ts'
import { tallyOf } from './tally.ts'

const [from, step, count, seconds] = process.argv.slice(2).map(Number) as [number, number, number, number]
const end = performance.now() + seconds * 1_000
for (let index = 0; index < count && performance.now() < end; index++) {
  const outcome = await simulate(from + index * step)
  process.stdout.write(`${JSON.stringify(tallyOf(outcome))}\n`)
}
