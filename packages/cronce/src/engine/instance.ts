import { isExclusive, SLOT_JOB } from '../model/exclusive-jobs.ts'
import type { Instant } from '../model/schedule.ts'
import type { Decision, StartedRun } from '../policy/decision.ts'
import type { HeldRun, WatchHint } from '../store/store.ts'
import { claimFire, type Wanted } from './claim/claim-fire.ts'
import { Claims } from './claim/claims.ts'
import { DueDecider } from './claim/decide-due.ts'
import { type LookOptions, Looks } from './claim/looks.ts'
import { Core } from './core.ts'
import { type Deployer, deployer } from './deploy/deploy.ts'
import { deployState } from './deploy/deploy-state.ts'
import { describeError } from './describe-error.ts'
import { type FleetState, fleetState } from './fleet/fleet-state.ts'
import { Heartbeat } from './fleet/heartbeat.ts'
import { Housekeeper } from './fleet/housekeeping.ts'
import { Reconciler } from './fleet/reconcile.ts'
import { PeerWatch } from './fleet/recover-peers.ts'
import { loop, untilDone } from './loop.ts'
import type { EngineParts, EngineSettings, RunHandle } from './parts.ts'
import { Restorer } from './restore/restore.ts'
import { type Begun, type ExclusiveRun, ExclusiveWork, type Finished } from './run/exclusive-run.ts'
import { execute } from './run/execute.ts'
import { ExecutedRun } from './run/local-run.ts'
import { NoteKeeper } from './run/notes.ts'
import type { ExclusiveKind } from './run/run-table.ts'
import { type Settled, Settler } from './run/settle.ts'
import { release, settleRun } from './run/settle-run.ts'
import { watchStuck } from './run/stuck-runs.ts'
import { WAIT_ENDED } from './wait-ended.ts'
import { WakeUps } from './wake-ups.ts'

export interface StopOptions {
  readonly drainMs: number
  /** How long an aborted run may take to notice. */
  readonly graceMs: number
}

/** What one instance is doing at this moment. */
export interface InstanceLoad {
  /** One entry for each open run, of whatever kind. */
  readonly jobs: readonly string[]
  readonly concurrency: number
  /** How far the wall clock here is ahead of the store's. */
  readonly clockOffsetMs: number
}

/** Longest wait for the last settlements before this instance leaves. */
const LEAVE_MS = 5_000

/** One instance: joins the fleet, plans, claims, executes and settles, until it is stopped. */
export class Instance<Tx = unknown> {
  readonly #core: Core<Tx>
  readonly #looks: Looks
  readonly #decider: DueDecider
  readonly #claims: Claims
  readonly #settler: Settler
  readonly #notes: NoteKeeper
  readonly #heartbeat: Heartbeat
  readonly #peers: PeerWatch
  readonly #deploys: Deployer
  readonly #housekeeper: Housekeeper
  readonly #wakeUps: WakeUps
  #unwatch: () => void = () => {}
  #leaving: Promise<void> | null = null

  constructor(parts: EngineParts<Tx>, settings: EngineSettings) {
    const state = { fleet: fleetState(parts.newId()), deploys: deployState() }
    this.#core = new Core(parts, settings, state)
    // Only the handle of a run knows the type of a transaction.
    const core = this.#core as Core
    this.#decider = new DueDecider(core)
    this.#looks = new Looks(core, this.#decider)
    this.#claims = new Claims(core, this.#decider, (started) => this.#run(started, null, () => {}))
    this.#settler = new Settler(core)
    this.#notes = new NoteKeeper(core)
    this.#peers = new PeerWatch(core, state.fleet)
    this.#deploys = deployer(core, state.deploys)
    this.#housekeeper = new Housekeeper(core, this.#deploys, this.#peers)
    const reconciler = new Reconciler(core, this.#settler)
    const onHeld = (held: readonly HeldRun[], sentAt: number): void => reconciler.reconcile(held, sentAt)
    this.#heartbeat = new Heartbeat(core, state.fleet, onHeld, () => {
      this.#peers.observe()
      this.#housekeeper.observe()
    })
    this.#core.confirm = () => this.#heartbeat.confirm()
    this.#core.renew = () => this.#heartbeat.tryRenew()
    const restorer = new Restorer(core, this.#heartbeat, this.#deploys)
    this.#core.restore = () => restorer.begin()
    this.#wakeUps = new WakeUps(core)
  }

  // The life of a fire: look, decide, claim, start; execute, settle.

  /** Returns how long there is nothing more to do, 0 if there may be more. Throws when the store does. */
  async #tick(options: LookOptions = this.#core.settings): Promise<number> {
    // What is due: claim/looks.ts, claim/look.ts, claim/buckets.ts, store.due.
    const look = await this.#looks.begin(options)
    // Decides what to do with it: claim/decide-due.ts, policy/plan/advance.ts.
    const claim = await this.#decider.claim(look)
    // Written by compare-and-set, and started: claim/claims.ts, claim/send-claim.ts, store.apply.
    const results = await this.#claims.send(claim, look)
    return this.#looks.end(look, results, claim.left)
  }

  /** A run, from its applied claim to its acknowledged settlement, when `onSettled` is called. */
  #run(started: StartedRun, exclusive: ExclusiveRun<Tx> | null, onSettled: (settled: Settled) => void): void {
    const core = this.#core
    // Known here as long as this instance holds it: run/run-table.ts.
    const run = new ExecutedRun(core.parts.clock, started, exclusive?.kind ?? null)
    core.runs.add(run)
    // The handler, with its signal, timeout and handle: run/execute.ts, run/run-handle.ts.
    execute(core, run, this.#notes, exclusive, (ended) => {
      // What is recorded: run/settlement.ts. Written in batches: run/settle.ts, policy/end/settle.ts, store.apply.
      settleRun(core, run, ended, this.#settler, (settled) => {
        release(core, run)
        onSettled(settled)
      })
    })
  }

  /** The jobs, and tasks of node-cron, that this instance is executing, one entry for each run. Not what is only claimed, nor locks and elections. */
  get runningJobs(): readonly string[] {
    const called = this.#core.runs.all().filter(({ calledAt }) => calledAt !== undefined)
    return called
      .map(({ started }) => started.record)
      .filter(({ job }) => !isExclusive(job))
      .map(({ job, schedule }) => (job === SLOT_JOB ? schedule : job))
  }

  /** What this instance is doing, for gauges. */
  get load(): InstanceLoad {
    const { runs, time, settings } = this.#core
    const jobs = runs.all().map(({ started }) => started.record.job)
    return { jobs, concurrency: settings.concurrency, clockOffsetMs: time.wallOffsetMs() }
  }

  /** Joins and starts. Resolves once this instance is live and its declarations are written, if they are to be. */
  async start(): Promise<void> {
    await this.#join()
    void loop(this.#core, 'claim', async () => this.#core.claimAlarm.wait(await this.#tick()))
  }

  /**
   * Instead of `start`: does everything that is due now, waits for it, and leaves. If the store fails meanwhile, behaves like
   * `stop`.
   */
  async runDue(options: StopOptions): Promise<void> {
    const core = this.#core
    core.transient = true
    try {
      await this.#join()
      await this.#peers.recoverFirst()
      let wasAlone = false
      for (;;) {
        await core.epochs.ready()
        // Our own run may have used up a limit and has ended since: only a look without open runs tells.
        const isAlone = core.runs.size === 0
        if (isAlone && !wasAlone) core.fullLimits.clear()
        wasAlone = isAlone
        // Also run the fires of peers: there may be no peer, and this instance stops before it could notice.
        const waitMs = await this.#tick({ patienceMs: 0, isLast: true })
        if (waitMs === 0) continue
        if (isAlone && core.runs.size === 0) break
        await core.runs.empty()
      }
    } finally {
      await this.#drain(options)
    }
  }

  /** Claims nothing new, lets runs finish until the deadline, hands back the rest, leaves. Never rejects. */
  async stop(options: StopOptions): Promise<void> {
    const core = this.#core
    core.stopping = true
    core.plannedStarts.release()
    // These have nothing to finish: the sooner a leader steps down, or a wait is handed back, the sooner a peer goes on.
    for (const run of core.runs.all()) if (run.exclusive === 'term' || run.waits) run.abort('stopping', null)
    this.#wakeUps.endWaits()
    core.parts.emit({ type: 'instance.draining', instance: core.fleet.instance, runs: core.runs.size })
    await this.#drain(options)
  }

  async #join(): Promise<void> {
    const core = this.#core
    await this.#heartbeat.join()
    // Before anything that may take long: this instance is live, and must stay so.
    void this.#heartbeat.loop()
    await untilDone(core, 'declare', () => this.#deploys.keep())
    await this.#recoverOrphans()
    if (core.stopped.aborted) return
    this.#unwatch = core.parts.store.watch((hint) => this.#onHint(hint))
    // Not awaited: each loop catches its errors, and ends when the engine is stopped.
    void this.#heartbeat.watchTrust()
    void this.#peers.watchLeases()
    void this.#peers.watchProcesses()
    void watchStuck(core as Core)
    void this.#housekeeper.loop()
  }

  /** Recovers runs of instances that died while no peer was up. Must happen before the first claim. */
  async #recoverOrphans(): Promise<void> {
    try {
      for (const id of this.#core.fleet.chores.orphans) await this.#peers.recoverRuns(id)
    } catch (error) {
      this.#core.storeFailed('recover', describeError(error), this.#core.settings.leaseMs)
    }
  }

  #onHint(hint: WatchHint): void {
    if (hint === 'doubt') {
      this.#heartbeat.doubt()
      return
    }
    this.#core.claimAlarm.ring()
    this.#core.beatAlarm.ring()
    this.#wakeUps.add()
  }

  async #drain({ drainMs, graceMs }: StopOptions): Promise<void> {
    const core = this.#core
    core.stopping = true
    core.plannedStarts.release()
    core.beatAlarm.ring()
    // Claims under way will be ours, and must be handed back before this instance leaves.
    await this.#within(core.settings.storeDeadlineMs * 2, this.#claims.answered())
    await this.#within(drainMs, core.runs.empty())
    for (const run of core.runs.all()) run.abort('stopping', null)
    await this.#within(graceMs, core.runs.empty())
    for (const run of core.runs.all()) run.giveUp()
    this.#leaving ??= this.#leave()
    await this.#leaving
  }

  async #leave(): Promise<void> {
    const core = this.#core
    // Runs that were given up must still be handed back: if left behind, they would count as crashes.
    await this.#within(LEAVE_MS, this.quiet())
    // Stop the loops first: the store would answer a renewal that crosses the leave as if this instance had been declared dead.
    core.stop()
    this.#unwatch()
    for (const alarm of [core.claimAlarm, core.beatAlarm, core.keepAlarm, core.trustAlarm]) alarm.ring()
    try {
      await this.#heartbeat.beat('left')
    } catch (error) {
      // Peers notice by the lease.
      core.storeFailed('leave', describeError(error), 0)
    }
    core.parts.emit({ type: 'instance.left', instance: core.fleet.instance })
  }

  async #within(ms: number, done: Promise<void>): Promise<void> {
    const waited = new AbortController()
    await Promise.race([done, this.#core.parts.clock.sleep(ms, waited.signal)])
    waited.abort(WAIT_ENDED)
  }

  /** This process changed a schedule as a client. If the store loses the change, this instance can restore it. */
  learned(decision: Decision): void {
    this.#core.recent.applied(decision)
  }

  /** Claims a run that the caller asks for (a lock, a leader's term), if no other run holds it, and calls `work` with its handle. */
  async take<Value>(
    wanted: Wanted,
    kind: ExclusiveKind,
    work: (handle: RunHandle<Tx>) => Promise<Value>,
  ): Promise<Begun<Value>> {
    const taken = await claimFire(this.#core as Core, wanted, kind)
    if (taken.kind !== 'taken') return taken
    const exclusive = new ExclusiveWork(taken.started.record.job, kind, work)
    const ended = new Promise<Finished<Value>>((resolve) => {
      this.#run(taken.started, exclusive, (settled) => resolve(exclusive.finish(settled)))
    })
    return { kind: 'begun', started: taken.started, ended }
  }

  /**
   * Waits until the store sends a wake-up, or this time has passed. `since`: `wakeUps` as it was before the caller looked at the
   * store; if there was a wake-up meanwhile, it returns at once.
   */
  rung(ms: number, signal?: AbortSignal, since?: number): Promise<void> {
    return this.#wakeUps.wait(ms, signal, since)
  }

  /** How many wake-ups this instance has had. */
  get wakeUps(): number {
    return this.#wakeUps.count
  }

  /** Whether this instance may assume that it still holds its runs. False while anything suggests otherwise. */
  trusted(): boolean {
    const { lease, stopped } = this.#core
    const isJumped = lease.jumped()
    if (isJumped) void this.#core.confirm()
    return !isJumped && lease.trusted() && !lease.doubted() && !stopped.aborted
  }

  /** Resolves when nothing is being executed or settled. */
  async quiet(): Promise<void> {
    await this.#core.runs.empty()
    await this.#settler.empty()
  }

  get instance(): string {
    return this.#core.fleet.instance
  }

  get settings(): EngineSettings {
    return this.#core.settings
  }

  /** The fleet as the last heartbeat listed it. */
  get fleet(): Readonly<FleetState> {
    return this.#core.fleet
  }

  /** The store's clock, as far as this instance knows it. */
  storeNow(): Instant {
    return Math.floor(this.#core.time.estimate())
  }

  get running(): number {
    return this.#core.runs.size
  }

  /** It claims nothing new any more. */
  get stopping(): boolean {
    return this.#core.stopping
  }
}
