/**
 * `node verification/chaos/etcd-failover.ts`: how long nothing can be written when three members lose their leader, and what is lost;
 * and how long after `kill -9` of a process another one runs its fire again.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../packages/cronce/src/app/connect.ts'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { etcd } from '../../packages/cronce/src/etcd.ts'
import { applyOne, loadOne } from '../../packages/cronce/src/testing/conformance/bench.ts'
import { creation, decideIn, schedule } from '../../packages/cronce/src/testing/conformance/samples.ts'
import { startEtcd, startEtcdCluster } from '../../scripts/servers/index.ts'

/** Short, so that a frozen member is left soon. */
const TIMEOUT_MS = 1_000
const BEFORE_MS = 1_000
const AFTER_MS = 8_000

const ROUNDS = 3
const LEASES = ['15s', '5s']
/** So that it has renewed its lease since it joined. */
const RUNNING_MS = 7_000

const [, , url, lease] = process.argv
if (url !== undefined && lease !== undefined) await work(url, lease)
else {
  decideIn(1)
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) await lose(signal)
  for (const each of LEASES) await killProcess(each)
}

/** A process of the fleet: it tells its parent which attempt it starts. */
async function work(store: string, lease: string): Promise<void> {
  const app = cronce({ store: etcd(store), app: 'failover', lease: lease as '15s', logger: false })
  app.job('hold', { cron: '0 0 1 1 *' }, async ({ attempt, signal }) => {
    process.send!(attempt)
    await once(signal, 'abort')
  })
  await app.start()
  process.send!('ready')
}

async function killProcess(lease: string): Promise<void> {
  const eachMs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await using server = await startEtcd()
    const address = server.url.replace('http:', 'etcd:')
    const workers = [0, 1].map(() => fork(import.meta.filename, [address, lease]))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const starts = workers.map(async (worker) => ({ worker, attempt: (await once(worker, 'message'))[0] as number }))
    const client = await connect({ store: etcd(address), logger: false })
    await client.schedules.trigger('hold')
    const first = await Promise.race(starts)
    await sleep(RUNNING_MS)
    first.worker.kill('SIGKILL')
    const killedAt = performance.now()
    const other = await starts[workers[0] === first.worker ? 1 : 0]!
    eachMs.push(Math.round(performance.now() - killedAt))
    if (other.attempt !== 2) throw new Error(`After the kill came attempt ${other.attempt}.`)
    other.worker.kill('SIGKILL')
    await client.close()
  }
  console.log(`kill -9 of a process with a lease of ${lease}: its fire runs again after ${eachMs.join(', ')} ms`)
}

async function lose(signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
  await using cluster = await startEtcdCluster()
  const source = etcd({ endpoints: cluster.urls, timeoutMs: TIMEOUT_MS })
  const store = await source.open({ namespace: 'failover', adopt: false, production: false, warn: () => {} })
  const leader = await cluster.leader()
  const written: string[] = []
  let failed = 0
  let longestMs = 0
  let lastAt = performance.now()
  const endAt = lastAt + BEFORE_MS + AFTER_MS
  const losing = sleep(BEFORE_MS).then(async () => {
    if (signal === 'SIGKILL') await leader.halt(signal)
    else process.kill(leader.pid, signal)
  })
  for (let count = 0; performance.now() < endAt; count++) {
    const id = `s${count}`
    try {
      const { kind } = await applyOne(store, creation(schedule(id)))
      if (kind !== 'applied') throw new Error(kind)
      written.push(id)
      longestMs = Math.max(longestMs, performance.now() - lastAt)
      lastAt = performance.now()
    } catch {
      failed++
    }
  }
  longestMs = Math.max(longestMs, performance.now() - lastAt)
  await losing
  let lost = 0
  for (const id of written) if ((await loadOne(store, id)) === null) lost++
  console.log(
    `${signal} to the leader: longest gap ${Math.round(longestMs)} ms, ${written.length} writes acknowledged, ${failed} calls failed, ${lost} lost`,
  )
  if (signal === 'SIGSTOP') process.kill(leader.pid, 'SIGCONT')
  await store.close()
}
