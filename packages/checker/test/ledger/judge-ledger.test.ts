import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LedgerFire, LedgerRun } from '../../src/history.ts'
import { judgeLedger } from '../../src/ledger/judge-ledger.ts'
import { expressionInstants, intervalInstants } from '../../src/ledger/rule-instants.ts'
import type { LedgerRule, LedgerSubject } from '../../src/ledger/subject.ts'

const MINUTE = 60_000
const NINE = Date.UTC(2027, 0, 1, 9)
const ALWAYS = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Due every minute, run from 09:00 to 09:04 without a hitch; the next is 09:05. */
const RULE: LedgerRule = {
  instants: intervalInstants(MINUTE, 0),
  since: NINE - 30_000,
  nextAt: NINE + 5 * MINUTE,
  graceMs: 10_000,
  keptSince: NINE - 3_600_000,
  limit: null,
  guarantee: 'at-least-once',
  oneAtATime: true,
}

function fire(minute: number, over: Partial<LedgerFire> = {}): LedgerFire {
  const dueAt = NINE + minute * MINUTE
  return {
    ...{ schedule: 'tick', dueAt, nonce: '', origin: 'scheduled', round: 1, attempt: 1 },
    ...{ plannedAt: dueAt, readyAt: dueAt, endedAt: dueAt + 1_000, outcome: 'succeeded', reason: 'completed' },
    ...{ untilAt: null, count: 1, ...over },
  }
}

function run(minute: number, over: Partial<LedgerRun> = {}): LedgerRun {
  const dueAt = NINE + minute * MINUTE
  return {
    ...{ schedule: 'tick', dueAt, nonce: '', attempt: 1, token: String(17592186044417n + BigInt(minute * 10)) },
    ...{ round: 1, instance: 'one', startedAt: dueAt + 5, endedAt: dueAt + 1_000 },
    ...{ outcome: 'succeeded', reason: 'completed', ...over },
  }
}

function subject(over: Partial<LedgerSubject> = {}): LedgerSubject {
  const minutes = [0, 1, 2, 3, 4]
  return {
    schedule: 'tick',
    fires: minutes.map((minute) => fire(minute)),
    runs: minutes.map((minute) => run(minute)),
    readAt: NINE + 5 * MINUTE - 1,
    settledBefore: NINE + 5 * MINUTE - 1,
    rule: RULE,
    clockErrorMs: 100,
    retirements: [],
    ...over,
  }
}

/** The sound ledger with the fire and the runs of one minute put in the place of its own. */
function withMinute(minute: number, fires: readonly LedgerFire[], runs: readonly LedgerRun[]): LedgerSubject {
  const dueAt = NINE + minute * MINUTE
  const sound = subject()
  return {
    ...sound,
    fires: [...sound.fires.filter((one) => one.dueAt !== dueAt), ...fires],
    runs: [...sound.runs.filter((one) => one.dueAt !== dueAt), ...runs],
  }
}

function found(judged: LedgerSubject, stretch = ALWAYS): string[] {
  return judgeLedger(judged, stretch).violations.map(({ property, message }) => `${property} ${message}`)
}

describe('the ledger judge', () => {
  test('finds nothing in a sound ledger, and reports how much it examined', () => {
    const { violations, counts } = judgeLedger(subject(), ALWAYS)
    assert.deepEqual(violations, [])
    assert.deepEqual(counts, { fires: 5, instants: 5, runs: 5, expected: 5, retried: 0, byOutcome: { succeeded: 5 } })
  })

  describe('of a schedule that was retired', () => {
    const at = (minute: number): number => NINE + minute * MINUTE
    const retirement = { from: at(1) + 500, to: at(4) + 500, cause: 'dropped', deployment: 'v2' }
    const returned = { ...RULE, since: at(4) + 500 }
    const without = (...minutes: number[]) => ({
      fires: subject().fires.filter(({ dueAt }) => !minutes.some((minute) => at(minute) === dueAt)),
      runs: subject().runs.filter(({ dueAt }) => !minutes.some((minute) => at(minute) === dueAt)),
    })

    test('names the stretch and counts its instants that are on no record', () => {
      const judged = subject({ ...without(2, 3, 4), rule: returned, retirements: [retirement] })
      const { violations, retired } = judgeLedger(judged, ALWAYS)
      assert.deepEqual(violations, [])
      assert.deepEqual(retired, [{ ...retirement, due: 3, unrecorded: 3 }])
    })

    test('counts those that were caught up with, alone or as a range, as recorded', () => {
      const range = fire(2, { untilAt: at(3), count: 2, outcome: 'missed', reason: 'while-retired', attempt: 0 })
      const caughtUp = without(2, 3)
      const judged = { ...caughtUp, fires: [...caughtUp.fires, range], rule: returned, retirements: [retirement] }
      assert.deepEqual(judgeLedger(subject(judged), ALWAYS).retired, [{ ...retirement, due: 3, unrecorded: 0 }])
    })

    test('counts what is on record under another name of the job, only in the stretch in which it had that name', () => {
      const otherFires = [fire(2), fire(3), fire(4)].map((one) => ({ ...one, schedule: 'other' }))
      const renamed = { ...retirement, cause: 'renamed', renamedTo: 'other' }
      const judged = subject({ ...without(2, 3, 4), rule: returned, retirements: [renamed], otherFires })
      assert.deepEqual(judgeLedger(judged, ALWAYS).retired, [{ ...renamed, due: 3, unrecorded: 0 }])
      assert.deepEqual(judgeLedger(judged, ALWAYS).violations, [])
      const lost = { ...judged, otherFires: otherFires.slice(1) }
      assert.equal(judgeLedger(lost, ALWAYS).retired[0]!.unrecorded, 1)
      const open = { ...judged, retirements: [{ ...renamed, to: null }] }
      assert.equal(judgeLedger(open, ALWAYS).retired[0]!.unrecorded, null)
      const dropped = { ...judged, retirements: [retirement] }
      assert.equal(judgeLedger(dropped, ALWAYS).retired[0]!.unrecorded, 3)
    })

    test('names one that has not ended, up to now', () => {
      const open = { ...retirement, to: null }
      const rule = { ...RULE, nextAt: at(2), graceMs: null }
      const judged = subject({ ...without(2, 3, 4), rule, retirements: [open] })
      assert.deepEqual(judgeLedger(judged, ALWAYS).retired, [{ ...open, due: 3, unrecorded: 3 }])
      assert.deepEqual(judgeLedger(judged, ALWAYS).violations, [])
    })

    test('judges only the stretch that is asked for, and what is kept', () => {
      const judged = subject({ ...without(2, 3, 4), rule: returned, retirements: [retirement] })
      assert.deepEqual(judgeLedger(judged, { from: 0, to: at(1) }).retired, [])
      assert.deepEqual(judgeLedger(judged, { from: at(4) + 501, to: at(9) }).retired, [])
      assert.equal(judgeLedger(judged, { from: at(3), to: at(3) }).retired[0]!.unrecorded, 1)
      const pruned = { ...judged, rule: { ...returned, keptSince: at(5) } }
      assert.equal(judgeLedger(pruned, ALWAYS).retired[0]!.unrecorded, null)
      const gone = { ...judged, rule: null }
      assert.equal(judgeLedger(gone, ALWAYS).retired[0]!.unrecorded, null)
    })
  })

  test('lets retries, rounds, ranges, what is by hand, and what is open be', () => {
    const failed = { outcome: 'failed', reason: 'error' } as const
    const late = NINE + MINUTE
    const sound: LedgerSubject = {
      ...subject(),
      fires: [
        fire(0, { attempt: 2, endedAt: NINE + 5_000 }),
        fire(1, { outcome: 'missed', reason: 'superseded', attempt: 0, untilAt: NINE + 2 * MINUTE, count: 2 }),
        fire(3, { round: 2, attempt: 2, endedAt: NINE + 4.5 * MINUTE }),
        fire(4, { outcome: null, reason: null, endedAt: null }),
        fire(1.5, { origin: 'manual', nonce: 'by hand' }),
        fire(9, { outcome: 'skipped', reason: 'skipped-by-operator', attempt: 0, plannedAt: late, endedAt: late }),
      ],
      runs: [
        run(0, { ...failed, endedAt: NINE + 900 }),
        run(0, { attempt: 2, token: '17592186044418', startedAt: NINE + 2_000, endedAt: NINE + 5_000 }),
        run(3, failed),
        run(3, {
          attempt: 2,
          round: 2,
          token: '17592186044500',
          startedAt: NINE + 4.4 * MINUTE,
          endedAt: NINE + 4.5 * MINUTE,
        }),
        run(4, { outcome: null, reason: null, endedAt: null }),
        run(1.5, { nonce: 'by hand' }),
      ],
    }
    assert.deepEqual(found(sound), [])
    assert.equal(judgeLedger(sound, ALWAYS).counts.instants, 7)
  })

  test('misses what is on no record, many in a row as one', () => {
    const sound = subject()
    const holes = {
      ...sound,
      fires: sound.fires.filter(({ dueAt }) => dueAt <= NINE || dueAt === NINE + 4 * MINUTE),
      runs: [],
    }
    assert.match(
      found(holes).find((text) => text.startsWith('C1 '))!,
      /^C1 3 instants from 2027-01-01T09:01:00\.000Z to 2027-01-01T09:03:00/,
    )
  })

  test('knows instants that the rule does not have, and marks that were passed', () => {
    const ahead = fire(7, { plannedAt: NINE + MINUTE, attempt: 0, outcome: null, reason: null, endedAt: null })
    assert.match(
      found(withMinute(2.5, [fire(2.5)], [run(2.5)]))[0]!,
      /^C4 2027-01-01T09:02:30\.000Z is on record, and is not an instant/,
    )
    assert.match(
      found(withMinute(7, [ahead], [])).join(),
      /^C14 2027-01-01T09:07:00\.000Z is on record, though the schedule has only come to 2027-01-01T09:05/,
    )
  })

  test('knows what an operator skipped ahead of time under an earlier name of the job', () => {
    const skipped = { schedule: 'old', outcome: 'skipped', reason: 'skipped-by-operator', attempt: 0 } as const
    const renamed = (otherFires: readonly LedgerFire[]) => found({ ...withMinute(3, [], []), otherFires })
    const before = { plannedAt: NINE - MINUTE, endedAt: NINE - MINUTE }
    assert.deepEqual(renamed([fire(3, { ...skipped, ...before }), fire(2.5, { ...skipped, ...before })]), [])
    assert.match(renamed([fire(3, { schedule: 'old' })]).join(), /^C1 The instant 2027-01-01T09:03:00/)
    const later = fire(2.5, { ...skipped, schedule: 'new', plannedAt: NINE + MINUTE, endedAt: NINE + MINUTE })
    assert.deepEqual(found({ ...subject(), otherFires: [later] }), [], 'a later name may have other instants')
  })

  test('knows by their tokens which of two fires was first, if both were begun in the same millisecond', () => {
    const startedAt = NINE + 2 * MINUTE + 5_000
    const retried = (tokens: readonly [of1: bigint, of2: bigint]) => {
      const sound = subject()
      const begun = (minute: number, token: bigint, over: Partial<LedgerRun>) =>
        run(minute, { token: String(token), startedAt, endedAt: startedAt, ...over })
      return {
        ...sound,
        fires: [
          fire(4),
          fire(3),
          fire(2, { attempt: 2, endedAt: startedAt + 2_000 }),
          fire(1, { endedAt: startedAt }),
          fire(0),
        ],
        runs: [
          ...sound.runs.filter(({ dueAt }) => dueAt !== NINE + MINUTE && dueAt !== NINE + 2 * MINUTE),
          begun(2, tokens[1], { outcome: 'failed', reason: 'error' }),
          begun(2, 17592186044428n + 8n, { attempt: 2, startedAt: startedAt + 1_900, endedAt: startedAt + 2_000 }),
          begun(1, tokens[0], {}),
        ],
      }
    }
    assert.deepEqual(found(retried([17592186044430n, 17592186044431n])), [])
    assert.match(found(retried([17592186044431n, 17592186044430n])).join(), /^C7 The fire due 2027-01-01T09:01/)
  })

  test('finds every contradiction in a ledger', () => {
    const failed = { outcome: 'failed', reason: 'error' } as const
    const second = {
      attempt: 2,
      token: '17592186044438',
      startedAt: NINE + 2 * MINUTE + 2_000,
      endedAt: NINE + 2 * MINUTE + 3_000,
    }
    const twice = fire(2, { attempt: 2, endedAt: NINE + 2 * MINUTE + 3_000 })
    const cases: readonly (readonly [expected: RegExp, judged: LedgerSubject])[] = [
      [/^C10 .*is on record twice/, withMinute(2, [fire(2), fire(2)], [run(2)])],
      [/^C2 .*after the success of/, withMinute(2, [twice], [run(2), run(2, second)])],
      [
        /^C2 .*before the end of/,
        withMinute(2, [twice], [run(2, { ...failed, endedAt: NINE + 2 * MINUTE + 2_500 }), run(2, second)]),
      ],
      [
        /^C2 .*beside the open/,
        withMinute(2, [twice], [run(2, { outcome: null, reason: null, endedAt: null }), run(2, second)]),
      ],
      [/^C2 .*as try 1, not after try 1/, withMinute(2, [twice], [run(2, failed), run(2, { ...second, attempt: 1 })])],
      [/^C2 Token \d+ is that of two runs/, withMinute(2, [fire(2)], [run(2, { token: run(3).token })])],
      [/^C5 .*before it was due/, withMinute(2, [fire(2)], [run(2, { startedAt: NINE + 2 * MINUTE - 1 })])],
      [
        /^C7 .*was begun at .* while the fire due 2027-01-01T09:02/,
        withMinute(2, [fire(2, { endedAt: NINE + 3.5 * MINUTE })], [run(2, { endedAt: NINE + 3.5 * MINUTE })]),
      ],
      [/^C9 Run \d+ .*belongs to no fire on record/, withMinute(2, [fire(2)], [run(2), run(2.2, { nonce: 'gone' })])],
      [/^C9 .*says that it had 1 tries; the last one on record is none/, withMinute(2, [fire(2)], [])],
      [/^C9 .*succeeded, and its last run did not/, withMinute(2, [fire(2)], [run(2, failed)])],
      [/^C9 .*failed, and its run \d+ succeeded/, withMinute(2, [fire(2, failed)], [run(2)])],
      [/^C9 .*is skipped, and was run/, withMinute(2, [fire(2, { outcome: 'skipped', reason: 'overlap' })], [run(2)])],
      [
        /^C9 .*was abandoned, and never begun/,
        withMinute(2, [fire(2, { outcome: 'abandoned', reason: 'crashed', attempt: 0 })], []),
      ],
      [/^C9 .*is still going on/, withMinute(2, [fire(2)], [run(2, { outcome: null, reason: null, endedAt: null })])],
      [
        /^C10 .*succeeded \(timeout\): this outcome can't have that reason/,
        withMinute(2, [fire(2, { reason: 'timeout' })], [run(2)]),
      ],
      [/^C10 .*an end without an outcome/, withMinute(2, [fire(2, { endedAt: null })], [run(2)])],
      [/^C10 .*a run can't end that way/, withMinute(2, [fire(2)], [run(2, { reason: 'late' })])],
      [
        /^C10 .*ended before it was planned/,
        withMinute(2, [fire(2, { endedAt: NINE + MINUTE })], [run(2, { endedAt: NINE + MINUTE })]),
      ],
      [
        /^C10 .*counts 3 instants; the schedule has 2/,
        withMinute(
          2,
          [fire(2, { outcome: 'missed', reason: 'late', attempt: 0, untilAt: NINE + 3 * MINUTE, count: 3 })],
          [],
        ),
      ],
      [
        /^C10 .*both stand for 2027-01-01T09:03/,
        withMinute(
          2,
          [fire(2, { outcome: 'missed', reason: 'late', attempt: 0, untilAt: NINE + 3 * MINUTE, count: 2 })],
          [],
        ),
      ],
      [/^C14 .*with the lower token/, withMinute(2, [fire(2)], [run(2, { token: '17592186044999' })])],
    ]
    for (const [expected, judged] of cases) {
      const texts = found(judged)
      assert.ok(
        texts.some((text) => expected.test(text)),
        `${expected} is not among ${JSON.stringify(texts)}`,
      )
    }
  })

  test('holds at-most-once to it, but for what was given back unbegun', () => {
    const rule = { ...RULE, guarantee: 'at-most-once' } as const
    const second = {
      attempt: 2,
      token: '17592186044438',
      startedAt: NINE + 2 * MINUTE + 2_000,
      endedAt: NINE + 2 * MINUTE + 3_000,
    }
    const twice = fire(2, { attempt: 2, endedAt: NINE + 2 * MINUTE + 3_000 })
    const crashed = withMinute(2, [twice], [run(2, { outcome: 'abandoned', reason: 'crashed' }), run(2, second)])
    const returned = withMinute(2, [twice], [run(2, { outcome: 'cancelled', reason: 'handed-back' }), run(2, second)])
    assert.match(found({ ...crashed, rule }).join(), /must start at most once/)
    assert.deepEqual(found({ ...returned, rule }), [])
    assert.deepEqual(found(crashed), [])
  })

  test('ignores instants before the rule, pruned ones, half-read ones, and those outside of the stretch', () => {
    const none = { fires: [], runs: [] }
    const at = NINE + 3 * MINUTE
    assert.deepEqual(found(subject({ ...none, rule: { ...RULE, since: NINE + 5 * MINUTE } })), [])
    assert.deepEqual(found(subject({ ...none, rule: { ...RULE, keptSince: NINE + 5 * MINUTE } })), [])
    assert.deepEqual(found(subject({ ...none, rule: { ...RULE, nextAt: NINE } })), [])
    assert.deepEqual(found(subject({ ...none, rule: { ...RULE, limit: 3, nextAt: null } })), [])
    assert.deepEqual(found({ ...withMinute(3, [fire(3)], []), settledBefore: at }), [])
    assert.match(found(withMinute(3, [], []), { from: NINE, to: at }).join(), /^C1 The instant/)
    assert.deepEqual(found(withMinute(3, [], []), { from: NINE, to: at - 1 }), [])
    assert.deepEqual(found(withMinute(3, [], []), { from: at + 1, to: Number.MAX_SAFE_INTEGER }), [])
  })

  test('reports what is due and not on record yet, unless nothing is due or it was not asked to', () => {
    const overdue = (minutes: number, over: Partial<LedgerRule> = {}, stretch = ALWAYS) =>
      judgeLedger(subject({ readAt: NINE + minutes * MINUTE, rule: { ...RULE, ...over } }), stretch).overdue
    const since = NINE + 5 * MINUTE
    assert.equal(overdue(5.1), null, 'within its grace')
    assert.deepEqual(overdue(8.5), { since, count: 4, isMore: false, byMs: 3.5 * MINUTE })
    assert.deepEqual(found(subject({ readAt: NINE + 8.5 * MINUTE })), [], 'the records are none the worse for it')
    assert.equal(overdue(8.5, { graceMs: null }), null, 'paused')
    assert.equal(overdue(8.5, { nextAt: null }), null, 'over')
    assert.equal(overdue(8.5, {}, { from: 0, to: since - 1 }), null, 'beyond the stretch')
    assert.deepEqual(overdue(8.5, { instants: null })?.count, null)
    assert.deepEqual(overdue(8.5, { keptSince: since + MINUTE }), { since, count: 3, isMore: true, byMs: 3.5 * MINUTE })
  })

  test('knows the instants of an expression by a cron of its own, over weeks and a change of the clock', () => {
    const from = Date.UTC(2027, 2, 1)
    const to = Date.UTC(2027, 2, 31)
    const instants = expressionInstants('30 1 * * *', { tz: 'Europe/London' })(from, to)
    assert.equal(instants.length, 30)
    assert.deepEqual(
      instants.slice(-4).map((at) => new Date(at).toISOString().slice(5, 16)),
      ['03-27T01:30', '03-28T01:00', '03-29T00:30', '03-30T00:30'],
    )
  })
})
