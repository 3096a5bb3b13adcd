import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AlertRecord, type AlertSubject, NO_ALERTS } from '../../src/model/alert.ts'
import { ScheduleLooks } from '../../src/watch/looks.ts'
import { reconcile } from '../../src/watch/reconcile.ts'
import { Seen } from '../../src/watch/seen.ts'

const MINUTE_MS = 60_000
const START = Date.UTC(2027, 0, 1)
const TIMES = { repeatMs: 240 * MINUTE_MS, gatherMs: 10_000 }

function subjects(from: number, to: number, sinceAt = START): readonly AlertSubject[] {
  return Array.from({ length: to - from }, (_, index) => ({ name: `s${from + index}`, text: 'failed', sinceAt }))
}

/** The record after looks that found these, ten minutes apart. */
function after(...looks: (readonly AlertSubject[])[]): AlertRecord {
  let record = NO_ALERTS
  for (const [index, found] of looks.entries()) {
    const looked = { now: START + index * 10 * MINUTE_MS, mayResolve: true }
    const problems = new Map(found.length === 0 ? [] : [['failing', found] as const])
    record = reconcile(record, { ...looked, problems }, TIMES, () => `m${index}`) ?? record
  }
  return record
}

function kinds({ outbox }: AlertRecord): readonly string[] {
  return outbox.map(({ kind }) => kind)
}

describe('what is news', () => {
  test('a subject that moves up when another recovers is not', () => {
    assert.deepEqual(kinds(after(subjects(0, 30), subjects(1, 30), subjects(5, 30))), ['firing'])
    const other = subjects(90, 91, START + 10 * MINUTE_MS)
    assert.deepEqual(kinds(after(subjects(0, 30), [...subjects(15, 30), ...other])), ['firing', 'update'])
    assert.deepEqual(kinds(after(subjects(0, 5), [...subjects(1, 5), ...other])), ['firing', 'update'])
  })

  test('subjects that a new watcher finds again are not', () => {
    const again = [...subjects(0, 20), ...subjects(20, 30, START + 20 * MINUTE_MS)]
    assert.deepEqual(kinds(after(subjects(0, 30), subjects(0, 20), again)), ['firing'])
    const more = [...again, ...subjects(30, 31, START + 30 * MINUTE_MS)]
    assert.deepEqual(kinds(after(subjects(0, 30), subjects(0, 20), again, more)), ['firing', 'update'])
  })
})

describe('what a new watcher may call over before it has looked at everything', () => {
  const looked = { now: START + 60 * MINUTE_MS, mayResolve: false, problems: new Map() }

  test('an alert that lists all its subjects', () => {
    const ended = reconcile(after(subjects(0, 20)), looked, TIMES, () => 'end')!
    assert.deepEqual([ended.alerts[0]!.state, ...kinds(ended)], ['resolved', 'firing', 'resolved'])
  })

  test('not one that only counts some of them', () => {
    assert.equal(
      reconcile(after(subjects(0, 21)), looked, TIMES, () => 'end'),
      null,
    )
  })
})

describe('problems by the store’s clock', () => {
  test('one that counts goes on to count when the clock is set back', () => {
    let mono = 0
    const seen = new Seen(3 * MINUTE_MS, () => mono)
    const problem = { rule: 'failing', subject: 'report', text: 'failed', holdMs: 0 } as const
    seen.judged({ problems: [problem], fine: [] }, START)
    assert.equal(seen.problems().size, 1)
    const back = START - 60 * MINUTE_MS
    assert.equal(seen.problems().size, 1)
    seen.judged({ problems: [], fine: [{ rule: 'failing', subject: 'report' }] }, back)
    assert.equal(seen.problems().size, 1, 'not over at once')
    mono = 3 * MINUTE_MS
    assert.equal(seen.problems().size, 0)
  })
})

describe('in a storm', () => {
  test('the subjects that are remembered of a rule are bounded', () => {
    const seen = new Seen(MINUTE_MS, () => 0)
    const problems = Array.from({ length: 10_050 }, (_, count) => ({
      ...{ rule: 'failing', subject: `s${count}`, text: 'failed' },
    }))
    seen.judged({ problems: problems as never, fine: [] }, START)
    assert.equal(seen.problems().get('failing')!.length, 10_000)
  })

  test('what is kept of ends until their schedules are looked at is bounded, and has no contents', async () => {
    const large = 'x'.repeat(10_000)
    const run = { startedAt: START, result: large, error: { message: large } }
    const ending = { outcome: 'failed', reason: 'failed' }
    const ends = Array.from({ length: 5_000 }, (_, count) => {
      const schedule = `s${count < 100 ? 0 : count}`
      const end = { schedule, job: 'mail', dueAt: START + count, nonce: '', endedAt: START, input: large }
      return { ...end, kind: 'scheduled', attempt: 1, readyAt: START, ending, run, range: null }
    })
    const read: string[] = []
    const judged: unknown[] = []
    const store = {
      listEnds: async () => ({ now: START, items: ends, next: 'n', complete: true }),
      load: async (ids: readonly string[]) => {
        read.push(...ids)
        return { now: START, schedules: [] }
      },
      listLatest: async () => ({ fires: [] }),
    }
    const parts = { store, now: () => START, troubled: () => [], instances: () => [], heartbeat: '' }
    const looks = new ScheduleLooks({ ...parts, gone: (id: string) => judged.push(id) } as never)
    await looks.lookAtEnds()
    assert.ok(!JSON.stringify([...looks.suspects]).includes(large))
    assert.equal(looks.suspects.get('s0')!.length, 20)
    assert.equal(looks.suspects.get('s0')!.at(-1)!.dueAt, START + 99, 'the latest')
    while (looks.hasSuspects) await looks.lookAtSuspects()
    assert.equal(read.length, 2_000)
    assert.equal(judged.length, 2_000)
  })
})

describe('ends that the store could not list', () => {
  test('what went wrong is looked for on record, outcome by outcome', async () => {
    const asked: string[] = []
    const page = { now: START, items: [], next: 'n' }
    const failed = { schedule: 'report', dueAt: START - 5_000, nonce: '', number: 7, endedAt: START + 1_000 }
    const store = {
      listEnds: async () => ({ ...page, complete: asked.length !== 1 }),
      listRecords: async ({ outcome }: { readonly outcome: string }) => {
        asked.push(outcome)
        return outcome === 'failed' ? { ...page, items: [failed] } : page
      },
    }
    const parts = { store, now: () => START, troubled: () => [], instances: () => [], heartbeat: '' }
    const looks = new ScheduleLooks(parts as never)
    await looks.lookAtEnds()
    await looks.lookBack()
    assert.equal(looks.hasSuspects, false)
    const usual = looks.rotation.length
    await looks.lookAtEnds()
    assert.equal(looks.rotation.length, usual + 4)
    for (let outcome = 0; outcome < 4; outcome++) await looks.lookBack()
    assert.deepEqual(asked, ['missed', 'failed', 'missed', 'abandoned', 'skipped'])
    assert.equal(looks.hasSuspects, true)
    await looks.lookAtEnds()
    assert.equal(looks.rotation.length, usual)
  })
})
