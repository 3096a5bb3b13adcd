/** The published entry `cronce/metrics`. */
export type { MetricsOptions } from './metrics/collect.ts'
export { type Metrics, metrics } from './metrics/metrics.ts'
export type { PromRegistry } from './metrics/prom-client.ts'
