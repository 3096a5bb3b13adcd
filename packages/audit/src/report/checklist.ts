import type { Project } from '../join/project.ts'
import type { Finding } from '../rules/rule.ts'

interface Point {
  readonly text: string
  /** Rules that decide it. Empty: only a running fleet can tell. */
  readonly rules: readonly string[]
  applies(project: Project): boolean
  readonly atRunTime?: string
}

const hasSource =
  (...sources: readonly string[]) =>
  (project: Project): boolean =>
    project.all('schedule').some(({ source }) => sources.includes(source))
const hasProcess = (project: Project): boolean => project.all('schedule').some(({ runner }) => runner === 'process')
const hasSchedule = (project: Project): boolean => project.all('schedule').length > 0
const always = (): boolean => true

/** The fifteen points of a review of scheduled jobs. */
const POINTS: readonly Point[] = [
  {
    text: 'Stored jobs are replaced when the process starts again',
    rules: ['APS001', 'APS002', 'FLT007'],
    applies: hasSource('apscheduler', 'bull', 'bullmq', 'agenda'),
  },
  { text: 'Every schedule with a fixed hour states its zone', rules: ['DST002', 'K8S002'], applies: hasSchedule },
  { text: 'Missed fires are run once, not once each', rules: ['APS003', 'APS004'], applies: hasSource('apscheduler') },
  { text: 'Late fires and parallel runs have stated limits', rules: ['APS004'], applies: hasSource('apscheduler') },
  {
    text: 'The job store is a database that instances can share',
    rules: ['APS006'],
    applies: hasSource('apscheduler'),
  },
  {
    text: 'One scheduler runs per deployment, or the schedulers are guarded',
    rules: ['FLT002', 'DEP001', 'CEL001', 'PRC001', 'APS005'],
    applies: hasSchedule,
  },
  {
    text: 'A guard keeps a second instance from running the same fire',
    rules: ['FLT001', 'FLT003', 'FLT004', 'FLT005', 'FLT008', 'FLT009', 'FLT010'],
    applies: hasProcess,
  },
  {
    text: 'Effects carry an idempotency key',
    rules: [],
    applies: always,
    atRunTime: 'for a reviewer: the code does not say',
  },
  {
    text: 'No schedule names a time that a clock change skips or repeats',
    rules: ['DST001', 'DST002', 'K8S002'],
    applies: hasSchedule,
  },
  { text: 'This audit runs in CI', rules: [], applies: always, atRunTime: 'add `cronce audit` to the pipeline' },
  {
    text: 'A heartbeat reports schedulers that are silent',
    rules: [],
    applies: always,
    atRunTime: 'at run time: doctor',
  },
  { text: 'CronJobs forbid overlap', rules: ['K8S001'], applies: hasSource('kubernetes') },
  {
    text: 'A deploy stops the old scheduler before it starts the new one',
    rules: ['DEP001'],
    applies: (project) => project.units.length > 0,
  },
  {
    text: 'The history of runs is checked for doubled and lost fires',
    rules: [],
    applies: always,
    atRunTime: 'at run time: verify, doctor',
  },
  {
    text: 'A watchdog outside of the scheduler notices when it stops',
    rules: [],
    applies: always,
    atRunTime: 'at run time: doctor',
  },
]

export function checklist(project: Project, findings: readonly Finding[]): string {
  const lines = POINTS.map(({ text, rules, applies, atRunTime }, index) => {
    const failed = [...new Set(findings.filter(({ rule }) => rules.includes(rule)).map(({ rule }) => rule))]
    const status =
      atRunTime ?? (applies(project) ? (failed.length > 0 ? `fail: ${failed.join(', ')}` : 'pass') : 'not applicable')
    return `${String(index + 1).padStart(2)}  ${text.padEnd(68)}  ${status}`
  })
  return `${lines.join('\n')}\n`
}
