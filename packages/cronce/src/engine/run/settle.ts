import { NOBODY, type ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, STALE } from '../../policy/decision.ts'
import type { Settlement } from '../../policy/end/settle.ts'
import { settle } from '../../policy/end/settle.ts'
import { settlePlain } from '../../policy/plan/plain-fire.ts'
import { findRun } from '../../store/list-views.ts'
import { type Changed, changeSchedules } from '../change-schedules.ts'
import { leavesToPeers } from '../claim/buckets.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { callStore, pauseAfter } from '../store-calls.ts'
import { changeKnown } from './change-known.ts'
import { type Suspect, setApart } from './unwritable.ts'

/** Whether the run's end is on record as its own. `stale`: it was overtaken. `lost`: the engine stopped before the store answered. */
export type Settled = 'settled' | 'stale' | 'lost'

/** The one place where outcomes leave this instance: in batches, again and again until they are acknowledged or fenced. */
export interface Settler {
  /**
   * Resolves to how it went, once the store has said so; `lost` if the engine was stopped before that. `wake`: tell the others
   * at once. Who hands back does not want to run it, and they may be asleep until something of their own is due.
   */
  add(schedule: string, settlement: Settlement, wake?: boolean): Promise<Settled>
  /** Resolves when nothing is left to settle. */
  empty(): Promise<void>
}

interface Item extends Suspect {
  readonly schedule: string
  readonly wake: boolean
  readonly resolve: (result: Settled) => void
  isDone: boolean
  /** What was written last, perhaps: its answer may have been lost. */
  sent: Decision | null
}

/** So many in one write: enough to share a commit, little enough to keep the event loop free. */
const BATCH = 500

/** The store may have forgotten a run that is to be settled: first that is found out. */
const FORGOTTEN = new Error('The store went back in time.')

export function settler(core: Core): Settler {
  let queue: Item[] = []
  let working: Promise<void> | null = null

  const work = async (): Promise<void> => {
    for (let failures = 0; queue.length > 0; ) {
      // A run that the store has forgotten would seem to be somebody else's.
      if (!core.epochs.isSettled()) await core.epochs.ready()
      const batch = takeBatch()
      try {
        await settleBatch(core, batch)
        core.storeAnswered()
        failures = 0
      } catch (error) {
        const left = [...batch.values()].filter(({ isDone }) => !isDone)
        const next = error === FORGOTTEN ? 'at once' : setApart(left, error)
        queue = next === 'last' ? [...queue, ...left] : [...left, ...queue]
        if (core.stopped.aborted) return drop()
        if (next === 'at once') continue
        const pauseMs = pauseAfter(failures++, core.parts.random)
        core.storeFailed('settle', describeError(error), pauseMs)
        await core.parts.clock.sleep(pauseMs, core.stopped)
      }
    }
  }

  /** One for each schedule, since a decision is about a whole schedule; the others follow in the next batch. */
  const takeBatch = (): Map<string, Item> => {
    const batch = new Map<string, Item>()
    const rest: Item[] = []
    let most = BATCH
    for (const item of queue) {
      const together = Math.min(most, item.most)
      if (batch.size < together && !batch.has(item.schedule)) {
        batch.set(item.schedule, item)
        most = together
      } else rest.push(item)
    }
    queue = rest
    return batch
  }

  const kick = (): void => {
    if (working !== null || queue.length === 0) return
    // In a moment: runs that were started together tend to end together, and one write is enough for all of them.
    working = Promise.resolve()
      .then(work)
      .finally(() => {
        working = null
        // What was added after the last look, while the promise was ending.
        kick()
      })
  }

  const drop = (): void => {
    for (const item of queue) item.resolve('lost')
    queue = []
  }

  return {
    add(schedule, settlement, wake = settlement.handBack !== null) {
      return new Promise((resolve) => {
        const item = {
          schedule,
          settlement,
          wake,
          resolve,
          isDone: false,
          sent: null,
          most: BATCH,
          refusals: 0,
          bare: null,
        }
        queue.push(item)
        kick()
      })
    },
    async empty() {
      while (working !== null) await working
    },
  }
}

function conclude(item: Item, result: 'settled' | 'stale'): void {
  item.isDone = true
  item.resolve(result)
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
    // What was sent before may have been written: then only a look can tell.
    const unsent = batch.filter(({ sent }) => sent === null).map(({ schedule }) => schedule)
    const sent = batch.filter((item) => item.sent !== null).map(({ schedule }) => schedule)
    const left = await changeKnown(core, 'settle', unsent, decide, options, changed)
    await changeSchedules(core, 'settle', [...sent, ...left], decide, options, changed)
  } finally {
    // Also when the store failed half-way: these are told, and must not be told again.
    for (const item of batch) if (changed.get(item.schedule)?.kind === 'applied') conclude(item, 'settled')
  }
  await core.parts.sync('settle:answered')
  for (const item of batch.filter(({ isDone }) => !isDone)) {
    const kind = changed.get(item.schedule)?.kind
    conclude(item, kind === 'unchanged' && (await wasSettled(core, item)) ? 'settled' : 'stale')
  }
}

/**
 * Whoever sent it before and got no answer finds it settled now, and tells what was not told then. Only the record can say
 * whether that was us or somebody who overtook us.
 */
async function wasSettled(core: Core, item: Item): Promise<boolean> {
  const { schedule, sent } = item
  const { token } = item.settlement
  if (sent === null) return false
  const isOf = ({ run }: { readonly run: { readonly token: string } | null }): boolean => run?.token === token
  const wanted = sent.change.history.find(isOf)
  const fire = { schedule, ...(wanted ?? sent.change.state?.open.find(isOf)) }
  const found = await callStore(core, 'settle (look)', () => findRun(core.parts.store, fire, token))
  // Whoever called back may have been faster than our second look.
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
