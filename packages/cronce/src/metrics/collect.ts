import type { Cronce } from '../app/cronce.ts'
import { type Gauges, gaugesOf } from '../app/gauges.ts'
import { readFields, readInteger } from '../client/read-option.ts'
import type { InstanceLoad } from '../engine/instance.ts'
import type { Meter } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import { VERSION } from '../version.ts'
import type { MetricKey } from './definitions.ts'
import type { Measured } from './series.ts'

/** Where an app is measured to: our own series, or the instruments of OpenTelemetry. */
export interface Sink {
  cell(metric: MetricKey, first: string, second: string): Measured
}

/** Options of `metrics()` and `otel()`. */
export interface MetricsOptions {
  /**
   * How many jobs have series of their own, 1 to 10,000: the first that something happened to. All others share the label `other`. One
   * job has about 60 series. @default 100
   */
  readonly maxJobs?: number | undefined
}

/** A value at the moment of a scrape, of the metric and with its one label. */
export interface GaugeValue {
  readonly metric: MetricKey
  readonly label: string
  readonly value: number
}

export interface Collected {
  readonly gauges: () => readonly GaugeValue[]
  readonly stop: () => void
}

const OTHER = 'other'

/** Measures an app into a sink, until it is stopped. */
export function collect(app: Pick<Cronce, 'on'>, sink: Sink, maxJobs: number): Collected {
  const gauges = gaugesOf(app)
  if (gauges === undefined) {
    throw new CronceError('OPTION_INVALID', 'The value to measure is not an app.', {
      hint: 'Pass what cronce() returned: metrics(app). Of a connection, @cronce/server exports /metrics/fleet.',
    })
  }
  const capped = labelCap(maxJobs)
  // Hosts come and go: their names would use up the cap.
  const jobOf = (job: string): string => capped(gauges.plainName(job))
  const unlisten = listen(app, gauges, sink, jobOf)
  const meter = meterOf(sink, jobOf)
  gauges.meters.push(meter)
  return {
    gauges: () => gaugeValues(gauges.load(), jobOf),
    stop() {
      for (const end of unlisten) end()
      const place = gauges.meters.indexOf(meter)
      if (place >= 0) gauges.meters.splice(place, 1)
    },
  }
}

export function readMaxJobs(options: MetricsOptions, sample: string): number {
  const { maxJobs = 100 } = readFields('', options, ['maxJobs'], sample)
  return readInteger('maxJobs', maxJobs, { min: 1, max: 10_000 })
}

/** The label of a job: its name for the first ones, `other` for the rest. */
export function labelCap(most: number): (job: string) => string {
  const known = new Set<string>()
  return (job) => {
    if (known.has(job)) return job
    if (known.size >= most) return OTHER
    known.add(job)
    return job
  }
}

function listen(
  app: Pick<Cronce, 'on'>,
  { observe }: Gauges,
  sink: Sink,
  jobOf: (job: string) => string,
): readonly (() => void)[] {
  const ends = (type: 'fire.skipped' | 'fire.missed') =>
    app.on(type, ({ job, reason, count }) => sink.cell('fires', jobOf(job), reason).add(count))
  return [
    ends('fire.skipped'),
    ends('fire.missed'),
    observe('fire.ended', ({ job, reason }) => sink.cell('fires', jobOf(job), reason).add(1)),
    observe('run.ended', ({ job, outcome, reason, durationMs }) => {
      const label = jobOf(job)
      sink.cell('runs', label, reason).add(1)
      // How long ago a dead instance began a run says nothing about the job.
      if (outcome === 'succeeded' || outcome === 'failed') sink.cell('duration', label, '').observe(durationMs / 1_000)
    }),
    app.on('run.retried', ({ job, reason }) => sink.cell('retries', jobOf(job), reason).add(1)),
    app.on('run.lost', ({ job }) => sink.cell('recovered', jobOf(job), '').add(1)),
    app.on('run.fenced', ({ job }) => sink.cell('fenced', jobOf(job), '').add(1)),
    app.on('run.overran', ({ job }) => sink.cell('overran', jobOf(job), '').add(1)),
    app.on('lease.lost', () => sink.cell('leasesLost', '', '').add(1)),
  ]
}

function meterOf(sink: Sink, jobOf: (job: string) => string): Meter {
  const plainOf = plainCells(sink, jobOf)
  return {
    runStarted(job, claimLagMs, startLagMs) {
      const { claimLag, startLag } = plainOf(job)
      claimLag.observe(claimLagMs / 1_000)
      startLag.observe(startLagMs / 1_000)
    },
    succeeded(job, durationMs, isFire) {
      const { runs, duration, fires } = plainOf(job)
      if (isFire) fires.add(1)
      if (durationMs === null) return
      runs.add(1)
      duration.observe(durationMs / 1_000)
    },
    storeCalled(operation, ms, isFailed) {
      const label = operationOf(operation)
      sink.cell('storeCalls', label, '').observe(ms / 1_000)
      if (isFailed) sink.cell('storeErrors', label, '').add(1)
    },
    conflicted: (operation, count) => sink.cell('conflicts', operationOf(operation), '').add(count),
  }
}

interface PlainCells {
  readonly claimLag: Measured
  readonly startLag: Measured
  readonly duration: Measured
  readonly runs: Measured
  readonly fires: Measured
}

/** What every plain fire of a job is counted in, found by one look. Bounded: all jobs beyond the cap have the same. A process has each job on one host. */
function plainCells(sink: Sink, jobOf: (job: string) => string): (job: string) => PlainCells {
  const known = new Map<string, PlainCells>()
  return (job) => {
    const found = known.get(job)
    if (found !== undefined) return found
    const label = jobOf(job)
    const cells = known.get(label) ?? {
      claimLag: sink.cell('claimLag', label, ''),
      startLag: sink.cell('startLag', label, ''),
      duration: sink.cell('duration', label, ''),
      runs: sink.cell('runs', label, 'completed'),
      fires: sink.cell('fires', label, 'completed'),
    }
    known.set(label, cells)
    if (label !== OTHER) known.set(job, cells)
    return cells
  }
}

/** `claim (look)` is part of `claim`: some twenty operations remain. */
function operationOf(operation: string): string {
  const end = operation.indexOf(' (')
  return end < 0 ? operation : operation.slice(0, end)
}

function gaugeValues(load: InstanceLoad | null, jobOf: (job: string) => string): readonly GaugeValue[] {
  const build = { metric: 'build', label: VERSION, value: 1 } as const
  if (load === null) return [build]
  const running = new Map<string, number>()
  for (const job of load.jobs) running.set(jobOf(job), (running.get(jobOf(job)) ?? 0) + 1)
  return [
    build,
    ...[...running].map(([label, value]) => ({ metric: 'running', label, value }) as const),
    { metric: 'concurrency', label: '', value: load.concurrency },
    { metric: 'clockOffset', label: '', value: load.clockOffsetMs / 1_000 },
  ]
}
