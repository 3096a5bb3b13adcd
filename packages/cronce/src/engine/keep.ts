import type { Core } from './core.ts'
import type { Deployer } from './deploy.ts'
import { describeError } from './describe-error.ts'
import type { PeerWatch } from './peers.ts'
import { callStore, pauseAfter } from './store-calls.ts'

/** Slow duties. Nobody looks for them: every beat tells whether there is one. */
export interface Keeper {
  /** After every beat: see what it told. */
  heed(): void
  /** Until the engine stops. Never rejects. */
  loop(): Promise<void>
}

/** A history of which something expires all the time is pruned in one go, so often. */
const PRUNE_MS = 30_000
const PRUNE_BATCH = 500
const PRUNE_ROUNDS = 20

export function keeper(core: Core, deploys: Deployer, peers: PeerWatch): Keeper {
  const { clock, store } = core.parts
  let orphans: readonly string[] = []
  let toldBefore: readonly string[] = []
  let prunedAt = Number.NEGATIVE_INFINITY

  const isPruneWanted = (): boolean =>
    core.chores.prunable && isEldest(core) && clock.mono() - prunedAt >= Math.max(PRUNE_MS, core.settings.leaseMs)

  const heed = (): void => {
    const told = core.chores.orphans
    // Whoever declares one dead recovers its runs, and one is enough to watch over that; but that one may be paused.
    orphans = isEldest(core) ? told : told.filter((id) => toldBefore.includes(id))
    toldBefore = told
    if (orphans.length > 0 || deploys.isWanted() || isPruneWanted()) core.keepAlarm.ring()
  }

  const keep = async (): Promise<void> => {
    if (deploys.isWanted()) await deploys.keep()
    const found = orphans
    for (const id of found) await peers.recoverRuns(id)
    if (orphans === found) orphans = []
    if (isPruneWanted()) await prune()
  }

  const prune = async (): Promise<void> => {
    prunedAt = clock.mono()
    for (let round = 0; round < PRUNE_ROUNDS; round++) {
      const { deleted } = await callStore(core, 'prune', () => store.prune(PRUNE_BATCH))
      if (deleted < PRUNE_BATCH) return
    }
  }

  const loop = async (): Promise<void> => {
    for (let failures = 0; !core.stopped.aborted; ) {
      if (failures === 0) await core.keepAlarm.wait(deploys.restMs())
      if (core.stopped.aborted) return
      try {
        await keep()
        failures = 0
      } catch (error) {
        const pauseMs = pauseAfter(failures++, core.parts.random)
        core.storeFailed('keep', describeError(error), pauseMs)
        await clock.sleep(pauseMs, core.stopped)
      }
    }
  }

  return { heed, loop }
}

/** One of the fleet, and all agree which. */
function isEldest({ peers, instance }: Core): boolean {
  return peers.every(({ id }) => id >= instance)
}
