import { setTimeout as sleep } from 'node:timers/promises'
import { declared } from './deploy.ts'
import { CELL_JOBS } from './jobs.ts'
import { BOUNDS, type CellResult, problemsIn, settled } from './matrix.ts'
import type { ChaosStore } from './stores/store.ts'
import { startWorld } from './world.ts'

const CRASHES = 2
/** Between crashes: long enough for many commits that a server may not have written yet. */
const BETWEEN_MS = 1_500

/** Two processes that are well, and a server that is killed: what it acknowledged must be there when it is back. */
export async function runServerCrashes(store: ChaosStore): Promise<Omit<CellResult, 'cell'>> {
  const world = await startWorld({
    store,
    seed: 1,
    slots: ['one', 'two'],
    bounds: BOUNDS,
    names: CELL_JOBS.map(({ name }) => name),
    jobsOf: () => CELL_JOBS,
    setsClock: false,
  })
  try {
    await Promise.all(world.jobsOf(0).map(({ name, spec }) => declared(world, 0, name, { verb: 'define', spec })))
    await world.fleet.ready()
    const reads = []
    for (let crash = 0; crash < CRASHES; crash++) {
      await sleep(BETWEEN_MS)
      // What was seen once must not be unseen.
      reads.push(await world.read())
      const over = world.recorder.fault('server crash', null)
      await world.store.server!.restart('crash', 0)
      over()
    }
    await settled(world)
    return problemsIn(await world.judge(reads))
  } catch (error) {
    return { problems: [(error as Error).message], properties: [], isSlow: false }
  } finally {
    await world.end()
    world.removeFolder()
  }
}
