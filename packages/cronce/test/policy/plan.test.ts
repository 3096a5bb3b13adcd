import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY, type MisfirePolicy } from '../../src/model/policy.ts'
import { DAY, given, HOUR, MINUTE, NOON, SECOND, story } from './keeper.ts'

const misfire = (parts: Partial<MisfirePolicy>) => ({ misfire: { ...DEFAULT_POLICY.misfire, ...parts } })

test('an instant that has not come is neither planned nor started', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE - 1
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), [])
  assert.equal(keeper.it.wakeAt, NOON + MINUTE)
})

test('an instant that has come is planned and started in one step, and the mark moves on', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 open'])
  assert.equal(keeper.it.nextAt, NOON + 2 * MINUTE)
  assert.equal(run?.record.attempt, 1)
  assert.equal(keeper.decisions.at(-1)?.change.notBefore, NOON + MINUTE)
  assert.deepEqual(
    keeper.decisions.at(-1)?.events.map(({ type }) => type),
    ['fire.planned', 'run.started'],
  )
})

test('neither a plan nor a start is written by a store whose clock has not got there', () => {
  const retry = { ...DEFAULT_POLICY.retry, attempts: 1, baseMs: 7 * SECOND, jitter: 0 }
  const keeper = given({ policy: { retry } })
  keeper.now = NOON + MINUTE + SECOND
  keeper.advance({ room: 0 })
  assert.equal(keeper.decisions.at(-1)?.change.notBefore, NOON + MINUTE)
  keeper.settle(keeper.advance()[0]!, 'error')
  keeper.now += 9 * SECOND
  keeper.advance()
  assert.equal(keeper.decisions.at(-1)?.change.notBefore, NOON + MINUTE + 8 * SECOND)
})

test('late instants are superseded by one that is on time', () => {
  const keeper = given()
  keeper.now = NOON + 4 * MINUTE + SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), [
    '12:01 missed superseded',
    '12:02 missed superseded',
    '12:03 missed superseded',
    '12:04 open',
  ])
})

test('of late instants only the latest runs, if none is on time', () => {
  const keeper = given()
  keeper.now = NOON + 3 * MINUTE + 30 * SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 missed superseded', '12:02 missed superseded', '12:03 open'])
  assert.equal(keeper.it.open[0]?.run?.cause, 'caught-up')
})

test('late instants are skipped under the policy skip', () => {
  const keeper = given({ policy: misfire({ late: 'skip' }) })
  keeper.now = NOON + 2 * MINUTE + 30 * SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 missed late', '12:02 missed late'])
})

test('of all late instants the latest ones up to the limit run, one after the other', () => {
  const keeper = given({ policy: misfire({ late: 'all', limit: 2 }) })
  keeper.now = NOON + 3 * MINUTE + 30 * SECOND
  const [first] = keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 missed too-late', '12:02 open', '12:03 open'])
  assert.equal(first?.record.dueAt, NOON + 2 * MINUTE)
  keeper.settle(first!, 'completed')
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 3 * MINUTE)
})

test('nothing runs later than the window reaches back', () => {
  const keeper = given({ trigger: { kind: 'at', at: NOON + HOUR }, policy: misfire({ windowMs: DAY }) }, CODE)
  keeper.now = NOON + HOUR + DAY + 1
  keeper.advance()
  assert.deepEqual(story(keeper), ['13:00 missed too-late'])
})

test('the grace is inclusive: a fire exactly that late is on time', () => {
  const onTime = given({ policy: misfire({ late: 'skip', graceMs: 10 * SECOND }) })
  onTime.now = NOON + MINUTE + 10 * SECOND
  onTime.advance()
  assert.deepEqual(story(onTime), ['12:01 open'])
  const late = given({ policy: misfire({ late: 'skip', graceMs: 10 * SECOND }) })
  late.now = NOON + MINUTE + 10 * SECOND + 1
  late.advance()
  assert.deepEqual(story(late), ['12:01 missed late'])
})

test('more than a handful of instants with the same ending are one range with a count', () => {
  const keeper = given()
  keeper.now = NOON + 8 * MINUTE + 30 * SECOND
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01-12:07 missed superseded (7)', '12:08 open'])
  const missed = keeper.decisions.at(-1)!.events.find(({ type }) => type === 'fire.missed')
  assert.ok(missed?.type === 'fire.missed')
  assert.deepEqual([missed.count, missed.untilAt], [7, NOON + 7 * MINUTE])
})

test('a handful is written one by one', () => {
  const keeper = given({ policy: misfire({ late: 'skip' }) })
  keeper.now = NOON + 5 * MINUTE + 30 * SECOND
  keeper.advance()
  assert.equal(keeper.fires.size, 5)
})

test('a very long stretch is settled in steps, of which only the last knows the latest', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + 25_000 * SECOND + 999
  keeper.advance()
  assert.equal(keeper.it.open.length, 0)
  assert.ok(keeper.it.wakeAt! <= keeper.now)
  keeper.advance()
  assert.equal(keeper.it.open.length, 0)
  keeper.advance()
  // What is within the grace is on time: eleven seconds, the first of which starts.
  assert.equal(keeper.it.open.length, 10)
  assert.equal(keeper.it.open[0]?.dueAt, NOON + 24_991 * SECOND)
  assert.equal(keeper.it.nextAt, NOON + 25_001 * SECOND)
  const missed = keeper.list().filter(({ ending }) => ending !== null)
  assert.equal(
    missed.reduce((sum, { range }) => sum + (range?.count ?? 1), 0),
    24_990,
  )
})

test('the latest late instant runs after a very long stretch if overlap ends all instants that are on time', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + SECOND
  keeper.advance()
  const latest = NOON + 10_001 * SECOND
  keeper.now = latest + 10 * SECOND + 1
  keeper.advance()
  keeper.advance()
  assert.deepEqual(
    keeper.it.open.map(({ dueAt, run }) => [dueAt, run !== null]),
    [
      [NOON + SECOND, true],
      [latest, false],
    ],
  )
})

test('the latest late instant runs after a very long stretch if all instants after it are on record', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 }, policy: misfire({ graceMs: 0 }) })
  const latest = NOON + 10_000 * SECOND
  keeper.state = { ...keeper.it, skipped: [latest + SECOND] }
  keeper.now = latest + SECOND + 1
  keeper.advance()
  keeper.advance()
  assert.deepEqual(
    keeper.it.open.map(({ dueAt }) => dueAt),
    [latest],
  )
})

test('the latest of all late instants are found across the steps', () => {
  const keeper = given({
    trigger: { kind: 'every', everyMs: SECOND, anchor: 0 },
    policy: misfire({ late: 'all', limit: 50, graceMs: 0 }),
  })
  keeper.now = NOON + 10_020 * SECOND + 1
  keeper.advance(null)
  keeper.advance(null)
  assert.equal(keeper.it.open.length, 50)
  assert.equal(keeper.it.open[0]?.dueAt, NOON + 9_971 * SECOND)
})

test("fires planned in one step do not count for each other's overlap: planning was late, not the job", () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: SECOND, anchor: 0 } })
  keeper.now = NOON + 3 * SECOND
  const [run] = keeper.advance()
  assert.deepEqual(
    keeper.it.open.map(({ attempt }) => attempt),
    [1, 0, 0],
  )
  keeper.settle(run!, 'completed')
  assert.equal(keeper.advance()[0]?.record.dueAt, NOON + 2 * SECOND)
})

test('start and end bound the instants, and the limit counts them', () => {
  const keeper = given({
    start: NOON + 2 * MINUTE,
    end: NOON + 5 * MINUTE,
    limit: 2,
    policy: misfire({ late: 'skip' }),
  })
  assert.equal(keeper.it.nextAt, NOON + 2 * MINUTE)
  keeper.now = NOON + 10 * MINUTE
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:02 missed late', '12:03 missed late'])
  assert.equal(keeper.it.nextAt, null)
  assert.equal(keeper.it.wakeAt, null)
  assert.equal(keeper.decisions.at(-1)?.events.at(-1)?.type, 'schedule.finished')
})

test('an instant at the end is not the schedule’s any more', () => {
  const keeper = given({ end: NOON + 2 * MINUTE })
  keeper.now = NOON + 3 * MINUTE
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 open'])
})

test('a planned fire that found no free slot in time is late, like one that was not planned', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  keeper.advance({ room: 0 })
  keeper.now = NOON + 2 * MINUTE
  keeper.advance({ room: 0 })
  keeper.now = NOON + 2 * MINUTE + 5 * SECOND
  const [run] = keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 missed superseded', '12:02 open'])
  assert.equal(run?.record.dueAt, NOON + 2 * MINUTE)
})

test('an instant that is on record already is passed over', () => {
  const keeper = given()
  const older = keeper.it
  keeper.now = NOON + MINUTE
  keeper.settle(keeper.advance()[0]!, 'completed')
  // As if the store had come back with an older schedule.
  keeper.state = { ...older, version: keeper.it.version }
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), ['12:01 succeeded completed'])
  assert.deepEqual([keeper.it.nextAt, keeper.passedOver], [NOON + 2 * MINUTE, 1])
})

test('one instant made at run time removes itself, one declared in code is marked as finished', () => {
  const at = { kind: 'at', at: NOON + MINUTE } as const
  const made = given({ trigger: at })
  made.now = NOON + MINUTE
  made.settle(made.advance()[0]!, 'completed')
  assert.equal(made.state, null)
  assert.deepEqual(story(made), ['12:01 succeeded completed'])
  const declared = given({ trigger: at }, CODE)
  declared.now = NOON + MINUTE
  declared.settle(declared.advance()[0]!, 'completed')
  assert.equal(declared.decisions.at(-1)?.events.at(-1)?.type, 'schedule.finished')
  assert.equal(declared.it.wakeAt, null)
})

test('jitter delays a fire by the same time on every instance, and lateness counts from there', () => {
  const keeper = given({ policy: { jitter: { kind: 'fixed', ms: 50 * SECOND } } })
  const readyAt = keeper.it.wakeAt!
  assert.ok(readyAt > NOON + MINUTE && readyAt <= NOON + MINUTE + 50 * SECOND)
  keeper.now = readyAt - 1
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), [])
  keeper.now = readyAt
  const [run] = keeper.advance()
  assert.equal(run?.record.readyAt, readyAt)
  assert.equal(keeper.decisions.at(-1)?.change.notBefore, readyAt)
})

const CODE = { kind: 'code', app: 'shop', number: 1 } as const
