import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Change } from '../../src/model/change.ts'
import { isRunning, type RunningFire, type ScheduleState } from '../../src/model/schedule.ts'
import type { Commit, Committed, KvDriver } from '../../src/store/kv/driver.ts'
import { decodeName, decodeToken, Keys } from '../../src/store/kv/keys.ts'
import { openKvStore } from '../../src/store/kv/open.ts'
import type { Store } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { loadOne } from '../../src/testing/conformance/bench.ts'
import {
  beat,
  change,
  claim,
  claimAgain,
  creation,
  decideIn,
  HOUR_MS,
  keyOf,
  NOON,
  schedule,
  settlement,
} from '../../src/testing/conformance/samples.ts'
import { OPENING } from './kv-kit.ts'
import { ModelServer } from './kv-model.ts'
import { type Random, randomFrom } from './random-kit.ts'

// Processes share the key-value store on a model of a server. Every call of a driver waits for its turn, which is drawn at random, so calls
// of all processes interleave in any order; answers are lost, and writes arrive late. After every write the keys are judged, and at the end
// what the callers were told. No driver of a server takes part: what is found here is a fault of the store.

const { CRONCE_CASES = '1', CRONCE_SEED = '1' } = process.env
const RUNS = 25 * Number(CRONCE_CASES)
const PROCESSES = 4
const STEPS = 40
const SCHEDULES = ['a', 'b', 'c']
const SLOT = 'group:g'
const LIMIT = 2
const LEASE_MS = 60_000

/** Draws which of the calls that wait is next. */
class Turns {
  readonly #random: Random
  readonly #waiting: (() => void)[] = []
  #isDrawing = false

  constructor(random: Random) {
    this.#random = random
  }

  async take(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      if (!this.#isDrawing) this.#draw()
    })
  }

  /** After all that the last one has set off. */
  #draw(): void {
    this.#isDrawing = true
    setImmediate(() => {
      const [next] = this.#waiting.splice(this.#random(this.#waiting.length), 1)
      next?.()
      if (this.#waiting.length > 0) this.#draw()
      else this.#isDrawing = false
    })
  }
}

function lost(): StoreError {
  return new StoreError('STORE_SILENT', 'The answer is lost.', { hint: 'Look.', notApplied: false })
}

/** Each call takes a turn. One in ten commits loses its request or its answer, or arrives after its caller has given up. */
function unreliable(driver: KvDriver, turns: Turns, random: Random): KvDriver {
  const commit = async (given: Commit): Promise<Committed> => {
    await turns.take()
    const luck = random(30)
    if (luck === 0) throw lost()
    if (luck === 1) {
      void turns.take().then(() => driver.commit(given).catch(() => {}))
      throw lost()
    }
    const answer = await driver.commit(given)
    if (luck === 2) throw lost()
    await turns.take()
    return answer
  }
  const inTurn =
    <Given extends readonly unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await turns.take()
      return call(...given)
    }
  return {
    ...driver,
    commit,
    read: inTurn(driver.read),
    grant: inTurn(driver.grant),
    keepAlive: inTurn(driver.keepAlive),
  }
}

/** A claim, by what identifies it: its process counts them. */
interface Claimed {
  readonly schedule: string
  readonly instance: string
  readonly number: number
  readonly told: 'applied' | 'refused' | 'unknown'
}

/** What was ever written of runs: token by token, and by claim. */
class Judge {
  readonly #server: () => ModelServer
  readonly #keys = new Keys('cronce', OPENING.namespace)
  readonly #states = new Map<string, ScheduleState>()
  readonly #tokens = new Map<string, string>()
  readonly #ended = new Map<string, number>()
  readonly #highest = new Map<string, bigint>()
  readonly problems: string[] = []
  readonly claims = new Map<string, number>()

  constructor(server: () => ModelServer) {
    this.#server = server
  }

  look(): void {
    const held: string[] = []
    const counted: string[] = []
    for (const { key, value } of this.#server().entries(this.#keys.below('s'))) {
      const id = decodeName(this.#keys.parts(key)[1]!)
      const state = { ...JSON.parse(value), id } as ScheduleState
      const before = this.#states.get(id)
      this.#states.set(id, state)
      if (before?.version !== state.version) this.#compare(before, state)
      for (const { run } of state.open.filter(isRunning)) {
        held.push(`${run.instance} ${id} ${run.token}`)
        for (const slot of run.slots ?? []) counted.push(`${slot} ${id} ${run.token}`)
      }
    }
    this.#same('runs by instance', held, this.#named('r'))
    this.#same('slots', counted, this.#named('c'))
    this.#judgeSlots(counted)
    this.#judgeLines()
  }

  #judgeSlots(counted: readonly string[]): void {
    if (counted.length > LIMIT) this.#fail(`${counted.length} runs under a limit of ${LIMIT}`)
  }

  /** A fire ends once. */
  #judgeLines(): void {
    for (const { key, value } of this.#server().entries(this.#keys.below('f'))) {
      const { schedule, dueAt, isFinal, number } = JSON.parse(value)
      if (!isFinal) continue
      const fire = `${schedule} ${dueAt}`
      const known = this.#ended.get(fire)
      if (known !== undefined && known !== number) this.#fail(`${fire} has ended twice (${key})`)
      this.#ended.set(fire, number)
      if (this.#states.get(schedule)?.open.some((open) => open.dueAt === dueAt))
        this.#fail(`${fire} has ended, and is open`)
    }
  }

  #compare(before: ScheduleState | undefined, state: ScheduleState): void {
    if (before !== undefined && state.version !== before.version + 1) this.#fail(`${state.id} skips a version`)
    const known = before?.open ?? []
    for (const fire of state.open.filter(isRunning)) {
      const was = known.find((one) => one.dueAt === fire.dueAt)
      if (was?.run?.token === fire.run.token) continue
      this.#judgeStart(was?.run ?? null, state, fire)
    }
  }

  #judgeStart(held: RunningFire['run'] | null, { id }: ScheduleState, { dueAt, run }: RunningFire): void {
    const fire = `${id} ${dueAt}`
    if (held !== null) this.#fail(`${fire} is run by ${run.token} while ${held.token} holds it`)
    const token = `${id} ${run.token}`
    if (this.#tokens.has(token)) this.#fail(`token ${token} is given to ${fire} after ${this.#tokens.get(token)}`)
    this.#tokens.set(token, fire)
    const highest = this.#highest.get(id) ?? 0n
    if (BigInt(run.token) <= highest) this.#fail(`token ${token} comes after ${highest}`)
    this.#highest.set(id, BigInt(run.token))
    const name = `${id} ${run.instance} ${run.claim}`
    this.claims.set(name, (this.claims.get(name) ?? 0) + 1)
    const live = this.#server()
      .entries(this.#keys.below('i'))
      .some(({ key }) => this.#keys.parts(key)[1] === run.instance)
    if (!live) this.#fail(`${run.instance} starts ${fire}, and is over`)
  }

  #named(kind: string): string[] {
    return this.#server()
      .entries(this.#keys.below(kind))
      .map(({ key }) => this.#keys.parts(key))
      .map(([, first, id, token]) => `${decodeName(first!)} ${decodeName(id!)} ${decodeToken(token!)}`)
  }

  #same(what: string, wanted: readonly string[], found: readonly string[]): void {
    const [one, other] = [[...wanted].sort().join(), [...found].sort().join()]
    if (one !== other) this.#fail(`${what}: ${one} in the states, ${other} in the keys`)
  }

  #fail(problem: string): void {
    this.problems.push(problem)
  }
}

/** One process: it joins, claims, settles, declares others dead, recovers their runs, and joins again when it is over. */
class Process {
  readonly claimed: Claimed[] = []
  readonly #name: string
  readonly #store: Store
  readonly #random: Random
  #incarnation = 0
  #claims = 0

  constructor(name: string, store: Store, random: Random) {
    this.#name = name
    this.#store = store
    this.#random = random
  }

  async live(): Promise<void> {
    await this.#join()
    const acts = [
      ...Array.from({ length: 6 }, () => () => this.#claim()),
      ...Array.from({ length: 4 }, () => () => this.#settle()),
      () => this.#beat(),
      () => this.#bury(),
      () => this.#step(),
      () => this.#leave(),
    ]
    for (let step = 0; step < STEPS; step++) await acts[this.#random(acts.length)]!().catch(ignoreLost)
  }

  get #id(): string {
    return `${this.#name}.${this.#incarnation}`
  }

  async #join(): Promise<void> {
    this.#incarnation++
    await this.#store.beat(beat(this.#id, { join: true, leaseMs: LEASE_MS })).catch(ignoreLost)
  }

  async #beat(): Promise<void> {
    const { alive } = await this.#store.beat(beat(this.#id, { leaseMs: LEASE_MS }))
    if (!alive) await this.#join()
  }

  async #leave(): Promise<void> {
    await this.#store.beat(beat(this.#id, { state: 'left', leaseMs: LEASE_MS }))
    await this.#join()
  }

  async #claim(): Promise<void> {
    const id = this.#one(SCHEDULES)
    const state = await loadOne(this.#store, id)
    if (state === null) {
      await this.#store.apply([creation(schedule(id))])
      return
    }
    const waiting = state.open.find(({ run }) => run === null)
    const number = ++this.#claims
    const slots = this.#random(2) === 0 ? [SLOT] : []
    const instance = this.#id
    const chosen = { instance, claim: number, slots, limit: LIMIT }
    const dueAt = NOON + this.#random(12) * HOUR_MS
    const wanted =
      waiting === undefined ? claim(state, { ...chosen, dueAt }) : claimAgain(state, { ...chosen, ...waiting })
    this.claimed.push({ schedule: id, instance, number, told: await this.#send(wanted) })
  }

  async #send(wanted: Change): Promise<Claimed['told']> {
    const claimant = { instance: this.#id, leaseMs: LEASE_MS }
    try {
      const { results } = await this.#store.apply([wanted], { claimant })
      const { kind } = results[0]!
      if (kind === 'not-live') await this.#join()
      return kind === 'applied' ? 'applied' : 'refused'
    } catch (error) {
      ignoreLost(error)
      return (error as StoreError).notApplied ? 'refused' : 'unknown'
    }
  }

  async #settle(): Promise<void> {
    const state = await loadOne(this.#store, this.#one(SCHEDULES))
    const fire = state?.open.filter(isRunning).find(({ run }) => run.instance === this.#id)
    if (state === null || fire === undefined) return
    const ends = this.#random(3) === 0 ? { fireEnds: null } : {}
    await this.#store.apply([settlement(state, recordOf(state, fire), ends)])
  }

  /** Without a look at its lease, as after a hint, and with one. */
  async #bury(): Promise<void> {
    const { instances } = await this.#store.listInstances({ ended: 0 })
    const other = this.#one(instances.filter(({ id }) => id !== this.#id))
    if (other === undefined) return
    const hint = this.#random(2) === 0
    const mark = { kind: 'dead', instance: other.id, renewals: other.renewals, hint } as const
    if (await this.#store.mark(mark)) await this.#recover(other.id)
  }

  async #recover(instance: string): Promise<void> {
    for (const state of (await this.#store.load(SCHEDULES)).schedules) {
      const open = state.open.map((fire) => (fire.run?.instance === instance ? { ...fire, run: null } : fire))
      await this.#store.apply([change(state, { open })])
    }
  }

  async #step(): Promise<void> {
    const state = await loadOne(this.#store, this.#one(SCHEDULES))
    const fire = state?.open.filter(isRunning)[0]
    if (state === null || fire === undefined) return
    const { token } = fire.run
    const key = keyOf({ ...fire, schedule: state.id })
    await this.#store.step({ kind: 'begin', fire: key, step: 'charge', token, rerun: true })
    await this.#store.annotate([{ schedule: state.id, token, progress: null, log: [], logCut: false }])
  }

  #one<Item>(items: readonly Item[]): Item {
    return items[this.#random(items.length)]!
  }
}

function recordOf({ id, definition }: ScheduleState, fire: RunningFire): Parameters<typeof settlement>[1] {
  const { token, instance, startedAt, cancel } = fire.run
  const never = { number: null, ending: null, endedAt: null, error: null, result: null }
  const { round, attempt, readyAt } = fire
  return {
    ...keyOf({ ...fire, schedule: id }),
    token,
    job: definition.job,
    round,
    attempt,
    instance,
    startedAt,
    readyAt,
    cancel,
    ...never,
  }
}

/** Anything else is a fault of the store: it asked for what no server does, or gave up. */
function ignoreLost(error: unknown): void {
  if (!(error instanceof StoreError && error.code === 'STORE_SILENT')) throw error
}

async function play(seed: number): Promise<{ readonly judge: Judge; readonly claimed: readonly Claimed[] }> {
  const random = randomFrom(seed)
  const turns = new Turns(random)
  let isPlaying = false
  const judge = new Judge(() => server)
  const server: ModelServer = new ModelServer({
    now: () => NOON,
    mostGroups: () => 1 + random(3),
    onCommit: () => {
      if (isPlaying) judge.look()
    },
  })
  decideIn(1)
  const drivers = Array.from({ length: PROCESSES }, () => unreliable(server.driver(), turns, random))
  const opening = { ...OPENING, prefix: 'cronce', onClose: async () => {} }
  // The identity is made once, and without losses.
  await openKvStore(server.driver(), opening)
  const stores = await Promise.all(drivers.map((driver) => openUntilOpen(driver, opening)))
  const processes = stores.map((store, index) => new Process(`p${index}`, store as Store, random))
  isPlaying = true
  let living = PROCESSES
  const lives = Promise.all(processes.map((process) => process.live().finally(() => living--)))
  lives.catch(() => {})
  // The server may end any lease at any time: it says nothing about a process.
  while (living > 0) {
    await turns.take()
    const leases = server.leases
    if (random(40) === 0 && leases.length > 0) server.endLease(leases[random(leases.length)]!)
  }
  await lives
  // What is on its way arrives.
  for (let turn = 0; turn < 50; turn++) await turns.take()
  return { judge, claimed: processes.flatMap((process) => process.claimed) }
}

async function openUntilOpen(driver: KvDriver, opening: Parameters<typeof openKvStore>[1]): Promise<Store<never>> {
  for (;;) {
    try {
      return await openKvStore(driver, opening)
    } catch (error) {
      ignoreLost(error)
    }
  }
}

describe('processes that interleave in any way, on a model of a server', () => {
  const told = { applied: 0, refused: 0, unknown: 0 }
  test(`one holder per fire, one end, no claim twice, no limit exceeded (seed ${CRONCE_SEED})`, async () => {
    for (let run = 0; run < RUNS; run++) {
      const seed = Number(CRONCE_SEED) + run
      const { judge, claimed } = await play(seed)
      assert.deepEqual(judge.problems, [], `seed ${seed}`)
      for (const claim of claimed) {
        told[claim.told]++
        const written = judge.claims.get(`${claim.schedule} ${claim.instance} ${claim.number}`) ?? 0
        const allowed = { applied: [1], refused: [0], unknown: [0, 1] }[claim.told]
        assert.ok(allowed.includes(written), `seed ${seed}: ${JSON.stringify(claim)} was written ${written} times`)
      }
    }
    // Otherwise nothing was shown.
    for (const [kind, count] of Object.entries(told)) assert.ok(count >= RUNS, `${kind}: ${count}`)
  })
})
