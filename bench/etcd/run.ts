/**
 * npm run bench:etcd [-- --rounds 5] [-- --quick] [-- --report FOLDER] [-- --json]
 *
 * What the calls of a store cost, on etcd with one member and with three, beside PostgreSQL, Redis, SQLite and ZooKeeper: in turn, round
 * by round, so that all of them meet the same load of the machine. Claim and settlement together are one fire. Medians of all rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { etcd } from '../../packages/cronce/src/etcd.ts'
import { postgres } from '../../packages/cronce/src/postgres.ts'
import { redis } from '../../packages/cronce/src/redis.ts'
import { sqlite } from '../../packages/cronce/src/sqlite.ts'
import type { Store, StoreSource } from '../../packages/cronce/src/store/store.ts'
import {
  after,
  beat,
  claim,
  creation,
  decideIn,
  JOB,
  runOf,
  schedule,
  settlement,
} from '../../packages/cronce/src/testing/conformance/samples.ts'
import { zookeeper } from '../../packages/cronce/src/zookeeper.ts'
import { measuredNow } from '../../scripts/reports/report.ts'
import { startEtcd, startEtcdCluster, startPostgres, startRedis, startZooKeeper } from '../../scripts/servers/index.ts'
import { publish } from '../shared/publish.ts'
import { table } from '../shared/table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    report: { type: 'string' },
    json: { type: 'boolean' },
  },
})
const ROUNDS = values.quick ? 2 : Number(values.rounds)
const BATCH = 100
const BATCHES = values.quick ? 5 : 20
const SINGLE = values.quick ? 50 : 200

/** Of one round. */
interface Figures {
  readonly claimMs: number
  readonly settleMs: number
  readonly claimsPerSecond: number
  readonly settlesPerSecond: number
  readonly firesPerSecond: number
  readonly dueMs: number
  readonly beatMs: number
}

const servers = {
  etcd: await startEtcd(),
  etcd3: await startEtcdCluster(),
  postgres: await startPostgres({}),
  redis: await startRedis({ appendonly: true }),
  zookeeper: await startZooKeeper(),
}
const folder = mkdtempSync(join(tmpdir(), 'cronce-bench-'))
const sources: Readonly<Record<string, StoreSource<unknown>>> = {
  'etcd, 1 member': etcd({ endpoints: [servers.etcd.url] }) as StoreSource<unknown>,
  'etcd, 3 members': etcd({ endpoints: servers.etcd3.urls }) as StoreSource<unknown>,
  PostgreSQL: postgres(servers.postgres.url, { migrate: 'auto' }) as StoreSource<unknown>,
  Redis: redis(servers.redis.url) as StoreSource<unknown>,
  SQLite: sqlite(join(folder, 'bench.db')) as StoreSource<unknown>,
  ZooKeeper: zookeeper(servers.zookeeper.url) as StoreSource<unknown>,
}

const rounds = new Map<string, Figures[]>()
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, source] of Object.entries(sources)) {
    const options = { namespace: `bench-${round}`, adopt: false, production: false, warn: () => {} }
    const store = await source.open(options)
    const figures = await measure(store)
    await store.close()
    // The first round warms up.
    if (round > 0) rounds.set(name, [...(rounds.get(name) ?? []), figures])
  }
}
await Promise.all(Object.values(servers).map((server) => server.stop()))
rmSync(folder, { recursive: true })
const medians = [...rounds].map(([name, all]) => [name, medianOf(all)] as const)
if (values.json) console.log(JSON.stringify(Object.fromEntries(medians), null, 2))
else console.log(tableOf(medians))
publish(values.report, {
  name: 'etcd',
  isQuick: values.quick,
  measured: [measuredNow('all')],
  covers: ['packages/cronce/src/store', 'bench/etcd'],
  markdown: tableOf(medians),
  bars: [],
})

async function measure(store: Store): Promise<Figures> {
  decideIn(store.info.epoch)
  await store.beat(beat('i', { join: true }))
  const single = await fires(store, 'single', SINGLE, 1)
  const many = await fires(store, 'batch', BATCHES * BATCH, BATCH)
  const { now } = await store.load([])
  const due = Array.from({ length: BATCH }, (_, index) => creation(schedule(`due-${index}`, { wakeAt: now - 1_000 })))
  await store.apply(due)
  const jobs = [{ job: JOB, buckets: '1'.repeat(256) }]
  const dueMs = await median(20, () => store.due({ jobs, patienceMs: 0, limit: BATCH }))
  const beatMs = await median(20, () => store.beat(beat('i')))
  const perSecond = (ms: number): number => (BATCH * 1_000) / ms
  return {
    claimMs: single.claimMs,
    settleMs: single.settleMs,
    claimsPerSecond: perSecond(many.claimMs),
    settlesPerSecond: perSecond(many.settleMs),
    firesPerSecond: perSecond(many.claimMs + many.settleMs),
    dueMs,
    beatMs,
  }
}

/** Claims and settles as many fires, each of another schedule. Medians of a call. */
async function fires(
  store: Store,
  prefix: string,
  count: number,
  size: number,
): Promise<{ readonly claimMs: number; readonly settleMs: number }> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  for (let at = 0; at < count; at += BATCH) {
    await store.apply(ids.slice(at, at + BATCH).map((id) => creation(schedule(id, { wakeAt: null }))))
  }
  const { schedules } = await store.load(ids)
  const claimant = { instance: 'i', leaseMs: 60_000 }
  const [claimed, settled]: [number[], number[]] = [[], []]
  for (let at = 0; at < count; at += size) {
    const changes = schedules.slice(at, at + size).map((state) => claim(state, { instance: 'i' }))
    claimed.push(await time(() => store.apply(changes, { claimant })))
    const ends = changes.map((change) => settlement(after(change), runOf(change)))
    settled.push(await time(() => store.apply(ends)))
  }
  return { claimMs: middle(claimed), settleMs: middle(settled) }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

async function median(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push(await time(work))
  return middle(times)
}

function middle(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)]!
}

function medianOf(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0]!) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, middle(all.map((one) => one[name]))])) as unknown as Figures
}

function tableOf(medians: readonly (readonly [string, Figures])[]): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  const count = (value: number): string => Math.round(value).toLocaleString('en')
  return table(
    [
      'store',
      'a claim alone, a settlement',
      'claims/s, settlements/s in batches of 100',
      'fires/s',
      'reading 100 due schedules, heartbeat',
    ],
    medians.map(([name, { claimMs, settleMs, claimsPerSecond, settlesPerSecond, firesPerSecond, dueMs, beatMs }]) => [
      name,
      `${ms(claimMs)}, ${ms(settleMs)}`,
      `${count(claimsPerSecond)}, ${count(settlesPerSecond)}`,
      count(firesPerSecond),
      `${ms(dueMs)}, ${ms(beatMs)}`,
    ]),
  )
}
