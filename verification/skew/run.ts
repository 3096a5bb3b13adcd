/**
 * `npm run skew`: what clocks that differ do to a lock that is freed at the end, to our coordinator for node-cron, and to our own jobs.
 *
 *     npm run skew [-- --seconds 60 --skews 0,50,100,400,900 --json]
 */
import { parseArgs } from 'node:util'
import { runTrial, type Tally } from './experiment.ts'
import { SYSTEM_NAMES, SYSTEMS } from './order.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    skews: { type: 'string', default: '0,50,100,400,900' },
    json: { type: 'boolean', default: false },
  },
})

const rows: (Tally & { readonly skewMs: number })[] = []
if (!values.json) {
  console.log('| clocks off by | who decides | slots | runs | duplicates | missed | early |')
  console.log('|---|---|---|---|---|---|---|')
}
for (const skewMs of values.skews.split(',').map(Number)) {
  const tallies = await runTrial({ skewMs, seconds: Number(values.seconds), systems: SYSTEMS })
  for (const tally of tallies) {
    rows.push({ skewMs, ...tally })
    const { system, slots, runs, duplicates, missed, early } = tally
    const cells = [`±${skewMs} ms`, SYSTEM_NAMES[system], slots, runs, duplicates, missed, early]
    if (!values.json) console.log(`| ${cells.join(' | ')} |`)
  }
}
if (values.json) console.log(JSON.stringify(rows))
process.exitCode = rows.some((row) => row.system !== 'lock' && isWrong(row)) ? 1 : 0

/** node-cron misses a slot when its process is paused for a second, with any coordinator; jobs must not. */
function isWrong({ system, slots, duplicates, early, missed }: Tally): boolean {
  return duplicates + early > 0 || missed > (system === 'jobs' ? 0 : slots / 10)
}
