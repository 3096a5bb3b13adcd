import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cronce'
import { gatherFleet } from '../src/doctor/gather-fleet.ts'
import { expectedRule, withExpectedRule } from '../src/service/exec/expected-rule.ts'
import { type Bench, benchOn, scratch } from './steer-kit.ts'

const MINUTE = 60_000
const DAY = 86_400_000

describe('the rule that exec is called by', { concurrency: 1 }, () => {
  let folder: string
  let bench: Bench
  before(async () => {
    folder = scratch()
    bench = await benchOn(`sqlite:${join(folder, 'exec.db')}`)
  })
  after(async () => {
    await bench.client.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const exec = (name: string, ...flags: string[]) => {
    const script = `printf %s "$CRONCE_INPUT" > ${join(folder, name)}`
    return bench.say('exec', '--name', name, ...flags, '--', 'sh', '-c', script)
  }
  const justNow = () => new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()
  /** What doctor would find this much later. */
  const missingIn = async (ms: number) => {
    const { client } = bench
    const later: Client = {
      ...client,
      store: { ...client.store, check: async () => ({ ...(await client.store.check()), now: Date.now() + ms }) },
    }
    const { schedules } = await gatherFleet(later, () => {})
    return Object.fromEntries(schedules.map(({ name, callMissingAt }) => [name, callMissingAt]))
  }

  test('is stored, so that list, describe and next show when the next call is expected', async () => {
    const done = await exec('backup', '--due', justNow(), '--expect', '0 3 * * *', '--tz', 'Europe/Berlin')
    assert.equal(done.status, 0, done.stderr)
    assert.equal(readFileSync(join(folder, 'backup'), 'utf8'), 'null', 'the rule is not an input of the command')
    const view = await bench.client.schedules.get('backup')
    assert.equal(view.trigger, null, 'the crontab decides when')
    assert.equal(view.nextAt, null)
    const table = await bench.say('list')
    assert.match(table.stdout, /\nbackup +active +At 03:00, every day \(Europe\/Berlin\), called by exec +\w{3} \d{4}-/)
    const [item] = JSON.parse((await bench.say('list', '--json')).stdout).items
    const { trigger, nextAt } = item.expected
    assert.deepEqual([trigger.expression, trigger.tz, item.nextAt], ['0 3 * * *', 'Europe/Berlin', null])
    assert.ok(nextAt > Date.now() - MINUTE && nextAt < Date.now() + DAY + 2 * 3_600_000)
    const described = await bench.say('describe', 'backup', '-n', '2')
    assert.match(described.stdout, /\nwhen +At 03:00, every day \(Europe\/Berlin\), called by cronce exec\n/)
    assert.match(described.stdout, /\nNext\n.*03:00.*\n.*03:00/)
    assert.doesNotMatch(described.stdout, /\ninput /)
    assert.equal(JSON.parse((await bench.say('next', 'backup', '-n', '1', '--json')).stdout).next.length, 1)
  })

  test('changes with the line of the crontab; without one nothing is expected', async () => {
    await exec('changed', '--due', justNow(), '--expect', '0 3 * * *', '--tz', 'UTC')
    await exec('changed', '--due', new Date(Date.now() + 500).toISOString(), '--expect', '0 4 * * *', '--tz', 'UTC')
    const ruleOf = async () => {
      const rule = expectedRule(await bench.client.schedules.get('changed'))
      return rule?.kind === 'cron' ? rule.expression : null
    }
    assert.equal(await ruleOf(), '0 4 * * *')
    await exec('changed', '--due', new Date(Date.now() + 1_000).toISOString(), '--expect', '0 3 * * *', '--tz', 'UTC')
    assert.equal(await ruleOf(), '0 3 * * *', 'also back to what it was')
    await exec('changed', '--due', new Date(Date.now() + 1_500).toISOString())
    assert.equal(await ruleOf(), null)
    await exec('plain', '--due', justNow())
    const plain = await bench.client.schedules.get('plain')
    assert.deepEqual([expectedRule(plain), withExpectedRule(plain, null)], [null, plain])
    const twice = await exec('plain', '--cron', '* * * * *', '--expect', '* * * * *')
    assert.deepEqual([twice.status, /--cron is expected by itself/.test(twice.stderr)], [2, true])
  })

  test('--cron is the rule by itself', async () => {
    const { status, stderr } = await exec('often', '--cron', '* * * * * *')
    assert.equal(status, 0, stderr)
    const rule = expectedRule(await bench.client.schedules.get('often'))
    assert.equal(rule?.kind === 'cron' && rule.expression, '* * * * * *')
  })

  test('doctor reports a crontab that no longer calls, until it calls or is paused', async () => {
    await exec('hourly', '--due', justNow(), '--expect', '0 * * * *', '--tz', 'UTC')
    await exec('daily', '--due', justNow(), '--expect', '0 3 * * *', '--tz', 'UTC')
    const { hourly: early } = await missingIn(0)
    assert.equal(early, null)
    const { hourly, daily, plain } = await missingIn(2 * DAY)
    assert.ok(hourly! <= Date.now() + 61 * MINUTE && hourly! % (60 * MINUTE) === 0)
    assert.ok(daily! >= hourly! && daily! % DAY === 3 * 60 * MINUTE)
    assert.equal(plain, null)
    await bench.client.schedules.pause('daily')
    const { daily: paused } = await missingIn(2 * DAY)
    assert.equal(paused, null)
  })

  test('a call that was late is no longer missing', async () => {
    const view = await bench.client.schedules.get('hourly')
    const due = Math.ceil(view.updatedAt / (60 * MINUTE)) * 60 * MINUTE
    const missing = withExpectedRule(view, view.last.dueAt)
    assert.ok(missing.nextAt! <= due)
    assert.equal(withExpectedRule(view, due).nextAt, due + 60 * MINUTE)
  })
})
