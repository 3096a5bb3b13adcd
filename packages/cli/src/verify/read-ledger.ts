import {
  excludedInstants,
  expressionInstants,
  intervalInstants,
  type LedgerFire,
  type LedgerRule,
  type LedgerRun,
  type LedgerSubject,
} from '@cronce/checker'
import type { Connection, FireView, RunView, ScheduleView } from 'cronce'
import { type CronData, trigger as makeTrigger } from 'cronce/cron'
import { zonePrefixOf } from '../zone-prefix.ts'

const DAY_MS = 86_400_000
/** Clocks of stores are kept by NTP, and a failover leads to another one. */
const CLOCK_ERROR_MS = 1_000
/** How long after its time something may be written: stores that take longer are given up on. */
const SETTLE_MS = 10_000
/** Instants of one schedule that are looked for: of one that is due more often, the latest. */
const MOST_INSTANTS = 500_000

/**
 * All that the store has on record about one schedule, while it goes on. Its mark first: what is before it is on record by then. Then the
 * runs, so that each has its fire among what is read last.
 */
export async function readLedger(client: Connection, name: string): Promise<LedgerSubject> {
  const { now: readAt } = await client.store.check()
  const schedule = await client.schedules.find(name)
  const runs: LedgerRun[] = []
  for await (const run of client.runs.all({ schedule: name })) runs.push(runOf(run))
  const fires = await firesOf(client, name)
  const others = await Promise.all((await otherNamesOf(client, schedule)).map((other) => firesOf(client, other)))
  // Of each name, more records than the retention keeps may be gone.
  const most = Math.max(fires.length, ...others.map(({ length }) => length))
  const rule = schedule === null ? null : ruleOf(schedule, most, readAt)
  return {
    ...{ schedule: name, fires, runs, readAt, settledBefore: readAt - SETTLE_MS, rule, clockErrorMs: CLOCK_ERROR_MS },
    ...{ retirements: schedule?.retirements ?? [], otherFires: others.flat() },
  }
}

async function firesOf(client: Connection, schedule: string): Promise<readonly LedgerFire[]> {
  const fires: LedgerFire[] = []
  for await (const fire of client.fires.all({ schedule })) fires.push(fireOf(fire))
  return fires
}

/** All names that its job has had. */
async function otherNamesOf(client: Connection, schedule: ScheduleView | null): Promise<readonly string[]> {
  const names = new Set(schedule === null ? [] : [schedule.name])
  const next = schedule === null ? [] : [schedule]
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    for (const { renamedTo } of one.retirements) {
      if (renamedTo === undefined || names.has(renamedTo)) continue
      names.add(renamedTo)
      const other = await client.schedules.find(renamedTo)
      if (other !== null) next.push(other)
    }
  }
  return [...names].filter((name) => name !== schedule?.name)
}

function fireOf({
  schedule,
  dueAt,
  nonce,
  kind,
  round,
  attempt,
  plannedAt,
  readyAt,
  endedAt,
  state,
  reason,
  range,
}: FireView): LedgerFire {
  return {
    ...{ schedule, dueAt, nonce, round, attempt, plannedAt, readyAt, endedAt, reason },
    origin: kind,
    outcome: state === 'open' ? null : state,
    untilAt: range?.untilAt ?? null,
    count: range?.count ?? 1,
  }
}

function runOf({
  schedule,
  dueAt,
  nonce,
  attempt,
  token,
  round,
  instance,
  startedAt,
  endedAt,
  state,
  reason,
}: RunView): LedgerRun {
  return {
    ...{ schedule, dueAt, nonce, attempt, token, round, instance, startedAt, endedAt, reason },
    outcome: state === 'running' || state === 'cancelling' || state === 'parked' ? null : state,
  }
}

function ruleOf(schedule: ScheduleView, records: number, now: number): LedgerRule {
  const { policy, nextAt, limit } = schedule
  return {
    instants: instantsOf(schedule, ruleInstants),
    excluded: instantsOf(schedule, excludedBy) ?? undefined,
    // An instant of another version may have been planned in the very millisecond.
    since: schedule.updatedAt,
    nextAt,
    graceMs: schedule.state === 'active' ? policy.misfire.graceMs : null,
    keptSince: Math.max(keptSince(policy, records, now), affordable(schedule, now)),
    limit,
    guarantee: policy.guarantee,
    oneAtATime: policy.overlap.kind !== 'allow',
  }
}

/** Records go by age, and beyond their number once the misfire window and a day have passed. */
function keptSince({ retention, misfire }: ScheduleView['policy'], records: number, now: number): number {
  const least = misfire.windowMs + DAY_MS
  if (records >= retention.count) return now - least
  const ages = [retention.keepMs, ...Object.values(retention.keepMsBy)]
  return now - Math.max(least, Math.min(...ages))
}

function affordable({ trigger }: ScheduleView, now: number): number {
  const gapMs = trigger?.kind === 'every' ? trigger.everyMs : 1_000
  return now - MOST_INSTANTS * gapMs
}

type Trigger = NonNullable<ScheduleView['trigger']>

function instantsOf(
  { trigger, startAt, endAt }: ScheduleView,
  instantsBy: (trigger: Trigger) => LedgerRule['instants'],
): LedgerRule['instants'] {
  if (trigger === null) return null
  const rule = instantsBy(trigger)
  if (rule === null) return null
  return (from, to) => rule(Math.max(from, startAt ?? from), Math.min(to, (endAt ?? Number.POSITIVE_INFINITY) - 1))
}

function ruleInstants(trigger: Trigger): LedgerRule['instants'] {
  switch (trigger.kind) {
    case 'at':
      return (from, to) => (from <= trigger.at && trigger.at <= to ? [trigger.at] : [])
    case 'every':
      return intervalInstants(trigger.everyMs, trigger.anchor)
    case 'cron':
      return cronInstants(trigger, 'fires')
  }
}

function excludedBy(trigger: Trigger): LedgerRule['instants'] {
  return trigger.kind === 'cron' && trigger.calendar !== undefined ? cronInstants(trigger, 'excluded') : null
}

/** By the checker's own cron, where it knows the grammar: then not even the library's idea of the rule is believed. */
function cronInstants(data: CronData, which: 'fires' | 'excluded'): LedgerRule['instants'] {
  const live = makeTrigger(data)
  if (live.kind !== 'cron' || live.timing === 'event') return null
  if ((data.dialect === undefined || data.dialect === 'default') && !usesHash(data.expression)) {
    const prefix = zonePrefixOf(data.expression)
    const bare = prefix === undefined ? data.expression : data.expression.trim().replace(/^\S+\s+/, '')
    const { dst, gap, overlap, days, wrap, calendar } = data
    const instantsOfKind = which === 'fires' ? expressionInstants : excludedInstants
    return instantsOfKind(bare, { tz: live.tz, dst, gap, overlap, days, wrap, calendar })
  }
  const line = which === 'fires' ? live : live.excluded
  if (line === null) return null
  return (from, to) => {
    const instants: number[] = []
    for (let at = line.next(from - 1); at !== null && at <= to; at = line.next(at)) instants.push(at)
    return instants
  }
}

function usesHash(expression: string): boolean {
  return /(^|[\s,])H([\s,/(]|$)/i.test(expression)
}

/** Names of schedules that are gone, and of which records are left. */
export async function goneSchedules(client: Connection, known: ReadonlySet<string>): Promise<readonly string[]> {
  const gone = new Set<string>()
  for await (const { schedule } of client.fires.all()) if (!known.has(schedule)) gone.add(schedule)
  return [...gone].sort()
}
