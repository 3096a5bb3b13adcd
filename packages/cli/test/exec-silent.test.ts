import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cronce, connect, type FireView, type OpenFireView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
import { endWords, runningWords } from '../src/service/exec/exec-words.ts'
import { cronce } from './cronce.ts'
import { scratch } from './fixtures/service/running.ts'
import { swallowingProxy } from './fixtures/swallowing-proxy.ts'

/** Of the changes that an exec writes, this is in the one that puts its fire on record. */
const DELIVERY = '"nonce":""'

describe('cronce exec, and a store that falls silent in the middle', { concurrency: 3 }, () => {
  let postgres: Server
  before(async () => {
    postgres = await startPostgres({ settings: { fsync: 'off' } })
    const { status, stderr } = await cronce(['migrate', 'up', '--store', postgres.url])
    assert.equal(status, 0, stderr)
  })
  after(() => postgres.stop())

  for (const lose of ['request', 'answer'] as const) {
    test(`a delivery whose ${lose} is lost is made again, and the command runs once`, async (context) => {
      const namespace = `lost-${lose}`
      const { url, swallowed } = await swallowingProxy(context, postgres.url, { word: DELIVERY, lose, times: 1 })
      const said = join(scratch(context), 'said')
      const due = new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()
      const { status, stderr } = await cronce(
        ['exec', '--name', 'pay', '--due', due, '--', 'sh', '-c', `echo ran >> ${said}`],
        { CRONCE_STORE: url, CRONCE_NAMESPACE: namespace },
      )
      assert.deepEqual([status, swallowed()], [0, 1], stderr)
      assert.equal(readFileSync(said, 'utf8'), 'ran\n')
      const client = await connect({ store: postgres.url, namespace, logger: false })
      context.after(() => client.close())
      const { items } = await client.fires.list()
      assert.deepEqual(
        items.map(({ state, dueAt }) => [state, dueAt]),
        [['succeeded', Date.parse(due)]],
      )
    })
  }

  test('a store that gives no answer counts as unreachable: exit code 5, and the command is not run', async (context) => {
    const silent = async (word: string) =>
      swallowingProxy(context, postgres.url, { word, lose: 'request', times: 1_000 })
    // Only what comes after the store has been opened: a load, and a list.
    const [toExec, toList] = await Promise.all([silent('_load_1('), silent('_schedules s')])
    const ran = join(scratch(context), 'ran')
    const due = new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()
    const [exec, list] = await Promise.all([
      cronce(['exec', '--name', 'pay', '--due', due, '--store', toExec.url, '--', 'touch', ran]),
      cronce(['list', '--store', toList.url]),
    ])
    assert.deepEqual([exec.status, list.status], [5, 5], exec.stderr + list.stderr)
    assert.match(exec.stderr, /The store failed to .* gave no answer .* The command was not run\./)
    assert.match(list.stderr, /The store failed to .* gave no answer/)
    assert.equal(existsSync(ran), false)
  })
})

test('names the host that runs or ran it, if the store knows it; what is unknown is not an error', async () => {
  const silent = async (): Promise<never> => {
    throw new CronceError('STORE_FAILED', 'no answer')
  }
  const dueAt = Date.parse('2027-01-01T00:00Z')
  const fire = { schedule: 'pay', dueAt, state: 'succeeded', endedAt: dueAt + 1_000 } as unknown as FireView
  const app = (found: () => Promise<FireView>) =>
    ({ fires: { get: found }, runs: { list: silent }, instances: { list: silent, find: silent } }) as unknown as Cronce
  const open = { dueAt, instance: 'abc', startedAt: dueAt } as OpenFireView
  assert.deepEqual(
    [
      await endWords(app(silent), 'pay', dueAt),
      await endWords(
        app(async () => fire),
        'pay',
        dueAt,
      ),
      await runningWords(app(silent), 'pay', open),
    ],
    [
      'pay (due 2027-01-01T00:00:00Z) is over, and was not run here.',
      'another ran it: pay (due 2027-01-01T00:00:00Z) succeeded at 2027-01-01T00:00:01Z.',
      'another runs it: pay (due 2027-01-01T00:00:00Z) runs since 2027-01-01T00:00:00Z on instance abc.',
    ],
  )
})
