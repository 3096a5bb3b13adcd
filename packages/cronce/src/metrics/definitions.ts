/** One metric: its name in Prometheus and in OpenTelemetry, and what it says. */
export interface Definition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly otel: string
  /** Of OpenTelemetry. */
  readonly unit: string
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[]
}

const LATENESS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300]
const DURATION = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400]
const ANSWER = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10]

/** Not `job`: Prometheus gives that name to the group of targets, and would rename ours. */
const JOB = 'job_name'
/** A reason belongs to one outcome, so the third label follows from the second. */
const ENDED = [JOB, 'reason', 'outcome']

/** What a process knows by itself. docs/monitoring.md has the same table; a test compares them. */
export const PROCESS_METRICS = {
  fires: counter(
    'fires',
    'fire',
    ENDED,
    'Fires that ended, as recorded by this process, skipped and missed ones included.',
  ),
  runs: counter('runs', 'run', ENDED, 'Runs that ended, as recorded by this process.'),
  retries: counter(
    'retries',
    'run',
    [JOB, 'reason'],
    'Runs whose fire will be run again, by the reason why they ended.',
  ),
  recovered: counter('runs_recovered', 'run', [JOB], 'Runs of dead instances that this process recovered.'),
  fenced: counter(
    'runs_fenced',
    'run',
    [JOB],
    'Runs of this process whose writes were refused: another run had overtaken them.',
  ),
  overran: counter('runs_overran', 'run', [JOB], 'Runs of this process that ignored their signal and were given up.'),
  duration: histogram('run_duration', [JOB], DURATION, 'From the start to the end of runs that succeeded or failed.'),
  claimLag: histogram('claim_lateness', [JOB], LATENESS, 'From when a run was ready until this process claimed it.'),
  startLag: histogram(
    'start_lateness',
    [JOB],
    LATENESS,
    'From when a run was ready until this process called its handler.',
  ),
  leasesLost: counter('leases_lost', 'lease', [], 'Times that the lease of this process could not be renewed in time.'),
  conflicts: counter('conflicts', 'change', ['operation'], 'Changes that were refused because a peer had been faster.'),
  storeErrors: counter(
    'store_errors',
    'call',
    ['operation'],
    'Calls of the store that failed or were not answered in time.',
  ),
  storeCalls: histogram(
    'store_call_duration',
    ['operation'],
    ANSWER,
    'Calls of the store until it answered or failed.',
  ),
  running: gauge('runs_in_progress', '{run}', [JOB], 'Runs that this process is executing or settling.'),
  concurrency: gauge('concurrency', '{run}', [], 'Runs that this process executes at a time at most.'),
  clockOffset: gauge('clock_offset_seconds', 's', [], "How far the clock of this process is ahead of the store's."),
  build: gauge('build_info', '1', ['version'], 'Always 1. The version of cronce in this process.'),
} as const satisfies Record<string, Definition>

export type MetricKey = keyof typeof PROCESS_METRICS

function counter(name: string, unit: string, labels: readonly string[], help: string): Definition {
  return { name: `cronce_${name}_total`, type: 'counter', help, labels, otel: dotted(name), unit: `{${unit}}` }
}

function histogram(name: string, labels: readonly string[], buckets: readonly number[], help: string): Definition {
  return { name: `cronce_${name}_seconds`, type: 'histogram', help, labels, otel: dotted(name), unit: 's', buckets }
}

function gauge(name: string, unit: string, labels: readonly string[], help: string): Definition {
  return { name: `cronce_${name}`, type: 'gauge', help, labels, otel: dotted(name.replace(/_seconds$/, '')), unit }
}

/** `run_duration` is `cronce.run.duration`. */
function dotted(name: string): string {
  return `cronce.${name.replaceAll('_', '.')}`
}
