import type { ScheduleView } from '../../client/views.ts'
import type { InstanceRecord } from '../../model/instance.ts'
import type { EndedRun, FireEnd, ListedRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'

/** What the rules ask of a fire that has ended: a record has it, and so has what a client lists. */
export type ScheduleEnd = Pick<
  ListedRecord,
  'job' | 'kind' | 'dueAt' | 'nonce' | 'attempt' | 'readyAt' | 'endedAt' | 'input'
> & {
  readonly ending: Pick<NonNullable<ListedRecord['ending']>, 'outcome' | 'reason'> | null
  readonly run: (Pick<EndedRun, 'startedAt' | 'result'> & { readonly cause?: EndedRun['cause'] | undefined }) | null
  readonly range: Pick<NonNullable<ListedRecord['range']>, 'count'> | null
}

/** What is known of one schedule when it is judged. */
export interface ScheduleFacts {
  readonly now: Instant
  readonly schedule: ScheduleView
  /** Its latest ends, the latest due first; `null`: not read. */
  readonly history: readonly FireEnd[] | null
  /** What ended since the last look; `null`: not looked. */
  readonly ends: readonly ScheduleEnd[] | null
  /** All that are live or draining, of all apps. */
  readonly instances: readonly FleetInstance[]
}

/** What the rules ask of an instance: a record and a view both have it. */
export type FleetInstance = Pick<
  InstanceRecord,
  'id' | 'app' | 'deployment' | 'jobs' | 'host' | 'startedAt' | 'drain' | 'clockOffsetMs' | 'endedAt'
> & { readonly state: InstanceRecord['state'] | 'silent' }

/** What is known of the fleet of one app. */
export interface FleetFacts {
  readonly now: Instant
  readonly app: string
  readonly instances: readonly FleetInstance[]
  /** Instances that were declared dead within a day, as far as they were looked at. */
  readonly dead: readonly FleetInstance[]
  readonly store: StoreFacts
}

/** What the watching instance has noticed about the store. */
export interface StoreFacts {
  /** The median of the latest calls; `null`: too few. */
  readonly latencyMs: number | null
  /** The last time that it did not answer: how long, and until when. */
  readonly away: { readonly ms: number; readonly endedAt: Instant } | null
  /** When it was last noticed that it went back in time. */
  readonly rolledBackAt: Instant | null
  /** Since when there have always been records to prune. */
  readonly prunableSince: Instant | null
  /** What it warned about when it was opened, by code. */
  readonly warnings: ReadonlyMap<string, string>
}

/** `fine`: judged, and nothing is wrong. `unknown`: these facts say nothing about it. `suspect`: only the history can tell. */
export type Verdict = { readonly text: string; readonly holdMs?: number } | 'fine' | 'unknown' | 'suspect'
