import type { InstanceRecord } from '../../model/instance.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE } from '../../policy/decision.ts'
import { recover } from '../../policy/end/recover.ts'
import { listRuns } from '../../store/list-views.ts'
import { changeAsInstance } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import { loop } from '../loop.ts'
import { callStore } from '../store-calls.ts'
import { WAIT_ENDED } from '../wait-ended.ts'
import type { FleetState } from './fleet-state.ts'
import { GRACE_MS } from './lease.ts'

/** The last renewal of a peer that this process saw, by its own monotonic clock. */
interface Seen {
  readonly renewals: number
  readonly at: number
}

/** Leases after which an idle peer is checked: two of its heartbeats, and a margin. */
const IDLE_LEASES = 1.4
const BATCH = 500
const ROUNDS = 1_000
/** Longest wait for a probe that answers at once for processes that are gone. */
const AT_ONCE_MS = 300
/** How many peers each instance probes: enough that two deaths at once are noticed. */
const PROBED = 2
/** Leases after an outage until a failed call may count as another outage. */
const FORGIVEN_LEASES = 3

/** Notices which peers have died, declares them dead in the store, and recovers their runs. */
export class PeerWatch {
  readonly #core: Core
  readonly #fleet: FleetState
  readonly #seen = new Map<string, Seen>()
  #lookedAt: number
  #forgivenAt = Number.NEGATIVE_INFINITY

  constructor(core: Core, fleet: FleetState) {
    this.#core = core
    this.#fleet = fleet
    this.#lookedAt = core.parts.clock.mono()
  }

  /** Call this after every heartbeat: notes which peers have renewed, and which are gone. */
  observe(): void {
    const { fleet, parts } = this.#core
    const now = parts.clock.mono()
    if (this.#wasBlind(now)) {
      for (const [id, { renewals }] of this.#seen) this.#seen.set(id, { renewals, at: now })
      this.#forgivenAt = now
    }
    this.#lookedAt = now
    for (const { id, renewals } of fleet.peers) {
      if (this.#seen.get(id)?.renewals !== renewals) this.#seen.set(id, { renewals, at: now })
    }
    const live = new Set(fleet.peers.map(({ id }) => id))
    // A peer that a list lacks need not be dead: the answer may be older than the one before. Dead ones are listed apart.
    for (const id of this.#seen.keys()) if (!live.has(id)) this.#seen.delete(id)
  }

  /** Watches the leases of the peers until the engine stops. Never rejects. */
  watchLeases(): Promise<void> {
    const core = this.#core
    const { clock } = core.parts
    const { leaseMs } = core.settings
    return loop(core, 'watch', async () => {
      for (;;) {
        const others = core.fleet.peers.filter(({ id }) => id !== core.fleet.instance)
        const deadline = Math.min(...others.map((peer) => this.#lookAt(peer)))
        const waitMs = Number.isFinite(deadline) ? deadline - clock.mono() : leaseMs
        if (core.stopped.aborted || waitMs <= 0) break
        await clock.sleep(Math.min(waitMs, leaseMs), core.stopped)
      }
      if (!core.stopped.aborted) await this.#lookAtLeases()
    })
  }

  /** Watches the processes of the peers until the engine stops, if the store can tell whether a process is gone. Never rejects. */
  async watchProcesses(): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    if (!store.info.probes) return
    await loop(core, 'probe', async () => {
      await clock.sleep(core.settings.probeMs, core.stopped)
      if (!core.stopped.aborted) await this.#probeNeighbours()
    })
  }

  /**
   * For an instance that looks for due work once, and so would never see a peer be silent for long: if a peer that runs one of our jobs
   * seems to be gone, waits until that is certain, and recovers its runs. Throws when the store does.
   */
  async recoverFirst(): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    const others = core.fleet.peers.map(({ id }) => id).filter((id) => id !== core.fleet.instance)
    if (others.length > 0 && store.info.probes) await this.#probe(await this.#knownGone(others))
    while (!core.stopped.aborted) {
      const silent: string[] = []
      for (const { id, expired } of core.fleet.peers) if (expired && (await this.#runsOurs(id))) silent.push(id)
      if (silent.length === 0) return
      const now = clock.mono()
      const deadline = Math.min(...silent.map((id) => (this.#seen.get(id)?.at ?? now) + core.settings.leaseMs))
      await clock.sleep(Math.max(1, deadline - now), core.stopped)
      await this.#lookAtLeases()
    }
  }

  /**
   * Recovers the runs of an instance that is certainly over. Each round takes one run of each schedule. Peers may do the same at the same
   * time: the versions of the schedules decide. Throws when the store does.
   */
  async recoverRuns(instance: string): Promise<void> {
    const core = this.#core
    const { store } = core.parts
    let before = ''
    for (let round = 0; round < ROUNDS; round++) {
      const query = { instance, outcome: 'open' as const, after: null, limit: BATCH }
      const { items } = await callStore(core, 'recover (list)', () => listRuns(store, query))
      // Ends only when a round has changed nothing: a peer that recovered the rest until now may have died.
      const left = items.map(({ schedule, token }) => `${token} ${schedule}`).join()
      if (left === before) break
      before = left
      const tokens = new Map(items.map(({ schedule, token }) => [schedule, token]))
      await core.parts.sync('recover:sent')
      const decide = (id: string, state: ScheduleState | null, context: Context): Decision | null => {
        const decision = state === null ? STALE : recover(state, tokens.get(id)!, context)
        return decision === STALE ? null : decision
      }
      // Wakes the peers: this instance may have no room for what it recovers.
      await changeAsInstance(core, 'recover', [...tokens.keys()], decide, { wake: true })
    }
    core.claimAlarm.ring()
  }

  /**
   * After an outage every peer gets a whole lease to come back, because this instance could not see renewals meanwhile. Not every failed
   * call counts as an outage: if one call in ten fails, dead peers would otherwise never be declared dead.
   */
  #wasBlind(now: number): boolean {
    const { leaseMs } = this.#core.settings
    return (
      now - this.#lookedAt >= leaseMs ||
      (this.#core.failedAt() >= this.#lookedAt && now - this.#forgivenAt >= FORGIVEN_LEASES * leaseMs)
    )
  }

  async #declareDead(peer: InstanceRecord, by: 'probe' | 'lease'): Promise<void> {
    const { store, emit } = this.#core.parts
    const mark = { kind: 'dead', instance: peer.id, renewals: peer.renewals, hint: by === 'probe' } as const
    if (!(await callStore(this.#core, 'bury', () => store.mark(mark)))) return
    emit({ type: 'instance.died', instance: peer.id, by })
    this.#fleet.peers = this.#fleet.peers.filter(({ id }) => id !== peer.id)
    this.#seen.delete(peer.id)
    await this.recoverRuns(peer.id)
  }

  /**
   * When to check a peer that has not renewed since. An idle peer holds nothing to recover, so its second missed heartbeat is
   * early enough.
   */
  #lookAt({ id, running }: InstanceRecord): number {
    const { leaseMs } = this.#core.settings
    const { at } = this.#seen.get(id) ?? { at: this.#core.parts.clock.mono() }
    return at + (running > 0 ? leaseMs : leaseMs * IDLE_LEASES)
  }

  /** A peer is dead only if the store says so *and* this instance has seen no renewal for a whole lease: store clocks jump. */
  async #lookAtLeases(): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    const { leaseMs } = core.settings
    const { instances } = await callStore(core, 'watch', () => store.listInstances({ ended: 0 }))
    this.#fleet.peers = instances.filter((peer) => !isOver(peer))
    this.observe()
    const now = clock.mono()
    for (const peer of core.fleet.peers) {
      const last = this.#seen.get(peer.id)
      if (peer.id === core.fleet.instance || last === undefined || now - last.at < leaseMs) continue
      if (peer.expired) await this.#declareDead(peer, 'lease')
      // It renews without being seen, or the store's clock is behind: check again in half a lease.
      else this.#seen.set(peer.id, { renewals: peer.renewals, at: now - leaseMs / 2 })
    }
  }

  /** In a ring, so that the work does not grow with the square of the fleet. */
  async #probeNeighbours(): Promise<void> {
    const { fleet } = this.#core
    const ids = fleet.peers.map(({ id }) => id).sort()
    const own = ids.indexOf(fleet.instance)
    if (own < 0 || ids.length < 2) return
    const neighbours = Array.from(
      { length: Math.min(PROBED, ids.length - 1) },
      (_, index) => ids[(own + 1 + index) % ids.length]!,
    )
    await this.#probe(neighbours)
  }

  async #probe(ids: readonly string[]): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    if (ids.length === 0) return
    const gone = await callStore(core, 'probe', () => store.probe(ids))
    if (gone.length === 0) return
    const { instances } = await callStore(core, 'watch', () => store.listInstances({ ids: gone }))
    await clock.sleep(GRACE_MS, core.stopped)
    // The grace was cut short: a peer that lives must have all of it to renew.
    if (core.stopped.aborted) return
    const stillGone = new Set(await callStore(core, 'probe', () => store.probe(gone)))
    for (const peer of instances) {
      if (stillGone.has(peer.id) && !isOver(peer)) await this.#declareDead(peer, 'probe')
    }
  }

  /** The store answers at once which processes are gone; for the end of live ones it would wait. */
  async #knownGone(ids: readonly string[]): Promise<readonly string[]> {
    const { clock, store } = this.#core.parts
    const over = new AbortController()
    const asked = callStore(this.#core, 'probe', () => store.probe(ids))
    // The race may be over before it rejects.
    asked.catch(() => {})
    try {
      return await Promise.race([asked, clock.sleep(AT_ONCE_MS, over.signal).then(() => [])])
    } finally {
      over.abort(WAIT_ENDED)
    }
  }

  async #runsOurs(instance: string): Promise<boolean> {
    const core = this.#core
    const { store, jobs } = core.parts
    if (instance === core.fleet.instance) return false
    const query = { instance, outcome: 'open' as const, after: null, limit: BATCH }
    const { items } = await callStore(core, 'recover (look)', () => listRuns(store, query))
    return items.some(({ job }) => jobs.has(job) || core.deploys.renamedJobs.has(job))
  }
}

function isOver({ state }: Pick<InstanceRecord, 'state'>): boolean {
  return state === 'dead' || state === 'left'
}
