import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type Cronce, cronce, type NewSchedule } from 'cronce'
import { asCode, DEFAULT_OPTIONS } from '../src/as-code.ts'
import { definitionOf, policyOptions } from '../src/definition-of.ts'

const SCHEDULES: Readonly<Record<string, NewSchedule>> = {
  manual: { job: 'mail' },
  daily: { job: 'mail', cron: '0 3 * * *', tz: 'Europe/Berlin' },
  detailed: { job: 'mail', cron: { expression: '0 3 * * *', tz: 'UTC', gap: 'skip', overlap: 'both' } },
  often: { job: 'mail', every: '90s' },
  anchored: { job: 'mail', every: { interval: '1h', anchor: 1_234 } },
  once: { job: 'mail', at: '2099-01-01T00:00:00Z' },
  'it\'s "quoted" \\': { job: 'mail', every: '1h', input: { "it's": '"`\\\n', list: [1, null, true], 'a-b': {} } },
  bounded: {
    job: 'mail',
    every: '1d',
    start: '2027-01-01T00:00:00Z',
    end: '2028-01-01T00:00:00Z',
    limit: 9,
    tenant: 'acme',
  },
  policies: {
    ...{ job: 'mail', every: '1h', guarantee: 'at-most-once', overlap: { kind: 'allow', limit: 3 }, misfire: 'all' },
    ...{ timeout: '5m', jitter: { within: '1500ms', kind: 'random' }, pauseAfter: 4, unknownStep: 'rerun' },
    ...{ retention: { keep: { failed: '60d' }, count: 50 }, concurrency: 2, group: { name: 'db', limit: 5 } },
  },
  retried: { job: 'mail', every: '1h', retry: { attempts: 3, backoff: { base: '2s' }, deadline: '2h' } },
}

function appOf(context: Pick<TestContext, 'after'>): Cronce {
  const app = cronce({ store: 'memory:', signals: false, logger: false })
  context.after(() => app.stop())
  return app
}

describe('a schedule as code', () => {
  test('is a call that makes the same schedule again, and so is its definition as data', async (context) => {
    const app = appOf(context)
    for (const [name, options] of Object.entries(SCHEDULES)) {
      await app.schedules.put(name, options)
      const before = await app.schedules.get(name)
      const copy = appOf(context)
      await new Function('app', `return (async () => { ${asCode(before)} })()`)(copy)
      const definition = (one: typeof before) => ({ ...definitionOf(one), app: one.app })
      assert.deepEqual(definition(await copy.schedules.get(name)), definition(before), asCode(before))
      await app.schedules.put(name, definitionOf(before))
      assert.equal(
        (await app.schedules.get(name)).revision,
        before.revision,
        `${name} was changed by its own definition`,
      )
    }
  })

  test('of a job is a declaration with a place for its function', async (context) => {
    const app = appOf(context)
    app.job('report', { cron: '0 3 * * *', tz: 'Asia/Tokyo', retry: 2 }, () => {})
    app.job('mail', {}, () => {})
    await app.start()
    const code = "app.job('report', { cron: '0 3 * * *', tz: 'Asia/Tokyo', retry: { attempts: 2 } }, async (run) => {})"
    assert.equal(asCode(await app.schedules.get('report')), code)
    assert.equal(asCode(await app.schedules.get('mail')), "app.job('mail', {}, async (run) => {})")
  })

  test('leaves out exactly what the library fills in', async (context) => {
    const app = appOf(context)
    await app.schedules.put('plain', { job: 'mail' })
    assert.deepEqual(policyOptions((await app.schedules.get('plain')).policy), DEFAULT_OPTIONS)
  })
})
