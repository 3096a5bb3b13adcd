import assert from 'node:assert/strict'
import test from 'node:test'
import type { AppRecord, DeploymentRecord } from '../../src/model/app.ts'
import { contestedSchedules, disjointProcesses } from '../../src/policy/deploy/contested.ts'
import { type DeclaringInstance, judgeRetirement, type Observation } from '../../src/policy/deploy/retirement.ts'
import { DAY, definition, HOUR, NOON } from './keeper.ts'

function deployment(
  id: string,
  number: number,
  declares: string[],
  over: Partial<DeploymentRecord> = {},
): DeploymentRecord {
  return {
    ...{ id, explicit: true, number, declares, firstReadyAt: 0, readyAt: 0, goneAt: null },
    ...{ onProbation: false, lost: false, cleared: false, ...over },
  }
}

const LOST = { goneAt: NOON - HOUR, lost: true }
const IMPLICIT = { explicit: false }

function app(...deployments: DeploymentRecord[]): AppRecord {
  const none = { active: null, activated: null, tidiedFor: null, retired: [], refused: [] }
  return { name: 'shop', version: 1, ...none, deployments }
}

function process(deployment: string, ...jobs: string[]): DeclaringInstance {
  return { id: `${deployment} ${jobs}`, deployment, jobs, host: 'host', pid: 7 }
}

/** The fate of the schedule bill, or another one, defined under this number. */
function judge(record: AppRecord, number: number, seen: Partial<Observation>, source = 'shop', id = 'bill') {
  const host = id.split('@')[1]
  const placed = host === undefined ? {} : { on: { role: ['web'], host: [host] } }
  const state = {
    ...{ id, definition: { ...definition(), ...placed }, updatedAt: NOON - HOUR, retiredAt: null },
    source: { kind: 'code', app: source, number } as const,
  }
  const absent = new Set(record.deployments.filter(({ lost }) => lost).map(({ id }) => id))
  const nothing = {
    steady: new Set<string>(),
    outwaited: new Set<string>(),
    hostless: new Set<string>(),
    active: new Set<string>(),
  }
  const verdict = judgeRetirement(record, state, { now: NOON, instances: [], absent, ...nothing, ...seen })
  return verdict.kind === 'retire' ? `${verdict.cause} by ${verdict.by.deployment}` : verdict.kind
}

const steady = new Set(['v2'])

test('explicit: what the newest ready deployment does not declare is retired after the hold-down', () => {
  const record = app(deployment('v1', 1, ['bill'], LOST), deployment('v2', 2, ['mail']))
  const instances = [process('v2', 'mail')]
  assert.equal(judge(record, 1, { instances }), 'wait')
  assert.equal(judge(record, 1, { instances, steady }), 'dropped by v2')
})

test('explicit: what any process of the newest deployment ever declared stays, though none of that role is live', () => {
  const record = app(deployment('v1', 1, ['bill'], LOST), deployment('v2', 2, ['bill', 'mail']))
  assert.equal(judge(record, 1, { instances: [process('v2', 'mail')], steady }), 'keep')
})

test('explicit: what a live process of an older deployment declares is contested, and retired after retireAfter', () => {
  const record = app(deployment('v1', 1, ['bill']), deployment('v2', 2, ['mail']))
  const instances = [process('v1', 'bill'), process('v2', 'mail')]
  assert.equal(judge(record, 1, { instances }), 'contested')
  assert.equal(judge(record, 1, { instances, steady }), 'contested')
  assert.equal(judge(record, 1, { instances, steady, outwaited: new Set(['bill']) }), 'dropped by v2')
  assert.deepEqual([...contestedSchedules(record, instances)], [['bill', [instances[0]]]])
})

test('explicit: what an activated deployment does not declare is retired at once, also from a live older process', () => {
  const record = { ...app(deployment('v1', 3, ['mail']), deployment('v2', 2, ['bill', 'mail'])), activated: 'v1' }
  assert.equal(judge(record, 2, { instances: [process('v1', 'mail'), process('v2', 'bill', 'mail')] }), 'dropped by v1')
})

test('explicit: a deployment that has left or is on probation retires nothing', () => {
  for (const over of [{ goneAt: NOON }, { onProbation: true }]) {
    const record = app(deployment('v1', 1, ['bill']), deployment('v2', 2, ['mail'], over))
    const instances = [process('v1', 'bill')]
    assert.equal(judge(record, 1, { instances, steady, outwaited: new Set(['bill']) }), 'wait')
    assert.equal(contestedSchedules(record, instances).size, 0)
  }
})

test('explicit: what only a lost newer deployment declared is retired by the one that counts', () => {
  const record = app(deployment('v1', 1, ['mail']), deployment('v2', 2, ['bill'], LOST))
  assert.equal(judge(record, 2, { instances: [process('v1', 'mail')], steady: new Set(['v1']) }), 'dropped by v1')
})

test('explicit: what a live process without an id declares is never retired, nor what an unknown process does', () => {
  const record = app(
    deployment('v1', 1, ['bill']),
    deployment('v2', 2, ['mail']),
    deployment('x', 3, ['bill'], IMPLICIT),
  )
  for (const id of ['x', 'unknown']) {
    const instances = [process('v1', 'bill'), process(id, 'bill')]
    assert.equal(judge(record, 1, { instances, steady, outwaited: new Set(['bill']) }), 'keep')
    assert.equal(contestedSchedules(record, instances).size, 0)
  }
})

test('implicit: what a live process declares is never retired', () => {
  const record = app(deployment('a', 1, ['bill'], IMPLICIT), deployment('b', 2, ['mail'], IMPLICIT))
  const instances = [process('a', 'bill'), process('b', 'mail')]
  assert.equal(judge(record, 1, { instances, now: NOON + 100 * DAY, steady: new Set(['b']) }), 'keep')
})

test('implicit: what no live process declares for the hold-down is retired if a live deployment is its successor', () => {
  const gone = deployment('a', 1, ['bill', 'mail'], { ...IMPLICIT, ...LOST })
  const successor = deployment('b', 2, ['mail', 'news'], IMPLICIT)
  const instances = [process('b', 'mail', 'news')]
  assert.equal(judge(app(gone, successor), 1, { instances }), 'absent by b')
  assert.equal(judge(app({ ...gone, lost: false }, successor), 1, { instances }), 'wait')
  // Lost because it is on probation, and live a moment ago.
  assert.equal(judge(app({ ...gone, onProbation: true }, successor), 1, { instances, absent: new Set() }), 'wait')
})

test('implicit: without a successor it is retired after its misfire window, at least a day', () => {
  const gone = deployment('a', 1, ['bill'], { ...IMPLICIT, goneAt: NOON, lost: true })
  const stranger = deployment('b', 2, ['mail'], IMPLICIT)
  const instances = [process('b', 'mail')]
  const record = app(gone, stranger)
  assert.equal(judge(record, 1, { instances, now: NOON + DAY - 1 }), 'wait')
  assert.equal(judge(record, 1, { instances, now: NOON + DAY }), 'absent by a')
})

test('implicit: a successor must be live', () => {
  const gone = deployment('a', 1, ['bill', 'mail'], { ...IMPLICIT, ...LOST })
  const other = deployment('b', 2, ['mail'], { ...IMPLICIT, ...LOST })
  assert.equal(judge(app(gone, other), 1, { instances: [process('c', 'news')] }), 'wait')
})

test('schedules of another app are not judged', () => {
  const record = app(deployment('v1', 1, ['bill'], LOST), deployment('v2', 2, ['mail']))
  assert.equal(judge(record, 1, { instances: [process('v2', 'mail')], steady }, 'blog'), 'keep')
})

test('processes of other deployments without a common schedule are reported, one for each deployment', () => {
  const me = process('v1', 'bill')
  const others = [process('v1', 'mail'), process('v2', 'mail'), process('v2', 'news'), process('v3', 'bill', 'mail')]
  assert.deepEqual(disjointProcesses(me, others), [others[1]])
})

test('implicit: schedules of a deployment that was pruned since are kept for a day after it left', () => {
  const script = { id: 'script', number: 1, onProbation: false }
  const live = deployment('web', 2, ['mail'], IMPLICIT)
  const instances = [process('web', 'mail')]
  const goneFor = (ms: number): AppRecord => ({ ...app(live), pruned: [{ ...script, goneAt: NOON - ms }] })
  assert.equal(judge(goneFor(HOUR), 1, { instances, now: NOON + 22 * HOUR }), 'wait')
  assert.equal(judge(goneFor(HOUR), 1, { instances, now: NOON + 23 * HOUR }), 'absent by ')
  assert.equal(judge(goneFor(-HOUR), 1, { instances, now: NOON + 24 * HOUR }), 'wait', 'although defined a day ago')
})

/** By form of the job: the schedules that a process on the host web-1 declares, and the names of jobs that it has. */
const FORMS = {
  once: { declares: ['bill'], jobs: ['bill'], schedule: 'bill' },
  each: { declares: ['bill@*', 'bill@web-1'], jobs: ['bill', 'bill@web-1'], schedule: 'bill@web-1' },
} as const

for (const [old, now] of [
  ['once', 'each'],
  ['each', 'once'],
] as const) {
  const [was, is] = [FORMS[old], FORMS[now]]
  const what = now === 'each' ? "gets hosts: 'each'" : "loses hosts: 'each'"
  const next = process('v2', ...is.jobs)
  const fate = (record: AppRecord, seen: Partial<Observation>): string => judge(record, 1, seen, 'shop', was.schedule)

  test(`explicit: a job that ${what} changes its form after the hold-down, beside live processes of the old release`, () => {
    const v2 = deployment('v2', 2, [...is.declares])
    const gone = app(deployment('v1', 1, [...was.declares], LOST), v2)
    assert.equal(fate(gone, { instances: [next] }), 'wait')
    assert.equal(fate(gone, { instances: [next], steady }), 'dropped by v2')
    const record = app(deployment('v1', 1, [...was.declares]), v2)
    const instances = [process('v1', ...was.jobs), next]
    assert.equal(fate(record, { instances }), 'wait')
    assert.equal(fate(record, { instances, steady }), 'dropped by v2')
    assert.equal(contestedSchedules(record, instances).size, 0)
    const away = app(deployment('v1', 1, [...was.declares]), { ...v2, goneAt: NOON })
    assert.equal(fate(away, { instances, steady }), 'wait', 'a release that has left changes nothing')
  })

  test(`implicit: a job that ${what} changes its form when the old processes have been gone for the hold-down`, () => {
    const v2 = deployment('v2', 2, [...is.declares], IMPLICIT)
    const live = app(deployment('v1', 1, [...was.declares], IMPLICIT), v2)
    const far = { now: NOON + 100 * DAY, steady }
    assert.equal(fate(live, { ...far, instances: [process('v1', ...was.jobs), next] }), 'keep')
    const gone = app(deployment('v1', 1, [...was.declares], { ...IMPLICIT, ...LOST }), v2)
    assert.equal(fate(gone, { instances: [next] }), 'dropped by v2')
    assert.equal(fate(gone, { instances: [next], absent: new Set() }), 'wait')
  })

  test(`a job that ${what} and another name is the same job`, () => {
    const [rename, declares, jobs] =
      now === 'each'
        ? [{ was: 'bill@web-1', id: 'pay@web-1' }, ['pay@*', 'pay@web-1'], ['pay', 'pay@web-1']]
        : [{ was: 'bill', id: 'pay' }, ['pay'], ['pay']]
    const instances = [process('v2', ...jobs)]
    const seen = { instances, active: new Set(declares) }
    const gone = (over: Partial<DeploymentRecord>): AppRecord =>
      app(
        deployment('v1', 1, [...was.declares], { ...LOST, ...over }),
        deployment('v2', 2, declares, { renames: [rename], ...over }),
      )
    assert.equal(fate(gone({}), { ...seen, steady }), 'dropped by v2')
    assert.equal(fate(gone(IMPLICIT), seen), 'dropped by v2')
  })
}

test('a job with an @ in its name is none of a host', () => {
  const record = app(deployment('v1', 1, ['bill@home', 'bill']), deployment('v2', 2, ['bill']))
  const instances = [process('v1', 'bill@home', 'bill'), process('v2', 'bill')]
  assert.deepEqual([...contestedSchedules(record, instances).keys()], ['bill@home'])
})

test('implicit: what any live process declares once for all hosts is kept, whatever others have on each host', () => {
  const record = app(
    deployment('v1', 1, ['bill'], IMPLICIT),
    deployment('v2', 2, [...FORMS.each.declares], { explicit: true }),
  )
  const instances = [process('v1', 'bill'), process('v2', ...FORMS.each.jobs)]
  assert.equal(judge(record, 1, { instances, steady }), 'keep')
  assert.equal(judge(record, 2, { instances: [process('unknown', ...FORMS.each.jobs)], steady }), 'keep')
})
