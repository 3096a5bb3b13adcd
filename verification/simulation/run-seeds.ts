/** Simulates the seeds from, from + step, … and writes a line of JSON about each. Ends after `count`, or after `seconds` and `least`. */
import { writeSync } from 'node:fs'
import { simulate } from './simulate.ts'
import { emptyTally, type Tally, tallyOf } from './tally.ts'

const [from, step, count, seconds, least] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
  number,
]
const end = performance.now() + seconds * 1_000
let seed = from

// An unhandled rejection or an uncaught error would have ended the user's process.
process.on('uncaughtException', (error) => {
  write({ ...emptyTally(), seeds: 1, violations: [{ seed, name: 'uncaught', message: String(error) }] })
  process.exit(0)
})

for (let index = 0; index < count && (index < least || performance.now() < end); index++) {
  seed = from + index * step
  write(tallyOf(await simulate(seed)))
}

function write(tally: Tally): void {
  writeSync(1, `${JSON.stringify(tally)}\n`)
}
