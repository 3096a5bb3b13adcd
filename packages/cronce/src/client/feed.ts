import { CronceError } from '../errors.ts'
import type { FireRecord } from '../model/record.ts'
import type { RunQuery } from '../store/store.ts'
import { readStore } from './ask-store.ts'
import { viewFire, viewRun } from './make-view.ts'
import { keyOf, OpenRuns } from './open-runs.ts'
import type { ClientParts } from './parts.ts'
import { optionalInstant, readCommand } from './read-command.ts'
import { optionInvalid, readDuration } from './read-option.ts'
import type { Duration, When } from './schedule-options.ts'
import type { FireView, RunView } from './views.ts'

/**
 * What happened, wherever in the fleet it did. Read from the records, so it comes about a second late, and of fires that were
 * never run (skipped, missed) only those whose due time is not more than an hour ago.
 */
export type FeedEntry =
  | { readonly kind: 'run.started' | 'run.ended'; readonly at: number; readonly run: RunView }
  /** A fire that ended without a run, or a range of them. */
  | { readonly kind: 'fire.ended'; readonly at: number; readonly fire: FireView }
  /** More happened at once than is told: read the lists. */
  | { readonly kind: 'gap'; readonly at: number }

export interface FeedOptions {
  /** Begin with what happened since. @default now */
  readonly from?: When | undefined
  readonly signal?: AbortSignal | undefined
  /** Between two looks at the records, 100 ms to a minute. @default '1s' */
  readonly interval?: Duration | undefined
}

/** Of fires and of runs that are asked for at once. */
const MOST = 1_000
/** Of runs that began, at each look. */
const PAGES = 10
/** Records of one moment may become visible one after the other. */
const OVERLAP_MS = 10_000
const FIRES_MS = 3_600_000
/** Of what was told, so that it is not told again: more than a look can find. */
const REMEMBERED = 50_000

export function feed<Tx>(parts: ClientParts<Tx>, options: FeedOptions = {}): AsyncIterable<FeedEntry> {
  const fields = readCommand(options, ['from', 'signal', 'interval'])
  const from = optionalInstant('from', fields.from)
  const intervalMs = readDuration('interval', fields.interval ?? 1_000, { min: 100, max: 60_000 })
  const { signal } = fields
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw optionInvalid('signal', signal, 'an AbortSignal', 'Write signal: controller.signal.')
  return entries(parts, from, intervalMs, signal)
}

async function* entries<Tx>(
  parts: ClientParts<Tx>,
  from: number | undefined,
  intervalMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<FeedEntry, void, undefined> {
  const open = new OpenRuns(parts.store)
  const { now: begunAt } = await open.begin(from)
  const since = from ?? begunAt
  let runsFrom = since
  const runsTold = new Told()
  // By themselves: runs that begin are many, and must not drive out what is listed for an hour.
  const firesTold = new Told()
  while (signal?.aborted !== true) {
    try {
      const runs = await newRuns(parts, Math.max(since, runsFrom - OVERLAP_MS))
      const gap: FeedEntry = { kind: 'gap', at: runs.now }
      const [earliest] = runs.items
      // Earlier ones were told along with it, or never will be.
      if (runs.isCut && earliest !== undefined && !runsTold.has(keyOf(earliest))) yield gap
      for (const run of runs.items) {
        runsFrom = Math.max(runsFrom, run.startedAt)
        if (!runsTold.isNew(keyOf(run))) continue
        yield { kind: 'run.started', at: run.startedAt, run }
        open.add(run)
      }
      for (const run of await open.ended(runs.items)) yield { kind: 'run.ended', at: run.endedAt ?? runs.now, run }
      if (open.takeOverflow()) yield gap
      const fires = await unrunFires(parts, since, runs.now)
      if (fires.cutAt.some((fire) => !firesTold.has(fireKey(fire)))) yield gap
      for (const fire of fires.items) {
        if (firesTold.isNew(fireKey(fire))) yield { kind: 'fire.ended', at: fire.endedAt ?? runs.now, fire }
      }
    } catch (error) {
      // A store that does not answer for a while ends no feed: what happened meanwhile is told when it does.
      if (!(error instanceof CronceError) || error.code === 'STORE_CLOSED') throw error
    }
    await parts.context().clock.sleep(intervalMs, signal)
  }
}

interface NewRuns {
  readonly now: number
  /** The earliest first. */
  readonly items: readonly RunView[]
  /** There are earlier ones. */
  readonly isCut: boolean
}

async function newRuns<Tx>({ store }: ClientParts<Tx>, from: number): Promise<NewRuns> {
  const found: RunView[] = []
  let now = 0
  let after: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const query: RunQuery = { from, limit: MOST, after }
    const answer = await readStore('list runs', () => store.listRuns(query))
    found.push(...answer.items.map(viewRun))
    now = answer.now
    after = answer.next
    if (after === null) break
  }
  return { now, items: found.reverse(), isCut: after !== null }
}

interface UnrunFires {
  readonly items: readonly FireView[]
  /** The last of each list that goes on. */
  readonly cutAt: readonly FireView[]
}

/** Fires that ended without ever having been run. */
async function unrunFires<Tx>({ store }: ClientParts<Tx>, since: number, now: number): Promise<UnrunFires> {
  const found: FireView[] = []
  const cutAt: FireView[] = []
  const isWanted = (record: FireRecord): boolean => record.attempt === 0 && (record.endedAt ?? 0) >= since
  for (const outcome of ['skipped', 'missed', 'cancelled', 'abandoned'] as const) {
    const query = { outcome, from: now - FIRES_MS, limit: MOST, after: null }
    const { items, next } = await readStore('list fires', () => store.listFires(query))
    found.push(...items.filter(isWanted).map(viewFire))
    const last = items.at(-1)
    if (next !== null && last !== undefined && isWanted(last)) cutAt.push(viewFire(last))
  }
  return { items: found.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0)), cutAt }
}

function fireKey({ schedule, dueAt, nonce, round }: FireView): string {
  return `${schedule}\n${dueAt}\n${nonce}\n${round}`
}

class Told {
  readonly #keys = new Set<string>()

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  isNew(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > REMEMBERED && oldest !== undefined) this.#keys.delete(oldest)
    return true
  }
}
