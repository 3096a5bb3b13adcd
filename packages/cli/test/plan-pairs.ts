import type { Cronce, JobOptions, Store } from 'cronce'
import { declarationOf } from 'cronce/internal'
import { type TestKit, testKit } from 'cronce/testing'
import { oracleFires } from '../../checker/src/oracle/ask-oracle.ts'
import { seededRandom } from '../../cronce/test/oracle/generate-case.ts'
import { makePlan, type Plan } from '../src/plan/make-plan.ts'

// Random pairs of releases: what `plan` says about them, and what the engine then does in virtual time.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface RandomJob {
  readonly options: JobOptions
  /** What the oracle is asked, where it can answer. */
  readonly cron: { readonly expression: string; readonly options: Parameters<typeof oracleFires>[1] } | null
}

export interface Pair {
  readonly seed: number
  readonly from: number
  /** When it is deployed. */
  readonly at: number
  readonly days: number
  readonly isExplicit: boolean
  readonly before: Readonly<Record<string, RandomJob>>
  readonly after: Readonly<Record<string, RandomJob>>
  readonly paused: { readonly name: string; readonly until: number | null } | null
  readonly skipped: string | null
}

/** Days on which clocks change, and an ordinary one. */
const DAYS = [
  Date.UTC(2027, 2, 28),
  Date.UTC(2027, 9, 31),
  Date.UTC(2027, 2, 14),
  Date.UTC(2027, 10, 7),
  Date.UTC(2027, 3, 4),
  Date.UTC(2027, 5, 16),
]
const ZONES = ['UTC', 'Europe/London', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const NAMES = ['ant', 'bee', 'cat']

type Draw = ReturnType<typeof drawing>

function drawing(seed: number) {
  const random = seededRandom(seed)
  const whole = (below: number): number => Math.floor(random() * below)
  return {
    whole,
    chance: (share: number): boolean => random() < share,
    of: <T>(list: readonly T[]): T => list[whole(list.length)]!,
  }
}

export function drawPair(seed: number): Pair {
  const draw = drawing(seed)
  const day = draw.of(DAYS)
  const from = day - DAY_MS * (1 + draw.whole(3))
  const at = from + (1 + draw.whole(36)) * HOUR_MS + draw.of([0, 1, 60_000, 30 * 60_000, 90_000])
  const days = 1 + draw.whole(5)
  const before: Record<string, RandomJob> = {}
  const after: Record<string, RandomJob> = {}
  for (const name of NAMES.slice(0, 1 + draw.whole(NAMES.length))) {
    const job = drawJob(draw, at)
    before[name] = job
    const fate = draw.whole(7)
    if (fate < 3) after[name] = drawJob(draw, at)
    else if (fate === 3) after[name] = job
    else if (fate === 4) after[`${name}-new`] = withWas(draw.chance(0.5) ? job : drawJob(draw, at), name)
    else if (fate === 5) after[name] = { ...job, options: { ...job.options, timeout: '5m' } as JobOptions }
  }
  if (draw.chance(0.4) || Object.keys(after).length === 0) after['new'] = drawJob(draw, at)
  const paused = draw.chance(0.25) ? { name: draw.of(Object.keys(before)), until: drawEnd(draw, at) } : null
  const skipped = draw.chance(0.2) ? draw.of(Object.keys(before)) : null
  return { ...{ seed, from, at, days, isExplicit: draw.chance(0.7), before, after, paused, skipped } }
}

function drawEnd(draw: Draw, at: number): number | null {
  return draw.chance(0.3) ? null : at + (draw.whole(60) - 5) * HOUR_MS
}

function withWas({ options, cron }: RandomJob, was: string): RandomJob {
  return { options: { ...options, was } as JobOptions, cron }
}

function drawJob(draw: Draw, at: number): RandomJob {
  const kind = draw.whole(10)
  if (kind === 0) return { options: { at: at + (draw.whole(100) - 20) * HOUR_MS }, cron: null }
  const within = drawWindow(draw, at)
  if (kind === 1) return { options: { every: `${5 + draw.whole(600)}m`, ...within }, cron: null }
  const tz = draw.of(ZONES)
  const expression = drawExpression(draw)
  const dst = draw.chance(0.2) ? draw.of(['wall', 'once', 'shift'] as const) : undefined
  const gap = draw.chance(0.1) ? draw.of(['skip', 'after'] as const) : undefined
  const overlap = draw.chance(0.1) ? draw.of(['first', 'both'] as const) : undefined
  const days = draw.of(['SAT SUN', 'SUN', '03-28 03-29', '2027-10-31', 'WED'])
  const excluded = draw.of(['skip', 'next-working-day', 'previous-working-day', 'nearest'] as const)
  // A schedule that is only due on closed days would be refused.
  const calendar = expression.endsWith('* * *') && draw.chance(0.4) ? { days, excluded } : undefined
  const given = Object.entries({ tz, dst, gap, overlap, calendar }).filter(([, value]) => value !== undefined)
  const options = Object.fromEntries(given)
  const isWhole = Object.keys(within).length === 0
  const spec = { cron: { expression, ...options }, ...within } as JobOptions
  return { options: spec, cron: isWhole ? { expression, options } : null }
}

function drawWindow(draw: Draw, at: number): { start?: number; end?: number; limit?: number } {
  switch (draw.whole(8)) {
    case 0:
      return { start: at + (draw.whole(40) - 20) * HOUR_MS }
    case 1:
      return { end: at + (5 + draw.whole(90)) * HOUR_MS }
    case 2:
      return { limit: 1 + draw.whole(12) }
    default:
      return {}
  }
}

function drawExpression(draw: Draw): string {
  const minute = draw.of(['0', '30', '15', '*/20', '59', String(draw.whole(60))])
  const hour = draw.of(['*', '0', '1', '2', '3', '*/6', '1,13', '2-4', String(draw.whole(24))])
  const date = draw.of(['* * *', '* * *', '* * MON-FRI', '* * SUN', '*/2 * *', '28-31 * *', '1W * *'])
  return `${minute} ${hour} ${date}`
}

/** What ran after the deployment, by name: due times in their order. */
export type Ran = ReadonlyMap<string, readonly number[]>

export interface Outcome {
  readonly plan: Plan
  /** Whether the plan has left the store as it was. */
  readonly isUntouched: boolean
  /** With the new release, and with the old one as if it had stayed. */
  readonly after: Ran
  readonly before: Ran
}

/** Deploys the new release on a store where the old one has run, once planned and then in earnest; and once not at all. */
export async function playPair(pair: Pair): Promise<Outcome> {
  const deployed = await runUntilDeploy(pair)
  const { kit } = deployed
  const next = releaseOn(kit, pair, 'v2', pair.after, deployed.ran)
  const store = (await kit.store.open({
    namespace: 'default',
    adopt: false,
    production: false,
    warn: () => {},
  })) as Store
  const asItWas = JSON.stringify(dataOf(kit))
  const plan = await makePlan(store, [await declarationOf(next)!()], { days: pair.days, count: 10, tz: 'UTC' })
  const isUntouched = JSON.stringify(dataOf(kit)) === asItWas
  const after = await runOn(pair, deployed, next)
  const stayed = await runUntilDeploy(pair)
  const before = await runOn(pair, stayed, releaseOn(stayed.kit, pair, 'v1', pair.before, stayed.ran))
  return { plan, isUntouched, after, before }
}

type RanSoFar = { readonly name: string; readonly dueAt: number; readonly at: number }[]

async function runUntilDeploy(pair: Pair): Promise<{ kit: TestKit; ran: RanSoFar }> {
  const kit = testKit({ now: pair.from })
  const ran: RanSoFar = []
  const old = releaseOn(kit, pair, 'v1', pair.before, ran)
  await old.start()
  // What is due at the beginning has run.
  await kit.advance(1)
  const { paused, skipped } = pair
  if (skipped !== null) {
    const { nextAt } = await old.schedules.get(skipped)
    if (nextAt !== null) await old.schedules.skipNext(skipped, { dueAt: nextAt, author: 'ada' })
  }
  if (paused !== null) {
    const until = paused.until !== null && paused.until > kit.now() ? { until: paused.until } : {}
    await old.schedules.pause(paused.name, { author: 'ada', missed: 'skip', ...until })
  }
  await kit.advanceTo(pair.at)
  await old.stop()
  return { kit, ran }
}

async function runOn(pair: Pair, { kit, ran }: { kit: TestKit; ran: RanSoFar }, app: Cronce<never>): Promise<Ran> {
  await app.start()
  await kit.advanceTo(pair.at + pair.days * DAY_MS - 1)
  await app.stop()
  // What was due before is not of the deployment: an `at` that has passed, and what a pause has held back.
  const later = ran.filter(({ dueAt }) => dueAt > pair.at)
  return new Map(
    [...Map.groupBy(later, ({ name }) => name)].map(([name, fires]) => [name, fires.map(({ dueAt }) => dueAt)]),
  )
}

function releaseOn(
  kit: TestKit,
  { isExplicit }: Pair,
  deployment: string,
  jobs: Readonly<Record<string, RandomJob>>,
  ran: RanSoFar,
): Cronce<never> {
  const app = kit.app({ app: 'shop', ...(isExplicit ? { deployment } : {}) })
  for (const [name, { options }] of Object.entries(jobs)) {
    app.job(name, options, (run) => {
      if (run.fire.kind === 'scheduled')
        ran.push({ name: run.fire.schedule, dueAt: Number(run.fire.dueAt), at: kit.now() })
    })
  }
  return app as unknown as Cronce<never>
}

function dataOf(kit: TestKit): unknown {
  return JSON.parse(
    JSON.stringify(kit.store.data, (_, value) =>
      value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
    ),
  )
}

/** What the oracle says that the job is due at after the deployment. */
export function oracleSays(pair: Pair, name: string): readonly number[] | null {
  const job = pair.after[name]
  if (job?.cron == null) return null
  return oracleFires(job.cron.expression, job.cron.options, pair.at + 1, pair.at + pair.days * DAY_MS)
}
