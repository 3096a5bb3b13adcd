import { setTimeout as sleep } from 'node:timers/promises'
import type { Chaos } from './chaos.ts'
import { type Fault, LOOK_MS } from './faults.ts'
import type { Random } from './random.ts'
import type { ServerEnd, ServerTrick, ServerUnderChaos } from './stores/store.ts'

/** What happens to this server; for stores that have one. In the deck with the others. */
export function serverFaults({
  clock,
  tricks,
}: ServerUnderChaos): readonly (readonly [name: string, cards: number, fault: Fault])[] {
  return [
    ['fast restart', 1, restart('fast')],
    ['immediate restart', 1, restart('immediate')],
    ['server crash', 1, restart('crash')],
    ['connections ended', 2, disconnect],
    ...('reason' in clock ? [] : [['store clock step', 1, stepClock(clock)] as const]),
    ...tricks.map((trick) => [trick.name, 1, playing(trick)] as const),
  ]
}

/** Processes that start meanwhile may not reach the store. */
export const SERVER_TROUBLE = 'server'

function restart(end: ServerEnd): Fault {
  return async (chaos, random) => {
    const downMs = random.between(0, chaos.leaseMs)
    const { server } = chaos.store
    if (server === null || !chaos.begin(SERVER_TROUBLE)) return
    const over = chaos.recorder.fault(`server ${end}`, null)
    await server.restart(end, downMs)
    over()
    chaos.over(SERVER_TROUBLE)
  }
}

async function disconnect({ store, recorder }: Chaos, random: Random): Promise<void> {
  const share = random.between(0.1, 1)
  const over = recorder.fault('connections ended', null)
  // The server may be down, and then it has no connections.
  const ended = await store.server?.disconnect(share).catch(() => 0)
  recorder.log(`${ended} connections ended`)
  over()
}

/** Of the store only: every process sees its own clock differ by this amount. */
function stepClock(clock: { readonly step: (ms: number) => void }): Fault {
  return async ({ recorder, counters }, random) => {
    const isForward = random.chance(0.5)
    const byMs = Math.round(isForward ? random.between(300, 5_000) : -random.between(200, 2_500))
    const over = recorder.fault('store clock step', null, { sparesRuns: true })
    const at = recorder.now()
    clock.step(byMs)
    recorder.add({ kind: 'clock', at, until: recorder.now(), byMs })
    recorder.log(`the store's clock steps by ${byMs} ms`)
    counters.count(isForward ? 'store clock forward' : 'store clock back')
    over()
  }
}

function playing({ name, play }: ServerTrick): Fault {
  return async (chaos, random) => {
    const ms = random.between(300, chaos.leaseMs * 2)
    // Without a queue, some of the many server faults would never get their turn.
    while (!chaos.begin(SERVER_TROUBLE)) {
      if (chaos.isCalm()) return
      await sleep(LOOK_MS)
    }
    const over = chaos.recorder.fault(name, null)
    await play(ms, chaos.wait)
    over()
    chaos.over(SERVER_TROUBLE)
  }
}
