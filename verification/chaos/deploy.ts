import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Time } from '../../packages/checker/src/history.ts'
import type { Chaos } from './chaos.ts'
import { LOOK_MS } from './faults.ts'
import type { ChaosJob } from './jobs.ts'
import { isDefinedBy } from './watch-definitions.ts'
import type { World } from './world.ts'

/**
 * Another version of the code, process by process; some of them may be killed meanwhile, and start again with it. What the schedules are
 * at which time is recorded by `watchDefinitions`.
 */
export async function deploy(chaos: Chaos): Promise<void> {
  const { fleet, recorder } = chaos
  if (!chaos.begin('deploy')) return
  const before = fleet.release++
  recorder.log(`deploy of release ${fleet.release}`)
  const seen = Promise.all(
    differences(chaos.jobsOf(before), chaos.jobsOf(fleet.release)).map(([name, request]) =>
      isSeen(chaos, name, request),
    ),
  )
  for (const slot of fleet.slots) {
    if (slot.isOver) continue
    slot.signal('SIGTERM')
    await slot.ended()
  }
  await seen
  chaos.counters.count('deploys done')
  chaos.over('deploy')
}

/** What was declared is there: from `at` on, at some time until now. */
export async function declared(world: World, at: Time, schedule: string, request: Request): Promise<void> {
  await isSeen(world, schedule, request)
  const endedAt = world.recorder.now()
  world.recorder.add({ kind: 'operation', at, endedAt, result: 'ok', schedule, ...request })
}

async function isSeen(world: World, schedule: string, request: Request): Promise<void> {
  while (!(await isThere(world, schedule, request))) await sleep(LOOK_MS * 5)
}

async function isThere({ client }: World, schedule: string, request: Request): Promise<boolean> {
  try {
    const found = await client.schedules.find(schedule)
    if (found === null || request.verb !== 'define') return found?.state === 'retired'
    return found.state !== 'retired' && isDefinedBy(found, request.spec)
  } catch {
    // The store is not well just now.
    return false
  }
}

function differences(before: readonly ChaosJob[], after: readonly ChaosJob[]): [name: string, request: Request][] {
  const is = (jobs: readonly ChaosJob[], name: string) => jobs.find((job) => job.name === name)
  const changed = after
    .filter(({ name, spec }) => JSON.stringify(is(before, name)?.spec) !== JSON.stringify(spec))
    .map(({ name, spec }): [string, Request] => [name, { verb: 'define', spec }])
  const gone = before
    .filter(({ name }) => is(after, name) === undefined)
    .map(({ name }): [string, Request] => [name, { verb: 'retire' }])
  return [...changed, ...gone]
}
