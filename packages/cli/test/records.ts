import { type Cronce, cronce } from 'cronce'

/** What a seeded store has on record, for tests that look at it. */
export interface Records {
  /** The token of the run of `manual`. */
  readonly token: string
  readonly instance: string
  /** Every instant before it is on record; a slow machine may not have come to later ones. */
  readonly stoppedAt: number
}

/** A little of everything: runs, retries, steps, logs, a range, a pause, something by hand. It takes about three seconds. */
export async function makeRecords(store: string): Promise<Records> {
  const app = cronce({ store, app: 'shop', deployment: 'v1', logger: false, signals: false })
  declare(app)
  await app.start()
  const instance = app.instance!
  try {
    await app.schedules.pause('burst', { note: 'a while', author: 'ada' })
    const { fire } = await app.schedules.trigger('manual', {
      dedupe: 'request-17',
      input: { full: true },
      author: 'eve',
      note: 'again',
    })
    await until('tick ran a few times, and was tried twice', async () => {
      const { items } = await app.fires.list({ schedule: 'tick', outcome: 'succeeded' })
      return items.length >= 5 && items.some(({ attempt }) => attempt === 2)
    })
    await app.schedules.resume('burst', { missed: 'skip' })
    await until(
      'burst ran',
      async () => (await app.fires.list({ schedule: 'burst', outcome: 'succeeded' })).items.length > 0,
    )
    await app.schedules.pause('paused', { note: 'because\u001b[31m', author: 'bob' })
    const { items } = await app.runs.list({ fire })
    const { items: active } = await app.schedules.list({ state: 'active' })
    const stoppedAt = Math.min(Date.now(), ...active.flatMap(({ nextAt }) => nextAt ?? []))
    return { token: items[0]!.token, instance, stoppedAt }
  } finally {
    await app.stop()
  }
}

function declare(app: Cronce): void {
  const retry = { attempts: 1, backoff: { base: '20ms', jitter: 0 } } as const
  app
    .job('tick', { every: '500ms', retry }, (run) => {
      run.log(`attempt ${run.attempt}`)
      if (run.fire.dueAt % 1_000 === 0 && run.attempt === 1) throw new Error('the disk is full')
    })
    .job('burst', { every: '100ms' }, () => {})
    .job('report', { cron: '30 1 * * *', tz: 'Europe/London', timeout: '5m' }, () => {})
    .job('digest', { cron: '30 1 * * *' }, () => {})
    .job('paused', { cron: '0 0 1 1 *' }, () => {})
    .job('manual', {}, async (run) => {
      run.log.warn('by hand\nand in two lines')
      await run.once('charge', () => 4711)
      return { done: true }
    })
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It never came to this: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
