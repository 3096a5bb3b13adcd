import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'cronce'
import { type Server, startRedis } from '../../../scripts/servers/index.ts'
import { running, scratch } from './fixtures/service/running.ts'

/** Lasts until the test has ended the first run. */
const FIRST_STAYS = 'echo "begun $CRONCE_ATTEMPT" >> said; [ -e ended ] || sleep 600'

async function until(is: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_400; tries++) {
    if (await is()) return
    await sleep(50)
  }
  assert.fail('it did not come to that in two minutes')
}

describe('where only a lease shows that a host has died', { concurrency: 2 }, () => {
  let redis: Server
  before(async () => {
    redis = await startRedis()
  })
  after(() => redis.stop())

  for (const [which, states] of [
    ['the same fire', [['succeeded']]],
    // A fire that arrives after its grace, as on a slow machine, waits for its turn instead of being skipped.
    [
      'a later fire',
      [
        ['succeeded', 'skipped'],
        ['succeeded', 'succeeded'],
      ],
    ],
  ] as const) {
    test(`the next caller with ${which} stays until the lease is over, and runs what was left`, async (context) => {
      const folder = scratch(context)
      const namespace = which.replaceAll(' ', '-')
      const client = await connect({ store: redis.url, namespace, logger: false })
      context.after(() => client.close())
      const exec = (due: string) => {
        const flags = ['--name', 'nightly', '--due', due, '--lease', '6s']
        const started = running(['exec', ...flags, '--', 'sh', '-c', FIRST_STAYS], {
          cwd: folder,
          env: { CRONCE_STORE: redis.url, CRONCE_NAMESPACE: namespace },
        })
        context.after(() => started.end('SIGKILL'))
        return started
      }
      const justNow = () => new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()
      const due = justNow()
      const lost = exec(due)
      await until(async () => (await client.runs.list()).items.length === 1)
      await lost.end('SIGKILL')
      writeFileSync(join(folder, 'ended'), '')
      await until(async () => (await client.instances.list()).some(({ state }) => state === 'silent'))

      const next = exec(which === 'the same fire' ? due : justNow())
      assert.equal(await next.ended, 0, next.said())
      assert.match(next.stderr(), /is run here, attempt 2\./)
      const { items } = await client.fires.list({ order: 'earliest' })
      const ended = items.map(({ state }) => state).join()
      assert.ok(
        states.some((expected) => expected.join() === ended),
        ended,
      )
      assert.match(readFileSync(join(folder, 'said'), 'utf8'), /^begun 2$/m)
    })
  }
})
