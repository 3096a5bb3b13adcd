import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { obtain } from '../../../../scripts/servers/index.ts'
import { cronce } from '../../src/app/cronce.ts'
import { gaugesOf } from '../../src/app/gauges.ts'
import { labelCap } from '../../src/metrics/collect.ts'
import { PROCESS_METRICS } from '../../src/metrics/definitions.ts'
import { exposition } from '../../src/metrics/exposition.ts'
import { metrics } from '../../src/metrics/metrics.ts'
import { valuesIn } from './read-text.ts'

/** The output of promtool about an exposition; empty: nothing is wrong. */
async function promtoolSays(text: string): Promise<string> {
  const { stdout, stderr, status } = spawnSync(await obtain('promtool'), ['check', 'metrics'], { input: text })
  return status === 0 ? '' : `${stdout}${stderr}`
}

/** An app that is not started, its metrics, and how the engine reports to them. */
function measuring(maxJobs?: number) {
  const app = cronce({ store: 'memory:', logger: false, signals: false })
  const measured = metrics(app, maxJobs === undefined ? {} : { maxJobs })
  const [meter] = gaugesOf(app)!.meters
  return { app, measured, meter: meter! }
}

test('Prometheus accepts every metric, with hostile job names in it', async () => {
  const { measured, meter } = measuring()
  const names = ['plain', 'with "quotes"', 'back\\slash', 'line\nbreak', 'ünïcödé ☃', '{}=,#', '', '\u0007']
  for (const name of names) {
    meter.succeeded(name, null, true)
    meter.runStarted(name, 3, 40)
  }
  meter.storeCalled('claim (look)', 12, true)
  meter.conflicted('settle', 2)
  const text = measured.text()
  assert.equal(await promtoolSays(text), '')
  const values = valuesIn(text)
  const one = (job: string) =>
    values.get(`cronce_fires_total{job_name="${job}",reason="completed",outcome="succeeded"}`)
  for (const job of ['plain', 'with \\"quotes\\"', 'back\\\\slash', 'line\\nbreak', '{}=,#'])
    assert.equal(one(job), 1, job)
  assert.equal(values.get('cronce_store_errors_total{operation="claim"}'), 1)
  assert.equal(values.get('cronce_conflicts_total{operation="settle"}'), 2)
  assert.equal(values.get('cronce_start_lateness_seconds_bucket{job_name="plain",le="0.025"}'), 0)
  assert.equal(values.get('cronce_start_lateness_seconds_bucket{job_name="plain",le="0.05"}'), 1)
  assert.equal(values.get('cronce_start_lateness_seconds_bucket{job_name="plain",le="+Inf"}'), 1)
  assert.equal(values.get('cronce_start_lateness_seconds_sum{job_name="plain"}'), 0.04)
})

test('promtool would report mistakes', async () => {
  const sample = { name: 'cronce_bad', labels: {}, value: 1 }
  const family = { name: 'cronce_bad', type: 'counter', help: 'x', samples: [sample] } as const
  assert.match(await promtoolSays(exposition([family])), /_total/)
})

test('values that are no finite numbers are written as Prometheus reads them', () => {
  const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21, 0.5]
  const samples = values.map((value) => ({ name: 'g', labels: {}, value }))
  const text = exposition([{ name: 'g', type: 'gauge', help: 'two\nlines \\', samples }])
  assert.equal(text, '# HELP g two\\nlines \\\\\n# TYPE g gauge\ng +Inf\ng -Inf\ng NaN\ng 1e+21\ng 0.5\n')
})

test('the first jobs have series of their own, and all others share one', () => {
  const { measured, meter } = measuring(2)
  for (const job of ['a', 'b', 'c', 'a', 'd', 'c']) meter.succeeded(job, null, true)
  const values = valuesIn(measured.text())
  const count = (job: string) =>
    values.get(`cronce_fires_total{job_name="${job}",reason="completed",outcome="succeeded"}`)
  assert.deepEqual([count('a'), count('b'), count('c'), count('d'), count('other')], [2, 1, undefined, undefined, 3])
  const label = labelCap(1)
  assert.deepEqual([label('x'), label('y'), label('x')], ['x', 'other', 'x'])
})

test('a job is at most as many series as the documentation states', () => {
  const { measured, meter } = measuring()
  meter.succeeded('a', null, true)
  meter.runStarted('a', 1, 1)
  meter.succeeded('a', 1, false)
  const own = [...valuesIn(measured.text()).keys()].filter((series) => series.includes('job_name="a"'))
  assert.ok(own.length <= 60, `${own.length} series`)
})

test('an app that is measured makes no event for a plain success, and after stop() nothing is measured', () => {
  const { app, measured } = measuring()
  const types: string[] = []
  const on = (type: string) => {
    types.push(type)
    return () => void types.splice(types.indexOf(type), 1)
  }
  const other = metrics(Object.create(app, { on: { value: on } }))
  assert.equal(gaugesOf(app)!.meters.length, 2)
  assert.ok(types.length > 5)
  // A listener of one of these would cost an object for every fire.
  for (const plain of ['*', 'fire.planned', 'run.started', 'run.ended', 'fire.ended']) assert.ok(!types.includes(plain))
  other.stop()
  measured.stop()
  assert.equal(gaugesOf(app)!.meters.length, 0)
  assert.deepEqual(types, [])
})

test('unknown options and values that are not an app are refused', () => {
  assert.throws(() => metrics({} as never), {
    code: 'OPTION_INVALID',
    message: 'The value to measure is not an app.',
  })
  const app = cronce({ store: 'memory:', logger: false })
  assert.throws(() => metrics(app, { maxJob: 3 } as never), { code: 'OPTION_UNKNOWN', hint: /maxJobs/ })
  assert.throws(() => metrics(app, { maxJobs: 0 }), { code: 'OPTION_INVALID' })
})

test('every metric has a name and a unit in the manner of Prometheus, and one in that of OpenTelemetry', () => {
  for (const { name, type, otel, unit, help } of Object.values(PROCESS_METRICS)) {
    assert.match(name, /^cronce_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') assert.match(name, /_seconds$/)
    assert.match(otel, /^cronce(\.[a-z]+)+$/)
    assert.match(unit, /^(s|1|\{[a-z]+\})$/)
    assert.match(help, /\.$/)
  }
})
