import assert from 'node:assert/strict'
import test from 'node:test'
import type { AppRecord, DeploymentRecord } from '../../src/model/app.ts'
import {
  activateDeployment,
  announceRetirements,
  findDeployment,
  markGone,
  markLost,
  markTidied,
  outrankedBy,
  recordRefusals,
  registerProcess,
} from '../../src/policy/deploy/deployment.ts'
import { MINUTE, NOON } from './keeper.ts'

/** The record of an app, and the processes that live. */
class Fleet {
  now = NOON
  app: AppRecord | null = null
  readonly live = new Set<string>()

  /** A process starts, and registers before it declares. */
  start(
    id: string,
    declares: readonly string[] = ['bill'],
    options: { explicit?: boolean; isSteady?: boolean; isReturning?: boolean } = {},
  ): this {
    this.live.add(id)
    const process = { id, explicit: true, isSteady: false, ...options, declares }
    return this.#save(registerProcess(this.app, 'shop', process, this))
  }

  /** The last process of the deployment leaves, or dies. */
  end(id: string, diedEarly = false): this {
    this.live.delete(id)
    return this.#save(markGone(this.app!, { ...this, diedEarly: new Set(diedEarly ? [id] : []) }))
  }

  /** An observer has seen that it left for the hold-down. */
  lose(...ids: string[]): this {
    return this.#save(markLost(this.app!, new Set(ids)))
  }

  activate(id: string): this {
    const next = activateDeployment(this.app!, id, this.live)
    assert.ok(next !== null, `${id} can be activated`)
    return this.#save(next)
  }

  announce(...schedules: string[]): this {
    return this.#save(announceRetirements(this.app!, schedules))
  }

  of(id: string): DeploymentRecord {
    return findDeployment(this.app, id)!
  }

  definer(schedule = 'bill'): string {
    const [first] = this.app!.deployments.filter(
      ({ id, declares }) => declares.includes(schedule) && outrankedBy(this.app!, id, schedule) === null,
    )
    return first!.id
  }

  #save(next: AppRecord | null): this {
    if (next !== null) {
      assert.equal(next.version, (this.app?.version ?? 0) + 1)
      this.app = next
    }
    return this
  }
}

test('a process without jobs registers nothing', () => {
  assert.equal(new Fleet().start('v1', []).app, null)
  const fleet = new Fleet().start('v1').start('v2', [])
  assert.deepEqual([fleet.app?.version, fleet.app?.active], [1, 'v1'])
})

test('numbers follow the first appearance; another process of the same deployment writes nothing', () => {
  const fleet = new Fleet().start('v1').start('v2')
  assert.deepEqual([fleet.of('v1').number, fleet.of('v2').number], [1, 2])
  assert.deepEqual([fleet.app?.active, fleet.definer()], ['v2', 'v2'])
  const { version } = fleet.app!
  assert.equal(fleet.start('v1').start('v2').app?.version, version)
})

test('everything that any process of a deployment ever declared belongs to it', () => {
  const fleet = new Fleet().start('v1', ['web']).start('v1', ['worker'])
  assert.deepEqual(fleet.of('v1').declares, ['web', 'worker'])
  fleet.end('v1').lose('v1').start('v1', ['web'])
  assert.deepEqual(fleet.of('v1').declares, ['web', 'worker'])
})

test('a definition is that of the highest number; a lost one gives way to the next, and takes over when it is back', () => {
  const fleet = new Fleet().start('v1').start('v2')
  assert.equal(fleet.end('v2').definer(), 'v2', 'gone for less than the hold-down')
  assert.equal(fleet.lose('v2').definer(), 'v1')
  assert.equal(fleet.app?.active, 'v1')
  // No higher one is live: it comes back as the newest.
  assert.equal(fleet.start('v2').definer(), 'v2')
  assert.deepEqual([fleet.of('v2').lost, fleet.of('v2').goneAt], [false, null])
})

test('a deployment that only lacks a schedule leaves it to the next one that declares it', () => {
  const fleet = new Fleet().start('v1', ['bill', 'mail']).start('v2', ['mail'])
  assert.deepEqual([fleet.definer('bill'), fleet.definer('mail')], ['v1', 'v2'])
})

test('a rollback gets a new number at once if the newer deployment has no live instance', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v1').lose('v1').end('v2')
  fleet.start('v1')
  assert.deepEqual([fleet.of('v1').number, fleet.definer(), fleet.app?.active], [3, 'v1', 'v1'])
})

test('an old server that reboots while a newer deployment runs keeps its number', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v1').lose('v1').start('v1')
  assert.deepEqual([fleet.of('v1').number, fleet.definer()], [1, 'v2'])
})

test('an id that had left for less than the hold-down keeps its number', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v1').end('v2').start('v1')
  assert.deepEqual([fleet.of('v1').number, fleet.definer()], [1, 'v2'])
})

test('a release that dies soon after it became ready is on probation, and counts again after a whole hold-down', () => {
  const fleet = new Fleet().start('v1').start('v2')
  assert.equal(fleet.definer(), 'v2')
  for (let crash = 0; crash < 3; crash++) {
    fleet.end('v2', true)
    assert.equal(fleet.of('v2').onProbation, true)
    fleet.start('v2')
  }
  assert.equal(outrankedBy(fleet.app!, 'v1', 'bill')?.id, 'v2', 'the hold-down is not over')
  fleet.lose('v2')
  assert.deepEqual([fleet.definer(), fleet.app?.active], ['v1', 'v1'])
  fleet.end('v2').start('v2')
  assert.deepEqual([fleet.definer(), fleet.of('v2').lost, fleet.of('v2').number], ['v1', true, 2])
  fleet.start('v2', ['bill'], { isSteady: true })
  assert.deepEqual([fleet.definer(), fleet.of('v2').onProbation, fleet.of('v2').lost], ['v2', false, false])
})

test('on probation a deployment defines what no other one declares', () => {
  const fleet = new Fleet()
    .start('v1', ['bill'])
    .start('v2', ['bill', 'new'])
    .end('v2', true)
    .start('v2', ['bill', 'new'])
  assert.deepEqual([outrankedBy(fleet.app!, 'v2', 'bill')?.id, outrankedBy(fleet.app!, 'v2', 'new')], ['v1', null])
})

test('a deployment that leaves is not on probation', () => {
  assert.equal(new Fleet().start('v1').end('v1').of('v1').onProbation, false)
})

test('an operator activates a deployment that is live, until an id appears for the first time', () => {
  const fleet = new Fleet().start('v1').start('v2').activate('v1')
  assert.deepEqual([fleet.of('v1').number, fleet.definer(), fleet.app?.activated], [3, 'v1', 'v1'])
  fleet.end('v2').lose('v2').start('v2')
  assert.deepEqual([fleet.definer(), fleet.app?.activated], ['v1', 'v1'], 'v2 is not a new id')
  fleet.start('v3')
  assert.deepEqual([fleet.definer(), fleet.app?.activated], ['v3', null])
  fleet.end('v1')
  assert.equal(activateDeployment(fleet.app!, 'v1', fleet.live), null, 'it has no live instance')
  assert.equal(activateDeployment(fleet.app!, 'unknown', fleet.live), null)
})

test('activation ends probation', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v2', true).start('v2').lose('v2').activate('v2')
  assert.deepEqual([fleet.definer(), fleet.of('v2').onProbation, fleet.of('v2').lost], ['v2', false, false])
})

test('a process that declares what is announced as retired objects, if its declaration counts', () => {
  const implicit = new Fleet().start('a', ['bill'], { explicit: false }).announce('bill', 'other')
  implicit.start('a', ['bill'], { explicit: false })
  assert.deepEqual(implicit.app?.retired, ['other'])
  const older = new Fleet().start('v1', ['bill']).start('v2', ['mail']).announce('bill').start('v1', ['bill'])
  assert.deepEqual(older.app?.retired, ['bill'], 'the newest explicit deployment does not declare it')
  older.start('v2', ['bill'])
  assert.deepEqual(older.app?.retired, [])
})

test('any return of a deployment changes the version, so a retirement that was decided before is not written', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v1')
  const { version } = fleet.app!
  assert.equal(fleet.start('v1').app?.version, version + 1)
})

test('only a deployment that does not count is lost, and only once', () => {
  const fleet = new Fleet().start('v1').start('v2').end('v2')
  assert.equal(markLost(fleet.app!, new Set(['v1'])), null)
  fleet.lose('v2')
  assert.equal(markLost(fleet.app!, new Set(['v2'])), null)
})

test('cleanup is written once, and drops the declarations of a deployment without an id', () => {
  const fleet = new Fleet().start('a', ['bill'], { explicit: false }).start('v1').end('a').lose('a')
  const next = markTidied(fleet.app!, 2, new Set(['a']))!
  assert.deepEqual(findDeployment(next, 'a')?.declares, [])
  assert.equal(markTidied(next, 2, new Set(['a'])), null)
})

test('refusals are those of the latest declaration of each process', () => {
  const fleet = new Fleet().start('v1')
  const about = { deployment: 'v1', host: 'h', pid: 1, message: '', at: NOON }
  const refusal = (instance: string, schedule: string) => ({
    ...about,
    instance,
    schedule,
    code: 'SCHEDULE_NAME_TAKEN',
  })
  const one = recordRefusals(fleet.app!, 'a', [refusal('a', 'bill')])!
  const two = recordRefusals(one, 'b', [refusal('b', 'mail')])!
  assert.equal(recordRefusals(two, 'a', [refusal('a', 'bill')]), null)
  assert.deepEqual(
    recordRefusals(two, 'a', [])!.refused.map(({ schedule }) => schedule),
    ['mail'],
  )
})

test('a refusal is replaced when its message changes', () => {
  const fleet = new Fleet().start('v1')
  const about = { deployment: 'v1', host: 'h', pid: 1, at: NOON, instance: 'a', schedule: 'bill', code: 'TAKEN' }
  const one = recordRefusals(fleet.app!, 'a', [{ ...about, message: 'It was receipt.' }])!
  const two = recordRefusals(one, 'a', [{ ...about, message: 'It goes on as invoice.' }])!
  assert.deepEqual(
    two.refused.map(({ message }) => message),
    ['It goes on as invoice.'],
  )
})

/** Many releases, each after the one before it has left. */
function releaseMany(fleet: Fleet, count: number): Fleet {
  for (let n = 0; n < count; n++) {
    fleet.now += MINUTE
    fleet.start(`d${n}`)
    if (n > 0) fleet.end(`d${n - 1}`).lose(`d${n - 1}`)
  }
  return fleet
}

test('the record describes twenty deployments that have left, and all that are live', () => {
  const fleet = releaseMany(new Fleet().start('old'), 40)
  fleet.start('last')
  // Twenty, `old`, `d39` and `last`.
  assert.equal(fleet.app?.deployments.length, 23)
  assert.ok(fleet.of('old') !== undefined)
  assert.equal(fleet.app?.active, 'last')
  for (let n = 0; n < 50; n++) fleet.start(`live-${n}`)
  assert.equal([...fleet.live].filter((id) => fleet.of(id) === undefined).length, 0)
})

test('a deployment of long ago keeps its low number when it comes back, and gets a new one by a rollback', () => {
  const fleet = releaseMany(new Fleet().start('old').end('old').lose('old'), 60).start('old')
  assert.deepEqual([fleet.of('old').number, fleet.app?.active, fleet.definer()], [1, 'd59', 'd59'])
  fleet.end('old').lose('old')
  fleet.end('d59').lose('d59').start('old')
  assert.deepEqual([fleet.of('old').number, fleet.definer()], [62, 'old'])
})

test('a deployment of long ago that had died early is still on probation', () => {
  const fleet = releaseMany(new Fleet().start('old').end('old', true).lose('old'), 60)
  fleet.end('d59').lose('d59').start('old')
  assert.deepEqual([fleet.of('old').onProbation, fleet.of('old').number], [true, 1])
})

test('the numbers of a thousand deployments are kept', () => {
  const fleet = releaseMany(new Fleet(), 1_100)
  assert.equal(fleet.app?.pruned?.length, 1_000)
})

const EACH = ['bill@*', 'bill@web-1']

test('a job has one form in a deployment, once or on each host: the first one stands until all of its processes have stopped', () => {
  for (const [first, second] of [
    [['bill'], EACH],
    [EACH, ['bill']],
  ] as const) {
    const fleet = new Fleet().start('v1', [...first, 'mail'])
    const { version } = fleet.app!
    fleet.start('v1', second)
    assert.equal(fleet.app!.version, version, 'the second form is not on record')
    fleet.start('v1', [...second, 'news'])
    assert.deepEqual(fleet.of('v1').declares, [...first, 'mail', 'news'].sort())
    fleet.end('v1').start('v1', second, { isReturning: true })
    assert.deepEqual(fleet.of('v1').declares, [...second, 'mail', 'news'].sort())
    assert.equal(fleet.of('v1').number, 2)
  }
})

test('a process whose form of a job does not count does not object to its retirement', () => {
  const fleet = new Fleet().start('v1', ['bill']).announce('bill@web-1')
  fleet.start('v1', [...EACH, 'mail'])
  assert.deepEqual(fleet.app!.retired, ['bill@web-1'])
})
