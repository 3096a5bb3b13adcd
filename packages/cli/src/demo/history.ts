import type { Cronce, CronceOptions, Store, StoreSource } from 'cronce'
import { sqliteAt, surroundLike } from 'cronce/internal'
import { type TestKit, testKit } from 'cronce/testing'
import { createMirror, type Mirror } from './mirror.ts'
import { declareShop, HISTORY_DAYS, SHOP_APP } from './shop.ts'

const DAY_MS = 86_400_000
const HOUR_MS = DAY_MS / 24
const BROKEN_MS = 5 * HOUR_MS
/** A few hours: a history with all details would take a minute on a slow disk. */
const DETAIL_MS = 4 * HOUR_MS

export interface History {
  /** From when on the broken job of the shop fails. */
  readonly brokenFrom: number
}

/** What the history is made with. */
interface Making {
  readonly kit: TestKit
  readonly mirror: Mirror
  readonly source: StoreSource
  readonly target: Store
  readonly endAt: number
  readonly brokenFrom: number
  readonly setClock: (at: number) => void
  readonly onDay: (done: number) => void
}

/**
 * 90 days of the shop in a SQLite file: real instances in virtual time, on a store in memory whose writes are copied. SQLite itself would
 * be asked several times a second for three months.
 */
export async function makeHistory(file: string, onDay: (done: number, of: number) => void): Promise<History> {
  const endAt = Date.now()
  const kit = testKit({ now: endAt - HISTORY_DAYS * DAY_MS, patience: 1 })
  let clock = kit.now()
  const target = await sqliteAt(file, () => clock).open(HOW)
  const mirror = createMirror(() => kit.now())
  const source = surroundLike(
    { name: kit.store.name, open: async (options) => mirror.watch(await kit.store.open(options)) } as StoreSource,
    kit.store,
  )
  const brokenFrom = endAt - BROKEN_MS
  try {
    await live({
      ...{ kit, mirror, source, target: target as Store, endAt, brokenFrom },
      setClock: (at) => (clock = at),
      onDay: (done) => onDay(done, HISTORY_DAYS),
    })
  } finally {
    await target.close()
  }
  return { brokenFrom }
}

const HOW = { namespace: 'default', adopt: false, production: false, warn: () => {} }

/** Three deployments, an outage of a night, one of a quarter of an hour, and what operators do. */
async function live(making: Making): Promise<void> {
  const { kit, endAt } = making
  const until = (days: number, hours = 0): Promise<void> => passTo(making, endAt - days * DAY_MS - hours * HOUR_MS)
  const [first] = await start(making, 'v41', 90, 1)
  await until(47)
  await stop(kit, [first])
  await until(46, 18)
  const [second] = await start(making, 'v42', 90, 1)
  await until(30)
  await second.schedules.pause('geo.refresh', { author: 'ada', note: 'The provider moves to another data center' })
  await until(29)
  await second.schedules.resume('geo.refresh', { author: 'ada', missed: 'skip' })
  await until(8)
  const [third] = await start(making, 'v43', 8, 1)
  await until(7, 23)
  await stop(kit, [second])
  await until(1)
  const [one, two] = await start(making, 'v44', 1, 2)
  await kit.advance('2m')
  await stop(kit, [third])
  await until(0, 20)
  await steer(one)
  await until(0, 9)
  await stop(kit, [one, two])
  await kit.advance('14m')
  const last = await start(making, 'v44', 1, 2)
  await until(0, 3)
  await last[0].schedules.trigger('digest.daily', { author: 'grace', note: 'Once more for the board' })
  await until(0, 1)
  await last[0].schedules.pause('search.reindex', { author: 'ada', note: 'Until the new cluster is warm' })
  await until(0)
  // Time has passed meanwhile, too.
  await passTo(making, Date.now())
  await stop(kit, last)
  await making.mirror.copyTo(making.target, making.setClock)
}

async function steer(app: Cronce): Promise<void> {
  const { nextAt } = await app.schedules.get('thumbnails.clean')
  const why = { author: 'grace', note: 'The disk is being replaced' }
  if (nextAt !== null) await app.schedules.skipNext('thumbnails.clean', { ...why, dueAt: nextAt })
  await app.schedules.put(
    'digest:acme',
    { job: 'digest.daily', cron: '0 6 * * *', tz: 'Europe/Paris', input: { team: 'acme' } },
    { author: 'grace', note: 'Asked for by sales' },
  )
}

async function passTo({ kit, mirror, target, endAt, setClock, onDay }: Making, until: number): Promise<void> {
  while (kit.now() < until) {
    await kit.advanceTo(Math.min(until, kit.now() + DAY_MS))
    await mirror.copyTo(target, setClock)
    onDay(HISTORY_DAYS - Math.ceil((endAt - kit.now()) / DAY_MS))
  }
}

type Apps = readonly [Cronce, ...Cronce[]]

async function start<Count extends 1 | 2>(
  { kit, source, brokenFrom, endAt }: Making,
  deployment: string,
  days: number,
  count: Count,
): Promise<Count extends 1 ? readonly [Cronce] : readonly [Cronce, Cronce]> {
  const { cronce } = await import('cronce')
  const options: CronceOptions = {
    store: source,
    app: SHOP_APP,
    deployment,
    logger: false,
    signals: false,
    drain: '1s',
  }
  const sleep = (ms: number, signal: AbortSignal): Promise<void> => kit.clock.sleep(ms, signal)
  const apps = Array.from({ length: count }, () => cronce(options))
  for (const app of apps) {
    declareShop(app, { sleep, brokenFrom, detailFrom: endAt - DETAIL_MS }, days)
    await app.start()
  }
  return apps as never
}

async function stop(kit: TestKit, apps: Apps): Promise<void> {
  const leaving = apps.map((app) => app.stop())
  await kit.advance('1m')
  await Promise.all(leaving)
}
