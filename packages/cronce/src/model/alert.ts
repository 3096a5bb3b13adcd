import type { Instant } from './schedule.ts'

/** What can be wrong. `duplicate` and `silent` are also reported for the heartbeat. */
export const RULES = [
  'overdue',
  'silent',
  'failing',
  'stuck',
  'slow',
  'late',
  'missed',
  'no-runner',
  'fleet',
  'duplicate',
  'clock',
  'store',
] as const
/** The name of a rule of the watchdog. */
export type Rule = (typeof RULES)[number]

/** Subjects of the rules `fleet` and `store`, besides hosts. */
export const FLEET_SUBJECTS = [
  'instances',
  'deployments',
  'latency',
  'outage',
  'rollback',
  'retention',
  'STORE_SETTING_UNSAFE',
  'STORE_ON_NETWORK',
  'STORE_PROMOTED',
  'STORE_MACHINE_CHANGED',
] as const
export type FleetSubject = (typeof FLEET_SUBJECTS)[number]

/** How bad it is: `critical` means that work is not done. */
export type Severity = 'warning' | 'critical'

/** One thing that is wrong, as a rule found it. */
export interface Problem {
  readonly rule: Rule
  /** A schedule, a host, or a part of the fleet. */
  readonly subject: string
  /** What is wrong with it, in a few words, without secrets. */
  readonly text: string
  /** It counts once it has been seen for this long. */
  readonly holdMs?: number
}

/** A subject of an alert. */
export interface AlertSubject {
  readonly name: string
  readonly text: string
  /** When it was noticed. */
  readonly sinceAt: Instant
}

/** All problems of one rule in one app. */
export interface Alert {
  readonly rule: Rule
  readonly severity: Severity
  /** `muted`: all its subjects are. */
  readonly state: 'firing' | 'resolved' | 'muted'
  readonly firstAt: Instant
  /** When its state or its subjects last changed. */
  readonly lastAt: Instant
  /** The first of them, at most `MOST_SUBJECTS`. */
  readonly subjects: readonly AlertSubject[]
  readonly count: number
}

/** Names of subjects that an alert lists; the others are counted. */
export const MOST_SUBJECTS = 20

export interface Mute {
  /** The name of a rule or of a subject. */
  readonly subject: string
  /** `null`: until it is unmuted. */
  readonly untilAt: Instant | null
  readonly note: string | null
  readonly author: string | null
}

/** Why a message is sent. */
export type MessageKind = 'firing' | 'update' | 'repeat' | 'resolved' | 'test'

/** A message that has not reached all channels. */
export interface Message {
  /** Unique: the idempotency key of its delivery. */
  readonly id: string
  readonly kind: MessageKind
  readonly at: Instant
  /** Until then it still takes on subjects. */
  readonly sendAt: Instant
  /** `null`: a test. */
  readonly alert: Alert | null
}

/** A clock that is this far before the time of a message was set back. */
const SET_BACK_MS = 60_000

/** How long a message still waits for further subjects. It waits for no clock that was set back. */
export function gathersFor({ at, sendAt }: Pick<Message, 'at' | 'sendAt'>, now: Instant): number {
  return isSetBack(at, now) ? 0 : sendAt - now
}

/** Whether the store's clock was set back since it showed `at`. */
export function isSetBack(at: Instant, now: Instant): boolean {
  return now < at - SET_BACK_MS
}

/** What is kept about the alerts of one app. Written as a whole, by compare-and-set. */
export interface AlertRecord {
  readonly alerts: readonly KeptAlert[]
  readonly outbox: readonly Message[]
  readonly mutes: readonly Mute[]
}

export interface KeptAlert extends Alert {
  /** When its last message was written. */
  readonly messageAt: Instant
  /** Subjects that its last message counted. */
  readonly sentCount?: number
  /** It has subjects that no message has named. */
  readonly hasNews: boolean
}

/** Messages that wait for a channel, at most. */
export const MOST_UNSENT = 50

/** With room for one more: what was only repeated or added goes first, then the oldest. */
export function boundedOutbox(outbox: readonly Message[]): readonly Message[] {
  if (outbox.length <= MOST_UNSENT) return outbox
  const place = outbox.findIndex(({ kind }) => kind === 'update' || kind === 'repeat' || kind === 'test')
  return boundedOutbox(outbox.toSpliced(Math.max(0, place), 1))
}

export const NO_ALERTS: AlertRecord = { alerts: [], outbox: [], mutes: [] }
