/** What happens every few seconds. Measured processes survive all of it; a fourth one is killed and stopped. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyMode } from '../chaos/proxy.ts'
import type { Random } from '../chaos/random.ts'
import type { PreparedStore } from '../chaos/stores/store.ts'
import type { Place } from './fleet.ts'

export interface Struck {
  readonly measured: readonly Place[]
  readonly victim: Place
  readonly store: PreparedStore
  readonly leaseMs: number
}

type Fault = (struck: Struck, random: Random) => Promise<void>

const NETWORK: readonly ProxyMode[] = ['black-hole', 'hold', 'lose-requests', 'lose-answers', 'refuse']

export function faultsFor({ network, server }: PreparedStore): Readonly<Record<string, Fault>> {
  return {
    'pause beyond the lease': (struck, random) => pause(struck, random, 1.5, 2.5),
    'short pause': (struck, random) => pause(struck, random, 0.1, 0.9),
    'blocked event loop': async ({ measured, leaseMs }, random) => {
      random.pick(measured).send({ type: 'block', ms: random.between(300, leaseMs * 1.5) })
    },
    'kill -9 of the fourth process': async ({ victim }) => victim.signal('SIGKILL'),
    'SIGTERM of the fourth process': async ({ victim }) => victim.signal('SIGTERM'),
    ...(network === null ? {} : NETWORK_FAULTS),
    ...(server === null ? {} : SERVER_FAULTS),
  }
}

const NETWORK_FAULTS: Readonly<Record<string, Fault>> = {
  'connections reset': async ({ measured }, random) => random.pick(measured).proxy!.cut(),
  ...Object.fromEntries(
    NETWORK.map((mode): [string, Fault] => [
      `network: ${mode}`,
      async ({ measured, leaseMs }, random) => {
        const proxy = random.pick(measured).proxy!
        proxy.mode(mode)
        if (mode === 'refuse') proxy.cut()
        await sleep(random.between(300, leaseMs * 2))
        proxy.mode('pass')
      },
    ]),
  ),
}

const SERVER_FAULTS: Readonly<Record<string, Fault>> = {
  'server restarted': async ({ store }, random) => {
    await store.server!.restart(random.pick(['fast', 'immediate', 'crash'] as const), random.between(0, 1_500))
  },
  'connections ended by the server': async ({ store }, random) => {
    await store.server!.disconnect(random.between(0.1, 1))
  },
  'trick of the server': async ({ store, leaseMs }, random) => {
    const { tricks } = store.server!
    if (tricks.length === 0) return
    await random.pick(tricks).play(random.between(300, leaseMs), (ms) => sleep(ms))
  },
}

async function pause({ measured, leaseMs, store }: Struck, random: Random, least: number, most: number): Promise<void> {
  const place = random.pick(measured)
  const ms = random.between(least, most) * leaseMs
  place.signal('SIGSTOP')
  // One that holds the only write lock would stop its peers as well.
  if (store.isFree()) await sleep(ms)
  place.signal('SIGCONT')
}
