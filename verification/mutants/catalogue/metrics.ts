import { edit, type Mutant } from '../mutant.ts'

const COUNTING = 'packages/cronce/test/metrics/counting.test.ts'
const EXPOSITION = 'packages/cronce/test/metrics/exposition.test.ts'
const EQUAL = 'after failures, retries, crashes, skipped and missed fires, the counters equal the record'

export const METRICS_MUTANTS: readonly Mutant[] = [
  {
    name: 'metrics-by-host',
    rule: 'metrics',
    breaks: 'A job on every host is one job for each host, until their names use up the cap.',
    edits: [edit('metrics/collect.ts', 'capped(gauges.plainName(job))', 'capped(job)')],
    caughtBy: { judge: 'tests', file: COUNTING, names: ['a job on every host is one job: no host is a label'] },
  },
  {
    name: 'success-not-counted',
    rule: 'metrics',
    breaks: 'A success without an event is not counted.',
    edits: [
      edit('engine/core.ts', 'meter.succeeded(job, durationMs, isFire)', 'meter.succeeded(job, durationMs, false)'),
    ],
    caughtBy: { judge: 'tests', file: COUNTING, names: [`${EQUAL}: nothing else listens`] },
  },
  {
    name: 'success-counted-twice',
    rule: 'metrics',
    breaks: 'A success that has an event because something else listens is counted twice.',
    edits: [
      edit(
        'engine/core.ts',
        'const durationMs = isRunTold ? null :',
        'const durationMs = isRunTold && isFire ? null :',
      ),
    ],
    caughtBy: { judge: 'tests', file: COUNTING, names: [`${EQUAL}: other listeners want every event`] },
  },
  {
    name: 'range-counted-once',
    rule: 'metrics',
    breaks: 'A record that stands for many missed fires is counted as one.',
    edits: [
      edit(
        'metrics/collect.ts',
        "sink.cell('fires', jobOf(job), reason).add(count)",
        "sink.cell('fires', jobOf(job), reason).add(1)",
      ),
    ],
    caughtBy: { judge: 'tests', file: COUNTING, names: [`${EQUAL}: other listeners want every event`] },
  },
  {
    name: 'start-lag-is-claim-lag',
    rule: 'metrics',
    breaks: 'The lateness of a start ends with the look that decided it, however long the claim takes.',
    edits: [edit('engine/run/execute.ts', 'Math.max(claimLagMs, calledAt - readyAt)', 'claimLagMs')],
    caughtBy: {
      judge: 'tests',
      file: COUNTING,
      names: ['the claim and the start are measured apart, from when the run was ready'],
    },
  },
  {
    name: 'store-errors-not-counted',
    rule: 'metrics',
    breaks: 'A call that the store did not answer counts as answered.',
    edits: [edit('engine/store-calls.ts', 'let isFailed = true', 'let isFailed = false')],
    caughtBy: {
      judge: 'tests',
      file: COUNTING,
      names: ['calls of the store have a duration, errors, and conflicts, by operation'],
    },
  },
  {
    name: 'labels-without-a-cap',
    rule: 'metrics',
    breaks: 'Every job has series of its own, however many there are.',
    edits: [edit('metrics/collect.ts', 'if (known.size >= most) return OTHER', '')],
    caughtBy: {
      judge: 'tests',
      file: EXPOSITION,
      names: ['the first jobs have series of their own, and all others share one'],
    },
  },
  {
    name: 'labels-not-escaped',
    rule: 'metrics',
    breaks: 'A quote in the name of a job ends its label.',
    edits: [edit('metrics/exposition.ts', ".replaceAll('\"', '\\\\\"')", '')],
    caughtBy: {
      judge: 'tests',
      file: EXPOSITION,
      names: ['Prometheus accepts every metric, with hostile job names in it'],
    },
  },
  {
    name: 'metrics-make-events',
    rule: 'metrics',
    breaks: 'Metrics listen to every end, so every plain fire makes two events.',
    edits: [edit('metrics/collect.ts', "observe('fire.ended',", "app.on('fire.ended',")],
    caughtBy: {
      judge: 'tests',
      file: EXPOSITION,
      names: ['an app that is measured makes no event for a plain success, and after stop() nothing is measured'],
    },
  },
]
