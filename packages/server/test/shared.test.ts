import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cronce, type ScheduleView } from 'cronce'
import { forecast, upcoming } from '../src/forecast.ts'
import { shared } from '../src/shared.ts'
import { Steps } from '../src/steps.ts'

describe('a costly look', () => {
  test('is shared while it is being made, however long that takes, and for its time from its end', async () => {
    let now = 0
    let looks = 0
    const ends: (() => void)[] = []
    const look = shared(
      1_000,
      () => {
        const mine = ++looks
        return new Promise<number>((resolve) => ends.push(() => resolve(mine)))
      },
      () => now,
    )
    const first = look()
    now = 60_000
    const second = look()
    ends[0]!()
    assert.deepEqual(await Promise.all([first, second]), [1, 1])
    now += 999
    assert.equal(await look(), 1)
    now += 1
    const third = look()
    ends[1]!()
    assert.equal(await third, 2)
  })

  test('that failed is not kept', async () => {
    let looks = 0
    const look = shared(1_000, async () => {
      if (++looks === 1) throw new Error('broken')
      return looks
    })
    await assert.rejects(Promise.all([look(), look()]), /broken/)
    assert.equal(await look(), 2)
  })
})

describe('a look ahead', () => {
  const YEAR_2040 = Date.UTC(2040, 0)

  async function counting(count: number): Promise<readonly ScheduleView[]> {
    const app = cronce({ store: 'memory:', signals: false, logger: false })
    for (let number = 0; number < count; number++) {
      await app.schedules.create(`s${number}`, { job: 'j', every: '1m', limit: 1_000_000 })
    }
    const { items } = await app.schedules.list()
    await app.stop()
    return items
  }

  test('computes a limited number of instants over all schedules, and reports that it gave up', async () => {
    const schedules = await counting(3)
    const steps = new Steps(1_000)
    const far = { from: YEAR_2040, to: Number.POSITIVE_INFINITY, most: 10 }
    assert.deepEqual(await forecast(schedules, far, steps), { items: [], cut: true })
    for await (const _ of upcoming(schedules[0]!, { ...far, from: 0 }, steps)) assert.fail('there were none left')
    const near = { ...far, from: 0, to: schedules[2]!.nextAt! + 1 }
    const { items, cut } = await forecast(schedules, near, new Steps(1_000))
    assert.deepEqual([items.length >= 3, cut], [true, false])
  })

  test('leaves out instants that were skipped, which the limit has counted already', async () => {
    const [schedule] = await counting(1)
    const first = schedule!.nextAt!
    const skipping = { ...schedule!, skipped: [first + 60_000], limit: 3, fired: 1 }
    const found = await forecast([skipping], { from: 0, to: Number.POSITIVE_INFINITY, most: 5 }, new Steps())
    assert.deepEqual(
      found.items.map(({ dueAt }) => (dueAt - first) / 60_000),
      [0, 2],
    )
  })

  test('lets others have their turn in between', async () => {
    const [schedule] = await counting(1)
    let turns = 0
    const tick = (): void => {
      turns++
      turning = setImmediate(tick)
    }
    let turning = setImmediate(tick)
    await forecast([schedule!], { from: YEAR_2040, to: Number.POSITIVE_INFINITY, most: 1 }, new Steps(100, 0))
    clearImmediate(turning)
    assert.ok(turns >= 50, String(turns))
  })
})
