import { setTimeout as sleep } from 'node:timers/promises'
import { type Fault, onSlot } from '../faults.ts'

export const name = 'stutter'

/** A process that gets a fifth of its time, in pieces of 20 ms. */
export const fault: Fault = async (chaos, random) => {
  const ms = random.between(500, chaos.leaseMs * 2)
  await onSlot(chaos, random, async (slot) => {
    const over = chaos.recorder.fault(name, slot.node)
    for (const end = chaos.recorder.now() + ms; chaos.recorder.now() < end && !chaos.isCalm(); ) {
      slot.signal('SIGSTOP')
      await sleep(80)
      slot.signal('SIGCONT')
      await sleep(20)
    }
    over()
  })
}
