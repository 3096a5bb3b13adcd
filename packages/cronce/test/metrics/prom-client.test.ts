import assert from 'node:assert/strict'
import { test } from 'node:test'
import client from 'prom-client'
import { cronce } from '../../src/app/cronce.ts'
import { gaugesOf } from '../../src/app/gauges.ts'
import { metrics } from '../../src/metrics/metrics.ts'
import { valuesIn } from './read-text.ts'

function measured() {
  const app = cronce({ store: 'memory:', logger: false, signals: false })
  const own = metrics(app)
  const count = () => {
    gaugesOf(app)!.meters[0]!.runStarted('bill "x"', 3, 40)
    gaugesOf(app)!.meters[0]!.storeCalled('claim', 3, true)
  }
  return { own, count }
}

test('a registry of prom-client exposes the same values beside its own', async () => {
  const registry = new client.Registry()
  new client.Counter({ name: 'orders_total', help: 'Orders.', registers: [registry] }).inc(7)
  const { own, count } = measured()
  own.register(registry)
  count()
  count()
  const theirs = valuesIn(await registry.metrics())
  assert.equal(theirs.get('orders_total'), 7)
  for (const [series, value] of valuesIn(own.text())) assert.equal(theirs.get(series), value, series)
  assert.equal(theirs.get('cronce_store_errors_total{operation="claim"}'), 2)
  const asJson = await registry.getMetricsAsJSON()
  assert.ok(asJson.some(({ name }) => name === 'cronce_start_lateness_seconds'))
})

test('a registry for OpenMetrics names counters as that wants them', async () => {
  const registry = new client.Registry()
  registry.setContentType(client.Registry.OPENMETRICS_CONTENT_TYPE as never)
  const { own, count } = measured()
  own.register(registry)
  count()
  const text = await registry.metrics()
  assert.match(text, /^# TYPE cronce_store_errors counter$/m)
  assert.match(text, /^cronce_store_errors_total\{operation="claim"\} 1$/m)
  assert.match(text, /^cronce_start_lateness_seconds_bucket\{job_name="bill \\"x\\"",le="0.05"\} 1$/m)
})
