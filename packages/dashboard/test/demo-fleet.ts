import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { type Served, serve } from '@cronce/server'
import type { Cronce, Run } from 'cronce'
import { type TestKit, testKit } from 'cronce/testing'

const DAY_MS = 86_400_000

/** How a job of the demo behaves: how long it takes, and which of its fires go wrong. */
interface Behaviour {
  readonly cron: string
  readonly tz?: string
  readonly takesMs: number
  readonly failsEvery?: number
  readonly steps?: readonly string[]
  readonly overlap?: 'skip'
  readonly longEvery?: number
}

const JOBS: Readonly<Record<string, Behaviour>> = {
  'billing.invoices': {
    cron: '*/15 * * * *',
    tz: 'Europe/Berlin',
    takesMs: 42_000,
    steps: ['load', 'charge', 'mail'],
    failsEvery: 23,
  },
  'billing.dunning': { cron: '0 9 * * MON-FRI', tz: 'Europe/Berlin', takesMs: 180_000 },
  'cache.warm': { cron: '*/10 * * * *', takesMs: 9_000, overlap: 'skip', longEvery: 17 },
  'catalog.sync': { cron: '*/20 * * * *', takesMs: 95_000, failsEvery: 9 },
  'digest.daily': { cron: '30 7 * * *', tz: 'America/New_York', takesMs: 260_000 },
  'export.warehouse': { cron: '0 * * * *', takesMs: 620_000, failsEvery: 12 },
  'geo.refresh': { cron: '15 */2 * * *', tz: 'Asia/Kolkata', takesMs: 31_000, failsEvery: 17 },
  'mail.queue': { cron: '*/5 * * * *', takesMs: 4_000 },
  'metrics.rollup': { cron: '*/5 * * * *', takesMs: 12_000, longEvery: 31 },
  'reports.weekly': { cron: '0 6 * * MON', tz: 'Europe/London', takesMs: 900_000 },
  'search.reindex': { cron: '0 */3 * * *', takesMs: 1_400_000, failsEvery: 14 },
  'sessions.prune': { cron: '7 * * * *', takesMs: 2_000 },
}

export interface Demo {
  readonly url: string
  readonly apps: readonly Cronce[]
  stop(): Promise<void>
}

/** Jobs that are due a few times a day: 90 days of them are made within seconds. */
const RARE = ['billing.dunning', 'digest.daily', 'geo.refresh', 'reports.weekly', 'search.reindex']
const DAYS = 90

/**
 * Two instances and 90 days of history, made in virtual time: of some jobs at first, of all of them in the last day.
 * From then on time goes on as it does outside.
 */
export async function startDemo(options: DashboardOptions = {}): Promise<Demo> {
  const kit = testKit({ now: Date.now() - DAYS * DAY_MS, patience: 1 })
  const early = declare(kit, 'early', RARE)
  await early.start()
  await kit.advance((DAYS - 1) * DAY_MS)
  const leaving = early.stop()
  await kit.advance('1m')
  await leaving
  const apps = ['one', 'two'].map((name) => declare(kit, name))
  for (const app of apps) await app.start()
  await kit.advance(DAY_MS / 2)
  const [first] = apps as [Cronce, Cronce]
  await first.schedules.pause('geo.refresh', { author: 'ada', note: 'The provider is being moved' })
  await first.schedules.put('digest:acme', {
    job: 'digest.daily',
    cron: '0 6 * * *',
    tz: 'Europe/Paris',
    input: { team: 'acme' },
  })
  await kit.advance(DAY_MS / 2 - 60_000)
  await first.schedules.trigger('digest.daily', { author: 'grace', note: 'Once more for the board' })
  await kit.advance('2s')
  const served = await serveDemo(first, options)
  const timer = setInterval(() => void kit.advanceTo(Math.max(kit.now(), Date.now())), 1_000)
  return {
    url: served.url,
    apps,
    async stop() {
      clearInterval(timer)
      await served.close()
      const stopping = apps.map((app) => app.stop())
      await kit.advance('1m')
      await Promise.all(stopping)
    },
  }
}

function serveDemo(app: Cronce, options: DashboardOptions): Promise<Served> {
  const access = (): { level: 'operate'; author: string } => ({ level: 'operate', author: 'ada' })
  return serve(createDashboard(app, { access, environment: 'staging', ...options }), { port: 0 })
}

function declare(kit: TestKit, deployment: string, names: readonly string[] = Object.keys(JOBS)): Cronce {
  const app = kit.app({ app: 'shop', deployment: `2026-11-${deployment}`, drain: '1s' }) as unknown as Cronce
  for (const name of names) {
    const behaviour = JOBS[name]!
    const { cron, tz, overlap } = behaviour
    app.job(name, { cron, tz, overlap, retention: '100d', retry: { attempts: 1, backoff: { base: '20s' } } }, (run) =>
      work(kit, run, behaviour),
    )
  }
  return app
}

async function work(
  kit: TestKit,
  run: Run,
  { takesMs, failsEvery, longEvery, steps = [] }: Behaviour,
): Promise<unknown> {
  const number = Math.floor(Number(run.fire.dueAt) / 300_000)
  const isLong = longEvery !== undefined && number % longEvery === 0
  const ms = takesMs * (isLong ? 45 : 0.7 + ((number * 7) % 10) / 15)
  run.log.info(`working on ${(number * 37) % 900} items`)
  for (const step of steps) {
    await run.once(step, async () => {
      await kit.clock.sleep(ms / steps.length, run.signal)
      return { step }
    })
  }
  if (steps.length === 0) await kit.clock.sleep(ms, run.signal)
  if (failsEvery !== undefined && isFailing(number, failsEvery, run.attempt))
    throw new Error('The upstream answered 503 Service Unavailable')
  run.log.info('done')
  return { items: (number * 37) % 900 }
}

/** Most failures pass with the second attempt. */
function isFailing(number: number, every: number, attempt: number): boolean {
  return number % every === 0 && (attempt === 1 || number % (every * 4) === 0)
}
