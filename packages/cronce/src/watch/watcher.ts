import { alertRecordOf, changeAlertRecord } from '../client/alert-record.ts'
import type { ClientParts } from '../client/parts.ts'
import type { Clock } from '../clock.ts'
import { alarm } from '../engine/alarm.ts'
import type { FleetState } from '../engine/fleet/fleet-state.ts'
import { type AlertRecord, gathersFor, type Message } from '../model/alert.ts'
import { hash32 } from '../model/bucket.ts'
import type { CronceEvent } from '../model/event.ts'
import { alertsSchedule, CHANNELS_JOB, HEARTBEAT_PREFIX, WATCH_JOB } from '../model/exclusive-jobs.ts'
import type { InstanceRecord } from '../model/instance.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import { JobThresholds } from './job-thresholds.ts'
import { ScheduleLooks } from './looks.ts'
import { renderMessage } from './message.ts'
import type { ReadAlerts } from './read-watch.ts'
import { reconcile, wasSent, withoutMessages } from './reconcile.ts'
import { DEATHS_WITHIN_MS } from './rules/fleet.ts'
import { judgeFleet } from './rules/judge.ts'
import type { Thresholds } from './rules/thresholds.ts'
import { Seen } from './seen.ts'
import { Sender, type SenderParts } from './sender.ts'
import type { StoreWatch } from './store-watch.ts'

export interface WatcherParts {
  readonly client: ClientParts
  readonly clock: Clock
  readonly app: string
  readonly namespace: string
  readonly alerts: ReadAlerts
  readonly thresholds: Thresholds
  readonly store: StoreWatch
  readonly fleet: () => Readonly<FleetState>
  /** The store's clock. */
  readonly now: () => Instant
  /** How many wake-ups there were: people may have changed the record. */
  readonly wakeUps: () => number
  readonly once: SenderParts['once']
  readonly emit: (event: CronceEvent) => void
  readonly warn: (message: string) => void
  readonly everyMs: number
  readonly stopped: AbortSignal
}

/** Instances that died, as far as they are looked at. */
const MOST_DEAD = 50
/** Jobs that are looked at when no live instance has them any more. */
const MOST_LOST = 20
/** For how many looks nothing must be wrong before a problem is over. */
const LOOKS_UNTIL_OVER = 3
/** Longest time for a look, or for clearing the outbox: a store that never answers must not end the watch. */
const LONGEST_MS = 5 * 60_000
/** Schedules with a problem that are looked at again every minute; the others have their turn with their page. */
const MOST_LOOKED_AT = 100

/** Watches the schedules and the fleet of an app, keeps its alerts and sends their messages. Works on one instance at a time. */
export class Watcher {
  readonly #parts: WatcherParts
  readonly #alarm: ReturnType<typeof alarm>
  readonly #senders: readonly Sender[]
  #term: Term | null = null

  constructor(parts: WatcherParts) {
    this.#parts = parts
    this.#alarm = alarm(parts.clock)
    const { alerts, app, namespace, clock, once, warn, stopped } = parts
    const render: SenderParts['render'] = (message) =>
      renderMessage(message, { app, namespace, publicUrl: alerts.publicUrl })
    const onChange = (): void => this.#alarm.ring()
    this.#senders = alerts.channels.map(
      (channel) => new Sender(channel, { clock, once, render, warn, onChange, stopped }),
    )
    stopped.addEventListener('abort', () => this.#alarm.ring(), { once: true })
  }

  /** Until it is stopped. Never rejects. */
  async loop(): Promise<void> {
    const { clock, everyMs, stopped, warn } = this.#parts
    // Soon, since a message of an instance that died may wait.
    let nextAt = clock.mono() + everyMs / 4
    while (!stopped.aborted) {
      await this.#alarm.wait(Math.min(nextAt - clock.mono(), this.#send()))
      if (stopped.aborted) return
      try {
        if (clock.mono() >= nextAt) {
          nextAt = clock.mono() + everyMs
          await this.#inTime(this.#look())
        }
        await this.#inTime(this.#clearOutbox())
      } catch (error) {
        // The next look is a minute away; meanwhile the engine reports what is wrong with the store.
        if (!stopped.aborted)
          warn(`The watchdog could not look: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  /** If it takes too long, what it found out so far is forgotten: the next look begins a new term. */
  async #inTime(work: Promise<void>): Promise<void> {
    const { clock, stopped } = this.#parts
    const ended = new AbortController()
    const late = clock.sleep(LONGEST_MS, AbortSignal.any([stopped, ended.signal])).then(() => {
      if (ended.signal.aborted) return
      this.#term = null
      throw new Error('the store has not answered for minutes')
    })
    try {
      await Promise.race([work, late])
    } finally {
      ended.abort()
      late.catch(() => {})
      work.catch(() => {})
    }
  }

  async #look(): Promise<void> {
    const { fleet, app } = this.#parts
    if (!isWatcher(fleet(), app)) {
      this.#term = null
      return
    }
    if (this.#term === null) {
      // The only calls of this minute: what an earlier watcher has found, and what the jobs set.
      const term = new Term(this.#parts, await this.#readRecord())
      await term.readApp()
      this.#term = term
      return
    }
    const term = this.#term
    await term.look(() => this.#readRecord())
    if (term === this.#term) await this.#write(term)
  }

  async #readRecord(): Promise<AlertRecord> {
    const { client, app } = this.#parts
    const { schedules } = await client.store.load([alertsSchedule(app)])
    return alertRecordOf(schedules[0])
  }

  /** The record is written when an alert begins, changes or ends. The messages about that are in the same write. */
  async #write(term: Term): Promise<void> {
    const { client, app, alerts } = this.#parts
    const next = (record: AlertRecord, now: Instant): AlertRecord | null =>
      reconcile(record, { now, ...term.found() }, alerts, client.context().newId)
    if (next(term.record, this.#parts.now()) === null) return
    const before = term.record
    let isStale = false
    term.record = await changeAlertRecord(client, app, (record, now) => {
      isStale = JSON.stringify(record.alerts) !== JSON.stringify(before.alerts)
      return isStale ? null : next(record, now)
    })
    if (isStale) {
      // Another instance has watched since: it may have seen what this one has not.
      if (this.#term === term) this.#term = null
      return
    }
    for (const alert of term.record.alerts) {
      const known = before.alerts.find(({ rule }) => rule === alert.rule)
      if (alert.state === known?.state || alert.state === 'muted') continue
      if (alert.state === 'resolved' && !wasSent(known)) continue
      const { rule, severity, count, subjects } = alert
      const names = subjects.map(({ name }) => name)
      this.#parts.emit({
        type: alert.state === 'firing' ? 'alert.fired' : 'alert.resolved',
        app,
        rule,
        severity,
        count,
        subjects: names,
      })
    }
  }

  /** Answers when there is something to send. */
  #send(): number {
    const outbox = this.#term?.record.outbox ?? []
    if (outbox.length === 0) return Number.POSITIVE_INFINITY
    return Math.min(...this.#senders.map((sender) => sender.send(outbox, this.#parts.now())), Number.POSITIVE_INFINITY)
  }

  async #clearOutbox(): Promise<void> {
    const term = this.#term
    if (term === null) return
    const { now, client, app } = this.#parts
    const isSent = (message: Message): boolean =>
      gathersFor(message, now()) <= 0 && this.#senders.every((sender) => sender.isDoneWith(message.id))
    const sent = new Set(term.record.outbox.filter(isSent).map(({ id }) => id))
    if (sent.size > 0) term.record = await changeAlertRecord(client, app, (record) => withoutMessages(record, sent))
  }
}

/** The time in which this instance watches. */
class Term {
  record: AlertRecord
  readonly #parts: WatcherParts
  readonly #seen: Seen
  readonly #looks: ScheduleLooks
  readonly #thresholds: JobThresholds
  /** The version of the app's record that the last heartbeat before its reading told; -1: it was not read. */
  #appVersion = -1
  /** What to look at next. */
  readonly #queue: (() => Promise<void>)[] = []
  #wakeUps: number
  #known: ReadonlySet<string>
  /** Jobs that a live instance had at the last look. */
  #jobs: ReadonlySet<string> = new Set()
  #dead: readonly InstanceRecord[] = []

  constructor(parts: WatcherParts, record: AlertRecord) {
    this.#parts = parts
    this.record = record
    this.#seen = new Seen(LOOKS_UNTIL_OVER * parts.everyMs, () => parts.clock.mono())
    this.#thresholds = new JobThresholds(parts.thresholds)
    this.#wakeUps = parts.wakeUps()
    this.#known = idsOf(parts)
    for (const { rule, subjects, state } of record.alerts) if (state !== 'resolved') this.#seen.restore(rule, subjects)
    this.#looks = new ScheduleLooks({
      store: parts.client.store,
      now: parts.now,
      instances: () => parts.fleet().peers,
      heartbeat: HEARTBEAT_PREFIX + parts.app,
      isOwn: (state) => isOwn(state, parts),
      thresholdsOf: (job) => this.#thresholds.of(job),
      judged: (judgement, now) => this.#seen.judged(judgement, now),
      gone: (schedule) => this.#seen.gone(schedule),
      troubled: () => this.#seen.schedules(),
    })
  }

  /** One call to the store while nothing is wrong; otherwise all there is to look at. */
  async look(readRecord: () => Promise<AlertRecord>): Promise<void> {
    const { fleet, now, store, app, thresholds, wakeUps } = this.#parts
    await this.readApp()
    const isWell = this.#seen.isEmpty && this.record.outbox.length === 0 && !this.#looks.hasSuspects
    const lookAtRecord = async (): Promise<void> => {
      this.#wakeUps = wakeUps()
      this.record = await readRecord()
    }
    // An operator who changes the record wakes all instances.
    const woken = wakeUps() === this.#wakeUps ? [] : [lookAtRecord]
    if (this.#queue.length === 0) this.#queue.push(...woken, ...this.#looks.rotation)
    if (isWell) await this.#queue.shift()!()
    else for (const look of [...woken, ...this.#looks.rotation]) await look()
    await this.#lookAtDead()
    await this.#lookAtLostJobs()
    for (const name of this.#seen.schedules().slice(0, MOST_LOOKED_AT)) this.#looks.suspect(name)
    if (this.#looks.hasSuspects) await this.#looks.lookAtSuspects()
    const { peers, chores } = fleet()
    const facts = { now: now(), app, instances: peers, dead: this.#dead, store: store.facts(chores.prunable) }
    this.#seen.fleetJudged(judgeFleet(facts, thresholds), now())
  }

  /** What the jobs set for the watchdog, at first and after a deployment. */
  async readApp(): Promise<void> {
    const { client, fleet, app } = this.#parts
    const { appVersion } = fleet().chores
    if (appVersion === this.#appVersion) return
    this.#thresholds.adopt((await client.store.loadApp(app)).app)
    this.#appVersion = appVersion
  }

  found(): Pick<Parameters<typeof reconcile>[1], 'problems' | 'mayResolve'> {
    return { problems: this.#seen.problems(), mayResolve: this.#looks.isComplete }
  }

  async #lookAtLostJobs(): Promise<void> {
    const jobs = new Set(this.#parts.fleet().peers.flatMap((peer) => peer.jobs))
    const lost = [...this.#jobs].filter((job) => !jobs.has(job))
    this.#jobs = jobs
    for (const job of lost.slice(0, MOST_LOST)) await this.#looks.lookAtJob(job)
  }

  /** An instance is gone: it may have died. */
  async #lookAtDead(): Promise<void> {
    const { client, app } = this.#parts
    const known = idsOf(this.#parts)
    const isSmaller = [...this.#known].some((id) => !known.has(id))
    this.#known = known
    if (!isSmaller && this.#dead.length === 0) return
    const { instances } = await client.store.listInstances({ app, ended: MOST_DEAD })
    // While there are any, they are listed with every look.
    const since = this.#parts.now() - DEATHS_WITHIN_MS
    this.#dead = instances.filter(({ state, endedAt }) => state === 'dead' && (endedAt ?? 0) > since)
  }
}

function idsOf({ fleet, app }: WatcherParts): ReadonlySet<string> {
  return new Set(
    fleet()
      .peers.filter((peer) => peer.app === app)
      .map(({ id }) => id),
  )
}

/**
 * Of the instances that could watch an app, the one with the smallest hash: all agree on it, and no app burdens one instance with all.
 * Those without channels could not send the messages: they watch if no other can.
 */
export function isWatcher({ instance, peers }: Pick<FleetState, 'instance' | 'peers'>, app: string): boolean {
  const able = peers.filter((peer) => peer.app === app && canWatch(peer))
  const weight = ({ id }: InstanceRecord): number => hash32(`${id} ${WATCH_JOB}`)
  const sending = able.filter(({ jobs }) => jobs.includes(CHANNELS_JOB))
  const [first] = (sending.length > 0 ? sending : able).toSorted(
    (one, other) => weight(one) - weight(other) || (one.id < other.id ? -1 : 1),
  )
  return first?.id === instance
}

function canWatch({ state, drain, jobs }: InstanceRecord): boolean {
  return state === 'live' && !drain && jobs.includes(WATCH_JOB)
}

/**
 * Each schedule is watched by one app: the one that declares it, or has its job. What no app has is watched by the first that watches at
 * all.
 */
function isOwn({ source, definition }: ScheduleState, { app, fleet }: WatcherParts): boolean {
  if (source.kind === 'code') return source.app === app
  const { peers } = fleet()
  const withJob = peers.filter(({ jobs }) => jobs.includes(definition.job))
  const able = (withJob.length > 0 ? withJob : peers).filter(canWatch)
  return able.map((peer) => peer.app).sort()[0] === app
}
