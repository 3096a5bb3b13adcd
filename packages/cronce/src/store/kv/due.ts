import type { Instant } from '../../model/schedule.ts'
import type { Due, DueQuery } from '../store.ts'
import type { Context } from './context.ts'
import type { Read } from './driver.ts'
import { decodeName, decodeNumber, encodeName, encodeNumber } from './keys.ts'
import type { Schedules } from './schedules.ts'

/** Keys that one read looks at, per job. */
const BITE = 1_000
/** Keys that are read beyond the due ones, per job: enough that one of them most likely belongs to this instance. */
const AHEAD = 300

interface Candidate {
  readonly wakeAt: Instant
  readonly id: string
  readonly isMine: boolean
}

interface Job {
  readonly job: string
  readonly buckets: string
}

/** Jobs by the first key that was not looked at. */
type Positions = Map<Job, string>

export async function findDue(context: Context, schedules: Schedules, query: DueQuery): Promise<Due> {
  const { identity, time } = context
  const { limit } = query
  const now = time.now()
  const look = new Look(now, query)
  let positions: Positions = new Map(query.jobs.map((job) => [job, context.keys.below('q', encodeName(job.job)).from]))
  while (positions.size > 0) positions = await readBite(context, look, positions, query)
  const due = look.due.sort((one, other) => one.wakeAt - other.wakeAt || (one.id < other.id ? -1 : 1))
  for (const rest of due.slice(limit)) look.pass(rest)
  const chosen = due.slice(0, limit).map(({ id }) => id)
  const found = new Map((await schedules.load(chosen)).map((state) => [state.id, state]))
  return {
    now: Math.max(now, time.now()),
    epoch: identity.epoch,
    schedules: chosen.flatMap((id) => found.get(id) ?? []),
    mineAt: look.mineAt,
    othersAt: look.othersAt,
  }
}

/** What was found so far. */
class Look {
  readonly due: Candidate[] = []
  mineAt: Instant | null = null
  othersAt: Instant | null = null
  readonly #mineUntil: Instant
  readonly #othersUntil: Instant

  constructor(now: Instant, { patienceMs, aheadMs = 0 }: DueQuery) {
    this.#mineUntil = now + aheadMs
    this.#othersUntil = now - patienceMs
  }

  /** Beyond this, nothing is due. */
  get until(): Instant {
    return Math.max(this.#mineUntil, this.#othersUntil)
  }

  take(candidate: Candidate): void {
    const { wakeAt, isMine } = candidate
    if (wakeAt <= (isMine ? this.#mineUntil : this.#othersUntil)) this.due.push(candidate)
    else this.pass(candidate)
  }

  pass({ wakeAt, isMine }: Candidate): void {
    if (isMine) this.mineAt = Math.min(this.mineAt ?? Infinity, wakeAt)
    else this.othersAt = Math.min(this.othersAt ?? Infinity, wakeAt)
  }
}

/** One read of all jobs that are not done: what is due first, and a few keys beyond it. Answers where to go on. */
async function readBite(
  { keys, driver }: Context,
  look: Look,
  positions: Positions,
  { limit }: DueQuery,
): Promise<Positions> {
  const jobs = [...positions]
  const reads = jobs.flatMap(([{ job }, from]): Read[] => {
    const { to } = keys.below('q', encodeName(job))
    const beyond = keys.key('q', encodeName(job), encodeNumber(look.until + 1))
    return [
      { from, to: beyond, limit: BITE, keysOnly: true },
      { from: beyond, to, limit: AHEAD, keysOnly: true },
    ]
  })
  const { found } = await driver.read(reads)
  const rest: Positions = new Map()
  for (const [index, [job]] of jobs.entries()) {
    const [due, ahead] = [found[2 * index]!, found[2 * index + 1]!]
    for (const { key } of [...due.entries, ...ahead.entries]) look.take(candidateOf(keys.parts(key), job))
    // Among those ahead is none of one's own, and there are more: look again then.
    const last = ahead.entries.at(-1)
    if (last !== undefined && ahead.count > ahead.entries.length) {
      const { wakeAt } = candidateOf(keys.parts(last.key), job)
      for (const isMine of [true, false]) look.pass({ wakeAt, id: '', isMine })
    }
    if (due.count > due.entries.length) rest.set(job, `${due.entries.at(-1)!.key}\0`)
  }
  // Enough was found if this number is due before everything that was not read.
  const unseen = [...rest].map(([job, from]) => candidateOf(keys.parts(from.slice(0, -1)), job).wakeAt)
  const earliest = Math.min(...unseen)
  if (look.due.filter(({ wakeAt }) => wakeAt <= earliest).length < limit) return rest
  for (const wakeAt of unseen) for (const isMine of [true, false]) look.pass({ wakeAt, id: '', isMine })
  return new Map()
}

function candidateOf([, , wakeAt, tail]: readonly string[], { buckets }: Job): Candidate {
  const isMine = buckets[Number.parseInt(tail!.slice(0, 2), 16)] === '1'
  return { wakeAt: decodeNumber(wakeAt!), id: decodeName(tail!.slice(2)), isMine }
}
