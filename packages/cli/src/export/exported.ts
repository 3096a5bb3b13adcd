import type { ScheduleView } from 'cronce'

/** A job on its way out: when, what if, and what it runs. */
export interface ExportedJob {
  readonly name: string
  readonly trigger: ScheduleView['trigger']
  readonly policy: ScheduleView['policy']
  /** Of its schedule: what no cron knows. */
  readonly bounds: Pick<ScheduleView, 'startAt' | 'endAt' | 'limit' | 'tenant'>
  readonly target: ExportedTarget
}

export type ExportedTarget =
  | {
      readonly kind: 'command'
      readonly words: readonly string[]
      readonly cwd: string | null
      readonly env: Readonly<Record<string, string>>
      readonly stdin: string | null
    }
  /** What it runs can't be put into a command. */
  | { readonly kind: 'other'; readonly what: string }

/** What is worth knowing about what was written. */
export interface ExportFinding {
  readonly job: string
  /** `lost`: it is not in the output, but for a comment. `changed`: it is, and something about it is different. */
  readonly level: 'lost' | 'changed'
  readonly what: string
  readonly why: string
  readonly todo: string
}

export interface Rendered {
  readonly text: string
  readonly findings: readonly ExportFinding[]
  /** How many jobs are in it. */
  readonly count: number
}
