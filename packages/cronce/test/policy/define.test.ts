import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY } from '../../src/model/policy.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { define } from '../../src/policy/operate/define.ts'
import { pause } from '../../src/policy/operate/pause.ts'
import { remove } from '../../src/policy/operate/remove.ts'
import { retryFire } from '../../src/policy/operate/retry-fire.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { triggerNow } from '../../src/policy/operate/trigger-now.ts'
import {
  CLIENT,
  DAY,
  DROPPED,
  definition,
  given,
  HOUR,
  Keeper,
  MINUTE,
  NOON,
  refusalOf,
  SECOND,
  story,
} from './keeper.ts'

const CODE = { kind: 'code', app: 'shop', number: 3 } as const
const ONE_PM = { kind: 'at', at: NOON + HOUR } as const
const every = (everyMs: number) => ({ kind: 'every', everyMs, anchor: 0 }) as const

/** A newer deployment does not declare the schedule. */
function drop(keeper: Keeper): void {
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 4 }, keeper.context))
}

test('a new schedule begins with the first instant that is not over, and makes up for nothing', () => {
  const sharp = new Keeper()
  sharp.now = NOON
  sharp.define({ trigger: every(HOUR) })
  assert.equal(sharp.it.nextAt, NOON)
  const later = new Keeper()
  later.now = NOON + 1
  later.define({ trigger: every(HOUR) })
  assert.equal(later.it.nextAt, NOON + HOUR)
  assert.deepEqual([later.it.version, later.it.revision], [1, 1])
})

test('an instant in the past is refused to a client, which would wait for it forever', () => {
  const answer = define(
    null,
    'once',
    { definition: definition({ trigger: { kind: 'at', at: NOON } }), source: CLIENT },
    {
      ...new Keeper().context,
      now: NOON + 1,
    },
  )
  assert.equal(refusalOf(answer), 'INSTANT_PAST')
})

test('the same definition changes nothing, however its fields are ordered', () => {
  const keeper = given({ input: { a: 1, b: [2] } })
  assert.equal(keeper.define({ input: { b: [2], a: 1 } }), null)
})

test('the same definition of a newer deployment moves the number up, and nothing else', () => {
  const keeper = given({}, CODE)
  const answer = keeper.define({}, { ...CODE, number: 4 })
  assert.ok(answer !== null)
  assert.deepEqual([keeper.it.source, keeper.it.revision], [{ ...CODE, number: 4 }, 1])
  assert.equal(refusalOf(keeper.define({ input: 1 }, CODE)), 'DEPLOYMENT_SUPERSEDED')
  assert.equal(refusalOf(keeper.define({}, CODE)), 'DEPLOYMENT_SUPERSEDED')
})

test('code and clients do not take schedules from each other, nor do apps', () => {
  assert.equal(refusalOf(given({}, CODE).define({ input: 1 })), 'SCHEDULE_IN_CODE')
  assert.equal(refusalOf(given({}).define({ input: 1 }, CODE)), 'SCHEDULE_NAME_TAKEN')
  assert.equal(refusalOf(given({}, CODE).define({}, { ...CODE, app: 'other' })), 'SCHEDULE_NAME_TAKEN')
})

test('a change first settles what is due under the old rule, then begins after now', () => {
  const keeper = given({ trigger: every(MINUTE) })
  keeper.now = NOON + 3 * MINUTE
  keeper.define({ trigger: every(90 * SECOND) })
  assert.deepEqual(story(keeper), ['12:01 missed superseded', '12:02 missed superseded', '12:03 open'])
  assert.equal(keeper.it.nextAt, NOON + 270 * SECOND, '12:03 is an instant of both, and has been')
  assert.equal(keeper.it.revision, 2)
})

test('another limit does not plan again what is on record, also if the clock was set back since', () => {
  const keeper = given({ trigger: every(MINUTE) })
  keeper.now = NOON + 3 * MINUTE
  keeper.advance(null)
  keeper.now = NOON + 90 * SECOND
  keeper.define({ trigger: every(MINUTE), limit: 5 })
  assert.equal(keeper.it.nextAt, NOON + 4 * MINUTE)
  keeper.define({ trigger: every(30 * SECOND), limit: 5 })
  assert.equal(keeper.it.nextAt, NOON + 2 * MINUTE, 'another rule has instants that are on no record')
})

test('a higher limit after the last instant begins after now, also if the clock was set back since', () => {
  const keeper = given({ trigger: every(MINUTE), limit: 1 })
  keeper.now = NOON + 3 * MINUTE
  keeper.advance(null)
  assert.equal(keeper.it.nextAt, null)
  keeper.now = NOON + 90 * SECOND
  keeper.define({ trigger: every(MINUTE), limit: 5 })
  assert.equal(keeper.it.nextAt, NOON + 2 * MINUTE)
})

test('an instant that jitter still holds back is planned before its rule goes', () => {
  const keeper = given({ policy: { jitter: { kind: 'fixed', ms: 50 * SECOND } } })
  const readyAt = keeper.it.wakeAt!
  keeper.now = NOON + MINUTE
  assert.ok(readyAt > keeper.now)
  keeper.define({ trigger: every(HOUR) })
  assert.deepEqual(story(keeper), ['12:01 open'])
  assert.equal(keeper.it.wakeAt, readyAt)
  assert.deepEqual(keeper.advance(), [])
  keeper.now = readyAt
  assert.equal(keeper.advance().length, 1)
})

test('an instant planned ahead of its time waits, even if other fires are active when it is planned', () => {
  const keeper = given({ policy: { jitter: { kind: 'fixed', ms: 50 * SECOND } } })
  keeper.now = keeper.it.wakeAt!
  keeper.advance()
  keeper.now = NOON + 2 * MINUTE
  keeper.define({ trigger: every(HOUR) })
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 open'])
})

test('open fires keep the input and the policies they were planned with', () => {
  const keeper = given({ input: 'old', policy: { retry: { ...DEFAULT_POLICY.retry, attempts: 1, baseMs: 0 } } })
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  keeper.define({ input: 'new' })
  keeper.settle(run!, 'error')
  const [again] = keeper.advance()
  assert.deepEqual([again?.input, again?.policy.retry.attempts], ['old', 1])
  keeper.settle(again!, 'completed')
  keeper.now = NOON + 2 * MINUTE
  const [next] = keeper.advance()
  assert.deepEqual([next?.input, next?.policy.retry.attempts], ['new', 0])
})

test('late fires of the new definition count for the limit of a fire that waits with its own', () => {
  const all = (limit: number) => ({ misfire: { ...DEFAULT_POLICY.misfire, late: 'all', limit } as const })
  const waiting = (limit: number) => {
    const keeper = given({ trigger: ONE_PM, policy: all(limit) })
    keeper.now = NOON + HOUR + MINUTE
    keeper.advance(null)
    keeper.define({ trigger: { kind: 'at', at: NOON + 2 * HOUR }, policy: all(10) })
    keeper.now = NOON + 2 * HOUR + MINUTE
    keeper.advance(null)
    return story(keeper)
  }
  assert.deepEqual(waiting(1), ['13:00 missed too-late', '14:00 open'])
  assert.deepEqual(waiting(2), ['13:00 open', '14:00 open'])
})

test('a change leaves an operator’s pause, the counters and open fires alone', () => {
  const keeper = given({ trigger: every(MINUTE) })
  keeper.now = NOON + MINUTE
  keeper.advance()
  keeper.take(pause(keeper.it, { note: 'x', author: 'ann', until: null, missed: 'skip' }, keeper.context))
  const before = keeper.it
  keeper.define({ input: 2 })
  assert.deepEqual(
    [keeper.it.pause, keeper.it.tokens, keeper.it.fired, keeper.it.open.length, keeper.it.nextAt],
    [before.pause, before.tokens, before.fired, 1, before.nextAt],
  )
})

test('the instants of a pause are on record when the rule changes in the middle of it', () => {
  const keeper = given()
  keeper.take(pause(keeper.it, { note: null, author: null, until: null, missed: 'skip' }, keeper.context))
  keeper.now = NOON + 2 * MINUTE
  keeper.define({ trigger: every(HOUR) })
  assert.deepEqual(story(keeper), ['12:01 skipped paused', '12:02 skipped paused'])
})

test('an instant of a pause that jitter would have held back is on record, too, when the rule changes', () => {
  const keeper = given({ policy: { jitter: { kind: 'fixed', ms: 50 * SECOND } } })
  assert.ok(keeper.it.wakeAt! > NOON + MINUTE)
  keeper.take(pause(keeper.it, { note: null, author: null, until: null, missed: 'skip' }, keeper.context))
  keeper.now = NOON + MINUTE
  keeper.define({ trigger: every(HOUR) })
  assert.deepEqual(story(keeper), ['12:01 skipped paused'])
})

test('an instant that was skipped ahead of time stays skipped when the rule changes', () => {
  const keeper = given({ trigger: every(HOUR) })
  keeper.take(skipNext(keeper.it, NOON + HOUR, keeper.context))
  keeper.define({ trigger: every(30 * MINUTE) })
  assert.equal(keeper.it.nextAt, NOON + 30 * MINUTE)
  keeper.now = NOON + 30 * MINUTE
  keeper.settle(keeper.advance()[0]!, 'completed')
  assert.equal(keeper.it.nextAt, NOON + 90 * MINUTE)
  assert.deepEqual(story(keeper), ['12:30 succeeded completed', '13:00 skipped skipped-by-operator'])
})

test('an instant that was skipped ahead of time is not recorded again, however many steps planning takes', () => {
  const keeper = given({ trigger: every(3 * HOUR) })
  keeper.take(skipNext(keeper.it, NOON + 3 * HOUR, keeper.context))
  keeper.define({ trigger: every(SECOND) })
  keeper.now = NOON + 3 * HOUR + 200 * SECOND
  keeper.take(skipNext(keeper.it, NOON + SECOND, keeper.context))
  keeper.advance(null)
  keeper.advance(null)
  const parts = keeper.list().map(({ dueAt, range }) => [(dueAt - NOON) / SECOND, range?.count ?? 1])
  assert.deepEqual(parts.slice(0, 5), [
    [1, 1],
    [2, 10_000 - 1],
    [10_001, 799],
    [10_800, 1],
    [10_801, 189],
  ])
})

test('another job has to wait until the fires of the old one have ended', () => {
  const keeper = given()
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  assert.equal(refusalOf(keeper.define({ job: 'other' })), 'SCHEDULE_BUSY')
  keeper.settle(run!, 'completed')
  keeper.define({ job: 'other' })
  assert.equal(keeper.it.definition.job, 'other')
})

test('a fire keeps the tenant it was planned for, whichever tenant has the schedule when it ends or runs again', () => {
  const policy = { overlap: { kind: 'allow', limit: 10 } } as const
  const keeper = given({ tenant: 'one', policy })
  const tenantsOf = () => keeper.list().map(({ tenant }) => tenant)
  keeper.now = NOON + MINUTE
  const [first] = keeper.advance()
  // The second is due, and planned by the change itself.
  keeper.now = NOON + 2 * MINUTE
  keeper.define({ tenant: 'two', policy })
  keeper.settle(first!, 'error')
  const [second] = keeper.advance()
  keeper.settle(second!, 'completed')
  keeper.now = NOON + 3 * MINUTE
  const [third] = keeper.advance()
  keeper.settle(third!, 'completed')
  assert.deepEqual(tenantsOf(), ['one', 'one', 'two'])
  keeper.define({ tenant: 'three', policy })
  const [record] = keeper.list()
  keeper.take(retryFire(keeper.it, record!, { force: true, dueAt: record!.dueAt }, keeper.context))
  const [again] = keeper.advance()
  keeper.settle(again!, 'completed')
  assert.deepEqual(tenantsOf(), ['one', 'one', 'two'])
  assert.equal(keeper.list()[0]?.round, 2)
})

test('a longer retention does not bring back records that a shorter one pruned', () => {
  const retention = { keepMs: 48 * HOUR, keepMsBy: {}, count: 1_000 }
  const keeper = given({ policy: { retention } })
  keeper.define({})
  assert.equal(keeper.it.trimmedBefore, keeper.now)
})

test('retire: what waits is frozen and ends after the misfire window, what runs goes on, and nothing more comes', () => {
  const keeper = given({ policy: { overlap: { kind: 'queue', limit: 1 } } }, CODE)
  keeper.now = NOON + MINUTE
  const [run] = keeper.advance()
  keeper.now = NOON + 2 * MINUTE
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 4 }, keeper.context))
  assert.deepEqual(story(keeper), ['12:01 open', '12:02 open'])
  assert.equal(keeper.it.wakeAt, keeper.now + DAY)
  keeper.now = NOON + 9 * MINUTE
  keeper.settle(run!, 'completed')
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), ['12:01 succeeded completed', '12:02 open'])
  keeper.now = NOON + 2 * MINUTE + DAY
  keeper.advance()
  assert.deepEqual(story(keeper), ['12:01 succeeded completed', '12:02 cancelled retired'])
  assert.equal(keeper.it.wakeAt, null)
})

test('retire: what a pause has held back is skipped, and the pause stays', () => {
  const keeper = given({}, CODE)
  const held = { until: null, note: null, author: null, missed: 'all' } as const
  keeper.take(pause(keeper.it, held, keeper.context))
  keeper.now = NOON + 2 * MINUTE
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 4 }, keeper.context))
  assert.deepEqual(story(keeper), ['12:01 skipped paused', '12:02 skipped paused'])
  assert.notEqual(keeper.it.pause, null)
})

test('retire: what is to be run again is frozen, too, however its run ended', () => {
  const policy = { retry: { ...DEFAULT_POLICY.retry, attempts: 5 } }
  for (const how of ['fail', 'crash', 'hand back'] as const) {
    const keeper = given({ policy }, CODE)
    keeper.now = NOON + MINUTE
    const [run] = keeper.advance()
    keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 3 }, keeper.context))
    if (how === 'fail') keeper.settle(run!, 'error')
    else if (how === 'crash') keeper.recover(run!)
    else keeper.settle(run!, 'completed', { handBack: 'started' })
    assert.deepEqual([story(keeper), keeper.advance()], [['12:01 open'], []], how)
    keeper.now = NOON + MINUTE + DAY
    keeper.advance()
    assert.deepEqual(story(keeper), ['12:01 cancelled retired'], how)
  }
})

test('retire: only by its own app, and once', () => {
  const keeper = given({}, CODE)
  assert.equal(retire(keeper.it, { app: 'other', ...DROPPED, number: 9 }, keeper.context), null)
  assert.equal(retire(given().it, { app: 'shop', ...DROPPED, number: 9 }, keeper.context), null)
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 9 }, keeper.context))
  assert.equal(retire(keeper.it, { app: 'shop', ...DROPPED, number: 10 }, keeper.context), null)
})

test('a fire that waited through a retirement starts as caught up', () => {
  const ABSENT = { cause: 'absent', deployment: 'v1', number: 3 } as const
  for (const isBehindAnother of [false, true]) {
    const keeper = given({ policy: { overlap: { kind: 'queue', limit: 1 } } }, CODE)
    if (isBehindAnother) {
      keeper.now = NOON + MINUTE
      keeper.advance()
    }
    keeper.now = NOON + 2 * MINUTE
    keeper.advance({ room: 0 })
    keeper.take(retire(keeper.it, { app: 'shop', ...ABSENT }, keeper.context))
    keeper.now += 20 * SECOND
    if (isBehindAnother) keeper.settle(keeper.it.open[0]!.run!.token, 'completed')
    keeper.now += 20 * SECOND
    keeper.define({ policy: { overlap: { kind: 'queue', limit: 1 } } }, CODE)
    // No instance has room at first: the recorded cause of the late start is still the retirement.
    keeper.advance({ room: 0 })
    const [started] = keeper.advance()
    assert.deepEqual([started?.record.dueAt, started?.record.cause], [NOON + 2 * MINUTE, 'caught-up'])
  }
})

test('a retired schedule that is declared again goes on from now, and may change hands', () => {
  const keeper = given({}, CODE)
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 3 }, keeper.context))
  const retiredAt = keeper.now
  keeper.now = NOON + 5 * MINUTE + 1
  const source = { kind: 'code', app: 'other', number: 1 } as const
  const none = { active: null, activated: null, tidiedFor: null, deployments: [], retired: [], refused: [] }
  const wish = { definition: definition({}), source }
  assert.equal(refusalOf(define(keeper.it, keeper.id, wish, keeper.context)), 'SCHEDULE_NAME_TAKEN')
  const standing = { app: { name: 'other', version: 1, ...none }, deployment: 'o1', takesFrom: 'shop' }
  keeper.take(define(keeper.it, keeper.id, { ...wish, standing }, keeper.context))
  assert.deepEqual([keeper.it.retiredAt, keeper.it.nextAt], [null, NOON + 6 * MINUTE])
  assert.deepEqual(keeper.it.source, source)
  assert.deepEqual(story(keeper), [])
  assert.deepEqual(keeper.it.retirements, [{ from: retiredAt, to: keeper.now, ...DROPPED, number: 3 }])
})

test('ten stretches of retirement are remembered', () => {
  const keeper = given({}, CODE)
  for (let turn = 1; turn <= 12; turn++) {
    keeper.now += MINUTE
    keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: turn }, keeper.context))
    keeper.now += MINUTE
    keeper.define({}, { ...CODE, number: 100 + turn })
  }
  assert.deepEqual(
    keeper.it.retirements?.map(({ number, to }) => [number, to === null]),
    Array.from({ length: 10 }, (_, index) => [index + 3, false]),
  )
})

test('a retired schedule takes no commands', () => {
  const keeper = given({}, CODE)
  keeper.take(retire(keeper.it, { app: 'shop', ...DROPPED, number: 3 }, keeper.context))
  const wish = { nonce: 'n', input: undefined, overlap: 'honour' } as const
  assert.equal(refusalOf(triggerNow(keeper.it, wish, keeper.context)), 'SCHEDULE_RETIRED')
  assert.equal(refusalOf(skipNext(keeper.it, NOON + MINUTE, keeper.context)), 'SCHEDULE_RETIRED')
})

test('remove: not while a run is open, unless forced; the records have its outcome', () => {
  const keeper = given({ policy: { overlap: { kind: 'queue', limit: 1 } } })
  keeper.now = NOON + MINUTE
  keeper.advance()
  keeper.now = NOON + 2 * MINUTE
  assert.equal(refusalOf(remove(keeper.it, { force: false }, keeper.context)), 'SCHEDULE_BUSY')
  keeper.take(remove(keeper.it, { force: true }, keeper.context))
  assert.equal(keeper.state, null)
  assert.deepEqual(story(keeper), ['12:01 cancelled removed', '12:02 cancelled removed'])
  assert.equal([...keeper.runs.values()][0]?.ending?.reason, 'removed')
})

test('remove: what the code declares is removed from the code', () => {
  assert.equal(refusalOf(remove(given({}, CODE).it, { force: false }, new Keeper().context)), 'SCHEDULE_IN_CODE')
})

for (const [late, lateness, expected] of [
  ['latest', HOUR, '11:00 open'],
  ['skip', HOUR, '11:00 missed late'],
  ['all', HOUR, '11:00 open'],
  ['latest', 2 * DAY, '12:00 missed too-late'],
] as const) {
  test(`one instant in code that is deployed ${lateness / HOUR} h late is on record, as misfire ${late} requires`, () => {
    const at = NOON - lateness
    const policy = { misfire: { ...DEFAULT_POLICY.misfire, late } }
    const keeper = given({ trigger: { kind: 'at', at }, policy }, CODE)
    keeper.advance()
    assert.deepEqual(story(keeper), [expected])
    assert.equal(keeper.it.nextAt, null)
  })
}

test('a job in code that is given an instant of the past has it on record, once', () => {
  const at = { kind: 'at', at: NOON + 90 * MINUTE } as const
  const keeper = given({ trigger: every(HOUR), policy: { misfire: { ...DEFAULT_POLICY.misfire, late: 'skip' } } }, CODE)
  keeper.now = NOON + 100 * MINUTE
  for (const trigger of [at, every(HOUR), at]) {
    keeper.define({ trigger }, CODE)
    keeper.advance()
  }
  assert.deepEqual(story(keeper), ['13:00 missed late', '13:30 open'])
})

for (const [late, expected, besideOpen] of [
  ['latest', '13:30 open', '13:30 missed superseded'],
  ['all', '13:30 open', '13:30 open'],
  ['skip', '13:30 missed late', '13:30 missed late'],
] as const) {
  test(`one instant in code that the cron before it has gone past is on record, as misfire ${late} requires`, () => {
    // Otherwise the declaration plans 14:00 itself, which is still open when the policy decides.
    for (const isPlannedBefore of [true, false]) {
      const policy = { misfire: { ...DEFAULT_POLICY.misfire, late } }
      const keeper = given({ trigger: every(HOUR), policy }, CODE)
      keeper.now = NOON + 2 * HOUR
      if (isPlannedBefore) keeper.settle(keeper.advance()[0]!, 'completed')
      keeper.now += MINUTE
      keeper.define({ trigger: { kind: 'at', at: NOON + 90 * MINUTE }, policy }, CODE)
      keeper.advance()
      assert.ok(story(keeper).includes(isPlannedBefore ? expected : besideOpen), story(keeper).join())
      assert.equal(keeper.it.nextAt, null)
    }
  })
}

test('one instant in code that is on record already is not planned again, be it alone, in a range or still open', () => {
  const at = { kind: 'at', at: NOON + 30 * MINUTE } as const
  for (const before of [every(30 * MINUTE), every(MINUTE)]) {
    for (const isPlannedBefore of [true, false]) {
      const keeper = given({ trigger: before }, CODE)
      keeper.now = NOON + HOUR
      if (isPlannedBefore) keeper.advance()
      keeper.define({ trigger: every(HOUR) }, CODE)
      const records = story(keeper)
      keeper.now += MINUTE
      keeper.define({ trigger: at }, CODE)
      keeper.advance({ room: 0 })
      assert.deepEqual([story(keeper), keeper.it.nextAt], [records, null])
    }
  }
})

test('one instant in code is missed if its record may have been deleted: it may have run', () => {
  const misfire = { ...DEFAULT_POLICY.misfire, windowMs: 60 * DAY }
  const keeper = given({ trigger: every(HOUR) }, CODE)
  keeper.now = NOON + 3 * HOUR
  keeper.settle(keeper.advance()[0]!, 'completed')
  // This policy keeps records for longer than the one under which they were written.
  keeper.define({ trigger: { kind: 'at', at: NOON + 90 * MINUTE }, policy: { misfire } }, CODE)
  assert.deepEqual(keeper.advance(), [])
  assert.ok(story(keeper).includes('13:30 missed too-late'))
})

test('whether one instant in code is on record must be known if the schedule has gone past it', () => {
  const keeper = given({ trigger: every(HOUR) }, CODE)
  keeper.now = NOON + 2 * HOUR
  keeper.advance()
  const wish = { definition: definition({ trigger: { kind: 'at', at: NOON + 90 * MINUTE } }), source: CODE }
  assert.equal(refusalOf(define(keeper.it, keeper.id, wish, keeper.context)), 'RECORD_UNREAD')
})

for (const [late, lateness, expected] of [
  ['latest', HOUR, '13:00 open'],
  ['latest', 2 * DAY, '13:00 missed too-late'],
  ['skip', HOUR, '13:00 missed late'],
] as const) {
  test(`one instant in code that passed while its schedule was retired is on record, as misfire ${late} requires after ${lateness / HOUR} h`, () => {
    const parts = { trigger: ONE_PM, policy: { misfire: { ...DEFAULT_POLICY.misfire, late } } }
    const keeper = given(parts, CODE)
    drop(keeper)
    keeper.now = ONE_PM.at + lateness
    for (let turn = 0; turn < 3; turn++) {
      assert.ok(keeper.define(parts, CODE) !== null)
      const started = keeper.advance()
      assert.equal(started.length, expected.endsWith('open') && turn === 0 ? 1 : 0)
      assert.deepEqual([story(keeper), keeper.it.nextAt], [[expected], null])
      drop(keeper)
      keeper.now += MINUTE
    }
  })
}

test('one instant in code that has run does not run again when a retired schedule returns, also without its record', () => {
  for (const isRecordKept of [true, false]) {
    const keeper = given({ trigger: ONE_PM }, CODE)
    keeper.now = ONE_PM.at
    keeper.settle(keeper.advance()[0]!, 'completed')
    drop(keeper)
    if (!isRecordKept) keeper.fires.clear()
    keeper.now += HOUR
    keeper.define({ trigger: ONE_PM }, CODE)
    assert.deepEqual(keeper.advance(), [])
    assert.deepEqual([story(keeper), keeper.it.nextAt], [isRecordKept ? ['13:00 succeeded completed'] : [], null])
  }
})

test('one instant in code that a renamed schedule left to another name is not planned under the old one', () => {
  const keeper = given({ trigger: ONE_PM }, CODE)
  const by = { cause: 'renamed', deployment: 'v2', number: 4, renamedTo: 'invoice', leavesDue: true } as const
  keeper.take(retire(keeper.it, { app: 'shop', ...by }, keeper.context))
  keeper.now = ONE_PM.at + HOUR
  keeper.define({ trigger: ONE_PM }, CODE)
  assert.deepEqual([keeper.advance(), story(keeper), keeper.it.nextAt], [[], [], null])
})

test('one instant in code goes to the name that takes over from a retired one, unless the old name has planned it', () => {
  for (const isPlanned of [false, true]) {
    const old = given({ trigger: ONE_PM }, CODE)
    if (isPlanned) {
      old.now = ONE_PM.at
      old.settle(old.advance()[0]!, 'completed')
    }
    drop(old)
    const keeper = new Keeper('invoice')
    keeper.now = ONE_PM.at + HOUR
    const wish = { definition: definition({ trigger: ONE_PM }), source: { ...CODE, number: 5 }, holder: old.it }
    keeper.take(define(null, keeper.id, wish, keeper.context))
    keeper.advance()
    assert.deepEqual([story(keeper), keeper.it.nextAt], [isPlanned ? [] : ['13:00 open'], null])
  }
})
