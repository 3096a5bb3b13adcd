/** `note`: to know. `warn`: something may go wrong. `fail`: something goes wrong, or fires are not run. */
export type Level = 'ok' | 'note' | 'warn' | 'fail'

/** What one check found: a line of the answer. */
export interface Finding {
  /** Which check, for programs. */
  readonly check: CheckName
  readonly level: Level
  /** What is so, in a sentence, with the figures. */
  readonly message: string
  /** What to do about it, in a sentence; `null`: nothing. */
  readonly hint: string | null
}

export const CHECKS = [
  'node',
  'zone-data',
  'store',
  'latency',
  'schema',
  'privileges',
  'clock',
  'settings',
  'copy',
  'file-system',
  'grace',
  'instances',
  'silent',
  'instance-clocks',
  'deployments',
  'declarations',
  'versions',
  'orphans',
  'retired',
  'overdue',
  'calls',
  'waiting',
  'stuck',
  'failing',
  'no-success',
  'missed',
  'slow',
  'late',
  'duplicates',
  'unknown-steps',
  'paused',
  'timeouts',
] as const
export type CheckName = (typeof CHECKS)[number]

export function finding(check: CheckName, level: Level, message: string, hint: string | null = null): Finding {
  return { check, level, message, hint }
}
