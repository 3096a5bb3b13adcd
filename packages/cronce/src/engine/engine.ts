import type { Decision, StartedRun } from '../policy/decision.ts'
import type { WatchHint } from '../store/store.ts'
import { Claimer } from './claim/claim.ts'
import { claimFire, type Taken, type Wanted } from './claim/claim-fire.ts'
import { createCore } from './core.ts'
import { deployer } from './deploy/deploy.ts'
import { deployState } from './deploy/deploy-state.ts'
import { describeError } from './describe-error.ts'
import { fleetState } from './fleet/fleet-state.ts'
import { heartbeat } from './fleet/heartbeat.ts'
import { housekeeper } from './fleet/housekeeping.ts'
import { reconciler } from './fleet/reconcile.ts'
import { peerWatch } from './fleet/recover-peers.ts'
import { untilDone } from './loop.ts'
import type { EngineParts, EngineSettings, RunHandle } from './parts.ts'
import { restorer } from './restore/restore.ts'
import { execute, type Settled } from './run/execute.ts'
import { noteKeeper } from './run/notes.ts'
import type { ExclusiveKind } from './run/run-table.ts'
import { settler as createSettler } from './run/settle.ts'
import { watchStuck } from './run/stuck-runs.ts'
import { WAIT_ENDED } from './wait-ended.ts'

/** One instance: joins the fleet, plans, claims, executes and settles, until it is stopped. */
export interface Engine<Tx = unknown> {
  /** Joins and begins. Resolves once this instance is live and its declarations are written, if they are to be. */
  start(): Promise<void>
  /** Takes nothing new, lets runs finish until the deadline, hands back the rest, leaves. Never rejects. */
  stop(options: StopOptions): Promise<void>
  /** Instead of `start`: does all that is due now, waits for it, and leaves. If the store fails meanwhile: as `stop` does. */
  runDue(options: StopOptions): Promise<void>
  /** This process changed a schedule as a client. Should the store forget it, this instance remembers. */
  learned(decision: Decision): void
  /**
   * Begin a run of one's own, if nobody has it: a lock, a leader's term. `work` gets its handle. Throws when the store does.
   */
  take<Value>(
    wanted: Wanted,
    kind: ExclusiveKind,
    work: (handle: RunHandle<Tx>) => Promise<Value>,
  ): Promise<Begun<Value>>
  /**
   * Until the store sends a wake-up, or this time has passed. `since`: `wakeUps` as it was before the caller looked at the
   * store; if there was a wake-up meanwhile, it returns at once.
   */
  rung(ms: number, signal?: AbortSignal, since?: number): Promise<void>
  /** How many wake-ups this instance has had. */
  readonly wakeUps: number
  /** Whether this instance may believe that its runs are its own, right now. Not while anything speaks against it. */
  trusted(): boolean
  /** Resolves when nothing is being executed or settled. */
  quiet(): Promise<void>
  readonly instance: string
  readonly running: number
  /** It takes nothing new any more. */
  readonly stopping: boolean
}

export type Begun<Value> =
  | Exclude<Taken, { readonly kind: 'taken' }>
  | {
      readonly kind: 'begun'
      readonly started: StartedRun
      /** What `work` came to, once that is on record. Never rejects. */
      readonly ended: Promise<Finished<Value>>
    }

/**
 * `over`: it was given up before it came to anything, since it ignored its signal or was overtaken. `unbegun`: the lease could
 * not be trusted any more when it was to begin, or the instance was about to stop.
 */
export type Finished<Value> =
  | { readonly kind: 'done'; readonly value: Value; readonly settled: Settled }
  | { readonly kind: 'threw'; readonly error: unknown; readonly settled: Settled }
  | { readonly kind: 'over' }
  | { readonly kind: 'unbegun' }

export interface StopOptions {
  readonly drainMs: number
  /** How long an aborted run may take to notice. */
  readonly graceMs: number
}

const LEAVE_MS = 5_000

export function createEngine<Tx>(parts: EngineParts<Tx>, settings: EngineSettings): Engine<Tx> {
  const state = { fleet: fleetState(parts.newId()), deploys: deployState() }
  const core = createCore(parts, settings, state)
  // The loops do not care what a transaction looks like; only the handle of a run does.
  const plain = core as ReturnType<typeof createCore<unknown>>
  const settler = createSettler(plain)
  const notes = noteKeeper(plain)
  const peers = peerWatch(plain, state.fleet)
  const deploys = deployer(plain, state.deploys)
  const duties = housekeeper(plain, deploys, peers)
  const fleet = heartbeat(plain, state.fleet, reconciler(plain, settler), () => {
    peers.observe()
    duties.observe()
  })
  core.confirm = fleet.confirm
  core.restore = restorer(plain, fleet, deploys)
  const claims = new Claimer(plain, (run) => void execute(core, run, settler, notes))
  /** Of those who wait for something to change. */
  const waiting = new Set<AbortController>()
  let wakeUps = 0
  let unwatch: () => void = () => {}
  let leaving: Promise<void> | null = null

  const onHint = (hint: WatchHint): void => {
    if (hint === 'doubt') {
      fleet.doubt()
      return
    }
    wakeUps++
    core.claimAlarm.ring()
    core.beatAlarm.ring()
    for (const one of waiting) one.abort(WAIT_ENDED)
  }

  /** Whoever has started can rely on what it declares being there, however often the store fails meanwhile. */
  const declare = (): Promise<void> => untilDone(core, 'declare', () => deploys.keep())

  /** Of those that nobody was there to declare dead, or to recover: before anything of them is looked for. */
  const recoverOrphans = async (): Promise<void> => {
    try {
      for (const id of core.fleet.chores.orphans) await peers.recoverRuns(id)
    } catch (error) {
      core.storeFailed('recover', describeError(error), settings.leaseMs)
    }
  }

  const joinFleet = async (): Promise<void> => {
    await fleet.join()
    // Before anything that may take long: this instance is live, and must stay so.
    void fleet.loop()
    await declare()
    await recoverOrphans()
    if (core.stopped.aborted) return
    unwatch = parts.store.watch(onHint)
    // Caught inside, each of them: a loop ends when the engine is stopped, and never otherwise.
    void fleet.watchTrust()
    void peers.watchLeases()
    void peers.watchProcesses()
    void watchStuck(plain)
    void duties.loop()
  }

  const drain = async ({ drainMs, graceMs }: StopOptions): Promise<void> => {
    core.stopping = true
    core.beatAlarm.ring()
    // What is being claimed will be ours, and must be handed back before we are gone.
    await within(settings.storeDeadlineMs * 2, claims.answered())
    await within(drainMs, core.runs.empty())
    for (const run of core.runs.all()) run.abort('stopping', null)
    await within(graceMs, core.runs.empty())
    for (const run of core.runs.all()) run.giveUp()
    leaving ??= leave()
    await leaving
  }

  const begin = async <Value>(
    started: StartedRun,
    kind: ExclusiveKind,
    work: (handle: RunHandle<Tx>) => Promise<Value>,
  ): Promise<Finished<Value>> => {
    const came: { begun?: true; to?: { readonly value: Value } | { readonly error: unknown } } = {}
    const execution = async (handle: RunHandle<Tx>): Promise<unknown> => {
      came.begun = true
      try {
        came.to = { value: await work(handle) }
        return null
      } catch (error) {
        came.to = { error }
        throw error
      }
    }
    const job = { name: started.record.job, retryable: () => false, execute: execution }
    const settled = await execute(core, started, settler, notes, { kind, job })
    if (came.to === undefined) return { kind: came.begun === true ? 'over' : 'unbegun' }
    if ('error' in came.to) return { kind: 'threw', error: came.to.error, settled }
    return { kind: 'done', value: came.to.value, settled }
  }

  const quiet = async (): Promise<void> => {
    await core.runs.empty()
    await settler.empty()
  }

  const leave = async (): Promise<void> => {
    // Whatever was given up is yet to be handed back: left behind, it would count as a crash.
    await within(LEAVE_MS, quiet())
    // The loops first: a renewal that crosses the farewell would be told that this instance is no more.
    core.stop()
    unwatch()
    core.claimAlarm.ring()
    core.beatAlarm.ring()
    core.keepAlarm.ring()
    core.trustAlarm.ring()
    try {
      await fleet.beat('left')
    } catch (error) {
      // The others find out by the lease.
      core.storeFailed('leave', describeError(error), 0)
    }
    parts.emit({ type: 'instance.left', instance: core.fleet.instance })
  }

  const within = async (ms: number, done: Promise<void>): Promise<void> => {
    const waited = new AbortController()
    await Promise.race([done, parts.clock.sleep(ms, waited.signal)])
    waited.abort(WAIT_ENDED)
  }

  return {
    async start() {
      await joinFleet()
      void claims.loop()
    },
    async stop(options) {
      core.stopping = true
      // A leader has nothing to finish: the sooner it steps down, the sooner there is another.
      for (const run of core.runs.all()) if (run.exclusive === 'term') run.abort('stopping', null)
      for (const one of waiting) one.abort(WAIT_ENDED)
      parts.emit({ type: 'instance.draining', instance: core.fleet.instance, runs: core.runs.size })
      await drain(options)
    },
    async runDue(options) {
      core.transient = true
      try {
        await joinFleet()
        await peers.recoverFirst()
        for (;;) {
          await core.epochs.ready()
          // A limit may have been used up by a run of our own that has ended since: only a look with none under way tells.
          const isAlone = core.runs.size === 0
          if (isAlone) core.fullLimits.clear()
          // Nobody else may be there to run what is theirs, and we are not going to be here when it turns out.
          const waitMs = await claims.look({ patienceMs: 0, isLast: true })
          if (waitMs === 0) continue
          if (isAlone && core.runs.size === 0) break
          await core.runs.empty()
        }
      } finally {
        await drain(options)
      }
    },
    learned: (decision) => core.recent.applied(decision),
    async take(wanted, kind, work) {
      const taken = await claimFire(plain, wanted, kind)
      if (taken.kind !== 'taken') return taken
      return { kind: 'begun', started: taken.started, ended: begin(taken.started, kind, work) }
    },
    async rung(ms, signal, since = wakeUps) {
      const one = new AbortController()
      const isOver = (): void => one.abort(WAIT_ENDED)
      waiting.add(one)
      signal?.addEventListener('abort', isOver, { once: true })
      if (signal?.aborted === true || core.stopping || since !== wakeUps) isOver()
      await parts.clock.sleep(ms, one.signal)
      signal?.removeEventListener('abort', isOver)
      waiting.delete(one)
    },
    get wakeUps() {
      return wakeUps
    },
    trusted() {
      const isJumped = core.lease.jumped()
      if (isJumped) void core.confirm()
      return !isJumped && core.lease.trusted() && !core.lease.doubted() && !core.stopped.aborted
    },
    quiet,
    get instance() {
      return core.fleet.instance
    },
    get running() {
      return core.runs.size
    },
    get stopping() {
      return core.stopping
    },
  }
}
