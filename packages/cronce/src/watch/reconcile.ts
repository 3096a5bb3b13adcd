import {
  type Alert,
  type AlertRecord,
  type AlertSubject,
  boundedOutbox,
  gathersFor,
  isSetBack,
  type KeptAlert,
  type Message,
  type MessageKind,
  MOST_SUBJECTS,
  type Mute,
  type Rule,
} from '../model/alert.ts'
import type { Instant } from '../model/schedule.ts'
import { SEVERITIES } from './rules/thresholds.ts'

export interface AlertTimes {
  /** A firing alert is sent again after this time. */
  readonly repeatMs: number
  /** A message waits for further subjects for this long. */
  readonly gatherMs: number
}

/** The least time between two messages about new subjects of one alert. */
const UPDATE_MS = 5 * 60_000
/** How long an alert that is over is listed. */
const KEPT_MS = 7 * 86_400_000

interface Looked {
  readonly now: Instant
  /** All problems there are, by rule. */
  readonly problems: ReadonlyMap<Rule, readonly AlertSubject[]>
  /** False while not everything has been looked at: then nothing counts as over. */
  readonly mayResolve: boolean
}

/** The record as it should be, or `null` if it is that already. */
export function reconcile(
  record: AlertRecord,
  looked: Looked,
  times: AlertTimes,
  newId: () => string,
): AlertRecord | null {
  const { now, problems } = looked
  const mutes = record.mutes.filter(({ untilAt }) => untilAt === null || untilAt > now)
  const rules = new Set([...record.alerts.map(({ rule }) => rule), ...problems.keys()])
  const outbox = [...record.outbox]
  const alerts = [...rules].flatMap((rule) => {
    const known = byThisClock(
      record.alerts.find((alert) => alert.rule === rule),
      now,
    )
    const next = nextAlert(known, rule, mutes, looked)
    if (next === null) return []
    const kind = messageFor(known, next, now, times)
    if (kind === null) return [refreshed(outbox, next, now)]
    const told: KeptAlert = { ...next, messageAt: now, sentCount: next.count, hasNews: false }
    outbox.push({ id: newId(), kind, at: now, sendAt: now + times.gatherMs, alert: plain(told) })
    return [told]
  })
  const next = { alerts, outbox: boundedOutbox(outbox), mutes }
  return JSON.stringify(next) === JSON.stringify(record) ? null : next
}

/** Otherwise nothing would be sent about it until a clock that was set back has caught up. */
function byThisClock(known: KeptAlert | undefined, now: Instant): KeptAlert | undefined {
  return known !== undefined && isSetBack(known.messageAt, now) ? { ...known, messageAt: now } : known
}

function nextAlert(known: KeptAlert | undefined, rule: Rule, mutes: readonly Mute[], looked: Looked): KeptAlert | null {
  const { now, mayResolve } = looked
  const all = looked.problems.get(rule) ?? []
  const subjects = all.filter(({ name }) => !isMuted(rule, name, mutes))
  const isOpen = known !== undefined && known.state !== 'resolved'
  if (subjects.length > 0) return firing(known, rule, subjects, now)
  if (all.length > 0) {
    const muted = isOpen ? known : { ...fresh(rule, now), subjects: all.slice(0, MOST_SUBJECTS), count: all.length }
    return known?.state === 'muted' ? known : { ...muted, state: 'muted', lastAt: now }
  }
  if (known === undefined || (!isOpen && now - known.lastAt > KEPT_MS)) return null
  // All subjects of an alert that lists them all have been looked at.
  const isOver = isOpen && (mayResolve || known.count <= MOST_SUBJECTS)
  return isOver ? { ...known, state: 'resolved', lastAt: now } : known
}

function firing(known: KeptAlert | undefined, rule: Rule, subjects: readonly AlertSubject[], now: Instant): KeptAlert {
  const isNew = known === undefined || known.state === 'resolved'
  const before = isNew ? fresh(rule, now) : known
  const listed = subjects.slice(0, MOST_SUBJECTS)
  const names = new Set(before.subjects.map(({ name }) => name))
  const unknown = listed.filter(({ name }) => !names.has(name))
  const { sentCount = before.count, messageAt } = before
  // Of more than are listed, one that recovers lets another move up, and a new watcher finds the others again: no news.
  const added = sentCount <= MOST_SUBJECTS ? unknown : unknown.filter(({ sinceAt }) => sinceAt > messageAt)
  const hasNews = before.hasNews || subjects.length > sentCount || added.length > 0
  const isSameList = unknown.length === 0 && before.count === subjects.length
  const isSame = !isNew && before.state === 'firing' && !hasNews && isSameList
  // The texts change with every look ("for 3 min"): that alone is not a change.
  if (isSame) return before
  return { ...before, state: 'firing', lastAt: now, subjects: listed, count: subjects.length, hasNews }
}

function fresh(rule: Rule, now: Instant): KeptAlert {
  const times = { firstAt: now, lastAt: now, messageAt: 0 }
  return { rule, severity: SEVERITIES[rule], state: 'resolved', ...times, subjects: [], count: 0, hasNews: false }
}

/** Why a message about the alert is to be sent now; `null`: none is. */
function messageFor(
  known: KeptAlert | undefined,
  next: KeptAlert,
  now: Instant,
  times: AlertTimes,
): MessageKind | null {
  if (next.state === 'resolved') return wasSent(known) ? 'resolved' : null
  if (next.state !== 'firing') return null
  if (known === undefined || known.state !== 'firing') return 'firing'
  // The message that waits takes on what is new.
  if (now - next.messageAt < times.gatherMs) return null
  if (next.hasNews && now - next.messageAt >= UPDATE_MS) return 'update'
  return now - next.messageAt >= times.repeatMs ? 'repeat' : null
}

/** Whether a message said that the open alert fires: then one says that it is over, even if it was muted since. */
export function wasSent(known: KeptAlert | undefined): boolean {
  return known?.state === 'firing' || (known?.state === 'muted' && known.messageAt > 0)
}

/** A message that still waits tells of the alert as it is by now. */
function refreshed(outbox: Message[], alert: KeptAlert, now: Instant): KeptAlert {
  const place = outbox.findIndex((message) => message.alert?.rule === alert.rule && gathersFor(message, now) > 0)
  const message = outbox[place]
  if (message === undefined || alert.state !== 'firing' || !alert.hasNews) return alert
  const told = { ...alert, sentCount: alert.count, hasNews: false }
  outbox[place] = { ...message, alert: plain(told) }
  return told
}

function plain({ messageAt: _, sentCount: __, hasNews: ___, ...alert }: KeptAlert): Alert {
  return alert
}

function isMuted(rule: Rule, subject: string, mutes: readonly Mute[]): boolean {
  return mutes.some((mute) => mute.subject === rule || mute.subject === subject)
}

/** These messages have reached all channels that want them, or were given up. */
export function withoutMessages(record: AlertRecord, ids: ReadonlySet<string>): AlertRecord | null {
  const outbox = record.outbox.filter(({ id }) => !ids.has(id))
  return outbox.length === record.outbox.length ? null : { ...record, outbox }
}
