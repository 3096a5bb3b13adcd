import assert from 'node:assert/strict'
import test from 'node:test'
import { ending } from '../../src/model/outcome.ts'
import { DEFAULT_POLICY, type Policy, policyOf } from '../../src/model/policy.ts'
import type { Definition, Instant, ScheduleState, Source } from '../../src/model/schedule.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { settle } from '../../src/policy/end/settle.ts'
import { covers } from '../../src/policy/ledger.ts'
import { cancelFire, requestCancel } from '../../src/policy/operate/cancel.ts'
import { define } from '../../src/policy/operate/define.ts'
import { deliver } from '../../src/policy/operate/deliver.ts'
import { pause, resume } from '../../src/policy/operate/pause.ts'
import { remove } from '../../src/policy/operate/remove.ts'
import { retryFire } from '../../src/policy/operate/retry-fire.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { triggerNow } from '../../src/policy/operate/trigger-now.ts'
import { previewBackfill, requestBackfill } from '../../src/policy/plan/backfill.ts'
import { moveZone } from '../../src/policy/plan/move-zone.ts'
import { caseScale } from '../case-count.ts'
import { seededRandom } from '../oracle/generate-case.ts'
import { MOST_PLANNED } from './judge.ts'
import { DROPPED } from './keeper.ts'
import { freeze, instantsIn, World } from './model.ts'

// CRONCE_SEED picks other cases.
const { CRONCE_SEED = '1' } = process.env
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const
/** Before the clocks of Berlin, New York and Lord Howe change. */
const STARTS = ['2027-03-26T22:00:00Z', '2027-10-30T20:00:00Z', '2027-03-13T20:00:00Z', '2027-04-02T22:00:00Z']
const CRONS = [
  ...[
    { expression: '30 2 * * *', tz: 'Europe/Berlin' } as const,
    { expression: '*/20 * * * *', tz: 'Europe/Berlin' } as const,
  ],
  ...[
    { expression: '15 1,2 * * *', tz: 'America/New_York' } as const,
    { expression: '*/7 1-3 * * *', tz: 'Australia/Lord_Howe' } as const,
  ],
]

/** Plays random commands on one schedule; the world judges what they come to. */
class Player {
  readonly world: World
  readonly log: string[] = []
  readonly #random: () => number
  readonly #source: Source
  #definition: Definition
  #nonces = 0
  #highest = 0
  #isSecondLife = false

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.world = new World(Date.parse(this.#one(STARTS)) + this.#below(DAY))
    this.#source = this.#below(2) === 0 ? { kind: 'client' } : { kind: 'code', app: 'shop', number: 1 }
    this.#definition = this.#draw()
    this.#create()
  }

  #below = (bound: number): number => Math.floor(this.#random() * bound)
  #one = <Item>(items: readonly Item[]): Item => items[this.#below(items.length)]!

  #policy(): Partial<Policy> {
    const { misfire, retry, timeout, retention } = DEFAULT_POLICY
    if (this.#below(5) === 0) return {}
    return {
      guarantee: this.#one(['at-least-once', 'at-least-once', 'at-most-once', 'exactly-once']),
      overlap: { kind: this.#one(['skip', 'queue', 'queue-all', 'allow', 'replace']), limit: 1 + this.#below(3) },
      misfire: {
        ...{ ...misfire, graceMs: this.#one([0, 10 * SECOND, 5 * MINUTE]), late: this.#one(['skip', 'latest', 'all']) },
        ...{ limit: this.#one([1, 3, 50]), windowMs: this.#one([30 * SECOND, HOUR, DAY]) },
      },
      retry: {
        ...{ ...retry, attempts: this.#below(3), crashes: this.#below(4) },
        deadlineMs: this.#one([null, null, 30 * SECOND, 5 * MINUTE]),
      },
      timeout: { ...timeout, graceMs: this.#one([0, 10 * SECOND]) },
      jitter: { kind: this.#one(['fixed', 'random']), ms: this.#one([0, 0, 0, 500, 90 * SECOND]) },
      pauseAfter: this.#one([null, null, 1, 2]),
      retention: { ...retention, count: this.#one([3, 1_000]), keepMs: this.#one([0, 5 * DAY, 30 * DAY]) },
      limits: { job: this.#one([null, 2]), group: this.#one([null, { name: 'g', limit: 3 }]) },
    }
  }

  #draw(): Definition {
    const { now } = this.world
    const everyMs = this.#one([SECOND, 10 * SECOND, MINUTE, MINUTE, 7 * MINUTE, HOUR])
    const kind = this.#one(['every', 'every', 'every', 'cron', 'cron', 'at', 'none'])
    return freeze({
      job: 'bill',
      trigger:
        kind === 'every'
          ? { kind, everyMs, anchor: 0 }
          : kind === 'cron'
            ? { kind, ...this.#one(CRONS) }
            : kind === 'at'
              ? { kind, at: now + 1 + this.#below(HOUR) }
              : null,
      input: this.#one([null, 1, 2]),
      policy: this.#policy(),
      start: this.#below(5) === 0 ? now + this.#below(HOUR) : null,
      end: this.#below(5) === 0 ? now + this.#below(DAY) : null,
      // Whether an instant on record counts depends on whether it is found by its key, or lies within a range.
      limit: this.#below(5) === 0 && !this.#isSecondLife ? 1 + this.#below(40) : null,
      tenant: null,
    })
  }

  #create(): void {
    const { world } = this
    const made = define(null, 'bill', { definition: this.#definition, source: this.#source }, world.context)
    if (made === null || 'refused' in made) return
    world.apply(made)
    world.follow(this.#definition, this.#before(world.now) - 1, true)
    this.#highest = Math.max(this.#highest, world.now)
  }

  /** One instant in code is on record also if it is deployed late. */
  #before(now: Instant): Instant {
    const { trigger } = this.#definition
    return this.#source.kind === 'code' && trigger?.kind === 'at' ? Math.min(now, trigger.at) : now
  }

  play(): void {
    const { world } = this
    this.#pass()
    if (world.state === null) {
      if (world.now < world.mark || world.now < this.#highest || this.#below(4) > 0) return
      this.#isSecondLife = true
      this.#definition = this.#draw()
      this.log.push('create')
      this.#create()
      return
    }
    const name = this.#one(Object.keys(this.#commands))
    this.log.push(`${new Date(world.now).toISOString()} ${name}`)
    this.#commands[name]!(world.state)
    world.seen.add(name)
    this.#highest = Math.max(this.#highest, world.now)
  }

  #pass(): void {
    const { world } = this
    const kind = this.#below(20)
    if (kind < 5) return
    if (kind < 9) world.now += this.#below(2 * SECOND)
    else if (kind < 15) world.now += this.#below(3 * MINUTE)
    else if (kind < 17) world.now = Math.max(world.now, world.state?.wakeAt ?? 0) + this.#one([0, 0, 1, 50])
    else if (kind === 17) world.now += this.#below(5 * HOUR)
    else if (kind === 18) world.now += this.#one([DAY, 3 * DAY, 40 * DAY]) / (this.#secondly() ? 80 : 4)
    else if (this.#below(3) === 0) world.now -= this.#below(10 * MINUTE)
  }

  #secondly(): boolean {
    const { trigger } = this.#definition
    return trigger?.kind === 'every' && trigger.everyMs < MINUTE
  }

  #token(state: ScheduleState): string {
    const tokens = state.open.flatMap(({ run }) => run?.token ?? [])
    return this.#one(tokens) ?? [...this.world.runs.keys()].at(-1) ?? '1'
  }

  #advance(): void {
    const { world } = this
    for (let step = 0; step < 60 && world.state !== null; step++) {
      world.advance({ room: 1_000, idle: true })
      if (world.state === null || (world.state.wakeAt ?? Infinity) > world.now) return
    }
    assert.equal(world.state, null, 'spins')
  }

  #settle(state: ScheduleState, kind = this.#below(8), token = this.#token(state)): void {
    const fire = state.open.find(({ run }) => run?.token === token)
    const handBack = kind === 0 ? 'not-started' : kind === 1 ? 'started' : null
    const end = ending(kind < 5 ? 'completed' : kind === 5 ? 'timeout' : 'error')
    const settlement = {
      token,
      ending: end,
      error: null,
      result: null,
      retryable: this.#below(5) > 0,
      handBack,
    } as const
    if (this.world.command((now, context) => settle(now, settlement, context)) === 'nothing') return
    const isOnce = policyOf(fire!.own?.policy ?? state.definition.policy).guarantee === 'at-most-once'
    if (handBack === 'not-started' || (handBack === 'started' && !isOnce)) this.world.forgive(fire!)
  }

  #redefine(state: ScheduleState, definition: Definition): void {
    const { world } = this
    const { trigger, start, end, limit } = definition
    const isTimed = JSON.stringify([trigger, start, end, limit])
    const old = this.#definition
    const isMoved = isTimed !== JSON.stringify([old.trigger, old.start, old.end, old.limit])
    // By a clock that went back, what the new rule names may have been on record under the old one.
    if ((isMoved || state.retiredAt !== null) && world.now < this.#highest) return
    // A backfill goes by the rule as it is: of an hour by the second it would take for ever here.
    if (isMoved && state.backfills.length > 0) return
    const wish = { definition, source: this.#source }
    if (world.command((now, context) => define(now, 'bill', wish, context)) === 'nothing') return
    this.#definition = definition
    if (state.retiredAt === null && isMoved) world.reach(world.now)
    if (isMoved || state.retiredAt !== null) world.follow(definition, world.now)
    else world.follow(definition, -Infinity)
  }

  #commands: Record<string, (state: ScheduleState) => unknown> = {
    advance: () => this.#advance(),
    advance2: () => this.#advance(),
    advance3: () => this.#advance(),
    plan: () => this.world.advance(null),
    busy: () => this.world.advance({ room: this.#below(3), idle: false }),
    settle: (state) => this.#settle(state),
    settle2: (state) => this.#settle(state),
    settle3: (state) => this.#settle(state),
    recover: (state) => {
      const token = this.#token(state)
      this.world.command((now, context) => recover(now, token, context))
    },
    crashLoop: () => {
      for (let times = 0; times < 3 && this.world.state !== null; times++) {
        const token = this.#token(this.world.state)
        this.world.command((now, context) => recover(now, token, context))
        this.#advance()
      }
    },
    /** Then no instance is up for a while, so that several are given up at once. */
    failAll: () => {
      for (let times = 0; times < 3; times++) {
        this.world.now = Math.max(this.world.now, this.world.state?.nextAt ?? 0)
        this.#advance()
      }
      for (const { run } of this.world.state?.open ?? [])
        if (run !== null && this.world.state !== null) this.#settle(this.world.state, 7, run.token)
      this.world.now += this.#below(this.#secondly() ? 15 * MINUTE : 5 * HOUR)
      this.#advance()
    },
    deliver: () => {
      const { trigger } = this.#definition
      const wish = {
        note: null,
        author: 'ann',
        until: this.world.now + this.#below(20 * MINUTE),
        missed: this.#one(['skip', 'latest', 'all'] as const),
      }
      if (this.#below(2) === 0) this.world.command((now, context) => pause(now, wish, context))
      this.world.now += this.#below(this.#secondly() ? 2 * MINUTE : 30 * MINUTE)
      const { state } = this.world
      if (state === null) return
      if (trigger === null || state.nextAt === null || state.nextAt > this.world.now) return
      const dueAt = this.#one(instantsIn(trigger, state.nextAt - 1, Math.min(this.world.now, state.nextAt + HOUR)))
      if (dueAt === undefined) return
      this.world.waits.delivered = dueAt
      this.world.command((now, context) => {
        // Read again each time, as a delivery does.
        if ([...this.world.fires.values()].some((record) => covers(record, dueAt))) return null
        const delivered = deliver(now, dueAt, context)
        return 'readyAt' in delivered ? null : delivered
      })
      this.world.waits.delivered = null
    },
    pause: () => {
      const until = this.#one([null, this.world.now + 1 + this.#below(20 * MINUTE), this.world.now + this.#below(DAY)])
      const wish = { note: null, author: 'ann', until, missed: this.#one(['skip', 'latest', 'all'] as const) }
      this.world.command((now, context) => pause(now, wish, context))
    },
    resume: () => this.#resume(),
    resume2: () => this.#resume(),
    trigger: () => {
      const nonce = `n${++this.#nonces}`
      const wish = { nonce, input: this.#one([undefined, 7]), overlap: this.#one(['honour', 'ignore'] as const) }
      this.world.command((now, context) => triggerNow(now, wish, context))
    },
    redefine: (state) => this.#redefine(state, this.#draw()),
    newPolicy: (state) => this.#redefine(state, freeze({ ...this.#definition, policy: this.#policy() })),
    redeclare: (state) => this.#redefine(state, this.#definition),
    skipNext: (state) => this.#skipNext(state),
    cancel: (state) => {
      const token = this.#token(state)
      this.world.command((now, context) => requestCancel(now, token, { author: null, note: null }, context) as never)
    },
    cancelFire: ({ open }) => {
      const fire = this.#one(open)
      if (fire) this.world.command((now, context) => cancelFire(now, fire, { author: 'a', note: null }, context))
    },
    retry: () => {
      const record = this.#one([...this.world.fires.values()])
      if (record === undefined) return
      const { range, dueAt } = record
      const at = range === null ? dueAt : this.#one(instantsIn(range.trigger, dueAt - 1, range.untilAt))
      const force = this.#below(3) === 0
      this.world.command((now, context) => retryFire(now, record, { force, dueAt: at }, context))
    },
    backfill: (state) => this.#backfill(state),
    retire: () => {
      if (this.#below(3) > 0 || this.world.now < this.#highest) return
      if (
        this.world.command((now, context) => retire(now, { app: 'shop', ...DROPPED, number: 1 }, context)) === 'nothing'
      )
        return
      this.world.reach(this.world.now)
      this.world.follow(null, this.world.now)
    },
    remove: () => {
      if (this.#below(4) > 0 || this.world.now < this.#highest) return
      const force = this.#below(2) === 0
      this.world.command((now, context) => remove(now, { force }, context))
    },
    /** What was skipped ahead is on record, and the successor does not know it. */
    recreate: (state) => {
      if (this.#below(3) > 0 || this.world.now < this.#highest || this.#definition.limit !== null) return
      this.#skipNext(state)
      this.world.command((now, context) => remove(now, { force: true }, context))
      this.#isSecondLife = true
      if (this.world.state === null) this.#create()
    },
    zone: () => {
      this.world.zoneData = `2027${this.#one(['a', 'b', 'c', 'd'])}`
      this.world.command((now, context) => moveZone(now, context))
    },
    epoch: () => this.world.epoch++,
  }

  #skipNext({ nextAt }: ScheduleState): void {
    if (nextAt === null) return
    if (this.world.command((now, context) => skipNext(now, nextAt, context)) === 'done') this.world.skipAhead(nextAt)
  }

  #resume(): void {
    const missed = this.#one(['skip', 'latest', 'all'] as const)
    this.world.command((now, context) => resume(now, missed, context))
  }

  #backfill(state: ScheduleState): void {
    const { world } = this
    const from: Instant = world.now - this.#below(this.#secondly() ? HOUR : 3 * DAY)
    // What an earlier schedule of the name ran may be off the record without this one knowing.
    if (this.#isSecondLife && from < state.createdAt) return
    const range = { from, to: from + this.#below(this.#secondly() ? MINUTE : 2 * HOUR) }
    const near = [...world.fires.values()].filter(
      ({ dueAt, range: r }) => dueAt <= range.to && (r?.untilAt ?? dueAt) >= from,
    )
    const told = previewBackfill(
      state,
      range,
      near.toSorted((a, b) => a.dueAt - b.dueAt),
      world.context,
    )
    assert.ok(told.more || told.instants >= told.toRun)
    world.command((now, context) => requestBackfill(now, { ...range, id: 'b', author: null, force: true }, context))
  }

  /** Outages, in seconds, after which the first step plans all late instants, or all but one. */
  longOutages(): void {
    const { world } = this
    if (world.state === null) return
    const trigger = { kind: 'every', everyMs: SECOND, anchor: 0 } as const
    this.#redefine(world.state, freeze({ ...this.#draw(), trigger, start: null, end: null, limit: null }))
    for (let times = 0; times < 3 && world.state !== null; times++) {
      world.now = Math.max(world.now, world.state.nextAt ?? 0)
      this.#advance()
      if (!this.#secondly() || world.state?.nextAt == null) return
      const { graceMs } = policyOf(this.#definition.policy).misfire
      world.now = Math.max(world.now, world.state.nextAt + MOST_PLANNED * SECOND + graceMs + this.#below(2))
      this.log.push(`${new Date(world.now).toISOString()} long outage`)
      world.advance(null)
      this.#advance()
      if (world.state !== null) this.#settle(world.state)
    }
  }

  /** Let everything come to its end: nothing may be stuck. */
  end(): void {
    const { world } = this
    world.now = Math.max(world.now, this.#highest)
    for (let turn = 0; turn < 2_000 && world.state !== null; turn++) {
      if (world.state.pause !== null) this.#resume()
      this.#advance()
      for (const { run } of world.state?.open ?? []) if (run && world.state !== null) this.#settle(world.state, 3)
      if (world.state === null) break
      const { open, backfills, pause: held, wakeAt } = world.state
      if (open.length === 0 && backfills.length === 0 && held === null) break
      const nextReady = Math.min(...open.map(({ readyAt }) => readyAt), Infinity)
      // What is ready may wait for its turn, behind one that is not.
      const isWaiting = nextReady === Infinity || nextReady <= world.now
      world.now = Math.max(world.now, isWaiting ? (wakeAt ?? 0) : nextReady)
    }
    const { state } = world
    assert.deepEqual([state?.open ?? [], state?.backfills ?? []], [[], []], 'everything comes to its end')
    const { ms } = policyOf(this.#definition.policy).jitter
    if (state !== null && state.retiredAt === null) world.reach(world.now)
    // What is due but held back by its jitter need not be on record yet.
    world.balance(ms === 0 ? Infinity : world.now - ms)
  }
}

/** Plays the commands of a seed to the end, and returns what they reached. */
function playSeed(seed: number): ReadonlySet<string> {
  let player: Player | undefined
  try {
    player = new Player(seed)
    for (let turn = 0; turn < 80; turn++) player.play()
    player.longOutages()
    player.end()
    return player.world.seen
  } catch (error) {
    const { log = [], world } = player ?? {}
    const tail = log.slice(-12).join('\n')
    throw new Error(`CRONCE_SEED=${seed}\n${tail}\n${JSON.stringify(world?.state)}`, { cause: error })
  }
}

/** Seeds that once failed. 213 and 454: a delivery after an expired pause exceeded the limit. */
for (const seed of [213, 454]) test(`seed ${seed}, which failed once, passes`, () => void playSeed(seed))

const seen = new Set<string>()

test('random commands, judged by a naive reading of the policies', () => {
  const first = Number(CRONCE_SEED)
  for (let seed = first; seed < first + Math.ceil(60 * caseScale(0.5)); seed++) {
    for (const what of playSeed(seed)) seen.add(what)
  }
})

test('the random commands reached enough states', () => {
  const wanted = [
    ...['completed', 'error', 'timeout', 'retry-too-late', 'overlap', 'queue-full', 'paused', 'skipped-by-operator'],
    ...['late', 'superseded', 'too-late', 'crashed', 'crash-budget', 'recovery-too-late', 'cancelled-by-operator'],
    ...['replaced', 'retired', 'removed', 'judged', 'judged in steps', 'dropped', 'trim', 'passed over'],
    ...['late start', 'caught-up', 'turn', 'room', 'pause', 'asked', 'recovered'],
  ]
  assert.deepEqual(
    wanted.filter((what) => !seen.has(what)),
    [],
  )
})
