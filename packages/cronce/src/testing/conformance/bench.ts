import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
// By name: the types of `@cronce/conformance` must be those of the `cronce` that is installed.
import type { Store, StoreSource } from 'cronce'
import type { Change } from '../../model/change.ts'
import type { FireRecord, RunNotes, RunRecord } from '../../model/record.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { listFires, listRuns, type ViewQuery } from '../../store/list-views.ts'
import type { ApplyOptions, ChangeResult, Page } from '../../store/store.ts'
import { beat, type Claim, claim, creation, decideIn, runOf, schedule } from './samples.ts'

/** A store to be judged: at least one real one, empty or not; every rule works in a namespace of its own. */
export interface StoreUnderTest<Tx = unknown> {
  readonly source: StoreSource<Tx>
  /** Called once, when every store opened from the source has been closed. */
  dispose(): Promise<void>
  /** Where the store's clock can be set. Else the rules really wait, for short leases only. */
  readonly clock?: { advance(ms: number): void } | undefined
  /** Where the clock can't be set: make all instances that are over, over for so much longer. Else those rules are skipped. */
  readonly age?: ((namespace: string, ms: number) => Promise<void>) | undefined
  /** Where the clock can't be set: let all leases seem to end so much later, as they do once it was set back. */
  readonly setBack?: ((namespace: string, ms: number) => Promise<void>) | undefined
  /** Let another server take over, in a higher epoch, without losing anything. Where the store moves its epoch by itself. */
  readonly failOver?: ((namespace: string) => Promise<void>) | undefined
  /** Watchers are not woken, because something in between keeps the store from notifying. @default false */
  readonly isDeaf?: boolean | undefined
  /** The user's side of the same database, where the store has transactions. */
  readonly database?: Database<Tx> | undefined
}

export interface Database<Tx> {
  /** The function of a run's transaction must not wait. */
  readonly isSynchronous?: boolean | undefined
  /** Keep a text in a table of the user's own, within the transaction. Synchronous where transactions are. */
  write(tx: Tx, text: string): void | Promise<void>
  /** All texts that were committed. */
  read(): Promise<readonly string[]>
  /** A transaction of the user's own: committed when the function ends, rolled back if it throws. */
  transaction(work: (tx: Tx) => Promise<void>): Promise<void>
}

/** What a rule is given. */
export interface Bench {
  readonly under: StoreUnderTest
  readonly namespace: string
  /** Opened in an empty namespace. */
  readonly store: Store
  /** Opened once more, as another process would: in the same namespace unless told otherwise. */
  open(namespace?: string): Promise<Store>
  /** The store's clock. */
  now(): Promise<Instant>
  /** Let time pass for the store. */
  pass(ms: number): Promise<void>
  /** Make all instances that are over, over for so much longer. */
  age(ms: number): Promise<void>
  /** Set the store's clock back. */
  setBack(ms: number): Promise<void>
  /** Poll until it is so. */
  eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void>
}

type Need =
  | 'clock'
  | 'age'
  | 'set-back'
  | 'failover'
  | 'wakes'
  | 'transactions'
  | 'no-transactions'
  | 'database'
  | 'waiting-transactions'
export type Rule = (title: string, body: (bench: Bench) => Promise<void>, needs?: Need) => void

const POLL_MS = 10
/** Half a minute: a busy machine may be slow, but only a broken store takes this long. */
const MOST_POLLS = 3_000

let namespaces = 0

/** A test that opens what it needs and closes it again. */
export function ruleFor(underTest: () => StoreUnderTest): Rule {
  return (title, body, needs) => {
    test(title, async (context: TestContext) => {
      const under = underTest()
      const namespace = `conformance-${++namespaces}`
      const opened: Store[] = []
      const open = async (chosen = namespace): Promise<Store> => {
        const store = await under.source.open({ namespace: chosen, adopt: false, production: false, warn: () => {} })
        opened.push(store)
        return store
      }
      try {
        const store = await open()
        decideIn(store.info.epoch)
        const lack = needs === undefined ? null : lackOf(needs, under, store)
        if (lack !== null) context.skip(lack)
        else {
          const pass = passFor(under)
          const age = (ms: number) => under.age?.(namespace, ms) ?? pass(ms)
          const setBack = (ms: number) => under.setBack?.(namespace, ms) ?? pass(-ms)
          await body({ under, namespace, store, open, now: () => nowOf(store), pass, age, setBack, eventually })
        }
      } finally {
        await Promise.all(opened.map((store) => store.close()))
      }
    })
  }
}

/** Why the store cannot be tested by a rule with this need. `null`: it can. */
function lackOf(need: Need, under: StoreUnderTest, store: Store): string | null {
  return LACKS[need](under, store)
}

const LACKS: { readonly [Name in Need]: (under: StoreUnderTest, store: Store) => string | null } = {
  clock: ({ clock }) => (clock === undefined ? "the store's clock can't be set" : null),
  age: ({ clock, age }) => (clock === undefined && age === undefined ? 'nothing can be made older' : null),
  'set-back': ({ clock, setBack }) =>
    clock === undefined && setBack === undefined ? "the store's clock can't be set" : null,
  failover: ({ failOver }) => (failOver === undefined ? 'no other server takes over' : null),
  wakes: ({ isDeaf }) => (isDeaf === true ? 'watchers are not woken' : null),
  'no-transactions': (_, store) => (store.info.transactions ? 'the store has transactions' : null),
  transactions: (_, store) => (store.info.transactions ? null : 'the store has no transactions'),
  database: (under, store) =>
    lackOf('transactions', under, store) ??
    (under.database === undefined ? 'no way into the database was given' : null),
  'waiting-transactions': (under, store) =>
    lackOf('database', under, store) ?? (under.database?.isSynchronous === true ? 'transactions do not wait' : null),
}

async function nowOf(store: Store): Promise<Instant> {
  return (await store.load([])).now
}

function passFor({ clock }: StoreUnderTest): (ms: number) => Promise<void> {
  return async (ms) => {
    if (clock === undefined) await wait(ms)
    else clock.advance(ms)
  }
}

/** Whether it is done by then. Some stores hold it up until something else is over. */
export async function isDoneSoon(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), wait(300).then(() => false)])
}

async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let poll = 0; poll < MOST_POLLS; poll++) {
    if (await check()) return
    await wait(POLL_MS)
  }
  assert.fail(`waited in vain until ${what}`)
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Every change must be applied. */
export async function applyAll(
  store: Store,
  changes: readonly Change[],
  options?: ApplyOptions<unknown>,
): Promise<void> {
  const { results } = await store.apply(changes, options)
  assert.deepEqual(
    results,
    changes.map(() => ({ kind: 'applied' })),
  )
}

export async function applyOne(store: Store, change: Change, options?: ApplyOptions<unknown>): Promise<ChangeResult> {
  const { results } = await store.apply([change], options)
  assert.equal(results.length, 1, 'one result for each change')
  return results[0]!
}

export async function loadOne(store: Store, id: string): Promise<ScheduleState | null> {
  const { schedules } = await store.load([id])
  assert.ok(schedules.length <= 1, `${id} came ${schedules.length} times`)
  return schedules[0] ?? null
}

/** Create it, and answer it as the store has it. */
export async function create(store: Store, state: ScheduleState): Promise<ScheduleState> {
  await applyAll(store, [creation(state)])
  const loaded = await loadOne(store, state.id)
  assert.ok(loaded !== null, `${state.id} was created`)
  return loaded
}

export async function join(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { alive } = await store.beat(beat(id, { join: true }))
    assert.equal(alive, true, `${id} joined`)
  }
}

/** A schedule with a run that is open: its state and the run's record. */
export async function running(
  store: Store,
  id: string,
  claimed: Claim,
): Promise<{ readonly state: ScheduleState; readonly run: RunRecord }> {
  const change = claim((await loadOne(store, id)) ?? (await create(store, schedule(id))), claimed)
  await applyAll(store, [change])
  return { state: change.state!, run: runOf(change) }
}

/** How often an observer saw it renew. */
export async function renewalsOf(store: Store, instance: string): Promise<number> {
  const { instances } = await store.listInstances()
  const record = instances.find(({ id }) => id === instance)
  assert.ok(record !== undefined, `${instance} is on record`)
  return record.renewals
}

export async function bury(store: Store, instance: string): Promise<void> {
  const renewals = await renewalsOf(store, instance)
  assert.equal(
    await store.mark({ kind: 'dead', instance, renewals, hint: true }),
    true,
    `${instance} was declared dead`,
  )
}

/** All pages, one after the other. */
export async function collect<Item>(
  list: (page: { readonly after: string | null; readonly limit: number }) => Promise<Page<Item>>,
  limit = 100,
): Promise<Item[]> {
  const items: Item[] = []
  let after: string | null = null
  for (let pages = 0; pages < 1_000; pages++) {
    const page: Page<Item> = await list({ after, limit })
    assert.ok(page.items.length <= limit, `a page of ${page.items.length} where ${limit} were asked for`)
    items.push(...page.items)
    if (page.next === null) return items
    after = page.next
  }
  return assert.fail('paging does not end')
}

export type Filter = Omit<ViewQuery, 'after' | 'limit'>

export function firesOf(store: Store, query: Filter = {}, limit = 100): Promise<FireRecord[]> {
  return collect((page) => listFires(store, { ...query, ...page }), limit)
}

export function runsOf(store: Store, query: Filter = {}, limit = 100): Promise<(RunRecord & RunNotes)[]> {
  return collect((page) => listRuns(store, { ...query, ...page }), limit)
}
