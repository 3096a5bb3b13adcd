import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ending, REASONS, START_CAUSES } from '../../src/model/outcome.ts'
import type { EndedRun, HistoryRecord } from '../../src/model/record.ts'
import type { OpenFire, OpenRun, ScheduleState } from '../../src/model/schedule.ts'
import { makeToken } from '../../src/model/token.ts'
import { readLine, writeLine } from '../../src/store/redis/history-line.ts'
import { memberOf, packToken, readToken, scheduleOf } from '../../src/store/redis/keys.ts'
import { readOpen, readState, writeState } from '../../src/store/redis/state-line.ts'
import { schedule } from '../../src/testing/conformance/samples.ts'
import { caseScale } from '../case-count.ts'

const RUNS = { numRuns: Math.ceil(300 * caseScale(1)) }
/** Objects like those that JSON makes. */
const record = <Model>(model: { [Name in keyof Model]: fc.Arbitrary<Model[Name]> }) =>
  fc.record(model, { noNullPrototype: true })
const time = fc.integer({ min: -8_640_000_000_000, max: 8_640_000_000_000 })
const count = fc.nat({ max: 1_000_000 })
const name = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a\nb', 'a\tb', '%000a', '\ud83d', ''),
)
const token = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 100_000 }), count).map(([epoch, counter]) => makeToken(epoch, counter)),
  fc.constantFrom('0', '007', 'not a number', '99999999999999999999'),
)
const json = fc.jsonValue().map((value) => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as null)))
const reason = fc.constantFrom(...Object.values(REASONS).flat())
const kind = fc.constantFrom('scheduled' as const, 'backfill' as const, 'manual' as const)
const cause = fc.constantFrom(...START_CAUSES)
const cancel = fc.option(
  record({ at: time, reason: fc.constant('replaced' as const), detail: fc.option(fc.string()), revokeAt: time }),
)
const asked = record({ author: fc.option(fc.string()), note: fc.option(fc.string()) })
const optional = { requiredKeys: [] as never[], noNullPrototype: true }

/** Of fields that may be missing, none is there without a value. */
const some = <Model>(model: { [Name in keyof Model]: fc.Arbitrary<Model[Name]> }) => fc.record(model, optional)

const run: fc.Arbitrary<OpenRun> = fc
  .tuple(
    record({ token, instance: name, claim: count, startedAt: time, cancel }),
    some({
      cause,
      slots: fc.array(
        name.filter((slot) => slot !== ''),
        { minLength: 1, maxLength: 3 },
      ),
      parkedUntil: time,
    }),
  )
  .map(([own, more]) => ({ ...own, ...more }))

const fire: fc.Arbitrary<OpenFire> = fc
  .tuple(
    record({
      ...{ dueAt: time, nonce: name, kind, round: count, plannedAt: time, readyAt: time, ignoresOverlap: fc.boolean() },
      ...{ attempt: count, failures: count, crashes: count, run: fc.option(run) },
      own: fc.option(record({ input: json, policy: fc.constant({}) })),
    }),
    some({
      giveUp: record({ at: time, reason: fc.constant('retry-too-late' as const) }),
      wait: fc.constant({ cause: 'turn' as const }),
      asked,
      tenant: fc.option(fc.string()),
    }),
  )
  .map(([own, more]) => ({ ...own, ...more }))

test('a line of a schedule is read as it was written', () => {
  const times = record({
    ...{ nextAt: fc.option(time), wakeAt: fc.option(time), trimmedBefore: fc.option(time), retiredAt: fc.option(time) },
    last: record({ dueAt: fc.option(time), succeededDueAt: fc.option(time), succeededAt: fc.option(time) }),
    ...{ fired: count, failedInRow: count, tokens: count, ended: count, open: fc.array(fire, { maxLength: 3 }) },
  })
  const more = some({ plannedTo: time, skipped: fc.array(time) })
  fc.assert(
    fc.property(times, more, (own, optionals) => {
      const state: ScheduleState = schedule('s', { ...own, ...optionals, version: 7 })
      const line = `7 3 1 - - ${state.tokens} ${state.ended} ${writeState(state)}`
      assert.deepEqual(readState('s', line, state), state)
      assert.deepEqual(readOpen(line), state.open)
    }),
    RUNS,
  )
})

test('a line of history is read as it was written, also where a part of it is long', () => {
  const ran: fc.Arbitrary<EndedRun> = fc
    .tuple(
      record({
        ...{ token, instance: name, startedAt: time, cancel, result: fc.oneof(json, fc.constant('x'.repeat(1_001))) },
        error: fc.option(
          record({
            name: fc.string(),
            message: fc.string(),
            code: fc.option(fc.string()),
            stack: fc.option(fc.string()),
          }),
        ),
      }),
      some({ cause }),
    )
    .map(([own, more]) => ({ ...own, ...more }))
  const line: fc.Arbitrary<HistoryRecord> = fc
    .tuple(
      record({
        ...{ dueAt: time, nonce: name, number: count, isFinal: fc.boolean(), job: name, tenant: fc.option(name), kind },
        ...{ round: count, plannedAt: time, readyAt: time, attempt: count, input: json, run: fc.option(ran) },
        ...{
          endedAt: time,
          expiresAt: time,
          ending: fc.tuple(reason, fc.option(fc.string())).map(([why, detail]) => ending(why, detail)),
        },
        range: fc.option(
          record({ untilAt: time, count, trigger: fc.constant({ kind: 'every' as const, everyMs: 1, anchor: 0 }) }),
        ),
      }),
      some({ asked, givenNull: fc.constant(true as const) }),
    )
    .map(([own, more]) => ({ schedule: 's', ...own, ...more }))
  fc.assert(
    fc.property(line, (given) => {
      assert.deepEqual(readLine('s', given.number, writeLine(given)), given)
    }),
    RUNS,
  )
})

test('tokens and names are read as they were written, and no name has what separates names', () => {
  fc.assert(
    fc.property(token, name, (given, schedule) => {
      assert.equal(readToken(packToken(given)), given)
      assert.equal(scheduleOf(memberOf(schedule)), schedule)
      assert.doesNotMatch(memberOf(schedule) + packToken(given), /[\n\t]/)
      assert.doesNotMatch(packToken(given), / /)
    }),
    RUNS,
  )
})

test('a token is its epoch above its counter, whether or not it is a safe integer', () => {
  const epoch = fc.oneof(fc.integer({ min: 1, max: 2 ** 19 - 1 }), fc.constantFrom(1, 511, 512, 513))
  const counter = fc.oneof(fc.integer({ min: 0, max: 2 ** 44 - 1 }), fc.constantFrom(0, 1, 2 ** 44 - 1))
  fc.assert(
    fc.property(epoch, counter, (above, below) => {
      const made = makeToken(above, below)
      assert.equal(made, String((BigInt(above) << 44n) | BigInt(below)))
      assert.equal(packToken(made), `${above}.${below}`)
    }),
    RUNS,
  )
})
