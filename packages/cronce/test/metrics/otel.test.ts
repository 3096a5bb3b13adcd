import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { DataPointType, MeterProvider, type MetricData, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type Cronce, cronce } from '../../src/app/cronce.ts'
import { gaugesOf } from '../../src/app/gauges.ts'
import { PROCESS_METRICS } from '../../src/metrics/definitions.ts'
import { type OtelOptions, otel } from '../../src/otel/otel.ts'
import { TriggerLinks } from '../../src/otel/trigger-links.ts'

const exporter = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
after(() => context.disable())
const tracer = tracerProvider.getTracer('test')

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** An app on a store of its own, traced, that is stopped after the test. */
async function traced(
  after: (end: () => Promise<void>) => void,
  declare: (app: Cronce) => unknown,
  options: OtelOptions & { readonly labels?: Readonly<Record<string, string>> } = {},
): Promise<Cronce> {
  exporter.reset()
  const { labels, ...rest } = options
  const app = cronce({ store: 'memory:', logger: false, signals: false, app: 'shop', deployment: 'v1', labels })
  after(() => app.stop())
  otel(app, { tracerProvider, ...rest })
  declare(app)
  await app.start()
  return app
}

/** Triggers it and waits for the end of its fire. */
function fired(app: Cronce, job: string): Promise<void> {
  return new Promise((resolve, reject) => {
    app.on('fire.ended', () => resolve())
    app.schedules.trigger(job).catch(reject)
  })
}

function spanOf(name: string) {
  const span = exporter.getFinishedSpans().find((one) => one.name === name)
  assert.ok(span !== undefined, `there is a span ${name}`)
  return span
}

test('each run is a span of its own, with what it is about and how it ended', async (t) => {
  const app = await traced(
    (end) => t.after(end),
    (one) => one.job('bill', {}, () => 'paid'),
  )
  await fired(app, 'bill')
  const span = spanOf('job bill')
  assert.equal(span.kind, SpanKind.INTERNAL)
  assert.equal(span.parentSpanContext, undefined)
  const { attributes, status, instrumentationScope } = span
  assert.equal(instrumentationScope.name, 'cronce')
  assert.equal(attributes['cronce.job.name'], 'bill')
  assert.equal(attributes['cronce.schedule.name'], 'bill')
  assert.equal(attributes['cronce.trigger'], 'manual')
  assert.equal(attributes['cronce.attempt'], 1)
  assert.equal(attributes['cronce.instance.id'], app.instance)
  assert.equal(attributes['cronce.outcome'], 'succeeded')
  assert.match(String(attributes['cronce.fire.key']), /^bill\/\d+\/.+/)
  assert.match(String(attributes['cronce.fire.due']), /^\d{4}-.*Z$/)
  assert.match(String(attributes['cronce.claim.token']), /^\d+$/)
  assert.ok(Number(attributes['cronce.lateness_ms']) >= 0)
  assert.equal(status.code, SpanStatusCode.UNSET)
})

test('what the handler does is below the span of its run, also after it has waited', async (t) => {
  const app = await traced(
    (end) => t.after(end),
    (one) =>
      one.job('bill', {}, async () => {
        await new Promise((resolve) => setImmediate(resolve))
        tracer.startSpan('select').end()
      }),
  )
  await fired(app, 'bill')
  assert.equal(spanOf('select').parentSpanContext?.spanId, spanOf('job bill').spanContext().spanId)
})

test('a failed run has its exception and an error status, and each attempt is a span', async (t) => {
  let calls = 0
  const app = await traced(
    (end) => t.after(end),
    (one) =>
      one.job('bill', { retry: { attempts: 1, backoff: { base: '1ms' } } }, () => {
        if (++calls === 1) throw new Error('no money')
      }),
  )
  await fired(app, 'bill')
  const spans = exporter.getFinishedSpans().filter(({ name }) => name === 'job bill')
  assert.deepEqual(
    spans.map(({ attributes }) => [attributes['cronce.attempt'], attributes['cronce.outcome']]),
    [
      [1, 'failed'],
      [2, 'succeeded'],
    ],
  )
  const [failed] = spans
  assert.deepEqual(failed!.status, { code: SpanStatusCode.ERROR, message: 'no money' })
  assert.equal(failed!.attributes['error.type'], 'Error')
  assert.equal(failed!.events[0]!.name, 'exception')
  assert.equal(failed!.events[0]!.attributes!['exception.message'], 'no money')
})

test('a run that was aborted has the reason', async (t) => {
  const app = await traced(
    (end) => t.after(end),
    (one) =>
      one.job(
        'bill',
        { timeout: '10ms' },
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ),
  )
  await fired(app, 'bill')
  assert.equal(spanOf('job bill').attributes['cronce.aborted'], 'RUN_TIMEOUT')
  assert.equal(spanOf('job bill').attributes['error.type'], 'RUN_TIMEOUT')
})

test('a job on every host has one name in spans; the schedule names the host', async (t) => {
  const app = await traced(
    (end) => t.after(end),
    (one) => one.job('clean', { every: '1h', hosts: 'each' }, () => {}),
    { labels: { host: 'web-1' } },
  )
  await fired(app, 'clean@web-1')
  const { attributes } = spanOf('job clean')
  assert.equal(attributes['cronce.job.name'], 'clean')
  assert.equal(attributes['cronce.schedule.name'], 'clean@web-1')
})

test('a fire that was triggered within a span is linked with it; one that was not has no link', async (t) => {
  const app = await traced(
    (end) => t.after(end),
    (one) => one.job('bill', {}, () => {}),
  )
  const request = tracer.startSpan('POST /bills')
  await context.with(trace.setSpan(context.active(), request), () => fired(app, 'bill'))
  request.end()
  assert.deepEqual(
    spanOf('job bill').links.map((link) => link.context.spanId),
    [request.spanContext().spanId],
  )
  exporter.reset()
  await fired(app, 'bill')
  assert.deepEqual(spanOf('job bill').links, [])
})

test('an app that was started within a span does not hang its runs below it', async (t) => {
  exporter.reset()
  const app = cronce({ store: 'memory:', logger: false, signals: false })
  t.after(() => app.stop())
  otel(app, { tracerProvider })
  app.job('often', { every: '1s' }, () => {})
  const boot = tracer.startSpan('boot')
  const ended = new Promise<void>((resolve) => app.on('fire.ended', () => resolve()))
  await context.with(trace.setSpan(context.active(), boot), () => app.start())
  await ended
  const span = spanOf('job often')
  assert.equal(span.parentSpanContext, undefined)
  assert.notEqual(span.spanContext().traceId, boot.spanContext().traceId)
  assert.deepEqual(span.links, [])
})

test('links are bounded, and the oldest go first', () => {
  const links = new TriggerLinks()
  const fire = (dueAt: number) => ({ schedule: 's', dueAt, nonce: 'n' })
  const span = { traceId: 't', spanId: 's', traceFlags: 1 }
  for (let dueAt = 0; dueAt < 1_001; dueAt++) links.add(fire(dueAt), span)
  links.add(fire(-1), undefined)
  assert.deepEqual([links.of(fire(0)).length, links.of(fire(1)).length, links.of(fire(-1)).length], [0, 1, 0])
})

test('the metrics are those of cronce/metrics, by their OpenTelemetry names', async (t) => {
  const reader = new Reader()
  const meterProvider = new MeterProvider({ readers: [reader] })
  let isHeld: () => void = () => {}
  const app = await traced(
    (end) => t.after(end),
    (one) => {
      one.job('bill', {}, () => {})
      one.job('held', {}, () => new Promise<void>((resolve) => (isHeld = resolve)))
    },
    { meterProvider },
  )
  await fired(app, 'bill')
  const started = new Promise<void>((resolve) => app.on('run.started', () => resolve()))
  await app.schedules.trigger('held')
  await started
  const { resourceMetrics } = await reader.collect()
  const found = new Map(
    resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics).map((one) => [one.descriptor.name, one]),
  )
  const pointOf = (name: string) => found.get(name)!.dataPoints[0]!
  assert.equal(pointOf('cronce.fires').value, 1)
  assert.deepEqual(pointOf('cronce.fires').attributes, {
    'cronce.job.name': 'bill',
    'cronce.reason': 'completed',
    'cronce.outcome': 'succeeded',
  })
  assert.equal(pointOf('cronce.concurrency').value, 20)
  assert.equal(pointOf('cronce.runs.in.progress').value, 1)
  const duration = found.get('cronce.run.duration')! as MetricData
  assert.equal(duration.dataPointType, DataPointType.HISTOGRAM)
  assert.equal(duration.descriptor.unit, 's')
  assert.equal((duration.dataPoints[0]!.value as { count: number }).count, 1)
  assert.deepEqual(
    (duration.dataPoints[0]!.value as { buckets: { boundaries: number[] } }).buckets.boundaries,
    PROCESS_METRICS.duration.buckets,
  )
  isHeld()
})

test('otel() returns how to stop measuring', async () => {
  const app = cronce({ store: 'memory:', logger: false, signals: false })
  const stop = otel(app, { tracerProvider })
  assert.equal(gaugesOf(app)!.meters.length, 1)
  stop()
  assert.equal(gaugesOf(app)!.meters.length, 0)
})
