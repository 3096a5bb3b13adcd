import type { Cronce, JobOptions, Run } from 'cronce'

/** One job of the shop, and what its handler does. */
export interface ShopJob {
  readonly name: string
  readonly cron: string
  readonly tz?: string
  readonly takesMs: number
  readonly steps?: readonly string[]
  /** About one fire in this many throws in its first attempt, and half of those in the second, too. */
  readonly failsEvery?: number
  /** One run in this many takes far longer. */
  readonly longEvery?: number
  /** Since a few hours, it always fails. */
  readonly isBroken?: boolean
  /** How many days of history it has: frequent jobs are younger, so that the history is made within seconds. */
  readonly days: number
}

export const HISTORY_DAYS = 90

export const SHOP: readonly ShopJob[] = [
  { name: 'backup.orders', cron: '0 2 * * *', tz: 'Europe/Berlin', takesMs: 1_300_000, days: 90 },
  { name: 'billing.dunning', cron: '0 9 * * MON-FRI', tz: 'Europe/Berlin', takesMs: 180_000, days: 90 },
  {
    ...{ name: 'billing.invoices', cron: '*/15 7-20 * * *', tz: 'Europe/Berlin', takesMs: 42_000, days: 8 },
    ...{ steps: ['load', 'charge', 'mail'], failsEvery: 11 },
  },
  { name: 'cache.warm', cron: '*/10 * * * *', takesMs: 9_000, longEvery: 17, days: 1 },
  { name: 'catalog.sync', cron: '*/20 5-22 * * *', takesMs: 95_000, failsEvery: 9, days: 1 },
  { name: 'digest.daily', cron: '30 7 * * *', tz: 'America/New_York', takesMs: 260_000, days: 90 },
  { name: 'export.warehouse', cron: '0 * * * *', takesMs: 620_000, failsEvery: 12, isBroken: true, days: 8 },
  { name: 'geo.refresh', cron: '15 */2 * * *', tz: 'Asia/Kolkata', takesMs: 31_000, failsEvery: 31, days: 90 },
  { name: 'mail.queue', cron: '*/5 6-22 * * *', takesMs: 4_000, days: 1 },
  { name: 'metrics.rollup', cron: '*/5 * * * *', takesMs: 12_000, longEvery: 31, days: 1 },
  { name: 'reports.weekly', cron: '0 6 * * MON', tz: 'Europe/London', takesMs: 900_000, days: 90 },
  { name: 'search.reindex', cron: '0 */3 * * *', takesMs: 1_400_000, failsEvery: 40, days: 90 },
  { name: 'sessions.prune', cron: '7 * * * *', takesMs: 2_000, days: 8 },
  { name: 'thumbnails.clean', cron: '0 2 * * *', tz: 'Europe/Berlin', takesMs: 75_000, days: 90 },
]

export const SHOP_APP = 'shop'
const SLOT_MS = 300_000
const LONG_FACTOR = 45
const RETRY: JobOptions['retry'] = { attempts: 1, backoff: { base: '20s' } }
const OPTIONS = { retention: '100d', retry: RETRY } as const

/** How the handlers of the shop wait, and from when on some of them are broken. */
export interface ShopWorld {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly brokenFrom: number
  /** From when on runs log and record their steps: each is a write of its own. */
  readonly detailFrom: number
}

/** Declares the jobs that have at least this many days of history. */
export function declareShop(app: Cronce, world: ShopWorld, days: number): void {
  for (const job of SHOP) {
    const { name, cron, tz } = job
    if (job.days >= days)
      app.job(name, { cron, ...(tz === undefined ? {} : { tz }), ...OPTIONS }, (run) => work(job, run, world))
  }
}

async function work(job: ShopJob, run: Run, { sleep, brokenFrom, detailFrom }: ShopWorld): Promise<unknown> {
  const { takesMs, longEvery } = job
  const dueAt = Number(run.fire.dueAt)
  const isDetailed = dueAt >= detailFrom
  const steps = isDetailed ? (job.steps ?? []) : []
  const number = Math.floor(dueAt / SLOT_MS)
  const items = (number * 37) % 900
  const isLong = longEvery !== undefined && number % longEvery === 0
  const ms = takesMs * (isLong ? LONG_FACTOR : 0.75 + wobble(number) / 2)
  const isFailing = failsAt(job, number, run.attempt) || (job.isBroken === true && dueAt >= brokenFrom)
  if (isDetailed) run.log.info(`Working on ${items} items.`)
  for (const [index, step] of steps.entries()) {
    await run.once(step, async () => {
      await sleep(ms / steps.length, run.signal)
      // In the middle of its work: the steps before it are not repeated.
      if (isFailing && index === 1) throw new Error('The card service answered 503 Service Unavailable')
      return { step }
    })
  }
  if (steps.length === 0) await sleep(ms, run.signal)
  if (isFailing) throw new Error('The upstream answered 503 Service Unavailable')
  if (isDetailed) run.log.info('Done.')
  return { items }
}

/** A number from 0 to 1 that looks random, and is the same each time. */
function wobble(number: number): number {
  let mixed = Math.imul(number ^ 0x9e3779b9, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

function failsAt({ name, failsEvery }: ShopJob, number: number, attempt: number): boolean {
  const chance = wobble(number + name.length * SLOT_MS)
  if (failsEvery === undefined || chance * failsEvery >= 1) return false
  // Every second time, the next attempt fails, too.
  return attempt === 1 || chance * failsEvery < 0.5
}
