import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import vm from 'node:vm'
import { readDefinition } from '../../src/client/read-definition.ts'
import type { ScheduleOptions } from '../../src/client/schedule-options.ts'
import { policyOf } from '../../src/model/policy.ts'

const DAY_MS = 86_400_000

function definitionOf(options: ScheduleOptions) {
  return readDefinition('nightly', options).definition
}

/** What TypeScript would not let through, as it comes from JavaScript and from files. */
function refuse(options: unknown, code: string, ...parts: RegExp[]): void {
  assert.throws(
    () => readDefinition('nightly', options as ScheduleOptions),
    (error: { code: string; message: string; hint: string }) => {
      assert.equal(error.code, code, error.message)
      for (const part of parts) assert.match(`${error.message}\n${error.hint}`, part)
      assert.ok(error.hint.length > 0)
      return true
    },
  )
}

describe('a definition', () => {
  test('contains only its job when nothing else was given', () => {
    assert.deepEqual(readDefinition('nightly', {}), {
      definition: {
        job: 'nightly',
        trigger: null,
        input: null,
        policy: {},
        start: null,
        end: null,
        limit: null,
        tenant: null,
      },
      warnings: [],
    })
  })

  test('takes options that are undefined as not written', () => {
    const undefinedOptions = { cron: undefined, tz: undefined, retry: undefined, input: undefined, limit: undefined }
    assert.deepEqual(definitionOf(undefinedOptions), definitionOf({}))
    assert.deepEqual(definitionOf({ retry: { attempts: undefined, backoff: undefined } }), definitionOf({}))
  })

  test('names the job that it is for', () => {
    assert.equal(readDefinition('acme', { job: 'billing' }).definition.job, 'billing')
  })

  test('is JSON, and survives it', () => {
    const definition = definitionOf({
      cron: { expression: 'H 3 * * *', tz: 'Europe/London', gap: 'skip', overlap: 'both' },
      input: { a: [1, 'two', null] },
      overlap: { kind: 'allow', limit: 3 },
      start: new Date(0),
      retention: { keep: { failed: '90d' } },
      group: { name: 'reports', limit: 4 },
    })
    assert.deepEqual(JSON.parse(JSON.stringify(definition)), definition)
  })

  test('reads instants as Date, milliseconds or ISO text', () => {
    const instants = ['2027-01-01T01:00:00+01:00', Date.UTC(2027, 0), new Date(Date.UTC(2027, 0))]
    for (const start of instants) assert.equal(definitionOf({ every: '1h', start }).start, Date.UTC(2027, 0))
    for (const at of instants) assert.deepEqual(definitionOf({ at }).trigger, { kind: 'at', at: Date.UTC(2027, 0) })
  })

  test('accepts options from another realm', () => {
    const options = vm.runInNewContext('({ retry: { attempts: 3 }, input: { list: [{ a: 1 }] } })') as ScheduleOptions
    assert.deepEqual(definitionOf(options).policy.retry?.attempts, 3)
    assert.deepEqual(definitionOf(options).input, { list: [{ a: 1 }] })
  })

  test('refuses unknown options, and suggests the one that was meant', () => {
    refuse({ cronn: '* * * * *' }, 'OPTION_UNKNOWN', /"cronn"/, /Did you mean cron\?/)
    refuse({ retry: { attemps: 3 } }, 'OPTION_UNKNOWN', /"retry\.attemps"/, /Did you mean attempts\?/)
    refuse({ retry: { backoff: { bse: 1 } } }, 'OPTION_UNKNOWN', /"retry\.backoff\.bse"/, /Did you mean base\?/)
    refuse({ retention: { keep: { success: '7d' } } }, 'OPTION_UNKNOWN', /"retention\.keep\.success"/)
    refuse({ zzzzzzzz: 1 }, 'OPTION_UNKNOWN', /The options here are job, input/)
    // Own properties only: a name that every object has is unknown, too.
    refuse({ constructor: 1 }, 'OPTION_UNKNOWN', /"constructor"/)
    refuse(JSON.parse('{"__proto__": {"retry": 3}}'), 'OPTION_UNKNOWN', /"__proto__"/)
  })

  test('refuses options that are no object', () => {
    for (const options of [null, undefined, 'x', 3, [], () => {}, new Map(), new Date()]) {
      refuse(options, 'OPTION_INVALID', /an object/)
    }
  })

  test('keeps to its window', () => {
    refuse({ every: '1h', start: 2000, end: 1000 }, 'OPTION_CONFLICT', /ends before it starts/)
    refuse({ every: '1h', start: 1000, end: 1000 }, 'OPTION_CONFLICT', /ends before it starts/)
    refuse({ at: 1000, end: 1000 }, 'OPTION_CONFLICT', /not between start and end/)
    refuse({ at: 1000, start: 1001 }, 'OPTION_CONFLICT', /not between start and end/)
    refuse({ limit: 3 }, 'OPTION_CONFLICT', /limit means nothing without a trigger/)
    refuse({ every: '1h', limit: 0 }, 'OPTION_INVALID', /limit can't be 0/)
    refuse({ every: '1h', start: 'tomorrow' }, 'OPTION_INVALID', /start can't be "tomorrow"/, /2027-01-01T00:00:00Z/)
    refuse({ every: '1h', end: Number.NaN }, 'OPTION_INVALID', /end can't be NaN/)
  })

  test('refuses names that are no identity', () => {
    const bad = ['', ' a', 'a ', '\ta', 'a\u0000b', 'a\nb', 'a\u0085b', '\ud800', 'x'.repeat(201), 3, null, {}]
    for (const name of bad) {
      const thrown = { code: 'NAME_INVALID', hint: /1 to 200 characters/ }
      assert.throws(() => readDefinition(name as string, {}), thrown, `schedule ${String(name)}`)
      assert.throws(() => readDefinition('n', { job: name as string }), thrown, 'job')
      assert.throws(() => readDefinition('n', { tenant: name as string }), thrown, 'tenant')
      assert.throws(() => readDefinition('n', { group: { name: name as string, limit: 1 } }), thrown, 'group')
    }
    for (const name of ['a', 'x'.repeat(200), 'a b', 'Ärger 🎉', 'a/b:c', '__proto__']) {
      assert.equal(readDefinition(name, {}).definition.job, name)
    }
  })

  test("has its job's policies where it sets none itself", () => {
    const defaults = { retry: 3, timeout: '1h' } as const
    const { policy } = readDefinition('n', { timeout: '5m' }, defaults).definition
    assert.equal(policyOf(policy).retry.attempts, 3)
    assert.equal(policyOf(policy).timeout.runMs, 300_000)
  })
})

describe('a trigger', () => {
  test('is one of cron, every and at', () => {
    assert.deepEqual(definitionOf({ cron: '0 3 * * *', tz: 'Europe/London' }).trigger, {
      kind: 'cron',
      expression: '0 3 * * *',
      tz: 'Europe/London',
    })
    assert.deepEqual(definitionOf({ every: '15m' }).trigger, { kind: 'every', everyMs: 900_000, anchor: 0 })
    assert.deepEqual(definitionOf({ every: { interval: 60_000, anchor: '1970-01-01T00:00:05Z' } }).trigger, {
      kind: 'every',
      everyMs: 60_000,
      anchor: 5_000,
    })
    refuse({ cron: '* * * * *', every: '5m' }, 'OPTION_CONFLICT', /cron and every/)
    refuse({ at: 0, every: '5m', cron: '* * * * *' }, 'OPTION_CONFLICT', /cron and every and at/)
  })

  test('takes the name of the schedule as the seed of H, and stores no seed elsewhere', () => {
    const data = definitionOf({ cron: 'H H * * *' }).trigger
    assert.deepEqual(data, { kind: 'cron', expression: 'H H * * *', tz: 'UTC', seed: 'nightly' })
    assert.equal('seed' in definitionOf({ cron: '5 3 * * *' }).trigger!, false)
    const own = definitionOf({ cron: 'H H * * *', seed: 'other' }).trigger
    assert.deepEqual(own, { kind: 'cron', expression: 'H H * * *', tz: 'UTC', seed: 'other' })
  })

  test('has the overlap of cron inside cron, and the overlap of fires beside it', () => {
    const { trigger, policy } = definitionOf({
      cron: { expression: '30 1 * * *', overlap: 'second', tz: 'Europe/London' },
      overlap: 'queue',
    })
    assert.equal(trigger?.kind === 'cron' && trigger.overlap, 'second')
    assert.deepEqual(policy.overlap, { kind: 'queue', limit: 1 })
  })

  test('is refused with the error of the cron parser', () => {
    refuse({ cron: '61 * * * *' }, 'VALUE_OUT_OF_RANGE')
    refuse({ cron: '* * * * *', tz: 'Europe/Londn' }, 'ZONE_UNKNOWN', /Europe\/London/)
    refuse({ cron: '* * * * *', dst: 'walll' }, 'OPTION_INVALID', /wall/)
    refuse({ cron: '* * * * *', days: null }, 'OPTION_INVALID', /days/)
    refuse({ cron: { expression: '* * * * *', gap: 'x' } }, 'OPTION_INVALID', /gap/)
    refuse({ cron: 5 }, 'OPTION_INVALID', /cron can't be 5/)
    refuse({ cron: null }, 'OPTION_INVALID', /cron can't be null/)
    refuse({ cron: {} }, 'OPTION_INVALID', /cron\.expression/)
    refuse({ at: '2027-01-01T00:00:00' }, 'OPTION_INVALID', /at can't be/, /Z or an offset/)
    refuse({ at: new Date(Number.NaN) }, 'OPTION_INVALID', /an invalid Date/)
  })

  test('that never fires is refused', () => {
    refuse({ cron: '0 0 30 2 *' }, 'OPTION_INVALID', /fires at some time/, /30 February/)
    refuse({ cron: '@reboot' }, 'OPTION_INVALID', /where the application starts/)
  })

  test('takes options of cron only with cron, and once', () => {
    refuse({ every: '5m', tz: 'UTC' }, 'OPTION_CONFLICT', /tz means nothing without cron/)
    refuse({ seed: 'x' }, 'OPTION_CONFLICT', /seed means nothing without cron/)
    refuse({ cron: { expression: '* * * * *', tz: 'UTC' }, tz: 'UTC' }, 'OPTION_CONFLICT', /both in cron and beside/)
  })

  test('comes no faster than every 10 ms', () => {
    assert.deepEqual(definitionOf({ every: 10 }).trigger, { kind: 'every', everyMs: 10, anchor: 0 })
    for (const every of [9, 0, -1, 1.5, '5', 'x', '', Number.NaN, Number.POSITIVE_INFINITY, true]) {
      refuse({ every }, 'OPTION_INVALID', /The option every can't be/, /from 10ms to 36500d/)
    }
  })
})

describe('policies', () => {
  test('are stored only where they differ from the default', () => {
    const asDefault: ScheduleOptions = {
      guarantee: 'at-least-once',
      overlap: 'skip',
      misfire: 'latest',
      retry: 0,
      timeout: { grace: '10s' },
      jitter: 0,
      retention: '30d',
      unknownStep: 'fail',
    }
    assert.deepEqual(definitionOf(asDefault).policy, {})
    assert.deepEqual(definitionOf({ ...asDefault, retry: 1, pauseAfter: 5 }).policy, {
      retry: { attempts: 1, baseMs: 1_000, factor: 2, capMs: 300_000, jitter: 0.5, crashes: 2, deadlineMs: null },
      pauseAfter: 5,
    })
  })

  test('are read in their long form', () => {
    const { policy } = definitionOf({
      guarantee: 'exactly-once',
      overlap: { kind: 'queue-all', limit: 7 },
      misfire: { grace: '1m', late: 'all', limit: 10, window: '2h' },
      retry: {
        attempts: 5,
        backoff: { base: '2s', factor: 1.5, cap: '1m', jitter: 0 },
        crashes: 0,
        deadline: '1h',
      },
      timeout: { run: '1h', grace: '30s' },
      jitter: { within: '5m', kind: 'random' },
      pauseAfter: 3,
      retention: { keep: { succeeded: '7d', failed: '90d' }, count: 50 },
      concurrency: 2,
      group: { name: 'reports', limit: 4 },
      unknownStep: 'rerun',
    })
    assert.deepEqual(policy, {
      guarantee: 'exactly-once',
      overlap: { kind: 'queue-all', limit: 7 },
      misfire: { graceMs: 60_000, late: 'all', limit: 10, windowMs: 7_200_000 },
      retry: {
        attempts: 5,
        baseMs: 2_000,
        factor: 1.5,
        capMs: 60_000,
        jitter: 0,
        crashes: 0,
        deadlineMs: 3_600_000,
      },
      timeout: { runMs: 3_600_000, graceMs: 30_000 },
      jitter: { kind: 'random', ms: 300_000 },
      pauseAfter: 3,
      retention: { keepMs: 30 * DAY_MS, keepMsBy: { succeeded: 7 * DAY_MS, failed: 90 * DAY_MS }, count: 50 },
      limits: { job: 2, group: { name: 'reports', limit: 4 } },
      unknownStep: 'rerun',
    })
  })

  test('are read in their short form', () => {
    const { policy } = definitionOf({ overlap: 'allow', misfire: 'skip', timeout: '90s', jitter: '30s', retry: 2 })
    assert.deepEqual(policy.overlap, { kind: 'allow', limit: 100 })
    assert.equal(policy.misfire?.late, 'skip')
    assert.deepEqual(policy.timeout, { runMs: 90_000, graceMs: 10_000 })
    assert.deepEqual(policy.jitter, { kind: 'fixed', ms: 30_000 })
    assert.equal(policy.retry?.attempts, 2)
    assert.deepEqual(definitionOf({ overlap: 'queue-all' }).policy.overlap, { kind: 'queue-all', limit: 1_000 })
  })

  test('are refused by path, with the value, what is expected, and a hint', () => {
    const cases: [unknown, RegExp, RegExp][] = [
      [{ guarantee: 'once' }, /guarantee can't be "once"/, /at-least-once, at-most-once, exactly-once/],
      [{ guarantee: 'at-most-onc' }, /guarantee/, /Did you mean 'at-most-once'\?/],
      [{ overlap: 'wait' }, /overlap can't be "wait"/, /one of skip, queue/],
      [{ overlap: { limit: 3 } }, /overlap\.kind can't be undefined/, /one of/],
      [{ overlap: { kind: 'allow', limit: 1001 } }, /overlap\.limit can't be 1001/, /1 to 1,000/],
      [{ misfire: { grace: -1 } }, /misfire\.grace can't be -1/, /from 0 to 365d/],
      [{ misfire: { window: '2y' } }, /misfire\.window can't be "2y"/, /misfire: \{ window: '1d' \}/],
      [{ misfire: { limit: 1.5 } }, /misfire\.limit can't be 1\.5/, /whole number/],
      [{ misfire: true }, /misfire can't be true/, /one of/],
      [{ retry: -1 }, /retry can't be -1/, /0 to 1,000/],
      [{ retry: '3' }, /retry can't be "3"/, /Write retry: 3\./],
      [{ retry: null }, /retry can't be null/, /whole number/],
      [{ retry: { attempts: 1001 } }, /retry\.attempts can't be 1001/, /retry: \{ attempts: 1000 \}/],
      [{ retry: { backoff: 5 } }, /retry\.backoff can't be 5/, /an object/],
      [{ retry: { backoff: { base: '5x' } } }, /retry\.backoff\.base can't be "5x"/, /backoff: \{ base: '1s' \}/],
      [{ retry: { backoff: { factor: 0.5 } } }, /retry\.backoff\.factor can't be 0\.5/, /from 1 to 100/],
      [{ retry: { backoff: { factor: Number.NaN } } }, /retry\.backoff\.factor can't be NaN/, /from 1 to 100/],
      [{ retry: { backoff: { jitter: 1.1 } } }, /retry\.backoff\.jitter can't be 1\.1/, /from 0 to 1/],
      [{ retry: { crashes: 101 } }, /retry\.crashes can't be 101/, /0 to 100/],
      [{ timeout: 0 }, /timeout can't be 0/, /from 1ms to 365d/],
      [{ timeout: { run: '366d' } }, /timeout\.run can't be "366d"/, /365d/],
      [{ timeout: { grace: '25h' } }, /timeout\.grace can't be "25h"/, /1d/],
      [{ jitter: '8d' }, /jitter can't be "8d"/, /7d/],
      [{ jitter: { kind: 'random' } }, /jitter\.within can't be undefined/, /duration/],
      [{ pauseAfter: 0 }, /pauseAfter can't be 0/, /1 to 1,000,000/],
      [{ retention: '11000d' }, /retention can't be "11000d"/, /3650d/],
      [{ retention: { count: 0 } }, /retention\.count can't be 0/, /from 1/],
      [{ retention: { keep: { failed: 'x' } } }, /retention\.keep\.failed can't be "x"/, /duration/],
      [{ concurrency: 0 }, /concurrency can't be 0/, /1 to 100,000/],
      [{ group: 'reports' }, /group can't be "reports"/, /group: \{ name: 'reports', limit: 4 \}/],
      [{ group: { name: 'a' } }, /group\.limit can't be undefined/, /1 to 100,000/],
      [{ unknownStep: 'retry' }, /unknownStep can't be "retry"/, /one of fail, rerun/],
    ]
    for (const [options, message, expected] of cases) refuse(options, 'OPTION_INVALID', message, expected)
  })

  test('never repeat the whole of a long text in a message', () => {
    assert.throws(
      () => readDefinition('n', { timeout: 'x'.repeat(100_000) as '1m' }),
      (error: Error) => error.message.length < 300,
    )
  })

  test('contradict each other only by mistake', () => {
    refuse({ guarantee: 'at-most-once', retry: 1 }, 'OPTION_CONFLICT', /never starts a fire twice/)
    refuse({ guarantee: 'at-most-once', retry: { attempts: 2 } }, 'OPTION_CONFLICT', /at-most-once/)
    refuse({ misfire: { grace: '2h', window: '1h' } }, 'OPTION_CONFLICT', /misfire\.grace/)
    refuse({ retry: { backoff: { base: '1m', cap: '1s' } } }, 'OPTION_CONFLICT', /retry\.backoff\.cap/)
    refuse({ overlap: { kind: 'skip', limit: 2 } }, 'OPTION_CONFLICT', /overlap\.limit/)
    assert.deepEqual(definitionOf({ guarantee: 'at-most-once', retry: 0 }).policy, { guarantee: 'at-most-once' })
  })

  test('have a cap that follows a long first delay', () => {
    assert.equal(definitionOf({ retry: { backoff: { base: '1h' } } }).policy.retry?.capMs, 3_600_000)
  })

  test('keeps records for the misfire window and a day at least, and reports it', () => {
    const { definition, warnings } = readDefinition('n', { retention: '1h' })
    assert.equal(definition.policy.retention?.keepMs, 2 * DAY_MS)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /retention was raised/)

    const long = readDefinition('n', {
      misfire: { window: '10d' },
      retention: { keep: { succeeded: '5d', failed: '20d' } },
    })
    assert.deepEqual(long.definition.policy.retention?.keepMsBy, { succeeded: 11 * DAY_MS, failed: 20 * DAY_MS })
    assert.deepEqual(long.warnings.length, 1)
    assert.match(long.warnings[0]!, /retention\.keep\.succeeded/)
  })
})
