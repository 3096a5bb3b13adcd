import type { Instant, Spec } from '../../packages/checker/src/history.ts'
import type { Dice } from './random.ts'
import type { Plan, Scenario, Work } from './scenario.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What all schedules of a scenario have in common. */
export interface Setting {
  readonly kind: Scenario['kind']
  readonly epoch: Instant
  readonly faultsMs: number
  readonly leaseMs: number
  readonly zones: readonly string[]
  /** Of the one named group. */
  readonly groupLimit: number
}

/** A change of the clock: where, and the day on which it comes. By 30 minutes in Lord Howe, at midnight in Cairo, Beirut and Havana. */
export const ZONE_CHANGES = [
  { tz: 'Europe/Berlin', day: Date.UTC(2027, 2, 28) },
  { tz: 'Europe/Berlin', day: Date.UTC(2027, 9, 31) },
  { tz: 'America/New_York', day: Date.UTC(2027, 2, 14) },
  { tz: 'America/New_York', day: Date.UTC(2027, 10, 7) },
  { tz: 'Australia/Lord_Howe', day: Date.UTC(2027, 3, 4) },
  { tz: 'Australia/Lord_Howe', day: Date.UTC(2027, 9, 3) },
  { tz: 'Africa/Cairo', day: Date.UTC(2027, 3, 30) },
  { tz: 'Asia/Beirut', day: Date.UTC(2027, 2, 28) },
  { tz: 'America/Havana', day: Date.UTC(2027, 2, 14) },
] as const

const DAILY = ['30 2 * * *', '0 0 * * *', '5 0 * * *', '15 1-3 * * *', '0 3 * * *', '45 1 * * *']
const HOURLY = ['0 * * * *', '*/30 * * * *', '10,40 * * * *', '0 */2 * * *']

export function drawPlan(dice: Dice, setting: Setting, job: string, isCode: boolean): Plan {
  const guarantee = dice.pick(['at-least-once', 'at-least-once', 'at-most-once', 'exactly-once'] as const)
  const trigger = drawTrigger(dice, setting, isCode)
  const isFast = setting.kind === 'seconds'
  const windowMs = isFast ? dice.pick([DAY, DAY, MINUTE, 5 * MINUTE]) : dice.pick([HOUR, 3 * HOUR, DAY])
  const intervalMs = trigger?.kind === 'every' ? trigger.everyMs : isFast ? 2 * SECOND : HOUR
  const spec: Spec = {
    job,
    trigger,
    ...(trigger === null ? { start: null, end: null, limit: null } : drawWindow(dice, setting)),
    guarantee,
    overlap: drawOverlap(dice),
    misfire: {
      graceMs: isFast ? dice.pick([10 * SECOND, 3 * SECOND, SECOND]) : dice.pick([10 * SECOND, 5 * MINUTE]),
      late: dice.pick(['latest', 'latest', 'skip', 'all']),
      limit: dice.pick([100, 10, 3, 1]),
      windowMs,
    },
    retry: {
      attempts: guarantee === 'at-most-once' ? 0 : dice.pick([0, 1, 2, 3]),
      crashes: dice.pick([2, 2, 1, 0, 4]),
      deadlineMs: dice.chance(0.2) ? dice.whole(30, 120) * SECOND : null,
    },
    timeout: {
      runMs: dice.chance(0.4) ? dice.whole(1, 8) * (isFast ? SECOND : MINUTE) : null,
      graceMs: dice.pick([0, 500, 2 * SECOND, 10 * SECOND]),
    },
    // Also more than there is time for.
    jitterMs: dice.chance(0.25) ? dice.whole(1, Math.floor(intervalMs * dice.pick([0.5, 0.5, 2]))) : 0,
    keepMs: windowMs + DAY,
    keepCount: 0,
    jobLimit: dice.chance(0.15) ? dice.whole(1, 3) : null,
    group: dice.chance(0.2) ? { name: 'group', limit: setting.groupLimit } : null,
    pauseAfter: dice.chance(0.08) ? dice.whole(2, 5) : null,
  }
  return {
    spec,
    jitterKind: dice.pick(['fixed', 'random']),
    backoffMs: isFast ? dice.pick([100, SECOND, 4 * SECOND]) : dice.pick([SECOND, MINUTE]),
    unknownStep: dice.pick(['fail', 'rerun']),
    count: dice.pick([1_000, 1_000, 20]),
  }
}

function drawTrigger(dice: Dice, setting: Setting, isCode: boolean): Spec['trigger'] {
  const { epoch, faultsMs } = setting
  if (dice.chance(0.05)) return null
  if (!isCode && dice.chance(0.2))
    return { kind: 'at', at: epoch + dice.whole(5, Math.floor(faultsMs / SECOND)) * SECOND }
  if (setting.kind === 'days') {
    if (dice.chance(0.2)) return { kind: 'every', everyMs: dice.pick([5, 10, 15, 60]) * MINUTE, anchor: 0 }
    const expression = dice.pick(dice.chance(0.5) ? DAILY : HOURLY)
    const tz = dice.chance(0.85) ? dice.pick(setting.zones) : 'UTC'
    return { kind: 'cron', expression, tz, dst: dice.pick(['auto', 'auto', 'wall', 'once', 'shift']) }
  }
  if (dice.chance(0.5)) {
    const everyMs = dice.pick([100, 200, 250, 500, 1_000, 3_000])
    return { kind: 'every', everyMs, anchor: dice.pick([0, 250, 1_700]) }
  }
  return { kind: 'cron', expression: `*/${dice.pick([1, 1, 1, 2, 5])} * * * * *`, tz: 'UTC', dst: 'auto' }
}

function drawWindow(dice: Dice, { epoch, faultsMs }: Setting): Pick<Spec, 'start' | 'end' | 'limit'> {
  const within = (from: number, to: number): Instant =>
    epoch + Math.floor(faultsMs * (from + dice.roll() * (to - from)))
  return {
    start: dice.chance(0.08) ? within(0, 0.3) : null,
    end: dice.chance(0.08) ? within(0.5, 1) : null,
    limit: dice.chance(0.08) ? dice.whole(3, 60) : null,
  }
}

function drawOverlap(dice: Dice): Spec['overlap'] {
  const kind = dice.pick(['skip', 'skip', 'queue', 'queue-all', 'allow', 'replace'] as const)
  if (kind === 'allow') return { kind, limit: dice.whole(2, 4) }
  if (kind === 'queue-all') return { kind, limit: dice.whole(2, 10) }
  return { kind, limit: 1 }
}

export function drawWork(dice: Dice, { kind, leaseMs }: Setting): Work {
  const unit = kind === 'seconds' ? SECOND : MINUTE
  const [leastMs, mostMs] = dice.pick([
    [0, 0],
    [0, 0.5],
    [0.1, 2],
    [1, 5],
    [0, 12],
  ] as const)
  return {
    leastMs: Math.floor(leastMs * unit),
    mostMs: Math.floor(mostMs * unit),
    throws: dice.pick([0, 0, 0.1, 0.5]),
    fatal: dice.pick([0, 0.3]),
    ignoresSignal: dice.pick([0, 0, 0.2]),
    blocks: dice.pick([0, 0, 0, 0.02]),
    blockMs: Math.floor(leaseMs * 1.5),
    steps: dice.pick([0, 0, 1, 2]),
    transacts: dice.pick([0, 0, 0.2]),
    tells: dice.pick([0, 0, 0.3]),
  }
}
