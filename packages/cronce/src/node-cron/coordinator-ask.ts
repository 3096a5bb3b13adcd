import { type ExclusiveParts, refusedError } from '../app/exclusive.ts'
import type { Instance } from '../engine/instance.ts'
import type { RunHandle } from '../engine/parts.ts'
import type { Begun } from '../engine/run/exclusive-run.ts'
import { CronceError } from '../errors.ts'
import { type SlotKey, type SlotRule, scheduleOf, slotDefinition } from './coordinator-key.ts'
import type { ResolvedCoordinatorOptions } from './coordinator-options.ts'
import { OpenSlot, outlasted } from './coordinator-slot.ts'
import { within } from './within.ts'

/** Why a slot is not run here. `taken`: it runs, or ran, elsewhere. The others are on record as the slot's own end. */
export type Refused = 'taken' | 'overlap' | 'paused'

export type Answer =
  | {
      readonly verdict: 'run'
      readonly slot: OpenSlot
      /** Once its end is on record, or never will be. Never rejects. */
      readonly settled: Promise<void>
    }
  | { readonly verdict: Refused }
  /** The app is being stopped: nothing is begun here any more. */
  | { readonly verdict: 'stopping' }

export interface Asking {
  readonly parts: ExclusiveParts
  readonly options: ResolvedCoordinatorOptions
  /** The engine of an app that has started, or is starting. */
  readonly engine: () => Promise<Instance>
}

/** What is asked for. */
export interface AskedSlot extends SlotKey {
  readonly expected: SlotRule['expected']
  /** This process has declared the schedule of the task before. */
  readonly isKnown: boolean
}

/** `early`: so far ahead of the store's clock. */
type Tried = Answer | { readonly verdict: 'early'; readonly byMs: number }

/** One question of node-cron's. It stops counting when its time is up, whatever becomes of it. */
interface Question {
  readonly key: AskedSlot
  isOver: boolean
}

/** Ask for a slot, in bounded time: a slot that is free becomes ours for good. Throws if the store does not answer. */
export async function askForSlot(asking: Asking, key: AskedSlot): Promise<Answer> {
  const { parts, options } = asking
  let until = parts.mono() + options.timeoutMs
  let waitedMs = 0
  for (;;) {
    const question = { key, isOver: false }
    const tried = await within(parts.sleep, until - parts.mono(), trySlot(asking, question), () => {
      question.isOver = true
      throw tooLate(key)
    })
    if (tried.verdict !== 'early') return tried
    waitedMs += tried.byMs
    if (waitedMs > options.aheadMs) throw tooEarly(key, tried.byMs)
    // Nothing starts before its time by the store's clock. A process whose clock is ahead waits; it is not refused.
    until += tried.byMs
    await parts.sleep(tried.byMs, NEVER)
  }
}

const NEVER = new AbortController().signal

async function trySlot(asking: Asking, question: Question): Promise<Tried> {
  const engine = await asking.engine()
  const { key } = question
  const { isExclusive } = asking.options
  const granted = Promise.withResolvers<OpenSlot>()
  const wanted = {
    ...{ schedule: scheduleOf(key.name), dueAt: key.dueAt, nonce: '', beside: !isExclusive },
    definition: slotDefinition({ isExclusive, expected: key.expected }),
    // Declared once by each process: processes with different options must not change it with every slot.
    keepsDefinition: key.isKnown,
  }
  if (question.isOver) throw tooLate(key)
  const begun = await engine.take(wanted, 'section', (handle) => holdSlot(asking, question, handle, granted.resolve))
  if (begun.kind === 'unable' && engine.stopping) return { verdict: 'stopping' }
  if (begun.kind !== 'begun') return refusalOf(begun, key)
  const settled = begun.ended.then(
    () => {},
    () => {},
  )
  const slot = await Promise.race([granted.promise, settled])
  if (slot === undefined && engine.stopping) return { verdict: 'stopping' }
  if (slot === undefined) throw unable(key)
  // The caller gave up between the two, so no call would ever say that it is complete.
  if (question.isOver) slot.giveUp(tooLate(key))
  return { verdict: 'run', slot, settled }
}

/** The run of a slot: it lasts until node-cron says that it is complete. */
async function holdSlot(
  { parts, options }: Asking,
  question: Question,
  handle: RunHandle,
  grant: (slot: OpenSlot) => void,
): Promise<void> {
  // node-cron was told that it failed, and does not run it: that is what is on record then.
  if (question.isOver) throw tooLate(question.key)
  const slot = new OpenSlot(question.key, handle)
  const over = new AbortController()
  void parts.sleep(options.longestMs, over.signal).then(() => slot.giveUp(outlasted(slot, options.longestMs)))
  grant(slot)
  try {
    await slot.ended
  } finally {
    over.abort()
  }
}

/** Later than every slot that could be asked for. */
const FAR_MS = 366 * 86_400_000

/** Puts the rule of a task on record before its first slot, by asking for a slot that has not come: nothing is claimed. */
export async function declareTask({ options }: Asking, engine: Instance, task: Omit<AskedSlot, 'dueAt' | 'isKnown'>) {
  const wanted = {
    ...{ schedule: scheduleOf(task.name), dueAt: engine.storeNow() + FAR_MS, nonce: '', beside: true },
    definition: slotDefinition({ isExclusive: options.isExclusive, expected: task.expected }),
  }
  await engine.take(wanted, 'section', async () => {})
}

function refusalOf(begun: Exclude<Begun<void>, { readonly kind: 'begun' }>, key: SlotKey): Tried {
  switch (begun.kind) {
    case 'held':
      return key.dueAt > begun.now ? { verdict: 'early', byMs: key.dueAt - begun.now } : { verdict: 'taken' }
    case 'exists':
      return { verdict: skippedFor(begun.fire.ending?.reason) }
    case 'skipped':
      return { verdict: skippedFor(begun.reason) }
    case 'refused':
      throw refusedError(begun)
    case 'unable':
      throw unable(key)
  }
}

function skippedFor(reason: string | undefined): Refused {
  return reason === 'overlap' || reason === 'paused' ? reason : 'taken'
}

function tooLate(key: SlotKey): CronceError {
  return new CronceError('STORE_SILENT', `The store did not say in time who runs ${about(key)}.`, {
    hint: 'Nothing runs here for this slot. Check that the store is reachable, or raise timeout.',
  })
}

function tooEarly(key: SlotKey, byMs: number): CronceError {
  return new CronceError('FIRE_EARLY', `${about(key)} comes in ${byMs} ms by the store's clock: this one is ahead.`, {
    hint: "Set this machine's clock (NTP), or raise ahead.",
  })
}

function unable(key: SlotKey): CronceError {
  return new CronceError('LEASE_LOST', `${about(key)} can't start here now.`, {
    hint: 'The app is drained, or has not heard from the store for too long; another process runs the slot.',
  })
}

function about({ name, dueAt }: SlotKey): string {
  return `${name} of ${new Date(dueAt).toISOString()}`
}
