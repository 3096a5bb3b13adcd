import type { ActivityRecord } from '../model/activity.ts'
import type { AppRecord } from '../model/app.ts'
import type { Change } from '../model/change.ts'
import type { InstanceRecord, InstanceState } from '../model/instance.ts'
import type { Json } from '../model/json.ts'
import type { Outcome } from '../model/outcome.ts'
import type {
  FireEnd,
  FireKey,
  FireRecord,
  HourCount,
  ListedRecord,
  LogLine,
  Progress,
  StepRecord,
} from '../model/record.ts'
import type { CancelRequest, Instant, ScheduleState } from '../model/schedule.ts'

/**
 * The one door to durable state: one namespace of one store. Every method is atomic, whatever the rest of the fleet is doing.
 * A store records decisions; it never makes one. Everything about a schedule is decided on its whole state and written by
 * compare-and-set on its version, so the store needs no policy, holds no lock while the caller decides, and a late or repeated
 * write changes nothing.
 *
 * A method that throws has an *unknown* outcome, unless the error says otherwise (`notApplied: true`): the caller finds out by
 * reading. `now` in an answer is the store's clock, which alone judges what is due and which lease has run out. No state in an answer was
 * written after its `now`: otherwise a claim would be stamped before the end of the run that it follows.
 *
 * Proof of a store: `describeStore` of `@cronce/conformance`.
 */
export interface Store<Tx = unknown> {
  readonly info: StoreInfo

  /** The schedules of these ids, in any order; what does not exist is left out. */
  load(ids: readonly string[], options?: InTransaction<Tx>): Promise<Loaded>

  /**
   * Schedules of these jobs that want attention, the longest waiting first: `wakeAt <= now + aheadMs` in own buckets, and
   * `wakeAt <= now - patienceMs` in the others. Never scans what is not due. While claims are held, none: see `Beat.settled`.
   */
  due(query: DueQuery): Promise<Due>

  /**
   * Write decisions. Each change is all or nothing, and refused or written whatever becomes of the others; they are written in
   * order, and each sees those before it. The version is judged first. See `Change` and `ChangeResult`.
   * With `claimant`, every change also demands that this instance is live, and may renew its lease (`Applied.renewed`); while
   * claims are held, each is a conflict: see `Beat.settled`.
   */
  apply(changes: readonly Change[], options?: ApplyOptions<Tx>): Promise<Applied>

  /**
   * Join, renew, change state or leave. `alive: false`: declared dead or unknown to have lived; this id is over, unless the
   * epoch has moved: then its joining may be what was lost, and it may join again. Or its number was refused: see `Beat.sequence`.
   * Joining, leaving and a beat with `wake` wake the others, who share the work anew.
   */
  beat(beat: Beat): Promise<BeatAnswer>

  /** Declare an instance dead, or ask it to drain: see `InstanceMark`. True if that is so now. */
  mark(mark: InstanceMark): Promise<boolean>

  /** Durable steps; see `StepCommand`. */
  step(command: StepCommand): Promise<StepAnswer>

  /** Notes of runs in progress, which replace earlier ones. Returns the runs that are not live: their notes were refused. */
  annotate(notes: readonly Annotation[]): Promise<{ readonly stale: readonly RunKey[] }>

  /**
   * Run `work` and write the settlement in one transaction of the store's own database. `settle` is called on the state as the
   * transaction sees it, after `work`; `null` means that the run is no longer live: roll everything back, answer `stale`.
   * Stores that can't have `info.transactions: false` and reject with STORE_CANNOT_TRANSACT.
   */
  transact<Value>(transaction: Transaction<Tx, Value>): Promise<Transacted<Value>>

  loadApp(name: string): Promise<{ readonly now: Instant; readonly app: AppRecord | null }>
  /** Compare-and-set on `app.version - 1`. False: another caller was faster. `activity` is written if and only if the record is. */
  saveApp(app: AppRecord, activity?: ActivityRecord): Promise<boolean>

  listSchedules(query: ScheduleQuery): Promise<Page<ScheduleState>>
  /**
   * Fires or runs: two views of the history and of what is open. Ordered by the due time of the fire, the latest first, in both
   * views. Records that are due at the same time: within a schedule by nonce, and the runs of a fire by token, in the same direction;
   * across schedules in an order of the store's own. The place of a record never changes, so pages neither repeat nor omit one.
   */
  listRecords(query: RecordQuery): Promise<Page<ListedRecord>>
  /** The fires of each schedule that ended, the latest due first; of as many schedules and fires as a screen has room for. */
  listLatest(query: LatestQuery): Promise<{ readonly now: Instant; readonly fires: readonly FireEnd[] }>
  /**
   * How many fires ended how, by the hour in which they were due; a range counts in the hour of its first instant. A fire that is open
   * again does not count, one whose records have been deleted does. Kept for a hundred days. In the order of hours.
   */
  countFires(query: HourQuery): Promise<{ readonly now: Instant; readonly hours: readonly HourCount[] }>
  /**
   * Ends that were committed since a position, in any order; with `after: null`, none, and the position to go on from. Positions
   * follow the order of commits, not the times in the records: an end that was decided long ago and committed a moment ago is new.
   */
  listEnds(query: EndQuery): Promise<EndPage>
  /** Lines of the operator log, the latest first; those of one instant by id, in the same direction. */
  listActivity(query: ActivityQuery): Promise<Page<ActivityRecord>>
  listSteps(fire: FireKey): Promise<readonly StepRecord[]>
  /** In the order of their ids. Bounded by those that live: what a day has left behind may be a hundred thousand. */
  listInstances(
    query?: InstanceQuery,
  ): Promise<{ readonly now: Instant; readonly instances: readonly InstanceRecord[] }>

  /**
   * Delete up to `limit` ended fires whose time is up, with their runs and steps, and instances that ended a day ago and have no open runs:
   * those are found by them. Lines of the operator log whose time is up go as well, up to `limit`, and are not counted. With `schedule`: instead,
   * up to `limit` fires of this schedule, whatever their time, and its lines of the operator log; call it until it deletes none. Rejects with SCHEDULE_EXISTS if the schedule exists.
   */
  prune(limit: number, schedule?: string): Promise<{ readonly deleted: number }>

  /** Subscribe to what can't wait for the next heartbeat. A hint: may come late, twice or never. Returns how to stop. */
  watch(listener: (hint: WatchHint) => void): () => void

  /**
   * Instances among these whose process is known to be gone, without waiting for their lease. Empty where the store can't
   * tell. A hint for `mark`. Where the store can wait for such an end, it does, for up to three seconds.
   */
  probe(instances: readonly string[]): Promise<readonly string[]>

  /** Another namespace, on the connections of this store; closing it leaves them open. Absent: it has to be opened by itself. */
  inNamespace?(namespace: string): Store<Tx>

  close(): Promise<void>
}

export type InstanceMark =
  /**
   * For ever: only if the instance has not renewed since (`renewals`), and either its lease has run out by the store's clock or `hint`
   * says that its process is gone.
   */
  | { readonly kind: 'dead'; readonly instance: string; readonly renewals: number; readonly hint: boolean }
  /** Ask a live instance to take nothing new, or (`false`) take that back, and wake it. */
  | {
      readonly kind: 'drain'
      readonly instance: string
      readonly drain: boolean
      /** Written if and only if the instance is live. */
      readonly activity?: ActivityRecord | undefined
    }

/** All live instances; ended ones that still hold open runs; and the newest of the other ended ones. */
export interface InstanceQuery {
  /** Instead of those: these, in any state. */
  readonly ids?: readonly string[] | undefined
  /** Only those of this app. Of ended ones, a store searches the newest `ENDED_LOOKED`. */
  readonly app?: string | undefined
  /** Most ended instances without runs. `ENDED_SHOWN` by default. */
  readonly ended?: number | undefined
}

export const ENDED_SHOWN = 200
export const ENDED_LOOKED = 10_000

/**
 * `wake`: a process wrote with `wake`, an instance joined or left, or is asked to drain.
 * `doubt`: what shows the peers that this process is alive was lost (a session, a lock). They may declare its instance dead
 * unless it renews at once.
 */
export type WatchHint = 'wake' | 'doubt'

/** The result of `sqlite(file)`, `memory()` and so on: a store to open, in a namespace. */
export interface StoreSource<Tx = unknown> {
  /** The kind of store and its address for messages, without secrets. */
  readonly name: string
  open(options: OpenOptions): Promise<Store<Tx>>
}

export interface OpenOptions {
  readonly namespace: string
  /** Take over a store that was copied or restored from elsewhere. */
  readonly adopt: boolean
  /** Refuse settings that would run jobs twice in production. */
  readonly production: boolean
  readonly warn: (code: string, message: string) => void
}

export interface StoreInfo {
  readonly name: string
  /** 1 at first; moves up when the store was adopted or promoted: the upper part of every token. */
  readonly epoch: number
  readonly transactions: boolean
  /** A dead process is noticed by `probe`, without waiting for its lease. */
  readonly probes: boolean
  /**
   * Writes that it acknowledged may be gone after a failover, in which case its epoch moves up by itself. Instances of such a
   * store remember for a while what they did, to write it again.
   */
  readonly losesWrites: boolean
  /** A wake-up costs nothing here, so the end of every lock and key sends one. @default false */
  readonly freeWakes?: boolean | undefined
  /** How many changes an instance sends in one call when it has that many. More cost less each, and hold up other calls for longer. @default 500 */
  readonly batch?: number | undefined
  readonly leaseClock: LeaseClock
}

/**
 * The clock of an instance's machine that leases expire by. `boot`: the server's clock decides, which goes on while the machine is
 * suspended. `mono`: the machine's own monotonic clock, which stands still for all its processes alike.
 */
export type LeaseClock = 'boot' | 'mono'

export interface InTransaction<Tx> {
  /** The user's own transaction on the same database: read and write in it, and leave the commit to its owner. */
  readonly tx?: Tx | undefined
}

export interface Loaded {
  readonly now: Instant
  /** The state at the moment of reading: a decision on it holds only in this transaction. */
  readonly epoch: number
  readonly schedules: readonly ScheduleState[]
}

export interface DueQuery {
  /** `buckets`: 256 characters, `1` for each own bucket. */
  readonly jobs: readonly { readonly job: string; readonly buckets: string }[]
  /** Up to 9e15, which is longer than any wait: own schedules only. */
  readonly patienceMs: number
  /** Own schedules that become due within this time are answered as well. At most a quarter of a lease. @default 0 */
  readonly aheadMs?: number | undefined
  readonly limit: number
}

export interface Due {
  readonly now: Instant
  readonly epoch: number
  readonly schedules: readonly ScheduleState[]
  /**
   * Earliest `wakeAt` among the rest, in own buckets and in the others. `null`: none. Where more than a thousand that are due would
   * have to be passed over for it, a store may say when to look again instead. A caller looks again `aheadMs` before `mineAt`.
   */
  readonly mineAt: Instant | null
  readonly othersAt: Instant | null
}

/** `leaseMs` is what its lease is renewed by, unless that was done less than a thirtieth of it ago. */
export interface Claimant {
  readonly instance: string
  readonly leaseMs: number
  /** Renew the lease whenever it was renewed last. @default false */
  readonly renew?: boolean | undefined
}

export interface ApplyOptions<Tx> extends InTransaction<Tx> {
  /** The claimant. */
  readonly claimant?: Claimant | undefined
  /** Write only while the record of this app has this version. Otherwise every change is a conflict. */
  readonly app?: { readonly name: string; readonly version: number } | undefined
  /** Notify peers at once: for commands of people, not for fires. */
  readonly wake?: boolean | undefined
  /** A line of the operator log about an action that changes no schedule. Without changes and without a transaction only. */
  readonly activity?: ActivityRecord | undefined
}

export interface Applied {
  readonly now: Instant
  /** The claimant's lease was renewed: its `renewals` moved. False without a claimant. */
  readonly renewed: boolean
  /** One for each change, in order. */
  readonly results: readonly ChangeResult[]
}

export type ChangeResult =
  | { readonly kind: 'applied' }
  /** The schedule has another version by now (or exists, or is gone), or the store another epoch: read again. */
  | { readonly kind: 'conflict' }
  /** The store's clock has not reached `notBefore`. */
  | { readonly kind: 'early' }
  /** One of `creates` is on record. */
  | { readonly kind: 'exists'; readonly fire: FireRecord }
  /** A limit is used up. */
  | { readonly kind: 'full'; readonly slot: string }
  /** The claimant is not live. */
  | { readonly kind: 'not-live' }

export interface Beat {
  /** Its self-description; `state`, `running`, `clockOffsetMs` may differ from heartbeat to heartbeat. */
  readonly instance: Omit<
    InstanceRecord,
    'renewals' | 'renewedAt' | 'expired' | 'drain' | 'startedAt' | 'state' | 'endedAt'
  > & {
    readonly state: Exclude<InstanceState, 'dead'>
  }
  /** The first heartbeat of this incarnation. Any other is refused for an unknown id. */
  readonly join: boolean
  /** Notify peers at once: this instance claims nothing new from now on. */
  readonly wake?: boolean | undefined
  /**
   * Which heartbeat of this incarnation it is. Unless it joins, it is refused and changes nothing if the last one on record is not
   * from `after` up to, but without, `number`: then another machine renews under the same id, or a later one has overtaken it.
   */
  readonly sequence?: BeatSequence | undefined
  readonly leaseMs: number
  /**
   * The epoch in which this instance has written again whatever it knew and the store had forgotten. When the epoch of a store
   * moves up by itself, all leases begin anew, and it may hold claims (see `due` and `apply`) until every live instance has
   * beaten with the current one, or its lease has run out: an instance that knows of a fire reports it before another one runs it again. A
   * beat that settles wakes the others as long as claims are held, so that the fleet does not wait for an instance that merely sleeps.
   */
  readonly settled?: number | undefined
}

export interface BeatSequence {
  /** Grows with every heartbeat that this incarnation sends. */
  readonly number: number
  /** The last one that was acknowledged. */
  readonly after: number
}

export interface BeatAnswer {
  readonly alive: boolean
  /** The number of the last heartbeat on record. `null`: this instance is over, or the store does not know it. */
  readonly number: number | null
  readonly now: Instant
  readonly epoch: number
  /** Writes that were acknowledged to this opening of the store were gone when this epoch began. */
  readonly lost: boolean
  /** Open runs that the store says this instance holds. */
  readonly held: readonly HeldRun[]
  /** All that are live or draining, this one included. */
  readonly instances: readonly InstanceRecord[]
  /** So that instances need not search for work that is rarely there. */
  readonly chores: Chores
}

export interface Chores {
  /** Version of the record of the instance's app. 0: there is none. */
  readonly appVersion: number
  /** Ended instances, dead or left, that still hold open runs. */
  readonly orphans: readonly string[]
  /** `prune` would probably delete something now; the store does not check every record. */
  readonly prunable: boolean
}

export interface HeldRun {
  readonly schedule: string
  readonly token: string
  readonly claim: number
  readonly cancel: CancelRequest | null
}

/**
 * A run is live if it is open in the store, and its instance is known there and has neither been declared dead nor left. A parked
 * run has no instance: it begins nothing more. What it has begun may end at any time.
 */
export type StepCommand =
  /** Begin a step, if the run is live and the step is neither done nor begun by another run. A failed one may begin again. */
  | {
      readonly kind: 'begin'
      readonly fire: FireKey
      readonly step: string
      readonly token: string
      /** Also if an earlier run started it and its outcome is unknown. */
      readonly rerun: boolean
    }
  /** End it: accepted only from the run that started it, live or not. */
  | {
      readonly kind: 'end'
      readonly fire: FireKey
      readonly step: string
      readonly token: string
      readonly failed: boolean
      readonly result: Json
    }
  /**
   * An operator records how it ended, if that is unknown: a step that is done or failed stays as it is, and a failed one may
   * start again.
   */
  | {
      readonly kind: 'resolve'
      readonly fire: FireKey
      readonly step: string
      readonly failed: boolean
      readonly result: Json
    }

export type StepAnswer =
  | { readonly kind: 'applied' }
  /** Already on record: started or ended by this same run. To an operator: it has failed. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'done'; readonly result: Json }
  /** Started by the run of this token, which did not end it. */
  | { readonly kind: 'unknown'; readonly token: string }
  /** The run is not live, or the step belongs to another run by now. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'not-found' }

/** Schedules count their tokens independently, so a token alone does not name a run. */
export interface RunKey {
  readonly schedule: string
  readonly token: string
}

export interface Annotation extends RunKey {
  readonly progress: Progress | null
  readonly log: readonly LogLine[]
  readonly logCut: boolean
}

export interface Transaction<Tx, Value> {
  readonly schedule: string
  readonly token: string
  readonly work: (tx: Tx) => Value | Promise<Value>
  readonly settle: (state: ScheduleState, now: Instant, value: Value) => Change | null
}

export type Transacted<Value> =
  | { readonly kind: 'committed'; readonly value: Value; readonly now: Instant }
  | { readonly kind: 'stale' }

/** A page, and the cursor of the next one; `null`: this is the last page. Cursors are opaque. */
export interface Page<Item> {
  readonly now: Instant
  readonly items: readonly Item[]
  readonly next: string | null
}

interface PageQuery {
  readonly after: string | null
  readonly limit: number
}

/** By name, ascending. */
export interface ScheduleQuery extends PageQuery {
  readonly job?: string | undefined
  readonly prefix?: string | undefined
  readonly tenant?: string | undefined
  /** Declared in the code of this app. */
  readonly app?: string | undefined
  readonly state?: 'active' | 'paused' | 'retired' | 'finished' | undefined
}

export interface RecordQuery extends PageQuery {
  /** `fires`: the open ones, and the final line of the others. `runs`: the open ones, and every line of a run. */
  readonly view: 'fires' | 'runs'
  readonly schedule?: string | undefined
  readonly job?: string | undefined
  readonly tenant?: string | undefined
  readonly outcome?: Outcome | 'open' | undefined
  readonly nonce?: string | undefined
  /** The instance of the run. Empty for a parked run. */
  readonly instance?: string | undefined
  /** The token of the run. With `schedule`, it identifies one. */
  readonly token?: string | undefined
  /** Filters by due time: `from` included, `to` excluded. A range counts as its first instant, and matches if it overlaps. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  readonly order?: 'latest' | 'earliest' | undefined
}

export interface ActivityQuery extends PageQuery {
  /** Lines about this schedule. */
  readonly schedule?: string | undefined
  /** About the time of the action: `from` included, `to` excluded. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}

export interface LatestQuery {
  /** At most 100. */
  readonly schedules: readonly string[]
  /** For each: at most 100. */
  readonly limit: number
}

/** Hours that begin at `from` or later, and before `to`. */
export interface HourQuery {
  readonly from: Instant
  readonly to: Instant
}

/** `after`: the `next` of an earlier answer; `null`: from now on. */
export interface EndQuery {
  readonly after: string | null
  readonly limit: number
}

export interface EndPage {
  readonly now: Instant
  /** Runs that ended, and fires whose end is not that of a run. A fire that is open again has not ended. */
  readonly items: readonly ListedRecord[]
  /** The position after everything that is committed by now. Opaque. */
  readonly next: string
  /**
   * False: ends since `after` are not in `items`, because there are more than `limit`, a record has been deleted, the position is
   * older than what the store keeps, or the epoch has moved.
   */
  readonly complete: boolean
}

/** Least number of ends that a store which logs them keeps. */
export const ENDS_KEPT = 20_000
