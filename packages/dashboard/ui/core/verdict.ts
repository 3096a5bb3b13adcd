import {
  excludedInstants,
  expressionInstants,
  intervalInstants,
  judgeLedger,
  type LedgerFire,
  type LedgerRule,
  type LedgerRun,
} from '@cronce/checker'
import { zoneOf } from './format.ts'
import type { FireView, Run, ScheduleView } from './types.ts'

/** Judged in this browser, by a program that shares no code with the scheduler. */
export interface FireVerdict {
  readonly isSound: boolean
  /** What was checked, and what of it does not hold. */
  readonly checks: readonly { readonly text: string; readonly faults: readonly string[] }[]
  /** What could not be checked. */
  readonly unknown: readonly string[]
}

interface Subject {
  readonly readAt: number
  readonly schedule: ScheduleView | null
  readonly fire: FireView
  readonly runs: readonly Run[]
}

/** Clocks of stores are kept by NTP, and a failover leads to another one. */
const CLOCK_ERROR_MS = 1_000
/** How long after its time something may be written. */
const SETTLE_MS = 10_000

/** What the checker judges of one fire, by the properties that it reports. */
const CHECKS: readonly (readonly [text: string, properties: readonly string[]])[] = [
  ['Its due time is one of the rule, recomputed by a second cron engine', ['C1', 'C4']],
  ['One record stands for it, with one outcome and a reason that fits', ['C10']],
  ['Attempts follow one another: none before it was due, none beside another or after a success', ['C2', 'C5']],
  ['Fencing tokens rise with every claim', ['C14']],
  ['What the fire says is what its runs say', ['C9']],
]

export function judgeFire({ readAt, schedule, fire, runs }: Subject): FireVerdict {
  const rule = schedule === null ? null : ruleOf(schedule, fire)
  const verdict = judgeLedger(
    {
      schedule: fire.schedule,
      fires: [ledgerFire(fire)],
      runs: runs.map(ledgerRun),
      readAt,
      settledBefore: readAt - SETTLE_MS,
      rule,
      retirements: schedule?.retirements ?? [],
      clockErrorMs: CLOCK_ERROR_MS,
    },
    { from: fire.dueAt, to: fire.range?.untilAt ?? fire.dueAt },
  )
  const isOfRule = verdict.counts.expected > 0
  const hasNoRule = fire.kind === 'manual' || fire.nonce !== ''
  const faultsOf = (isMeant: (property: string) => boolean): readonly string[] =>
    verdict.violations.filter(({ property }) => isMeant(property)).map(({ message }) => message)
  const applicable = CHECKS.slice(isOfRule ? 0 : 1)
  const others = faultsOf((property) => !applicable.some(([, properties]) => properties.includes(property)))
  const checks = [
    ...applicable.map(([text, properties]) => ({ text, faults: faultsOf((one) => properties.includes(one)) })),
    ...(others.length === 0 ? [] : [{ text: 'Other rules of the checker', faults: others }]),
  ]
  const unknown = [
    ...(isOfRule || hasNoRule
      ? []
      : ['Whether the rule had this due time: it has changed since, or the fire is at its mark.']),
    ...(fire.endedAt === null ? ['How it ends: it is still open.'] : []),
  ]
  return { isSound: verdict.violations.length === 0, checks, unknown }
}

function ledgerFire(fire: FireView): LedgerFire {
  const { schedule, dueAt, nonce, round, attempt, plannedAt, readyAt, endedAt, reason, kind, state, range } = fire
  return {
    ...{ schedule, dueAt, nonce, round, attempt, plannedAt, readyAt, endedAt, reason },
    origin: kind,
    outcome: state === 'open' ? null : state,
    untilAt: range?.untilAt ?? null,
    count: range?.count ?? 1,
  }
}

function ledgerRun(run: Run): LedgerRun {
  const { schedule, dueAt, nonce, attempt, token, round, instance, startedAt, endedAt, reason, state } = run
  const isOpen = state === 'running' || state === 'cancelling' || state === 'parked'
  return {
    ...{ schedule, dueAt, nonce, attempt, token, round, instance, startedAt, endedAt, reason },
    outcome: isOpen ? null : state,
  }
}

function ruleOf(schedule: ScheduleView, fire: FireView): LedgerRule {
  const { policy, nextAt, limit, updatedAt } = schedule
  return {
    instants: instantsOf(schedule),
    excluded: excludedBy(schedule) ?? undefined,
    since: updatedAt,
    nextAt,
    graceMs: null,
    keptSince: fire.dueAt - 1,
    limit,
    guarantee: policy.guarantee,
    oneAtATime: policy.overlap.kind !== 'allow',
  }
}

/** `null`: a rule that the second engine does not know. */
function instantsOf(schedule: ScheduleView): LedgerRule['instants'] {
  const { trigger } = schedule
  if (trigger === null) return null
  if (trigger.kind === 'at') return (from, to) => (from <= trigger.at && trigger.at <= to ? [trigger.at] : [])
  if (trigger.kind === 'every') return intervalInstants(trigger.everyMs, trigger.anchor)
  return cronInstants(schedule, trigger, expressionInstants)
}

/** `null`: nothing, or a rule that the second engine does not know. */
function excludedBy(schedule: ScheduleView): LedgerRule['instants'] {
  const { trigger } = schedule
  if (trigger?.kind !== 'cron' || trigger.calendar === undefined) return null
  return cronInstants(schedule, trigger, excludedInstants)
}

function cronInstants(
  schedule: ScheduleView,
  trigger: Extract<ScheduleView['trigger'], { kind: 'cron' }>,
  ask: typeof expressionInstants,
): LedgerRule['instants'] {
  const isPlain = trigger.dialect === undefined || trigger.dialect === 'default'
  if (!isPlain || /(^|[\s,])H([\s,/(]|$)|^@/i.test(trigger.expression)) return null
  const bare = trigger.expression.trim().replace(/^(?:CRON_)?TZ=\S+\s+/, '')
  const { dst, gap, overlap, days, wrap, calendar } = trigger
  try {
    return ask(bare, { tz: zoneOf(schedule), dst, gap, overlap, days, wrap, calendar })
  } catch {
    return null
  }
}
