import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { History, RunOfFire, Start } from '../../packages/checker/src/history.ts'
import type { Violation } from '../../packages/checker/src/verdict.ts'
import type { EventOf } from '../../packages/cronce/src/model/event.ts'
import type { FireKey } from '../../packages/cronce/src/model/record.ts'
import { promoteRedis, redisText, type Server, startRedis, startRedisReplica } from '../../scripts/servers/index.ts'
import { workersIn } from './build-history.ts'
import { declared } from './deploy.ts'
import { killSlot } from './faults.ts'
import { CELL_JOBS } from './jobs.ts'
import { BOUNDS, settled, until } from './matrix.ts'
import { startProxy, type TcpProxy } from './proxy.ts'
import { disconnectClients, redisUrl, storeAt } from './stores/redis.ts'
import type { ChaosStore, PreparedStore } from './stores/store.ts'
import { startWorld } from './world.ts'

/**
 * What happens to the processes when a lagging replica is promoted. `all-move`: all find the new primary at once.
 * `one-dies`: one dies with the old primary. `one-stays`: one stays with the old primary beyond its lease.
 */
export const FATES = ['all-move', 'one-dies', 'one-stays'] as const
export type Fate = (typeof FATES)[number]

export interface FailoverResult {
  readonly fate: Fate
  /** Scripts that wrote something which the new primary does not have. */
  readonly lostWrites: number
  readonly starts: number
  /** Fires of which more than one run began although the one before was not given up. */
  readonly ranTwice: readonly FireKey[]
  /** Of those, the ones that no `store.rolledBack` named. */
  readonly unnamed: readonly FireKey[]
  readonly restored: number
  readonly doubtful: number
  readonly rollbacks: readonly (EventOf<'store.rolledBack'> & { readonly node: string })[]
  readonly violations: readonly Violation[]
  readonly surprises: readonly string[]
  readonly history: History
}

const SLOTS = ['one', 'two', 'three']
const STAYS_MS = BOUNDS.leaseMs * 2
/** Where all processes live, a busy machine must not cause a false death. */
const LONG_LEASE_MS = 20_000
const AFTER_MS = 3_000
/** The minimum number of writes that the replica lacks. */
const LEAST_LOST = 5

/** `keep`: where what was not as it should be is kept. */
export async function runFailover(fate: Fate, lossMs: number, keep?: string): Promise<FailoverResult> {
  const rollbacks: (EventOf<'store.rolledBack'> & { readonly node: string })[] = []
  const told: string[] = []
  const pair = redisPair()
  const world = await startWorld({
    store: pair.store,
    seed: 1,
    slots: SLOTS,
    bounds: fate === 'all-move' ? { ...BOUNDS, leaseMs: LONG_LEASE_MS } : BOUNDS,
    names: CELL_JOBS.map(({ name }) => name),
    jobsOf: () => CELL_JOBS,
    setsClock: false,
    onEvent(event, node) {
      if (event.type === 'store.rolledBack') rollbacks.push({ ...event, node })
      if (!event.type.startsWith('run.') && !event.type.startsWith('fire.')) told.push(`${node} ${event.type}`)
    },
  })
  const { fleet, recorder } = world
  const [struck, ...others] = fleet.slots
  try {
    await Promise.all(world.jobsOf(0).map(({ name, spec }) => declared(world, 0, name, { verb: 'define', spec })))
    await fleet.ready()
    await until('they share the work', () => workersIn(world.folder) > 1).catch(async (cause: unknown) => {
      const instances = await world.client.instances.list()
      const states = instances.map(({ id, state, running }) => `${id} ${state} ${running}`)
      throw new Error(`${String(cause)} ${JSON.stringify({ states, told: told.slice(-30) })}`, { cause })
    })
    pair.cutApart()
    await sleep(lossMs)
    await until('the replica is behind', async () => (await pair.lostWrites()) >= LEAST_LOST)
    const over = recorder.fault('failover', null)
    // The process dies before its peers can ask it.
    if (fate === 'one-dies') killSlot(world, struck!)
    const lostWrites = await pair.promote()
    for (const { proxy } of fate === 'one-stays' ? others : fleet.slots) proxy?.cut()
    if (fate === 'one-stays') {
      await sleep(STAYS_MS)
      struck!.proxy?.cut()
    }
    over()
    await fleet.ready()
    await sleep(AFTER_MS)
    await settled(world)
    const { history, verdict, surprises } = await world.judge([])
    const { violations } = verdict
    if (keep !== undefined && violations.length > 0) world.keep(join(keep, fate), history, verdict)
    return { fate, lostWrites, ...countIn(history, rollbacks), rollbacks, violations, surprises, history }
  } finally {
    await world.end()
    world.removeFolder()
  }
}

function countIn(
  history: History,
  rollbacks: readonly Pick<EventOf<'store.rolledBack'>, 'restored' | 'doubtful'>[],
): Pick<FailoverResult, 'starts' | 'ranTwice' | 'unnamed' | 'restored' | 'doubtful'> {
  const starts = history.entries.filter((entry) => entry.kind === 'start')
  const byFire = Map.groupBy(starts, fireText)
  const twice = [...byFire.values()].filter((runs) => runs.slice(0, -1).some((run) => !isGivenUp(run, history)))
  const ranTwice = twice.map((runs): FireKey => {
    const { schedule, dueAt, nonce } = runs[0]!
    return { schedule, dueAt, nonce }
  })
  const textsOf = (what: 'restored' | 'doubtful'): Set<string> =>
    new Set(rollbacks.flatMap((rollback) => rollback[what].map(fireText)))
  const [restored, doubtful] = [textsOf('restored'), textsOf('doubtful')]
  const unnamed = ranTwice.filter((fire) => !doubtful.has(fireText(fire)))
  return { starts: starts.length, ranTwice, unnamed, restored: restored.size, doubtful: doubtful.size }
}

/** Its process ended during the run or handed it back, so a peer has to run it again. */
function isGivenUp({ node, token, schedule }: Start, { entries, reads }: History): boolean {
  const isIt = (run: { readonly schedule: string; readonly token: string }): boolean =>
    run.schedule === schedule && run.token === token
  if (reads.at(-1)!.runs.some((run) => isIt(run) && run.reason === 'handed-back')) return true
  const isFinished = entries.some((entry) => entry.kind === 'finish' && isIt(entry))
  return !isFinished && entries.some((entry) => entry.kind === 'node' && entry.node === node && entry.what === 'ended')
}

function fireText({ schedule, dueAt, nonce }: Pick<RunOfFire, 'schedule' | 'dueAt' | 'nonce'>): string {
  return `${schedule} ${dueAt} ${nonce}`
}

/** A primary and a replica that can be disconnected from it. Clients connect through proxies to the current primary. */
function redisPair() {
  let primary: Server
  let replica: Server
  let link: TcpProxy
  let own: TcpProxy
  let isPromoted = false
  const current = {
    host: '127.0.0.1',
    get port() {
      return isPromoted ? replica.port : primary.port
    },
    urlBy: redisUrl,
  }
  const markOf = async (server: Server): Promise<number> =>
    Number(await redisText(server, 'HGET', 'cronce:{default}', 'mark'))
  const lostWrites = async (): Promise<number> => (await markOf(primary)) - (await markOf(replica))
  const store: ChaosStore = {
    name: 'redis failover',
    mounts: false,
    transacts: false,
    async prepare(): Promise<PreparedStore> {
      primary = await startRedis()
      link = await startProxy({ host: '127.0.0.1', port: primary.port })
      replica = await startRedisReplica(primary, { port: link.port })
      own = await startProxy(current)
      const store = storeAt(redisUrl(own.port))
      const server = {
        restart: () => Promise.reject(new Error('the replica takes over instead')),
        disconnect: (share: number) => disconnectClients(current, share),
        clock: { reason: 'not wanted' },
        tricks: [],
      }
      const close = async (): Promise<void> => {
        await store.close()
        await Promise.all([own.close(), link.close(), primary.stop(), replica.stop()])
      }
      return { ...store, network: current, server, close }
    },
  }
  return {
    store,
    /** From now on the replica receives nothing that the primary acknowledges. */
    cutApart() {
      link.mode('refuse')
      link.cut()
    },
    lostWrites,
    /** From now on clients connect to the other server. Returns the number of lost writes. */
    async promote(): Promise<number> {
      await promoteRedis(replica)
      const lost = await lostWrites()
      isPromoted = true
      own.cut()
      return lost
    },
  }
}
