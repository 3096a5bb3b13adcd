import type { Family } from './exposition.ts'

/** As much of a registry of prom-client as is used: the library does not depend on it. */
export interface PromRegistry {
  registerMetric(metric: never): void
}

/** Gives a registry metrics that are read when it is. */
export function registerFamilies(registry: PromRegistry, families: readonly (() => Family)[]): void {
  for (const read of families) registry.registerMetric(new ReadMetric(read) as never)
}

/** What a registry asks of a metric. */
class ReadMetric {
  /** Not readonly: a registry for OpenMetrics takes `_total` off, and appends it to every value. */
  name: string
  readonly help: string
  readonly type: Family['type']
  readonly aggregator = 'sum'
  readonly #read: () => Family

  constructor(read: () => Family) {
    const { name, help, type } = read()
    this.name = name
    this.help = help
    this.type = type
    this.#read = read
  }

  async get() {
    const { name, help, type, aggregator } = this
    const values = this.#read().samples.map(({ name: metricName, labels, value }) => ({
      ...(type === 'histogram' ? { metricName } : {}),
      ...{ labels, value },
    }))
    return { name, help, type, aggregator, values }
  }

  /** `resetMetrics()` is for tests of the application: what the library counted stays. */
  reset(): void {}
}
