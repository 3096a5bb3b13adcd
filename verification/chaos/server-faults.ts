import type { Chaos } from './chaos.ts'
import type { Fault } from './faults.ts'
import type { Random } from './random.ts'
import type { ServerEnd } from './stores/store.ts'

/** What happens to servers; for stores that have one. In the deck with the others. */
export const SERVER_FAULTS: readonly (readonly [name: string, cards: number, fault: Fault])[] = [
  ['fast restart', 1, restart('fast')],
  ['immediate restart', 1, restart('immediate')],
  ['server crash', 1, restart('crash')],
  ['connections ended', 2, disconnect],
]

/** Whoever starts meanwhile may not find the store. */
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
  // The server may be away just now, and then there are none.
  const ended = await store.server?.disconnect(share).catch(() => 0)
  recorder.log(`${ended} connections ended`)
  over()
}
