import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_POLICY, type PolicyChoices, type RetryPolicy } from '../../src/model/policy.ts'
import { makeToken } from '../../src/model/token.ts'
import type { StartedRun } from '../../src/policy/decision.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { backoffMs } from '../../src/policy/end/retry.ts'
import { cancelFire, requestCancel } from '../../src/policy/operate/cancel.ts'
import { pause, resume } from '../../src/policy/operate/pause.ts'
import { DAY, given, HOUR, type Keeper, MINUTE, NOON, refusalOf, SECOND, story } from './keeper.ts'

const retry = (parts: Partial<RetryPolicy>) => ({ retry: { ...DEFAULT_POLICY.retry, jitter: 0, ...parts } })
const WISH = { author: 'ann', note: 'wrong file' }

/** Hourly, so that nothing else comes in between, with the first fire running. */
function running(policy: PolicyChoices = {}): { readonly keeper: Keeper; readonly run: StartedRun } {
  const keeper = given({ trigger: { kind: 'every', everyMs: HOUR, anchor: 0 }, policy })
  keeper.now = NOON + HOUR
  const [run] = keeper.advance()
  return { keeper, run: run! }
}

test('a fire that succeeded is on record with what is needed to keep and to find it', () => {
  const { keeper, run } = running()
  keeper.now += SECOND
  keeper.settle(run, 'completed')
  const [fire] = keeper.list()
  assert.deepEqual([fire?.ending?.reason, fire?.endedAt, fire?.number, fire?.attempt], ['completed', keeper.now, 1, 1])
  assert.equal(fire?.expiresAt, keeper.now + DEFAULT_POLICY.retention.keepMs)
  assert.deepEqual(keeper.it.last, { dueAt: NOON + HOUR, succeededDueAt: NOON + HOUR, succeededAt: keeper.now })
  assert.equal(keeper.it.open.length, 0)
})

test('only the current token settles: a repeated or late settle changes nothing', () => {
  const { keeper, run } = running()
  assert.equal(keeper.settle(makeToken(1, 99), 'completed'), 'stale')
  keeper.recover(run)
  const [successor] = keeper.advance()
  assert.equal(keeper.settle(run, 'completed'), 'stale')
  keeper.settle(successor!, 'completed')
  assert.equal(keeper.settle(successor!, 'completed'), 'stale')
  assert.equal(keeper.recover(successor!), 'stale')
  assert.equal(requestCancel(keeper.it, successor!.record.token, WISH, keeper.context), 'stale')
})

test('a failed fire is run again as often as the policy allows, after a growing delay', () => {
  const { keeper, run } = running(retry({ attempts: 2, baseMs: SECOND, factor: 3 }))
  keeper.settle(run, 'error')
  assert.equal(keeper.it.wakeAt, keeper.now + SECOND)
  assert.deepEqual(keeper.advance(), [])
  keeper.now += SECOND
  const [second] = keeper.advance()
  assert.equal(second?.record.attempt, 2)
  keeper.settle(second!, 'error')
  assert.equal(keeper.it.wakeAt, keeper.now + 3 * SECOND)
  keeper.now += 3 * SECOND
  keeper.settle(keeper.advance()[0]!, 'error')
  assert.deepEqual(story(keeper), ['13:00 failed error'])
  assert.equal(keeper.list()[0]?.attempt, 3)
})

test('the delay is capped, and chance only shortens it', () => {
  const policy = { ...DEFAULT_POLICY.retry, baseMs: 1_000, factor: 2, capMs: 5_000, jitter: 0.5 }
  assert.equal(backoffMs(policy, 1, 0), 1_000)
  assert.equal(backoffMs(policy, 3, 0), 4_000)
  assert.equal(backoffMs(policy, 60, 0), 5_000)
  assert.equal(backoffMs(policy, 5_000, 0.999999), 2_500)
  assert.equal(backoffMs({ ...policy, baseMs: 0 }, 5_000, 0), 0)
})

test('an error that is not retryable is not retried', () => {
  const { keeper, run } = running(retry({ attempts: 2 }))
  keeper.settle(run, 'input-invalid', { retryable: false })
  assert.deepEqual(story(keeper), ['13:00 failed input-invalid'])
})

test('a retry after the deadline does not start', () => {
  const { keeper, run } = running(retry({ attempts: 2, baseMs: 10 * SECOND, deadlineMs: 10 * SECOND }))
  keeper.settle(run, 'error')
  assert.deepEqual(story(keeper), ['13:00 failed retry-too-late'])
  assert.equal(keeper.runs.get(run.record.token)?.ending?.reason, 'error')
})

test('without a deadline of its own a retry is bounded by the misfire window', () => {
  const misfire = { ...DEFAULT_POLICY.misfire, windowMs: MINUTE }
  const { keeper, run } = running({ ...retry({ attempts: 2, baseMs: 10 * SECOND }), misfire })
  keeper.now += 55 * SECOND
  keeper.settle(run, 'error')
  assert.deepEqual(story(keeper), ['13:00 failed retry-too-late'])
})

test('a retry that does not start before the deadline is given up, and so is one after a crash or a stop', () => {
  const policy = retry({ attempts: 2, baseMs: SECOND, deadlineMs: MINUTE })
  const cut = (end: (keeper: Keeper, run: StartedRun) => unknown): readonly string[] => {
    const { keeper, run } = running(policy)
    end(keeper, run)
    // The whole fleet is away.
    keeper.now = NOON + HOUR + MINUTE + 1
    assert.deepEqual(keeper.advance(), [])
    return story(keeper)
  }
  const end = '13:00 abandoned recovery-too-late'
  assert.deepEqual(
    cut((keeper, run) => keeper.settle(run, 'error')),
    ['13:00 failed retry-too-late'],
  )
  assert.deepEqual(
    cut((keeper, run) => keeper.recover(run)),
    [end],
  )
  assert.deepEqual(
    cut((keeper, run) => keeper.settle(run, 'completed', { handBack: 'started' })),
    [end],
  )
})

test('retries that are given up together are all over, also if the first of them pauses the schedule', () => {
  const late = retry({ attempts: 2, baseMs: HOUR, deadlineMs: 2 * HOUR })
  const keeper = given({ policy: { ...late, overlap: { kind: 'allow', limit: 5 }, pauseAfter: 1 } })
  const runs = [1, 2, 3].flatMap((minute) => {
    keeper.now = NOON + minute * MINUTE
    return keeper.advance()
  })
  for (const run of runs) keeper.settle(run, 'error')
  keeper.now = NOON + 5 * HOUR
  keeper.advance()
  const due = ['12:01', '12:02', '12:03']
  assert.deepEqual(
    story(keeper).slice(0, 3),
    due.map((time) => `${time} failed retry-too-late`),
  )
  const onRecord = keeper.list().filter(({ ending }) => ending === null)
  const open = keeper.it.open.map(({ dueAt }) => dueAt)
  assert.deepEqual([open.length, open], [1, onRecord.map(({ dueAt }) => dueAt)])
})

test('a retry exactly at its deadline still starts, and the deadline does not move', () => {
  const misfire = { ...DEFAULT_POLICY.misfire, windowMs: MINUTE }
  const { keeper, run } = running({ ...retry({ attempts: 2, baseMs: SECOND }), misfire })
  keeper.now += 30 * SECOND
  keeper.settle(run, 'error')
  keeper.now = NOON + HOUR + MINUTE
  const [second] = keeper.advance()
  keeper.recover(second!)
  keeper.now++
  assert.deepEqual(keeper.advance(), [])
  assert.deepEqual(story(keeper), ['13:00 abandoned recovery-too-late'])
})

test('a pause stops the clock of what waits for another run', () => {
  const { keeper, run } = running(retry({ attempts: 2, baseMs: SECOND, deadlineMs: MINUTE }))
  keeper.settle(run, 'error')
  keeper.take(pause(keeper.it, { note: null, author: null, until: null, missed: 'skip' }, keeper.context))
  keeper.now += 5 * MINUTE
  keeper.take(resume(keeper.it, 'skip', keeper.context))
  assert.equal(keeper.advance()[0]?.record.attempt, 2)
})

test('a fire whose instance died is run again, under a higher token, until its own budget is used up', () => {
  const { keeper, run } = running(retry({ crashes: 1 }))
  keeper.recover(run)
  assert.equal(keeper.runs.get(run.record.token)?.ending?.reason, 'crashed')
  const [second] = keeper.advance()
  assert.ok(BigInt(second!.record.token) > BigInt(run.record.token))
  keeper.recover(second!)
  assert.deepEqual(story(keeper), ['13:00 abandoned crash-budget'])
})

test('crashes and failures have separate budgets, and a hand-back costs nothing', () => {
  const { keeper, run } = running(retry({ attempts: 1, baseMs: 0, crashes: 1 }))
  keeper.recover(run)
  keeper.settle(keeper.advance()[0]!, 'error')
  for (let n = 0; n < 5; n++) keeper.settle(keeper.advance()[0]!, 'completed', { handBack: 'started' })
  const [fire] = keeper.it.open
  assert.deepEqual([fire?.failures, fire?.crashes, fire?.attempt], [1, 1, 7])
  keeper.settle(keeper.advance()[0]!, 'error')
  assert.deepEqual(story(keeper), ['13:00 failed error'])
})

test('a fire that waited for its turn longer than the window is run again after a crash of its first run', () => {
  const keeper = given({ policy: { overlap: { kind: 'queue', limit: 1 } } })
  keeper.now = NOON + MINUTE
  const [first] = keeper.advance()
  keeper.now = NOON + 2 * MINUTE
  keeper.advance()
  keeper.now += 2 * DAY
  keeper.settle(first!, 'completed')
  const [second] = keeper.advance()
  assert.equal(second?.record.dueAt, NOON + 2 * MINUTE)
  keeper.take(recover(keeper.it, second!.record.token, keeper.context))
  const fire = keeper.it.open.find(({ dueAt }) => dueAt === NOON + 2 * MINUTE)
  assert.deepEqual([fire?.crashes, fire?.run], [1, null])
})

test('a fire is not run again after a crash once its deadline has passed', () => {
  const { keeper, run } = running(retry({ deadlineMs: MINUTE }))
  keeper.now += MINUTE + 1
  keeper.recover(run)
  assert.deepEqual(story(keeper), ['13:00 abandoned recovery-too-late'])
})

test('at-most-once: never started twice, neither after a crash nor a failure nor a stop', () => {
  const policy = { guarantee: 'at-most-once', ...retry({ attempts: 5, crashes: 5 }) } as const
  const crashed = running(policy)
  crashed.keeper.recover(crashed.run)
  assert.deepEqual(story(crashed.keeper), ['13:00 abandoned crashed'])
  const failed = running(policy)
  failed.keeper.settle(failed.run, 'error')
  assert.deepEqual(story(failed.keeper), ['13:00 failed error'])
  const stopped = running(policy)
  stopped.keeper.settle(stopped.run, 'completed', { handBack: 'started' })
  assert.deepEqual(story(stopped.keeper), ['13:00 abandoned stopped'])
})

test('at-most-once: a run that never started is handed back and run elsewhere', () => {
  const { keeper, run } = running({ guarantee: 'at-most-once' })
  keeper.settle(run, 'completed', { handBack: 'not-started' })
  assert.equal(keeper.runs.get(run.record.token)?.ending?.reason, 'handed-back')
  assert.equal(keeper.advance().length, 1)
})

test('from its second crash on a fire runs alone: on an idle instance, with nothing beside it', () => {
  const { keeper, run } = running(retry({ crashes: 5 }))
  keeper.recover(run)
  const [second] = keeper.advance({ idle: false })
  assert.equal(second?.suspect, false)
  keeper.recover(second!)
  assert.deepEqual(keeper.advance({ idle: false }), [])
  keeper.now += SECOND
  assert.deepEqual(keeper.advance({ idle: false }), [])
  assert.ok(keeper.it.wakeAt! > keeper.now, 'busy instances do not look at it all the time')
  const [third] = keeper.advance({ idle: true })
  assert.equal(third?.suspect, true)
})

test('a suspect that found no idle instance for ten seconds takes any', () => {
  const { keeper, run } = running(retry({ crashes: 5 }))
  keeper.recover(run)
  keeper.recover(keeper.advance()[0]!)
  keeper.now += 10 * SECOND
  assert.deepEqual(keeper.advance({ idle: false }), [])
  keeper.now += 1
  assert.equal(keeper.advance({ idle: false }).length, 1)
})

test('a cancelled run ends cancelled, unless it succeeds before', () => {
  const stopped = running()
  stopped.keeper.take(requestCancel(stopped.keeper.it, stopped.run.record.token, WISH, stopped.keeper.context))
  stopped.keeper.settle(stopped.run, 'error')
  assert.deepEqual(story(stopped.keeper), ['13:00 cancelled cancelled-by-operator'])
  assert.equal(stopped.keeper.list()[0]?.ending?.detail, 'by ann: wrong file')
  const finished = running()
  finished.keeper.take(requestCancel(finished.keeper.it, finished.run.record.token, WISH, finished.keeper.context))
  finished.keeper.settle(finished.run, 'completed')
  assert.deepEqual(story(finished.keeper), ['13:00 succeeded completed'])
})

test('a cancel applies to the run that the operator saw: if that has ended, the next one is left alone', () => {
  const { keeper, run } = running()
  keeper.settle(run, 'completed')
  keeper.now += HOUR
  const [next] = keeper.advance()
  assert.notEqual(next, undefined)
  assert.equal(requestCancel(keeper.it, run.record.token, WISH, keeper.context), 'stale')
})

test('a cancelled run is neither recovered nor run again, and is revoked when its grace is over', () => {
  const died = running()
  died.keeper.take(requestCancel(died.keeper.it, died.run.record.token, WISH, died.keeper.context))
  died.keeper.recover(died.run)
  assert.deepEqual(story(died.keeper), ['13:00 cancelled cancelled-by-operator'])
  const deaf = running(retry({ attempts: 5 }))
  deaf.keeper.take(requestCancel(deaf.keeper.it, deaf.run.record.token, WISH, deaf.keeper.context))
  assert.equal(deaf.keeper.it.wakeAt, deaf.keeper.now + 10 * SECOND)
  deaf.keeper.now += 10 * SECOND - 1
  deaf.keeper.advance()
  assert.deepEqual(story(deaf.keeper), ['13:00 open'])
  deaf.keeper.now += 1
  deaf.keeper.advance()
  assert.deepEqual(story(deaf.keeper), ['13:00 cancelled cancelled-by-operator'])
})

test('a second request to cancel does not delay the revoke', () => {
  const { keeper, run } = running()
  keeper.take(requestCancel(keeper.it, run.record.token, WISH, keeper.context))
  const { cancel } = keeper.it.open[0]!.run!
  keeper.now += 5 * SECOND
  keeper.take(requestCancel(keeper.it, run.record.token, { author: 'bob', note: null }, keeper.context))
  assert.deepEqual(keeper.it.open[0]?.run?.cancel, cancel)
})

test('a waiting fire is cancelled by its key; one that is not open can’t be', () => {
  const keeper = given({ trigger: { kind: 'every', everyMs: HOUR, anchor: 0 } })
  keeper.now = NOON + HOUR
  keeper.advance({ room: 0 })
  keeper.take(cancelFire(keeper.it, { dueAt: NOON + HOUR, nonce: '' }, WISH, keeper.context))
  assert.deepEqual(story(keeper), ['13:00 cancelled cancelled-by-operator'])
  assert.equal(keeper.it.last.dueAt, null, 'it never ran')
  const again = cancelFire(keeper.it, { dueAt: NOON + HOUR, nonce: '' }, WISH, keeper.context)
  assert.equal(refusalOf(again), 'FIRE_NOT_OPEN')
})

test('a number of failed fires in a row pauses the schedule, and a success in between resets the count', () => {
  const keeper = given({ policy: { pauseAfter: 2 } })
  const endings = ['error', 'completed', 'error', 'error'] as const
  for (const [index, reason] of endings.entries()) {
    assert.equal(keeper.it.pause, null)
    keeper.now = NOON + (index + 1) * MINUTE
    keeper.settle(keeper.advance()[0]!, reason)
  }
  assert.equal(keeper.it.pause?.author, 'cronce')
  assert.match(keeper.it.pause?.note ?? '', /2 failed fires in a row/)
  assert.equal(keeper.it.wakeAt, null)
})

test('once in 64 records the ones beyond the count may go, but only when they are old enough', () => {
  const keeper = given({ policy: { retention: { ...DEFAULT_POLICY.retention, count: 10 } } })
  for (let n = 1; n <= 64; n++) {
    keeper.now = NOON + n * MINUTE
    keeper.settle(keeper.advance()[0]!, 'completed')
    const { trim } = keeper.decisions.at(-1)!.change
    assert.equal(trim !== null, n === 64)
  }
  const { trim } = keeper.decisions.at(-1)!.change
  assert.equal(trim?.belowNumber, 54)
  assert.equal(trim?.endedBefore, keeper.now - 48 * HOUR)
  assert.equal(keeper.it.trimmedBefore, trim?.endedBefore)
})

test('records are kept per outcome, and never shorter than the misfire window and a day', () => {
  const retention = { keepMs: 100 * HOUR, keepMsBy: { succeeded: 1 }, count: 10 }
  const { keeper, run } = running({ retention })
  keeper.settle(run, 'completed')
  assert.equal(keeper.list()[0]?.expiresAt, keeper.now + 48 * HOUR)
})
