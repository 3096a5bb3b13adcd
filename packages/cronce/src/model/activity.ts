import type { Json } from './json.ts'
import type { Instant } from './schedule.ts'

/** All actions: what a person, or a program for a person, did. */
export const ACTIONS = [
  'create',
  'put',
  'replace',
  'remove',
  'pause',
  'resume',
  'trigger',
  'skip',
  'backfill',
  'cancel',
  'retry',
  'resolve',
  'drain',
  'undrain',
  'activate',
  'adopt',
  'prune',
  'mute',
  'unmute',
] as const
/** The name of an action in the operator log. */
export type Action = (typeof ACTIONS)[number]

/** All origins. */
export const ORIGINS = ['code', 'cli', 'api', 'dashboard'] as const
/** Where an action came from: code, the command line, the HTTP API, the dashboard. */
export type Origin = (typeof ORIGINS)[number]

/** What an action was about. */
export interface ActivitySubject {
  readonly type: 'schedule' | 'instance' | 'app' | 'alert' | 'store'
  readonly name: string
}

/** One line of the operator log: an action that changed something. Written in the same change as its effect. */
export interface ActivityRecord {
  /** Unique in the namespace. */
  readonly id: string
  /** By the store's clock, when the change was decided. */
  readonly at: Instant
  readonly action: Action
  readonly origin: Origin
  readonly author: string | null
  readonly note: string | null
  readonly subject: ActivitySubject
  /** What it changed: depends on the action. */
  readonly changed: { readonly [name: string]: Json }
  /** When the line may be deleted. */
  readonly expiresAt: Instant
}

/** The schedule that the line is found by; `null`: it is about something else. */
export function scheduleOfActivity({ subject }: ActivityRecord): string | null {
  return subject.type === 'schedule' ? subject.name : null
}
