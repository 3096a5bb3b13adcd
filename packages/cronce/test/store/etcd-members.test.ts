import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type EtcdCluster, type Server, startEtcdCluster } from '../../../../scripts/servers/index.ts'
import type { KvDriver } from '../../src/store/kv/driver.ts'
import { driverAt } from './etcd-kit.ts'

// A member answers some requests from what it has, however old that is. None of them may decide anything.

let cluster: EtcdCluster

before(async () => {
  cluster = await startEtcdCluster()
})

after(() => cluster.stop())

test('a member that is behind answers neither a read of nothing nor a question for the term', async () => {
  const leader = await cluster.leader()
  const [behind, other] = cluster.members.filter((member) => member !== leader) as [Server, Server]
  const [ahead, late] = [driverAt(leader.url), driverAt(behind.url, 1_000)]
  const write = (): Promise<unknown> => ahead.commit({ guards: [], puts: [{ key: 'kit\0a', value: '' }], groups: [] })
  await write()
  await late.read([])
  process.kill(behind.pid, 'SIGSTOP')
  await write()
  // The one that is behind can hear of it from no other member.
  const cutOff = [leader, other].map(({ pid }) => pid)
  try {
    for (const pid of cutOff) process.kill(pid, 'SIGSTOP')
    process.kill(behind.pid, 'SIGCONT')
    await assert.rejects(late.read([]), { code: 'STORE_SILENT' })
    await assert.rejects(late.identify(), { code: 'STORE_SILENT' })
  } finally {
    for (const pid of cutOff) process.kill(pid, 'SIGCONT')
  }
  await untilAnswered(late)
  assert.ok((await late.read([])).revision >= (await ahead.read([])).revision)
  await Promise.all([ahead.close(), late.close()])
})

async function untilAnswered(driver: KvDriver): Promise<void> {
  for (let tries = 0; ; tries++) {
    const isAnswered = await driver.read([{ get: 'kit\0a' }]).then(
      () => true,
      () => false,
    )
    if (isAnswered) return
    assert.ok(tries < 100, 'the member did not come back')
  }
}
