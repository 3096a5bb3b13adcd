import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cronce, cronce } from '../app/cronce.ts'
import { type ExclusiveParts, exclusivePartsOf } from '../app/exclusive.ts'
import { storeSource } from '../app/open-store.ts'
import { surround, surroundingsOf } from '../app/surroundings.ts'
import { optionInvalid } from '../client/read-option.ts'
import type { Instance } from '../engine/instance.ts'
import { CronceError } from '../errors.ts'
import type { StoreSource } from '../store/store.ts'
import { type AskedSlot, type Asking, askForSlot, declareTask, type Refused } from './coordinator-ask.ts'
import { isTaskName, keyOf, parseKey, type SlotKey } from './coordinator-key.ts'
import {
  type CoordinatorOptions,
  type OwnAppOptions,
  type ResolvedCoordinatorOptions,
  resolveCoordinatorOptions,
} from './coordinator-options.ts'
import type { OpenSlot, Slot } from './coordinator-slot.ts'
import { coordinatorWarnings, type Warnings } from './coordinator-warnings.ts'
import { type SlotContext, slotOfContext, type WatchedTask } from './coordinator-watch.ts'
import { asksCoordinator, isExpected, registeredTasks, ruleOf } from './registered-tasks.ts'
import { within } from './within.ts'

/** What node-cron asks: give it to `cron.setRunCoordinator` before tasks are made, or to a task as `runCoordinator`. */
export interface Coordinator {
  /** Whether this process runs the slot. It answers `true` to one process of the fleet, once. */
  shouldRun(key: string, ttlMs: number): Promise<boolean>
  /** The run has ended. Resolves when that is on record, or when the store did not answer in time; then it is recorded later. */
  onComplete(key: string): Promise<void>
  /** Resolves when slots can be asked for. Before, `shouldRun` waits for it as long as it may. */
  ready(): Promise<void>
  /** In a task's function: the slot that it runs for. `null` in a background task, which is a process of its own. */
  current(): Slot | null
  /** The fencing token of a run of this process, by the context that its function got. `null`: it is none, or has ended. */
  token(context: SlotContext): bigint | null
  /** Put on record which runs of the task fail: node-cron does not tell a coordinator. Returns the task. */
  watch<Task extends WatchedTask>(task: Task): Task
  /** Be told of every decision for this process. Returns how to stop. */
  on(type: 'decision', listener: (decision: Decision) => void): () => void
  /** Decisions so far. */
  readonly counts: Readonly<Record<Verdict, number>>
  /** Stop granting. An app that the coordinator made itself is stopped, as `app.stop()` does. Never rejects. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * `run`: here. `error`: the store did not say, so not here. `not-designated`: by its environment this process runs nothing. `stopping`:
 * the coordinator or its app is being stopped, or was.
 */
export type Verdict = 'run' | Refused | 'not-designated' | 'stopping' | 'error'

/** Whether this process runs the slot of a task. */
export interface Decision extends SlotKey {
  readonly key: string
  readonly verdict: Verdict
  /** Of a run. */
  readonly token: bigint | null
  readonly error: unknown
}

/**
 * One run per slot in the whole fleet: each is a permanent record in the store, not a lock that is free again afterwards. For an
 * app, which its owner starts and stops, or for a store, which the coordinator opens itself.
 */
export function runCoordinator<Tx>(app: Cronce<Tx>, options?: CoordinatorOptions): Coordinator
export function runCoordinator<Tx>(
  store: string | StoreSource<Tx> | undefined,
  options?: CoordinatorOptions & OwnAppOptions,
): Coordinator
export function runCoordinator(source: unknown, options?: unknown): Coordinator {
  return makeCoordinator(source, options, () => true)
}

/** It declares nothing, so it must not be taken for a deployment of an app that does: no user's app has this name. */
const OWN_APP = 'cronce/node-cron/coordinator'
/** How many names of tasks are remembered; a process with more declares their schedules again now and then. */
const MOST_DECLARED = 10_000
/** When all tasks of a process have been made. */
const SETTLED_MS = 3_000
/** More tasks get their schedules with their first slots. */
const MOST_DECLARED_EARLY = 500

/** `mayRun`: whether this process is one of those that run anything at all. May throw. */
export function makeCoordinator(source: unknown, options: unknown, mayRun: () => boolean): Coordinator {
  const given = typeof source === 'object' && source !== null ? exclusivePartsOf(source) : undefined
  if (given !== undefined) {
    const app = source as Cronce
    return new SlotCoordinator({ app, parts: given, isOwn: false }, resolveCoordinatorOptions(options, false), mayRun)
  }
  if (typeof source === 'function' || (typeof source === 'object' && source !== null && !('open' in source)))
    throw optionInvalid('app', source, 'an app or a store', "Write runCoordinator(app) or runCoordinator('redis://…').")
  const resolved = resolveCoordinatorOptions(options, true)
  const own = { keepAlive: false, ...resolved.ownApp, app: OWN_APP, store: coordinatorSource(source as StoreSource) }
  const app = cronce(own)
  return new SlotCoordinator({ app, parts: exclusivePartsOf(app)!, isOwn: true }, resolved, mayRun)
}

/** The same store, for an app that says what it is for when it starts. */
function coordinatorSource(given: StoreSource): StoreSource {
  const source = storeSource(given)
  const own: StoreSource = { name: source.name, open: (options) => source.open(options) }
  return surround(own, { ...surroundingsOf(source), purpose: 'coordinator of node-cron' })
}

interface Owner {
  readonly app: Cronce
  readonly parts: ExclusiveParts
  readonly isOwn: boolean
}

/** Seen from the function of a task. */
interface Held {
  slot: OpenSlot | null
}

class SlotCoordinator implements Coordinator {
  readonly #owner: Owner
  readonly #options: ResolvedCoordinatorOptions
  readonly #mayRun: () => boolean
  readonly #warnings: Warnings
  readonly #held = new AsyncLocalStorage<Held>()
  /** By key. */
  readonly #open = new Map<string, { readonly slot: OpenSlot; readonly settled: Promise<void> }>()
  readonly #listeners = new Set<(decision: Decision) => void>()
  readonly #counts = { run: 0, taken: 0, overlap: 0, paused: 0, 'not-designated': 0, stopping: 0, error: 0 }
  /** Tasks whose failures are put on record. */
  readonly #watched = new WeakSet<WatchedTask>()
  /** Names of tasks whose schedules this process has declared. */
  readonly #declared = new Set<string>()
  #starting: Promise<void> | null = null
  #wasStarted = false
  #isClosed = false
  #hasLooked = false

  constructor(owner: Owner, options: ResolvedCoordinatorOptions, mayRun: () => boolean) {
    this.#owner = owner
    this.#options = options
    this.#mayRun = mayRun
    this.#warnings = coordinatorWarnings(owner.app, owner.parts, options.cron)
    // An own app that can't start is reported, and the next question tries again. An app that has not started asks later.
    void this.#engine().catch(() => {})
  }

  // Not async: the context that is entered here must hold in the caller that awaits the answer, and in the function that runs then.
  shouldRun(key: string, _ttlMs: number): Promise<boolean> {
    const held: Held = { slot: null }
    this.#held.enterWith(held)
    return this.#decide(key, held)
  }

  async onComplete(key: string): Promise<void> {
    const open = this.#open.get(key)
    if (open === undefined) return
    this.#open.delete(key)
    open.slot.complete()
    // Else a store that hangs would keep a task with noOverlap from running again. The app goes on telling it.
    await within(this.#owner.parts.sleep, this.#options.timeoutMs, open.settled, () => {})
  }

  async ready(): Promise<void> {
    await this.#engine()
  }

  current(): Slot | null {
    const slot = this.#held.getStore()?.slot
    return slot !== null && slot !== undefined && this.#open.has(keyOf(slot)) ? slot : null
  }

  token(context: SlotContext): bigint | null {
    const key = slotOfContext(context)
    return key === null ? null : (this.#open.get(keyOf(key))?.slot.token ?? null)
  }

  watch<Task extends WatchedTask>(task: Task): Task {
    if (this.#watched.has(task)) return task
    this.#watched.add(task)
    task.on('execution:failed', (context) => {
      const key = slotOfContext({ ...context, task })
      if (key !== null) this.#open.get(keyOf(key))?.slot.fail(context.execution?.error)
    })
    // The process of a background task died: it says nothing any more.
    task.on('task:failed', (context) => {
      for (const [key, { slot }] of this.#open) {
        if (slot.name !== task.name) continue
        this.#open.delete(key)
        slot.giveUp(context.error ?? new Error('the process of the task died'))
      }
    })
    return task
  }

  on(_type: 'decision', listener: (decision: Decision) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get counts(): Readonly<Record<Verdict, number>> {
    return { ...this.#counts }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#owner.isOwn) await this.#owner.app.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #decide(key: string, held: Held): Promise<boolean> {
    let slotKey: SlotKey = { name: '', dueAt: Number.NaN }
    const tell = (verdict: Verdict, more: { readonly token?: bigint; readonly error?: unknown } = {}): boolean => {
      this.#tell({ ...slotKey, key, verdict, token: more.token ?? null, error: more.error ?? null })
      return verdict === 'run'
    }
    try {
      slotKey = parseKey(key)
      if (!this.#mayRun()) return tell('not-designated')
      if (this.#isStopping()) return tell('stopping')
      this.#warnings.asked(slotKey)
      const answer = await askForSlot(this.#asking, this.#meet(slotKey))
      this.#remember(slotKey)
      if (answer.verdict !== 'run') return tell(answer.verdict)
      const { slot, settled } = answer
      held.slot = slot
      this.#open.set(key, answer)
      // Also if no call says that it is complete: nothing waits for that any more.
      void settled.then(() => {
        slot.complete()
        this.#forget(key, slot)
      })
      return tell('run', { token: slot.token })
    } catch (error) {
      tell('error', { error })
      throw error
    }
  }

  /** What is known about the task that asks. If node-cron was given, its failures are put on record from now on. */
  #meet(key: SlotKey): AskedSlot {
    const { cron } = this.#options
    const tasks = cron === null ? [] : registeredTasks(cron).filter((task) => task.name === key.name)
    const asking = tasks.filter((task) => asksCoordinator(task) !== false)
    for (const task of asking) this.watch(task)
    const [first] = asking
    return { ...key, expected: first === undefined ? null : ruleOf(first), isKnown: this.#declared.has(key.name) }
  }

  get #asking(): Asking {
    return { parts: this.#owner.parts, options: this.#options, engine: () => this.#engine() }
  }

  /** Once, a while after the start: which tasks there are. The rules of those that ask are put on record before their first slots. */
  async #look(engine: Instance): Promise<void> {
    const { cron } = this.#options
    if (cron === null || this.#hasLooked) return
    this.#hasLooked = true
    // Must not keep a process from ending.
    await sleep(SETTLED_MS, undefined, { ref: false })
    if (this.#isStopping() || !this.#mayRun()) return
    this.#warnings.looked()
    for (const task of registeredTasks(cron).filter(isExpected).slice(0, MOST_DECLARED_EARLY)) {
      const { name } = task
      const expected = ruleOf(task)
      if (expected === null || !isTaskName(name) || this.#declared.has(name) || this.#isStopping()) continue
      await declareTask(this.#asking, engine, { name, expected })
      this.#remember({ name })
    }
  }

  #remember({ name }: Pick<SlotKey, 'name'>): void {
    if (this.#declared.size >= MOST_DECLARED) this.#declared.clear()
    this.#declared.add(name)
  }

  /** That nothing is begun any more is not an error: another process runs the slot. */
  #isStopping(): boolean {
    if (this.#isClosed) return true
    try {
      return this.#owner.parts.engine().stopping
    } catch {
      return this.#wasStarted
    }
  }

  #forget(key: string, slot: OpenSlot): void {
    if (this.#open.get(key)?.slot === slot) this.#open.delete(key)
  }

  #tell(decision: Decision): void {
    this.#counts[decision.verdict]++
    for (const listener of this.#listeners) {
      try {
        listener(decision)
      } catch (error) {
        this.#owner.parts.logger.error(`A listener of decisions threw: ${String(error)}`)
      }
    }
  }

  async #engine(): Promise<Instance> {
    if (this.#isClosed) {
      throw new CronceError('NOT_STARTED', 'The coordinator is closed.', {
        hint: 'Stop the tasks before you close it.',
      })
    }
    if (this.#owner.isOwn) await this.#start()
    const engine = this.#owner.parts.engine()
    this.#wasStarted = true
    // A rule that could not be written comes with the first slot.
    void this.#look(engine).catch(() => {})
    return engine
  }

  /** Once it has started it stays so. If the store could not be opened, the next call tries again. */
  #start(): Promise<void> {
    this.#starting ??= this.#owner.app.start().catch((error: unknown) => {
      this.#starting = null
      this.#warnings.notStarted(error)
      throw error
    })
    return this.#starting
  }
}
