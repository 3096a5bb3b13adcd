import type { Fault, Link, StoreCall } from '../../packages/cronce/test/virtual/link.ts'
import type { Workplace } from './handle.ts'
import type { Dice } from './random.ts'
import { LINK_FAULTS, type LinkFault } from './scenario.ts'

/** What is wrong with a connection for a while: each call has this chance. */
export interface Disturbance {
  readonly fault: LinkFault | 'trouble'
  readonly rate: number
  readonly slowMs: number
}

/** A connection on which everything takes a little time, and some things go wrong. */
export function disturb(
  link: Link,
  dice: Dice,
  latencyMs: number,
  { count, lost }: Pick<Workplace, 'count' | 'lost'>,
): { readonly disturbances: Set<Disturbance> } {
  const disturbances = new Set<Disturbance>()
  link.disturb((call) => {
    const ways = { requestMs: dice.whole(0, latencyMs), answerMs: dice.whole(0, latencyMs) }
    for (const { fault, rate, slowMs } of disturbances) {
      const isTrouble = fault === 'trouble'
      if (!dice.chance(isTrouble && !WRITES.has(call.name) ? rate / 3 : rate)) continue
      const kind = isTrouble ? dice.pick(LINK_FAULTS) : fault
      count(`link ${kind}`)
      const isHeard = kind === 'slow' || kind === 'duplicate'
      if (call.name === 'transact' && !isHeard) lost.add((call.args[0] as { readonly token: string }).token)
      return faultOf(kind, call, ways, slowMs, dice)
    }
    return { kind: 'slow', ...ways }
  })
  return { disturbances }
}

/** What is worth most trouble. */
const WRITES = new Set<StoreCall['name']>(['claim', 'apply', 'beat', 'step', 'transact'])

type Ways = { readonly requestMs: number; readonly answerMs: number }

function faultOf(fault: LinkFault, { name }: StoreCall, ways: Ways, slowMs: number, dice: Dice): Fault {
  if (fault === 'duplicate') return { kind: fault, againMs: dice.whole(0, slowMs), ...ways }
  if (fault !== 'slow') return { kind: fault, ...ways }
  // A goodbye that arrives after its sender's next life is another matter: closing is local.
  if (name === 'close') return { kind: 'slow', ...ways }
  return { kind: 'slow', requestMs: dice.whole(0, slowMs), answerMs: dice.whole(0, slowMs) }
}
