import {
  type Attributes,
  type Counter,
  type Histogram,
  type Link,
  type Meter,
  type MeterProvider,
  metrics,
  type ObservableCallback,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { Cronce } from '../app/cronce.ts'
import { gaugesOf } from '../app/gauges.ts'
import { Parked } from '../engine/run/parked.ts'
import { collect, type MetricsOptions, readMaxJobs, type Sink } from '../metrics/collect.ts'
import { type Definition, type MetricKey, PROCESS_METRICS } from '../metrics/definitions.ts'
import { labelValues } from '../metrics/series.ts'
import type { Run } from '../run/run.ts'
import { VERSION } from '../version.ts'
import { TriggerLinks } from './trigger-links.ts'

/** Options of `otel()`. */
export interface OtelOptions extends MetricsOptions {
  /** @default the one that the SDK has registered */
  readonly tracerProvider?: TracerProvider | undefined
  /** @default the one that the SDK has registered */
  readonly meterProvider?: MeterProvider | undefined
}

const SCOPE = 'cronce'

/**
 * One OpenTelemetry span around the handler of every run, and the metrics of `cronce/metrics` as instruments. Call it after the SDK was
 * registered and before `start()`. Returns how to stop the metrics.
 *
 * @example
 * import { otel } from 'cronce/otel'
 * otel(app)
 * await app.start()
 */
export function otel<Tx>(app: Cronce<Tx>, options: OtelOptions = {}): () => void {
  const { tracerProvider = trace, meterProvider = metrics, ...rest } = options
  const maxJobs = readMaxJobs(rest, 'otel(app, { maxJobs: 100 })')
  const tracer = tracerProvider.getTracer(SCOPE, VERSION)
  const links = new TriggerLinks()
  const plainName = gaugesOf(app)?.plainName ?? ((job: string) => job)
  // Emitted in the context of the caller that triggered it. A scheduled fire has no nonce.
  const unlisten = app.on('fire.planned', (event) => {
    if (event.nonce !== '') links.add(event, trace.getActiveSpan()?.spanContext())
  })
  app.use((run, next) => {
    const job = plainName(run.fire.job)
    // A root: the loop that claimed the run belongs to no request.
    const options = { ...spanOptions(run, job, links.of(run.fire)), root: true }
    return tracer.startActiveSpan(`job ${job}`, options, (span) => within(span, run, next))
  })
  const stop = measure(app, meterProvider.getMeter(SCOPE, VERSION), maxJobs)
  return () => {
    unlisten()
    stop()
  }
}

function spanOptions({ fire, attempt, token, instance }: Run, job: string, links: readonly Link[]) {
  const attributes: Attributes = {
    'cronce.job.name': job,
    'cronce.schedule.name': fire.schedule,
    'cronce.fire.key': [fire.schedule, fire.dueAt, fire.nonce].filter((part) => part !== '').join('/'),
    'cronce.fire.due': new Date(fire.dueAt).toISOString(),
    'cronce.lateness_ms': Math.max(0, Date.now() - fire.dueAt),
    'cronce.attempt': attempt,
    'cronce.trigger': fire.kind,
    'cronce.instance.id': instance,
    'cronce.claim.token': String(token),
  }
  return { kind: SpanKind.INTERNAL, attributes, links: [...links] }
}

/** The outcome is what the handler did; what is recorded may differ, as when the run was revoked meanwhile. */
async function within(span: Span, { signal }: Run, next: () => Promise<unknown>): Promise<unknown> {
  try {
    const returned = await next()
    span.setAttribute('cronce.outcome', returned instanceof Parked ? 'parked' : 'succeeded')
    return returned
  } catch (error) {
    span.setAttribute('cronce.outcome', 'failed')
    span.setAttribute('error.type', typeOf(error))
    if (signal.aborted) span.setAttribute('cronce.aborted', codeOf(signal.reason))
    span.recordException(error instanceof Error ? error : String(error))
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
    throw error
  } finally {
    span.end()
  }
}

/** As the conventions of OpenTelemetry define `error.type`: one of few values. */
function typeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  if (typeof code === 'string' && code !== '') return code
  return error instanceof Error && typeof name === 'string' ? name : '_OTHER'
}

function codeOf(reason: unknown): string {
  const { code } = (reason ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : 'unknown'
}

function measure(app: Pick<Cronce, 'on'>, meter: Meter, maxJobs: number): () => void {
  const { sink, keysOfGauges } = instruments(meter)
  const { gauges, stop } = collect(app, sink, maxJobs)
  const ends = keysOfGauges.map((key) => {
    const { otel: name, help: description, unit }: Definition = PROCESS_METRICS[key]
    const gauge = meter.createObservableGauge(name, { description, unit })
    const observe: ObservableCallback = (result) => {
      for (const one of gauges()) if (one.metric === key) result.observe(one.value, attributes(key, one.label, ''))
    }
    gauge.addCallback(observe)
    return () => gauge.removeCallback(observe)
  })
  return () => {
    for (const end of ends) end()
    stop()
  }
}

/** The label `job_name` is the attribute `cronce.job.name`, as on spans. */
function attributes(metric: MetricKey, first: string, second: string): Attributes {
  const labels = labelValues(PROCESS_METRICS[metric].labels, first, second)
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`cronce.${name.replace('_', '.')}`, value]))
}

function instruments(meter: Meter): { readonly sink: Sink; readonly keysOfGauges: readonly MetricKey[] } {
  const counters = new Map<MetricKey, Counter>()
  const histograms = new Map<MetricKey, Histogram>()
  const keys = Object.keys(PROCESS_METRICS) as MetricKey[]
  for (const key of keys) {
    const { type, otel: name, help: description, unit, buckets = [] }: Definition = PROCESS_METRICS[key]
    const advice = { explicitBucketBoundaries: [...buckets] }
    if (type === 'counter') counters.set(key, meter.createCounter(name, { description, unit }))
    else if (type === 'histogram') histograms.set(key, meter.createHistogram(name, { description, unit, advice }))
  }
  return {
    sink: {
      cell(key, first, second) {
        const own = attributes(key, first, second)
        return {
          add: (count) => counters.get(key)!.add(count, own),
          observe: (seconds) => histograms.get(key)!.record(seconds, own),
        }
      },
    },
    keysOfGauges: keys.filter((key) => PROCESS_METRICS[key].type === 'gauge'),
  }
}
