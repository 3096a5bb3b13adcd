import type { FireKey, RunRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../../policy/decision.ts'
import { isIntact, type KnownFire, type Restoration, restore, type StoredFire } from '../../policy/end/restore.ts'
import { define } from '../../policy/operate/define.ts'
import { isRefusal } from '../../policy/refusals.ts'
import { beforeTry, type Changed } from '../../store/change-schedules.ts'
import { listFires, listRuns, ofFire } from '../../store/list-views.ts'
import { applyAsInstance, patienceOf } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import type { Deployer } from '../deploy/deploy.ts'
import type { Heartbeat } from '../fleet/heartbeat.ts'
import { untilDone } from '../loop.ts'
import { beginAgain } from '../run/run-handle.ts'
import { callStore } from '../store-calls.ts'
import { holdersOf, knownFires, knownStates } from './known-fires.ts'
import { fireText } from './recent-changes.ts'

/** The result of a restore, over all its attempts. */
interface Found {
  readonly restored: Map<string, FireKey>
  readonly doubtful: Map<string, FireKey>
}

const BATCH = 100
/** How many schedules are compared at the same time. */
const LANES = 16
/** Pause between two checks which peers are back. */
const PEERS_MS = 250
/** Most runs of one fire that are read: more than policies allow. */
const RUNS = 200

/** Compares what this instance knows with what the store has, after the epoch has moved, and writes again what is missing. */
export class Restorer {
  readonly #core: Core
  readonly #member: Pick<Heartbeat, 'renew' | 'announce'>
  readonly #deploys: Pick<Deployer, 'forget'>
  #isWorking = false

  constructor(core: Core, member: Pick<Heartbeat, 'renew' | 'announce'>, deploys: Pick<Deployer, 'forget'>) {
    this.#core = core
    this.#member = member
    this.#deploys = deploys
  }

  /** Restores, and only then lets this instance go on claiming. One restore runs at a time. Never throws. */
  begin(): void {
    const core = this.#core
    if (this.#isWorking) return
    this.#isWorking = true
    // If the epoch moves again while this restore ends, another one follows.
    void this.#work().finally(() => {
      this.#isWorking = false
      if (!core.epochs.isSettled() && !core.stopped.aborted) core.restore()
    })
  }

  async #work(): Promise<void> {
    const core = this.#core
    const found: Found = { restored: new Map(), doubtful: new Map() }
    const isIncomplete = core.recent.isCut()
    const oldest = core.recent.hasForgotten() ? core.recent.all()[0] : undefined
    const peers = core.fleet.peers.map(({ id }) => id)
    const patientUntil = core.parts.clock.mono() + core.settings.leaseMs
    await untilDone(core, 'restore', () => this.#settleIn(found, () => awaitPeers(core, peers, patientUntil)))
    if (core.stopped.aborted) return
    await untilDone(core, 'restore (steps)', () => beginAgain(core))
    // The store may have lost declarations.
    this.#deploys.forget()
    core.keepAlarm.ring()
    await untilDone(core, 'restore (beat)', () => this.#member.renew())
    if (core.stopped.aborted) return
    // If the store has lost even the oldest fire that is remembered here, it may also have lost what is no longer remembered.
    const incomplete = isIncomplete || (oldest !== undefined && found.restored.has(fireText(oldest.fire)))
    this.#report(found, incomplete)
    core.epochs.allowClaims()
    core.claimAlarm.ring()
  }

  async #settleIn(found: Found, othersAreBack: () => Promise<void>): Promise<void> {
    const core = this.#core
    while (!core.epochs.isSettled()) {
      const epoch = core.epochs.latest!
      // The store must know this instance before it has its runs again: otherwise no peer would recover them.
      await this.#member.announce()
      await restoreAll(core, epoch, found)
      await othersAreBack()
      if (core.epochs.latest === epoch) core.epochs.settle(epoch)
    }
  }

  #report({ restored, doubtful }: Found, incomplete: boolean): void {
    const core = this.#core
    const epoch = core.epochs.settled!
    const lost = core.fleet.lostIn === epoch
    if (!lost && restored.size === 0 && doubtful.size === 0) return
    core.parts.emit({
      type: 'store.rolledBack',
      epoch,
      lost,
      restored: [...restored.values()],
      doubtful: [...doubtful.values()],
      incomplete,
    })
  }
}

/** The store does not wait for peers whose joining it has forgotten. This instance knows them, and they may know of more fires. */
async function awaitPeers(core: Core, peers: readonly string[], patientUntil: number): Promise<void> {
  const { clock, store } = core.parts
  while (!core.stopped.aborted && clock.mono() < patientUntil) {
    const { instances } = await callStore(core, 'restore (look)', () => store.listInstances({ ids: peers }))
    const back = new Set(instances.map(({ id }) => id))
    if (peers.every((id) => back.has(id))) return
    await clock.sleep(Math.min(PEERS_MS, patientUntil - clock.mono()), core.stopped)
  }
}

async function restoreAll(core: Core, epoch: number, found: Found): Promise<void> {
  const ids = holdersOf(core)
  const { instances } = await callStore(core, 'restore (look)', () => core.parts.store.listInstances({ ids }))
  const known = knownFires(core, new Set(instances.map(({ id }) => id)))
  const schedules = [...known.keys()]
  for (let start = 0; start < schedules.length; start += BATCH) {
    await restoreSchedules(core, epoch, schedules.slice(start, start + BATCH), known, found)
    if (core.epochs.latest !== epoch) return
  }
}

/** Reads, compares and writes; and once more for schedules that a peer changed in between. */
async function restoreSchedules(
  core: Core,
  epoch: number,
  ids: readonly string[],
  known: ReadonlyMap<string, readonly KnownFire[]>,
  found: Found,
): Promise<void> {
  const patience = patienceOf(core)
  let pending = ids
  for (let tries = 0; pending.length > 0; tries++) {
    await beforeTry(patience, tries, pending[0]!)
    const asked = pending
    const loaded = await callStore(core, 'restore (read)', () => core.parts.store.load(asked))
    core.epochs.observe(loaded.epoch)
    if (core.epochs.latest !== epoch) return
    const states = new Map(loaded.schedules.map((state) => [state.id, state]))
    const context = core.context(loaded)
    const restorations = new Map<string, Restoration>()
    const made: Decision[] = []
    await inLanes(pending, async (id) => {
      const state = states.get(id)
      const missing = await missingOf(core, state, known.get(id)!)
      if (missing.length === 0) return
      const again = state === undefined ? makeAgain(core, id, context) : null
      if (state !== undefined) restorations.set(id, restore(state, missing, context))
      else if (again !== null) made.push(again)
      // The schedule is gone, so there is nothing to write to.
      else for (const fire of missing) doubt(core, found, fire.known)
    })
    await applyAsInstance(core, 'restore (define)', made, {}, new Map())
    pending = [...(await write(core, restorations, found)), ...made.map(({ change }) => change.id)]
  }
}

/**
 * Recreates a schedule that was created in the time that the store lost. Only schedules without due times (a lock, a term, a key,
 * a slot): their live holder needs the schedule to write its run to. All others are declared again by their code.
 */
function makeAgain(core: Core, id: string, context: Context): Decision | null {
  const known = knownStates(core).get(id)
  if (known === undefined || known.definition.trigger !== null || known.retiredAt !== null) return null
  const { definition, source } = known
  const made = define(null, id, { definition, source }, context)
  // Its events were emitted when it was first created.
  return made === null || isRefusal(made) ? null : { ...made, events: [] }
}

/** Fires of which the store does not have all that is known here, with what it has. */
async function missingOf(
  core: Core,
  state: ScheduleState | undefined,
  known: readonly KnownFire[],
): Promise<{ readonly known: KnownFire; readonly stored: StoredFire }[]> {
  const missing: { readonly known: KnownFire; readonly stored: StoredFire }[] = []
  for (const fire of known) {
    const isRunning = fire.open?.run != null && fire.history.length === 0
    if (isRunning && state?.open.some(({ run }) => run?.token === fire.token)) continue
    if (isIntact(fire, await findRuns(core, fire))) continue
    missing.push({ known: fire, stored: await storedOf(core, fire) })
  }
  return missing
}

async function findRuns(core: Core, { fire }: KnownFire): Promise<readonly RunRecord[]> {
  const query = { ...ofFire(fire), after: null, limit: RUNS }
  return (await callStore(core, 'restore (run)', () => listRuns(core.parts.store, query))).items
}

async function storedOf(core: Core, known: KnownFire): Promise<StoredFire> {
  const { schedule, dueAt } = known.fire
  const runs = await findRuns(core, known)
  const instant = { schedule, from: dueAt, to: dueAt + 1, after: null, limit: RUNS }
  const fires = await callStore(core, 'restore (fires)', () => listFires(core.parts.store, instant))
  return { runs, records: fires.items }
}

/** Returns the ids to decide about again. */
async function write(core: Core, restorations: ReadonlyMap<string, Restoration>, found: Found): Promise<string[]> {
  const decisions = [...restorations.values()].flatMap(({ decision }): Decision[] => (decision ? [decision] : []))
  const done = new Map<string, Changed>()
  const again = new Set(await applyAsInstance(core, 'restore', decisions, { wake: true }, done))
  for (const [id, { restored, doubtful }] of restorations) {
    if (again.has(id)) continue
    // A fire with the same key was made meanwhile: the two can't both be on record.
    const isRefused = done.get(id)?.kind === 'refused'
    for (const fire of doubtful) doubt(core, found, fire)
    for (const fire of restored) {
      if (isRefused) doubt(core, found, fire)
      else found.restored.set(fireText(fire.fire), fire.fire)
    }
  }
  return [...again]
}

/** The fire may run twice: if it still runs here, abort it. */
function doubt(core: Core, found: Found, { fire, token }: KnownFire): void {
  core.runs.find(fire.schedule, token)?.abort('fenced', null)
  core.recent.forget(fire)
  found.doubtful.set(fireText(fire), fire)
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: Math.min(LANES, items.length) }, lane))
}
