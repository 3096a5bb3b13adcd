import type { Decision } from 'cronce/internal'
import type { VirtualFleet, Watcher } from './virtual-fleet.ts'

/** After an outage the fleet is watched for this long. */
const AFTER_MS = 86_400_000

/** What an outage does to one schedule. */
export interface OutageEffect {
  /** Due within the outage. */
  due: number
  ranLate: number
  longestLateMs: number
  /** Due times that do not run, by reason. */
  readonly lost: Map<string, number>
  /** Runs that the outage interrupted, and how their fires ended: `completed` by a further run. */
  interrupted: number
  readonly after: Map<string, number>
}

export interface Outage {
  readonly from: number
  readonly to: number
  readonly due: number
  readonly ranLate: number
  /** They do not run, and a newer fire of their schedule stands in for them. */
  readonly superseded: number
  /** They do not run for another reason. */
  readonly lost: number
  readonly interrupted: number
  /** Interrupted runs whose fires did not succeed in the end. */
  readonly abandoned: number
  /** The most runs at a time within an hour after it. */
  readonly peak: number
  /** When the last fire of the outage has ended; `null`: not within a day. */
  readonly caughtUpAt: number | null
  readonly schedules: ReadonlyMap<string, OutageEffect>
}

const HOUR_MS = 3_600_000

class OutageTally implements Watcher {
  readonly effects = new Map<string, OutageEffect>()
  readonly #from: number
  readonly #to: number
  readonly #interrupted = new Set<string>()
  peak = 0
  lastAt: number
  /** Fires that have begun to run late and not ended. */
  open = 0

  constructor(from: number, to: number) {
    this.#from = from
    this.#to = to
    this.lastAt = to
  }

  started({ record, fire }: Decision['started'][number], at: number, running: number): void {
    if (at < this.#to + HOUR_MS) this.peak = Math.max(this.peak, running)
    if (!this.#isIn(fire.dueAt) || fire.attempt !== 1) return
    const effect = this.of(record.schedule)
    effect.due++
    effect.ranLate++
    effect.longestLateMs = Math.max(effect.longestLateMs, at - record.readyAt)
    this.open++
  }

  ended({ schedule, dueAt, run, ending, isFinal, range, endedAt }: Decision['change']['history'][number]): void {
    if (run !== null && run.startedAt < this.#from && ending.reason === 'crashed') {
      this.of(schedule).interrupted++
      this.#interrupted.add(`${dueAt} ${schedule}`)
    }
    if (!isFinal) return
    const { reason } = ending
    if (this.#interrupted.has(`${dueAt} ${schedule}`)) {
      const { after } = this.of(schedule)
      after.set(reason, (after.get(reason) ?? 0) + 1)
      this.lastAt = Math.max(this.lastAt, endedAt)
    }
    if (!this.#isIn(dueAt)) return
    this.lastAt = Math.max(this.lastAt, endedAt)
    if (run !== null) {
      this.open--
      return
    }
    const { lost, ...effect } = this.of(schedule)
    const count = range?.count ?? 1
    lost.set(reason, (lost.get(reason) ?? 0) + count)
    this.of(schedule).due = effect.due + count
  }

  #isIn(dueAt: number): boolean {
    return dueAt >= this.#from && dueAt < this.#to
  }

  of(schedule: string): OutageEffect {
    const known = this.effects.get(schedule)
    if (known !== undefined) return known
    const made: OutageEffect = {
      ...{ due: 0, ranLate: 0, longestLateMs: 0, lost: new Map(), interrupted: 0, after: new Map() },
    }
    this.effects.set(schedule, made)
    return made
  }
}

/** Simulates that all instances of this fleet are down from now on for this time. The fleet can't be used afterwards. */
export function tryOutage(fleet: VirtualFleet, forMs: number): Outage {
  const from = fleet.now
  const to = from + forMs
  const tally = new OutageTally(from, to)
  fleet.outage(to, tally)
  fleet.advance(to + AFTER_MS, tally)
  const effects = [...tally.effects.values()]
  const sum = (of: (effect: OutageEffect) => number): number => effects.reduce((total, one) => total + of(one), 0)
  return {
    ...{ from, to, due: sum(({ due }) => due), ranLate: sum(({ ranLate }) => ranLate) },
    superseded: sum(supersededOf),
    lost: sum((effect) => totalOf(effect.lost) - supersededOf(effect)),
    interrupted: sum(({ interrupted }) => interrupted),
    abandoned: sum(({ after }) => totalOf(after) - (after.get('completed') ?? 0)),
    ...{ peak: tally.peak, caughtUpAt: tally.open > 0 ? null : tally.lastAt, schedules: tally.effects },
  }
}

function supersededOf({ lost }: OutageEffect): number {
  return lost.get('superseded') ?? 0
}

export function totalOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
