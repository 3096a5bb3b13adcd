import type { Cronce } from '../app/cronce.ts'
import { collect, type GaugeValue, type MetricsOptions, readMaxJobs, type Sink } from './collect.ts'
import { type Definition, type MetricKey, PROCESS_METRICS } from './definitions.ts'
import { CONTENT_TYPE, exposition, type Family } from './exposition.ts'
import { type PromRegistry, registerFamilies } from './prom-client.ts'
import { labelValues, Series } from './series.ts'

/** The metrics of one app in one process. */
export interface Metrics {
  /** What Prometheus reads: the answer to `GET /metrics`. */
  text(): string
  /** The content type of that answer. */
  readonly contentType: string
  /**
   * Adds these metrics to a registry of prom-client, whose own output then contains them.
   *
   * @example
   * metrics(app).register(client.register) // import client from 'prom-client'
   */
  register(registry: PromRegistry): void
  /** Stop measuring. What was counted stays readable. */
  stop(): void
}

/**
 * Measures an app: its fires, runs, lateness, leases and calls of the store, in this process. Counting starts with this call, so call it
 * before `start()`.
 *
 * @example
 * const measured = metrics(app)
 * createServer((_, response) => {
 *   response.setHeader('content-type', measured.contentType)
 *   response.end(measured.text())
 * }).listen(9464)
 */
export function metrics(app: Pick<Cronce, 'on'>, options: MetricsOptions = {}): Metrics {
  const maxJobs = readMaxJobs(options, 'metrics(app, { maxJobs: 100 })')
  const keys = Object.keys(PROCESS_METRICS) as MetricKey[]
  const series = Object.fromEntries(keys.map((key) => [key, new Series(PROCESS_METRICS[key])])) as SeriesOf
  const cell: Sink['cell'] = (metric, first, second) => series[metric].cell(first, second)
  const { gauges, stop } = collect(app, { cell }, maxJobs)
  const familyOf = (key: MetricKey): Family =>
    PROCESS_METRICS[key].type === 'gauge' ? gaugeFamily(key, gauges()) : series[key].family()
  return {
    text: () => exposition(keys.map(familyOf)),
    contentType: CONTENT_TYPE,
    register: (registry) =>
      registerFamilies(
        registry,
        keys.map((key) => () => familyOf(key)),
      ),
    stop,
  }
}

type SeriesOf = Readonly<Record<MetricKey, Series>>

function gaugeFamily(key: MetricKey, values: readonly GaugeValue[]): Family {
  const { name, type, help, labels }: Definition = PROCESS_METRICS[key]
  const own = values.filter(({ metric }) => metric === key)
  const samples = own.map(({ label, value }) => ({ name, labels: labelValues(labels, label, ''), value }))
  return { name, type, help, samples }
}
