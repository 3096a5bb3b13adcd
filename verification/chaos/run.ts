/** `npm run chaos`: real processes, a real store, and everything that can go wrong; then the verdict. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { renderTimeline } from '../../packages/checker/src/index.ts'
import { drawSeed } from '../draw-seed.ts'
import { type ChaosResult, runChaos } from './chaos.ts'
import { type CellResult, runMatrix } from './matrix.ts'
import { enterNamespace } from './namespace.ts'
import { loadFault } from './own/own-fault.ts'
import { addUp, exitCode, report, summaryOf } from './report.ts'
import { etcdChaos, etcdClusterChaos } from './stores/etcd.ts'
import { postgresChaos } from './stores/postgres.ts'
import { redisChaos } from './stores/redis.ts'
import { sqliteChaos } from './stores/sqlite.ts'
import type { ChaosStore } from './stores/store.ts'
import { zooKeeperChaos, zooKeeperEnsembleChaos } from './stores/zookeeper.ts'

const STORES: readonly ChaosStore[] = [
  sqliteChaos,
  postgresChaos({ name: 'postgres' }),
  postgresChaos({ name: 'pgbouncer', poolSize: 4 }),
  redisChaos({ name: 'redis' }),
  etcdChaos,
  etcdClusterChaos,
  zooKeeperChaos,
  zooKeeperEnsembleChaos,
]
const AT_A_TIME = 4
const USAGE = `npm run chaos -- [--store sqlite|postgres|pgbouncer|redis|etcd|etcd3|zookeeper|zookeeper3] [--seconds 30] [--brief] [--recovery 10] [--lease 2] [--seed N] [--workers 4] [--fires N] [--matrix] [--json] [--fault file.ts] [--keep folder] [--picture file.svg]`

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '30' },
    seed: { type: 'string' },
    /** With one of each fault that a verdict can't do without. */
    brief: { type: 'boolean', default: false },
    /** Seconds after the last fault within which the fleet must have recovered. */
    recovery: { type: 'string', default: '10' },
    /** Seconds of the lease of each process. */
    lease: { type: 'string', default: '2' },
    workers: { type: 'string', default: '4' },
    /** Repeat runs until this many fires have been judged. */
    fires: { type: 'string', default: '1' },
    /** Not at random: every blow at every place. */
    matrix: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** A module with a fault of your own: docs/break-it-yourself.md. */
    fault: { type: 'string' },
    keep: { type: 'string' },
    picture: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void (values.json || console.log(line))

async function main(): Promise<number> {
  const store = STORES.find(({ name }) => name === values.store)
  if (store === undefined || values.help) {
    console.error(USAGE)
    return values.help ? 0 : 64
  }
  const entered = await enterNamespace(store.mounts)
  if (typeof entered === 'number') return entered
  if (entered !== null) say(`Without a namespace of its own: ${entered.reason}.`)
  if (values.matrix) return matrix(store)
  const own = values.fault === undefined ? [] : [await loadFault(values.fault)]
  const firstSeed = values.seed === undefined ? drawSeed() : Number(values.seed)
  let total = addUp([])
  for (let run = 0; run === 0 || total.fires < Number(values.fires); run++) {
    const seed = firstSeed + run
    say(`Seed ${seed}: ${values.workers} processes on ${store.name}, ${values.seconds} s of faults.`)
    const result = await runChaos({
      store,
      seed,
      workers: Number(values.workers),
      seconds: Number(values.seconds),
      isBrief: values.brief,
      recoveryMs: Number(values.recovery) * 1_000,
      leaseMs: Number(values.lease) * 1_000,
      progress: say,
      own,
    })
    keep(result)
    const summary = summaryOf(store.name, result)
    say(report(summary))
    total = addUp([total, summary])
    // The first one that is not as it should be is the one to look at.
    if (exitCode(summary) !== 0) break
  }
  if (total.seeds.length > 1) say(report(total))
  if (values.json) console.log(JSON.stringify(total, null, 2))
  return exitCode(total)
}

async function matrix(store: ChaosStore): Promise<number> {
  const results: CellResult[] = []
  await runMatrix(store, AT_A_TIME, values.keep, (result) => {
    results.push(result)
    const { cell, problems } = result
    say(`  ${problems.length === 0 ? '✔' : '✖'} ${cell.point.padEnd(16)} ${cell.blow}`)
    for (const problem of problems) say(`      ${problem}`)
  })
  const failed = results.filter(({ problems }) => problems.length > 0)
  say(`${results.length} cells, ${failed.length} failed`)
  if (values.json) console.log(JSON.stringify({ store: store.name, cells: results.length, failed }, null, 2))
  return failed.length === 0 ? 0 : 1
}

function keep(result: ChaosResult): void {
  if (values.picture !== undefined) writeFileSync(values.picture, renderTimeline(result.history, result.verdict))
  if (values.keep !== undefined) {
    result.world.keep(join(values.keep, `seed-${result.seed}`), result.history, result.verdict)
  }
  result.world.removeFolder()
}

process.exitCode = await main()
