import { NOBODY, type ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE } from '../../policy/decision.ts'
import type { Settlement } from '../../policy/end/settle.ts'
import { settle } from '../../policy/end/settle.ts'
import { settlePlain } from '../../policy/plan/plain-fire.ts'
import type { Changed } from '../../store/change-schedules.ts'
import { findRun } from '../../store/list-views.ts'
import { type Alarm, alarm } from '../alarm.ts'
import { changeAsInstance } from '../change-schedules.ts'
import { leavesToPeers } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { callStore, pauseAfter } from '../store-calls.ts'
import { changeKnown } from './change-known.ts'
import { type Suspect, setApart } from './unwritable.ts'

/**
 * Whether this instance recorded the end of the run. `stale`: it was overtaken. `lost`: the engine stopped before the store
 * answered.
 */
export type Settled = 'settled' | 'stale' | 'lost'

interface Item extends Suspect {
  readonly schedule: string
  readonly wake: boolean
  readonly onSettled: (result: Settled) => void
  isDone: boolean
  /** The decision that was sent last. It may have been written, with only its answer lost. */
  sent: Decision | null
}

/** The store may have lost a run that is to be settled. That must be known before anything is written. */
const FORGOTTEN = new Error('The store went back in time.')

/** The one place where outcomes leave this instance: in batches, repeated until they are acknowledged or fenced. */
export class Settler {
  readonly #core: Core
  readonly #hurry: Alarm
  #queue: Item[] = []
  #working: Promise<void> | null = null

  constructor(core: Core) {
    this.#core = core
    this.#hurry = alarm(core.parts.clock)
  }

  /**
   * Calls `onSettled` with the result once the store has answered; with `lost` if the engine was stopped before that. `wake`: wake
   * the peers at once. An instance that hands a run back will not run it, and its peers may sleep until something else is due.
   * `isUrgent`: a caller waits for it, so it is not gathered.
   */
  add(
    schedule: string,
    settlement: Settlement,
    wake: boolean,
    onSettled: (result: Settled) => void,
    isUrgent = wake,
  ): void {
    const item: Item = {
      schedule,
      settlement,
      wake,
      onSettled,
      isDone: false,
      sent: null,
      most: this.#core.batch,
      refusals: 0,
      bare: null,
    }
    this.#queue.push(item)
    if (isUrgent || this.#queue.length >= this.#core.batch) this.#hurry.ring()
    this.#kick()
  }

  /** Resolves when nothing is left to settle. */
  async empty(): Promise<void> {
    while (this.#working !== null) await this.#working
  }

  #kick(): void {
    if (this.#working !== null || this.#queue.length === 0) return
    // In a microtask: runs that were started together tend to end together, and one write is enough for all of them.
    this.#working = Promise.resolve()
      .then(() => this.#work())
      .finally(() => {
        this.#working = null
        // Items may have been added after the last batch, while the promise was ending.
        this.#kick()
      })
  }

  async #work(): Promise<void> {
    const core = this.#core
    const { settleDelayMs } = core.settings
    for (let failures = 0; this.#queue.length > 0; ) {
      if (settleDelayMs > 0 && !core.stopping && this.#queue.length < core.batch) await this.#hurry.wait(settleDelayMs)
      // A run that the store has forgotten would seem to belong to a peer.
      if (!core.epochs.isSettled()) await core.epochs.ready()
      const batch = this.#takeBatch()
      try {
        await settleBatch(core, batch)
        core.storeAnswered()
        failures = 0
      } catch (error) {
        const left = [...batch.values()].filter(({ isDone }) => !isDone)
        const next = error === FORGOTTEN ? 'at once' : setApart(left, error)
        this.#queue = next === 'last' ? [...this.#queue, ...left] : [...left, ...this.#queue]
        if (core.stopped.aborted) return this.#drop()
        if (next === 'at once') continue
        const pauseMs = pauseAfter(failures++, core.parts.random)
        core.storeFailed('settle', describeError(error), pauseMs)
        await core.parts.clock.sleep(pauseMs, core.stopped)
      }
    }
  }

  /** One per schedule, since a decision covers a whole schedule; the others follow in the next batch. */
  #takeBatch(): Map<string, Item> {
    const batch = new Map<string, Item>()
    const rest: Item[] = []
    let most = this.#core.batch
    for (const item of this.#queue) {
      const together = Math.min(most, item.most)
      if (batch.size < together && !batch.has(item.schedule)) {
        batch.set(item.schedule, item)
        most = together
      } else rest.push(item)
    }
    this.#queue = rest
    return batch
  }

  #drop(): void {
    for (const item of this.#queue) item.onSettled('lost')
    this.#queue = []
  }
}

function conclude(item: Item, result: 'settled' | 'stale'): void {
  item.isDone = true
  item.onSettled(result)
}

async function settleBatch(core: Core, items: ReadonlyMap<string, Item>): Promise<void> {
  const batch = [...items.values()]
  await core.parts.sync('settle:sent')
  const decide = (id: string, state: ScheduleState | null, context: Context): Decision | null => {
    const item = items.get(id)!
    const settlement = item.bare ?? item.settlement
    const plain = state === null ? null : settlePlain(state, settlement, context)
    const decision = plain ?? (state === null ? STALE : settle(state, settlement, context))
    if (decision === STALE && !core.epochs.isSettled()) throw FORGOTTEN
    if (decision === STALE) return null
    item.sent = decision
    if (leavesToPeers(core, decision)) options.wake = true
    return decision
  }
  const options = { wake: batch.some((item) => item.wake) }
  const changed = new Map<string, Changed>()
  try {
    // A decision that was sent before may have been written: only reading the schedule can tell.
    const unsent = batch.filter(({ sent }) => sent === null).map(({ schedule }) => schedule)
    const sent = batch.filter((item) => item.sent !== null).map(({ schedule }) => schedule)
    const left = await changeKnown(core, 'settle', unsent, decide, options, changed)
    await changeAsInstance(core, 'settle', [...sent, ...left], decide, options, changed)
  } finally {
    // Also when the store failed half-way: the events of these settlements are emitted, and must not be emitted again.
    for (const item of batch) if (changed.get(item.schedule)?.kind === 'applied') conclude(item, 'settled')
  }
  await core.parts.sync('settle:answered')
  for (const item of batch.filter(({ isDone }) => !isDone)) {
    const kind = changed.get(item.schedule)?.kind
    conclude(item, kind === 'unchanged' && (await wasSettled(core, item)) ? 'settled' : 'stale')
  }
}

/**
 * Whether an earlier write of this settlement, whose answer was lost, was applied: then its events are emitted now. Only the
 * record tells whether this instance settled the run, or a peer that overtook it.
 */
async function wasSettled(core: Core, item: Item): Promise<boolean> {
  const { schedule, sent } = item
  const { token } = item.settlement
  if (sent === null) return false
  const isOf = ({ run }: { readonly run: { readonly token: string } | null }): boolean => run?.token === token
  const wanted = sent.change.history.find(isOf)
  const fire = { schedule, ...(wanted ?? sent.change.state?.open.find(isOf)) }
  const found = await callStore(core, 'settle (look)', () => findRun(core.parts.store, fire, token))
  // A parked run may have been completed before this look.
  if (item.settlement.parkMs !== undefined && found?.instance === NOBODY) {
    item.sent = null
    core.applied(sent)
    return true
  }
  if (wanted === undefined || found?.ending?.reason !== wanted.ending.reason || found.endedAt !== wanted.endedAt)
    return false
  item.sent = null
  core.applied(sent)
  return true
}
