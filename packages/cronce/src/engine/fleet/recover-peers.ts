import type { InstanceRecord } from '../../model/instance.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE } from '../../policy/decision.ts'
import { recover } from '../../policy/end/recover.ts'
import { listRuns } from '../../store/list-views.ts'
import { changeSchedules } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { loop } from '../loop.ts'
import { callStore } from '../store-calls.ts'
import { WAIT_ENDED } from '../wait-ended.ts'
import type { FleetState } from './fleet-state.ts'
import { GRACE_MS } from './lease.ts'

/** Notices which instances have died, says so in the store, and gives their fires back to the fleet. */
export interface PeerWatch {
  /** After every beat: who has renewed, who is gone. */
  observe(): void
  /** By the lease: until the engine stops. Never rejects. */
  watchLeases(): Promise<void>
  /** By the process, where the store can tell. */
  watchProcesses(): Promise<void>
  /**
   * For whoever stays for one look only, and would never see anybody be silent for long: stay for as long as that takes, if somebody who
   * runs one of our jobs seems to be gone. Throws when the store does.
   */
  recoverFirst(): Promise<void>
  /** Give back the fires that an instance holds which is over, for certain. Throws when the store does. */
  recoverRuns(instance: string): Promise<void>
}

/** Seen alive, by this process's own monotonic clock. */
interface Seen {
  readonly renewals: number
  readonly at: number
}

/** Two beats of an idle instance, and a moment. */
const IDLE_LEASES = 1.4
const BATCH = 500
const ROUNDS = 1_000
const AT_ONCE_MS = 300
/** How many others each instance probes: enough that two deaths at once are noticed. */
const PROBED = 2
/** After so many leases another failure may count as an outage again. */
const FORGIVEN_LEASES = 3

export function peerWatch(core: Core, fleet: FleetState): PeerWatch {
  const { clock, store, emit, jobs } = core.parts
  const { leaseMs, probeMs } = core.settings
  const seen = new Map<string, Seen>()
  let lookedAt = clock.mono()
  let forgivenAt = Number.NEGATIVE_INFINITY

  const observe = (): void => {
    const now = clock.mono()
    if (wasBlind(now)) {
      for (const [id, { renewals }] of seen) seen.set(id, { renewals, at: now })
      forgivenAt = now
    }
    lookedAt = now
    for (const { id, renewals } of core.fleet.peers) {
      if (seen.get(id)?.renewals !== renewals) seen.set(id, { renewals, at: now })
    }
    const live = new Set(core.fleet.peers.map(({ id }) => id))
    // That a list lacks it proves nothing: an answer may be older than the one before it. Who is over is told apart.
    for (const id of seen.keys()) if (!live.has(id)) seen.delete(id)
  }

  /**
   * Whoever could not look has not seen that nobody renewed: after an outage everybody gets a whole lease to come back. Not
   * every failure counts as an outage, or one call in ten that fails would keep the dead alive for ever.
   */
  const wasBlind = (now: number): boolean =>
    now - lookedAt >= leaseMs || (core.failedAt() >= lookedAt && now - forgivenAt >= FORGIVEN_LEASES * leaseMs)

  const bury = async (peer: InstanceRecord, by: 'probe' | 'lease'): Promise<void> => {
    const mark = { kind: 'dead', instance: peer.id, renewals: peer.renewals, hint: by === 'probe' } as const
    if (!(await callStore(core, 'bury', () => store.mark(mark)))) return
    emit({ type: 'instance.died', instance: peer.id, by })
    fleet.peers = fleet.peers.filter(({ id }) => id !== peer.id)
    seen.delete(peer.id)
    await recoverRuns(peer.id)
  }

  /** Each round takes one run of each schedule; others may do the same at the same time, and the versions sort it out. */
  const recoverRuns = async (instance: string): Promise<void> => {
    let before = ''
    for (let round = 0; round < ROUNDS; round++) {
      const query = { instance, outcome: 'open' as const, after: null, limit: BATCH }
      const { items } = await callStore(core, 'recover (list)', () => listRuns(store, query))
      // Who only looked on while others were at it must not think that it is done: they may die of it.
      const left = items.map(({ schedule, token }) => `${token} ${schedule}`).join()
      if (left === before) break
      before = left
      const tokens = new Map(items.map(({ schedule, token }) => [schedule, token]))
      await core.parts.sync('recover:sent')
      const decide = (id: string, state: ScheduleState | null, context: Context): Decision | null => {
        const decision = state === null ? STALE : recover(state, tokens.get(id)!, context)
        return decision === STALE ? null : decision
      }
      // All are told: this instance may have no room for what it recovers.
      await changeSchedules(core, 'recover', [...tokens.keys()], decide, { wake: true })
    }
    core.claimAlarm.ring()
  }

  /**
   * When somebody who did not renew since must be looked at. Who seems to hold nothing is not missed: the beat after the
   * next tells, and would have been told of a renewal that came just after the last one.
   */
  const lookAt = ({ id, running }: InstanceRecord): number => {
    const { at } = seen.get(id) ?? { at: clock.mono() }
    return at + (running > 0 ? leaseMs : leaseMs * IDLE_LEASES)
  }

  const watchLeases = (): Promise<void> =>
    loop(core, 'watch', async () => {
      for (;;) {
        const deadline = Math.min(...core.fleet.peers.filter(({ id }) => id !== core.fleet.instance).map(lookAt))
        const waitMs = Number.isFinite(deadline) ? deadline - clock.mono() : leaseMs
        if (core.stopped.aborted || waitMs <= 0) break
        await clock.sleep(Math.min(waitMs, leaseMs), core.stopped)
      }
      if (!core.stopped.aborted) await lookAtLeases()
    })

  /** Dead only if the store says so *and* we have seen no renewal for a whole lease ourselves: store clocks jump. */
  const lookAtLeases = async (): Promise<void> => {
    const { instances } = await callStore(core, 'watch', () => store.listInstances({ ended: 0 }))
    fleet.peers = instances.filter((peer) => !isOver(peer))
    observe()
    const now = clock.mono()
    for (const peer of core.fleet.peers) {
      const last = seen.get(peer.id)
      if (peer.id === core.fleet.instance || last === undefined || now - last.at < leaseMs) continue
      if (peer.expired) await bury(peer, 'lease')
      // It renews without being seen to, or the store's clock is behind: look again in a while.
      else seen.set(peer.id, { renewals: peer.renewals, at: now - leaseMs / 2 })
    }
  }

  const watchProcesses = async (): Promise<void> => {
    if (!store.info.probes) return
    await loop(core, 'probe', async () => {
      await clock.sleep(probeMs, core.stopped)
      if (!core.stopped.aborted) await probeNeighbours()
    })
  }

  /** In a ring, so that the work does not grow with the square of the fleet. */
  const probeNeighbours = async (): Promise<void> => {
    const ids = core.fleet.peers.map(({ id }) => id).sort()
    const own = ids.indexOf(core.fleet.instance)
    if (own < 0 || ids.length < 2) return
    const neighbours = Array.from(
      { length: Math.min(PROBED, ids.length - 1) },
      (_, index) => ids[(own + 1 + index) % ids.length]!,
    )
    await probe(neighbours)
  }

  const probe = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    const gone = await callStore(core, 'probe', () => store.probe(ids))
    if (gone.length === 0) return
    const { instances } = await callStore(core, 'watch', () => store.listInstances({ ids: gone }))
    await clock.sleep(GRACE_MS, core.stopped)
    const stillGone = new Set(await callStore(core, 'probe', () => store.probe(gone)))
    for (const peer of instances) {
      if (stillGone.has(peer.id) && !isOver(peer)) await bury(peer, 'probe')
    }
  }

  const recoverFirst = async (): Promise<void> => {
    const others = core.fleet.peers.map(({ id }) => id).filter((id) => id !== core.fleet.instance)
    if (others.length > 0 && store.info.probes) await probe(await knownGone(others))
    while (!core.stopped.aborted) {
      const silent: string[] = []
      for (const { id, expired } of core.fleet.peers) if (expired && (await runsOurs(id))) silent.push(id)
      if (silent.length === 0) return
      const now = clock.mono()
      const deadline = Math.min(...silent.map((id) => (seen.get(id)?.at ?? now) + leaseMs))
      await clock.sleep(Math.max(1, deadline - now), core.stopped)
      await lookAtLeases()
    }
  }

  /** Who is gone is known at once; for the others' end the store would wait. */
  const knownGone = async (ids: readonly string[]): Promise<readonly string[]> => {
    const over = new AbortController()
    const asked = callStore(core, 'probe', () => store.probe(ids))
    // Also if nobody waits for it any more.
    asked.catch(() => {})
    try {
      return await Promise.race([asked, clock.sleep(AT_ONCE_MS, over.signal).then(() => [])])
    } finally {
      over.abort(WAIT_ENDED)
    }
  }

  const runsOurs = async (instance: string): Promise<boolean> => {
    if (instance === core.fleet.instance) return false
    const query = { instance, outcome: 'open' as const, after: null, limit: BATCH }
    const { items } = await callStore(core, 'recover (look)', () => listRuns(store, query))
    return items.some(({ job }) => jobs.has(job) || core.deploys.renamedJobs.has(job))
  }

  return { observe, watchLeases, watchProcesses, recoverRuns, recoverFirst }
}

function isOver({ state }: Pick<InstanceRecord, 'state'>): boolean {
  return state === 'dead' || state === 'left'
}
