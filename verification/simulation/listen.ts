import type { World } from '../../packages/cronce/test/virtual/world.ts'
import type { FeedWitness } from './invariants/judge-feeds.ts'
import type { Node } from './node.ts'
import type { FeedPlan } from './scenario.ts'

/** How long a feed has to report what was committed once nothing is wrong, beside its looks: a call may have to time out first. */
const CATCH_UP_MS = 60_000

export interface Listening {
  readonly node: Node
  /** From now on. */
  readonly begin: () => void
  /** Judges the feed, and stops listening. */
  readonly finish: () => void
}

/** A process that follows a feed over a connection that fails according to its plan, until all faults have healed. */
export function listenTo(
  node: Node,
  plan: FeedPlan,
  {
    world,
    witness,
    count,
  }: { readonly world: World; readonly witness: FeedWitness; readonly count: (what: string) => void },
): Listening {
  const stop = new AbortController()
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const onReady = (): void => {
        count('feed ready')
        witness.ready()
      }
      try {
        for await (const entry of node.app.feed({ interval: plan.intervalMs, signal: stop.signal, onReady })) {
          count(`feed ${entry.kind}`)
          witness.told(entry)
        }
      } catch {
        // The store could not be read when it began.
        count('feed failed')
        await world.after(1_000)
      }
    }
  }
  return {
    node,
    begin: () => void follow(),
    finish() {
      witness.finish(world.now() - 3 * plan.intervalMs - CATCH_UP_MS)
      stop.abort()
    },
  }
}
