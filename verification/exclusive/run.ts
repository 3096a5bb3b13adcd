/**
 * `npm run verify:exclusive`: locks, terms and keys at length.
 *
 *     npm run verify:exclusive [-- --store sqlite,postgres,redis,etcd,zookeeper --processes 50 --increments 1000 --keys 50 --rounds 2 --json]
 */
import { parseArgs } from 'node:util'
import { type Fault, runContest } from './contest.ts'
import type { ContestReport } from './contest-report.ts'
import { judge, tally } from './judge.ts'
import type { StoreKind } from './order.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite,postgres,redis,etcd' },
    processes: { type: 'string', default: '50' },
    increments: { type: 'string', default: '1000' },
    keys: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '2' },
    lease: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
})

const FAULTS: readonly Fault[] = [
  ...(['kill-holder', 'pause-leader', 'restart-store', 'pause-holder'] as const),
  ...(['block-leader', 'kill-leader', 'pause-holder', 'restart-store'] as const),
]

const reports: ContestReport[] = []
const processes = Number(values.processes)
for (const store of values.store.split(',') as StoreKind[]) {
  const { history, faults, seconds } = await runContest({
    store,
    processes,
    increments: Number(values.increments),
    keys: Number(values.keys),
    faults: Array.from({ length: Number(values.rounds) }, () => FAULTS).flat(),
    leaseMs: Number(values.lease),
    killedDoers: Math.min(3, processes - 1),
    skewMs: store === 'sqlite' ? 0 : 60_000,
    deadlineMs: Number(values.minutes) * 60_000,
    onProgress: (done, of) => process.stderr.write(`${store}: ${done} of ${of}\n`),
  })
  const wrong = judge(history)
  reports.push({ store, processes, seconds: Math.round(seconds), faults: faults.length, ...tally(history), wrong })
  if (!values.json) console.log(store, reports.at(-1))
}
if (values.json) console.log(JSON.stringify(reports))
process.exitCode = reports.every(({ wrong }) => wrong.length === 0) ? 0 : 1
