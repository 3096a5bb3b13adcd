import type { ExportedJob, ExportFinding } from './exported.ts'

type Command = Extract<ExportedJob['target'], { kind: 'command' }>

const DEFAULT_GRACE_MS = 10_000

/** The options of `exec`. With `replace` it waits for the earlier one, which an operator has to end. */
const OVERLAPS = { queue: 'queue', 'queue-all': 'queue', allow: 'allow', replace: 'queue' } as const

/** `cronce exec … -- command`: the fire is claimed in the store, and the command runs if it is ours to run. */
export function execWords(
  { name, policy }: ExportedJob,
  { words }: Command,
  { ours, tz }: { readonly ours: string; readonly tz: string },
): string[] {
  const { guarantee, timeout, retry, overlap } = policy
  return [
    // A name that begins with a dash would look like a flag.
    ...[
      'cronce',
      'exec',
      ...(name.startsWith('-') ? [`--name=${name}`] : ['--name', name]),
      '--due',
      'auto',
      '--cron',
      ours,
    ],
    // Also UTC: else it would be that of the machine.
    '--tz',
    tz,
    ...(guarantee === 'at-most-once' ? ['--guarantee', guarantee] : []),
    ...(overlap.kind === 'skip' ? [] : ['--overlap', OVERLAPS[overlap.kind]]),
    ...(timeout.runMs === null ? [] : ['--timeout', durationText(timeout.runMs)]),
    ...(timeout.graceMs === DEFAULT_GRACE_MS ? [] : ['--grace', durationText(timeout.graceMs)]),
    ...(retry.attempts === 0 ? [] : ['--retry', String(retry.attempts)]),
    '--',
    ...words,
  ]
}

/** `90s`, `15m`, `2h`: the largest unit that leaves nothing over. */
export function durationText(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const
  const [unit, size] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

/** What `cronce start` does with a job, and neither `cronce exec` nor another scheduler will. */
export function unheard({ name, policy, bounds }: ExportedJob): ExportFinding[] {
  return [...unheardPolicies(policy), ...unheardBounds(bounds)].map(([what, why]) => ({
    job: name,
    level: 'changed',
    what,
    why,
    todo: 'run it with cronce start if that matters',
  }))
}

type Unheard = readonly [what: string, why: string]

function unheardPolicies(policy: ExportedJob['policy']): Unheard[] {
  const { guarantee, jitter, pauseAfter, limits, misfire, overlap, retry } = policy
  const found: Unheard[] = []
  if (jitter.ms > 0) found.push(['jitter', 'all start at their time'])
  if (pauseAfter !== null) found.push(['pauseAfter', 'it is not paused by itself'])
  if (limits.job !== null) found.push(['concurrency', 'runs are not counted over all machines'])
  if (limits.group !== null) found.push(['group', 'runs are not counted over all machines'])
  if (misfire.late === 'all') found.push(["misfire: 'all'", 'of what was missed, the latest is run at most'])
  if (overlap.kind === 'queue-all') found.push([`overlap: 'queue-all'`, 'one waits while it runs, others are skipped'])
  if (guarantee === 'exactly-once') found.push([`guarantee: 'exactly-once'`, 'a command has no transaction'])
  if (retry.attempts > 0 && (retry.baseMs !== 1_000 || retry.capMs !== 300_000)) {
    found.push(['retry.backoff', 'further attempts follow after the usual delays'])
  }
  return found
}

function unheardBounds(bounds: ExportedJob['bounds']): Unheard[] {
  const found: Unheard[] = []
  if (bounds.startAt !== null || bounds.endAt !== null) found.push(['start, end', 'it is due before and after, too'])
  if (bounds.limit !== null) found.push(['limit', 'its fires are not counted'])
  return found
}
