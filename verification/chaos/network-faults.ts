import type { Chaos } from './chaos.ts'
import { type Fault, onSlot } from './faults.ts'
import type { ProxyMode } from './proxy.ts'
import type { Random } from './random.ts'

/** What networks do to the connections of one process; for stores that have one. In the deck with the others. */
export const NETWORK_FAULTS: readonly (readonly [name: string, cards: number, fault: Fault])[] = [
  ['cut', 1, cut],
  ['black hole', 1, inMode('black-hole')],
  ['held', 1, inMode('hold')],
  ['lost requests', 1, inMode('lose-requests')],
  ['lost answers', 1, inMode('lose-answers')],
  ['refused', 1, inMode('refuse')],
  ['slow network', 1, slow],
]

/** Processes that start in this slot meanwhile may not reach the store. */
export function troubleOf(place: string): string {
  return `network of ${place}`
}

async function cut(chaos: Chaos, random: Random): Promise<void> {
  await onSlot(chaos, random, async ({ proxy, node }) => {
    const over = chaos.recorder.fault('cut', node)
    proxy?.cut()
    over()
  })
}

function inMode(mode: ProxyMode): Fault {
  return async (chaos, random) => {
    const ms = random.between(300, chaos.leaseMs * 2.7)
    await onSlot(chaos, random, async ({ proxy, node, name }) => {
      const over = chaos.recorder.fault(mode, node)
      chaos.begin(troubleOf(name))
      proxy?.mode(mode)
      // Existing connections are not refused.
      if (mode === 'refuse') proxy?.cut()
      await chaos.wait(ms)
      proxy?.mode('pass')
      chaos.over(troubleOf(name))
      over()
    })
  }
}

async function slow(chaos: Chaos, random: Random): Promise<void> {
  const [ms, delayMs] = [random.between(500, 3_000), random.between(20, chaos.leaseMs / 2)]
  await onSlot(chaos, random, async ({ proxy, node, name }) => {
    const over = chaos.recorder.fault('slow network', node)
    chaos.begin(troubleOf(name))
    proxy?.delay(delayMs)
    await chaos.wait(ms)
    proxy?.delay(0)
    chaos.over(troubleOf(name))
    over()
  })
}
