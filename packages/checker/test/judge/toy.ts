import { BOUNDS, Builder, EPOCH, MINUTE } from './builder.ts'

/** Mistakes that schedulers have made. */
export type Mistake =
  | 'no unique key'
  | 'no fence'
  | 'local clock'
  | 'mark before insert'
  | 'renewal by name'
  | 'host name as identity'
  | 'pruned early'
  | 'due now'

const MINUTES = 20

/**
 * A scheduler of a few lines: two nodes, a minutely schedule, and for each minute one of the things that can happen.
 * Without a mistake, what it writes down is what a correct one would.
 */
export function playToy(seed: number, mistake: Mistake | null): Builder {
  const roll = random(seed)
  const toy = new Toy(roll, mistake)
  let minute = 1
  while (minute <= MINUTES) {
    const chance = roll()
    if (chance < 0.15) toy.crash(minute)
    else if (chance < 0.3) toy.stale(minute)
    else if (chance < 0.4) minute += toy.outage(minute, 1 + Math.floor(roll() * 8))
    else toy.plain(minute)
    minute++
  }
  for (let calm = 0; calm < 3; calm++) toy.plain(minute++)
  return toy.end(minute)
}

class Toy {
  readonly #history = new Builder()
    .node('n1', 0)
    .node('n2', 0)
    .define(10, { overlap: { kind: 'allow', limit: 50 }, guarantee: 'exactly-once' })
  readonly #roll: () => number
  readonly #mistake: Mistake | null
  #lives = 1

  constructor(roll: () => number, mistake: Mistake | null) {
    this.#roll = roll
    this.#mistake = mistake
  }

  plain(minute: number): void {
    const due = minute * MINUTE
    const early = this.#is('local clock') ? -300 : 0
    const from = due + early + this.#upTo(500)
    const to = Math.max(due, from) + 2_000 + this.#upTo(3_000)
    if (this.#is('host name as identity')) {
      this.#history.run(due, [from, from + 1_000], { outcome: 'abandoned' })
      this.#history.run(due, [from + 1_001, to], { node: 'n2' })
      return
    }
    const run = this.#history.run(due, [from, to])
    if (!this.#is('no unique key')) return
    this.#history.run(due, [from + 3, to], { node: 'n2', attempt: 1 })
    this.#history.amend(due, { attempt: 1 })
    this.#history.fires.set(`twin ${due}`, { ...this.#history.fires.get(`a ${run.dueAt} `)! })
  }

  /** The second node is killed, and comes back as another one; the first one runs its fire again after the lease. */
  crash(minute: number): void {
    const due = minute * MINUTE
    const at = due + 1_000 + this.#upTo(1_000)
    const node = this.#lives === 1 ? 'n2' : `n2.${this.#lives}`
    this.#history.fault('kill', at, at, node).node(node, at, 'ended')
    this.#history.node(`n2.${++this.#lives}`, at + 2_000)
    if (this.#is('mark before insert')) return
    const isKept = this.#is('renewal by name')
    const lost = at + BOUNDS.leaseMs
    this.#history.run(due, [due + 5, isKept ? null : lost], {
      node,
      cut: true,
      ...(isKept ? {} : { outcome: 'abandoned' }),
    })
    if (!isKept) this.#history.run(due, [lost + 5, lost + 500])
  }

  /** The first node is held up in the middle of a transaction, for longer than its lease. */
  stale(minute: number): void {
    const due = minute * MINUTE
    const back = due + BOUNDS.leaseMs + 5_000
    const lost = due + BOUNDS.leaseMs + 1_000
    this.#history.fault('pause', due + 500, back, 'n1')
    const first = this.#history.run(due, [due + 5, lost], { outcome: 'abandoned', cut: true })
    const second = this.#history.run(due, [lost + 5, lost + 1_000], {
      node: this.#lives === 1 ? 'n2' : `n2.${this.#lives}`,
    })
    this.#history.effect(lost + 900, second)
    this.#history.effect(back + 5, first, { accepted: this.#is('no fence') })
  }

  /** The store is unreachable for some minutes; then the latest fire runs, and the others are missed. */
  outage(minute: number, length: number): number {
    const back = (minute + length) * MINUTE + 30_000
    this.#history.fault('store-down', minute * MINUTE - 1_000, back - 5)
    const planned = { plannedAt: EPOCH + back }
    const missed = { ...planned, endedAt: EPOCH + back, outcome: 'missed', reason: 'superseded' } as const
    if (length > 5) {
      this.#history.record(minute * MINUTE, {
        ...missed,
        untilAt: EPOCH + (minute + length - 1) * MINUTE,
        count: length,
      })
    } else {
      for (let late = 0; late < length; late++) this.#history.record((minute + late) * MINUTE, missed)
    }
    const due = this.#is('due now') ? back : (minute + length) * MINUTE
    this.#history.record(due, planned)
    this.#history.run(due, [back + 10, back + 1_000])
    return length
  }

  end(minute: number): Builder {
    const at = minute * MINUTE - 1
    this.#history.read(at - MINUTE)
    if (this.#is('pruned early')) {
      this.#history.fires.delete(`a ${EPOCH + MINUTE} `)
      for (const [key, run] of this.#history.runs) if (run.dueAt === EPOCH + MINUTE) this.#history.runs.delete(key)
    }
    return this.#history.read(at)
  }

  #is(mistake: Mistake): boolean {
    return this.#mistake === mistake
  }

  #upTo(ms: number): number {
    return Math.floor(this.#roll() * ms)
  }
}

/** Uniform in [0, 1), the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    state ^= state >>> 13
    return (state >>> 0) / 2 ** 32
  }
}
