import { type Decision, decideOn, ending, recover, settle } from 'cronce/internal'
import type { ScheduleState } from '../plan/copy-store.ts'
import { EventQueue } from './event-queue.ts'

type StartedRun = Decision['started'][number]
type HistoryLine = Decision['change']['history'][number]

/** What happens in a virtual fleet, for those who count. */
export interface Watcher {
  /** `running`: runs at that moment, this one included. `beside`: those of the same schedule before it. */
  started(run: StartedRun, at: number, running: number, beside: number): void
  /** A line of the history: how a run ended, or how a fire or a range of due times ended without one. */
  ended(line: HistoryLine): void
}

export interface FleetSettings {
  readonly now: number
  /** Most runs at a time. */
  readonly room: number
  readonly zoneData: string
  /** How long the work of this attempt takes. It always succeeds, unless its timeout ends it. */
  durationOf(schedule: string, dueAt: number, attempt: number): number
  readonly random: () => number
}

interface RunningRun {
  readonly token: string
  readonly dueAt: number
  readonly slots: readonly string[]
  /** It has been settled, or will be at once. */
  isAborted: boolean
}

/** Ends before what becomes due at the same moment. */
const END = 0
const WAKE = 1

type FleetEvent =
  | { readonly at: number; readonly rank: typeof WAKE; readonly schedule: string }
  | {
      readonly at: number
      readonly rank: typeof END
      readonly schedule: string
      readonly token: string
      readonly isLate: boolean
    }

/** A decision at one moment that leads to another one. No schedule needs nearly as many. */
const MOST_STEPS = 10_000

/**
 * A fleet in virtual time. The policy functions of the engine decide about each due time and each run; the store and the processes are
 * left out. A run takes the time that its caller gives, and ends at once when it is aborted.
 */
export class VirtualFleet {
  readonly #settings: FleetSettings
  #now: number
  #states: Map<string, ScheduleState>
  #events = new EventQueue<FleetEvent>()
  /** By schedule. */
  #running = new Map<string, RunningRun[]>()
  #runningCount = 0
  #slots = new Map<string, number>()
  /** Due, but kept from starting by a limit, or because there is no room. */
  #kept = new Set<string>()

  constructor(states: Iterable<ScheduleState>, settings: FleetSettings) {
    this.#settings = settings
    this.#now = settings.now
    this.#states = new Map([...states].map((state) => [state.id, state]))
  }

  get now(): number {
    return this.#now
  }

  get states(): ReadonlyMap<string, ScheduleState> {
    return this.#states
  }

  /** Looks at each schedule once, as an instance does that has just started. */
  begin(watcher: Watcher): void {
    for (const id of [...this.#states.keys()].sort()) this.#look(id, watcher)
  }

  copy(): VirtualFleet {
    const copied = new VirtualFleet([], this.#settings)
    copied.#now = this.#now
    copied.#states = new Map(this.#states)
    copied.#events = this.#events.copy()
    copied.#running = new Map([...this.#running].map(([id, runs]) => [id, runs.map((run) => ({ ...run }))]))
    copied.#runningCount = this.#runningCount
    copied.#slots = new Map(this.#slots)
    copied.#kept = new Set(this.#kept)
    return copied
  }

  /** Everything before `until`. `goesOn`: asked now and then; false ends it earlier. */
  advance(until: number, watcher: Watcher, goesOn: () => boolean = () => true): void {
    for (let event = this.#events.peek(); event !== undefined && event.at < until; event = this.#events.peek()) {
      if (!goesOn()) return
      this.#events.take()
      this.#now = Math.max(this.#now, event.at)
      if (event.rank === END) this.#end(event, watcher)
      // The last of several events of a schedule is the valid one.
      else if (this.#states.get(event.schedule)?.wakeAt === event.at) this.#decide(event.schedule, watcher)
    }
    this.#now = Math.max(this.#now, until)
  }

  /** All instances die now, and others start at `until`. Returns the number of interrupted runs. */
  outage(until: number, watcher: Watcher): number {
    const lost = [...this.#running].flatMap(([id, runs]) => runs.map(({ token }) => ({ id, token })))
    this.#events = new EventQueue()
    this.#now = until
    for (const { id, token } of lost) this.#apply(recover(this.#states.get(id)!, token, this.#context()), watcher)
    this.#kept.clear()
    // The earliest first, as a store answers.
    const due = [...this.#states.values()].sort((a, b) => (a.wakeAt ?? Infinity) - (b.wakeAt ?? Infinity))
    for (const { id } of due) this.#look(id, watcher)
    return lost.length
  }

  /** At a schedule that no event is planned for. */
  #look(id: string, watcher: Watcher): void {
    this.#decide(id, watcher)
    this.#wakeLater(id)
  }

  #wakeLater(schedule: string): void {
    const at = this.#states.get(schedule)?.wakeAt ?? null
    if (at !== null && at > this.#now) this.#events.add({ at, rank: WAKE, schedule })
  }

  #end({ schedule, token, isLate }: Extract<FleetEvent, { rank: typeof END }>, watcher: Watcher): void {
    const state = this.#states.get(schedule)
    const run = this.#running.get(schedule)?.find((one) => one.token === token)
    if (state === undefined || run === undefined) return
    const failed = run.isAborted ? ending('error', 'aborted') : ending('timeout', null)
    const end = run.isAborted || isLate ? failed : ending('completed')
    const settlement = { token, ending: end, error: null, result: null, retryable: true, handBack: null }
    this.#apply(settle(state, settlement, this.#context()), watcher)
    this.#decide(schedule, watcher)
    this.#decideKept(watcher)
  }

  /** What a limit or the room kept, the one that has been due for longest first. */
  #decideKept(watcher: Watcher): void {
    if (this.#kept.size === 0) return
    const kept = [...this.#kept].flatMap((id) => this.#states.get(id) ?? [])
    kept.sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || (a.id < b.id ? -1 : 1))
    for (const { id } of kept) this.#decide(id, watcher)
  }

  #decide(id: string, watcher: Watcher): void {
    this.#kept.delete(id)
    for (let step = 0; step < MOST_STEPS; step++) {
      const state = this.#states.get(id)
      if (state === undefined) return
      const room = this.#settings.room - this.#runningCount
      const claimant = { instance: 'simulated', claim: 0, room, idle: this.#runningCount === 0, oneByOne: room > 0 }
      const decision = decideOn(state, this.#context(), { ...claimant, isFull: this.#isFull }, [])
      if (decision !== null) this.#apply(decision, watcher)
      const { wakeAt = null } = this.#states.get(id) ?? {}
      if (wakeAt === null || wakeAt > this.#now) return
      if (decision !== null && changesMuch(decision)) continue
      this.#kept.add(id)
      return
    }
    throw new Error(`The simulation does not get on with ${id} at ${new Date(this.#now).toISOString()}.`)
  }

  #apply(decision: Decision | string, watcher: Watcher): void {
    if (typeof decision === 'string') return
    const { id, state, history } = decision.change
    if (state === null) this.#states.delete(id)
    else this.#states.set(id, state)
    this.#releaseEnded(id)
    for (const line of history) watcher.ended(line)
    for (const run of decision.started) this.#start(id, run, watcher)
    this.#abortCancelled(id)
    this.#wakeLater(id)
  }

  #start(id: string, started: StartedRun, watcher: Watcher): void {
    const { token, slots = [] } = started.fire.run
    const { dueAt, attempt } = started.fire
    const runs = this.#running.get(id) ?? []
    const own = this.#settings.durationOf(id, dueAt, attempt)
    const { runMs } = started.policy.timeout
    const isLate = runMs !== null && own > runMs
    const at = this.#now + Math.max(1, isLate ? runMs : own)
    this.#events.add({ at, rank: END, schedule: id, token, isLate })
    this.#running.set(id, [...runs, { token, dueAt, slots, isAborted: false }])
    this.#runningCount++
    for (const slot of slots) this.#slots.set(slot, (this.#slots.get(slot) ?? 0) + 1)
    watcher.started(started, this.#now, this.#runningCount, runs.length)
  }

  /** Runs that the state no longer has. */
  #releaseEnded(id: string): void {
    const runs = this.#running.get(id)
    if (runs === undefined) return
    const open = new Set(this.#states.get(id)?.open.map(({ run }) => run?.token))
    const left = runs.filter(({ token }) => open.has(token))
    if (left.length === runs.length) return
    for (const { slots } of runs.filter(({ token }) => !open.has(token))) {
      this.#runningCount--
      for (const slot of slots) this.#slots.set(slot, this.#slots.get(slot)! - 1)
    }
    if (left.length === 0) this.#running.delete(id)
    else this.#running.set(id, left)
  }

  /** A run that was asked to end does so at once. */
  #abortCancelled(id: string): void {
    for (const { run } of this.#states.get(id)?.open ?? []) {
      if (run === null || run.cancel === null) continue
      const running = this.#running.get(id)?.find(({ token }) => token === run.token)
      if (running === undefined || running.isAborted) continue
      running.isAborted = true
      this.#events.add({ at: this.#now, rank: END, schedule: id, token: run.token, isLate: false })
    }
  }

  readonly #isFull = (slots: readonly { readonly slot: string; readonly limit: number }[]): boolean =>
    slots.some(({ slot, limit }) => (this.#slots.get(slot) ?? 0) >= limit)

  #context() {
    const { zoneData, random } = this.#settings
    return { now: this.#now, epoch: 0, zoneData, random }
  }
}

/** Otherwise it has only noted when to look again. */
function changesMuch({ started, change }: Decision): boolean {
  return started.length > 0 || change.history.length > 0 || change.creates.length > 0
}
