/** `node verification/chaos/etcd-failover.ts`: how long nothing can be written when three members lose their leader, and what is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { etcd } from '../../packages/cronce/src/etcd.ts'
import { applyOne, loadOne } from '../../packages/cronce/src/testing/conformance/bench.ts'
import { creation, decideIn, schedule } from '../../packages/cronce/src/testing/conformance/samples.ts'
import { startEtcdCluster } from '../../scripts/servers/index.ts'

/** Short, so that a frozen member is left soon. */
const TIMEOUT_MS = 1_000
const BEFORE_MS = 1_000
const AFTER_MS = 8_000

decideIn(1)
for (const signal of ['SIGKILL', 'SIGSTOP'] as const) await lose(signal)

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
