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

describe('problems by the store’s clock', () => {
  test('one that counts goes on to count when the clock is set back', () => {
    const seen = new Seen(3 * MINUTE_MS)
    const problem = { rule: 'failing', subject: 'report', text: 'failed', holdMs: 0 } as const
    seen.judged({ problems: [problem], fine: [] }, START)
    assert.equal(seen.problemsAt(START).size, 1)
    const back = START - 60 * MINUTE_MS
    assert.equal(seen.problemsAt(back).size, 1)
    seen.judged({ problems: [], fine: [{ rule: 'failing', subject: 'report' }] }, back)
    assert.equal(seen.problemsAt(back).size, 1, 'not over at once')
    assert.equal(seen.problemsAt(back + 3 * MINUTE_MS).size, 0)
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
