import type { Clock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import type { ListedRecord } from '../model/record.ts'
import { viewListedFire, viewListedRun } from '../model/views.ts'
import { listFires, listRuns, type ViewQuery } from '../store/list-views.ts'
import type { EndPage, Store } from '../store/store.ts'
import { readStore } from './ask-store.ts'
import { viewFire, viewRun } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { optionalInstant, readCommand } from './read-command.ts'
import { optionInvalid, readDuration } from './read-option.ts'
import type { Duration, When } from './schedule-options.ts'
import type { FireView, RunView } from './views.ts'

/**
 * What happened anywhere in the fleet, about a second ago. Every end that is committed after the feed is ready is reported at least
 * once, or followed by a `gap`. The same end may be reported twice: a run is known by `schedule` and `token`, a fire by `schedule`,
 * `dueAt`, `nonce` and `round`.
 */
export type FeedEntry =
  | { readonly kind: 'run.started' | 'run.ended'; readonly at: number; readonly run: RunView }
  /** A fire, or a range of them, whose end is not the end of a run: it never ran, or ended for another reason than its last run. */
  | { readonly kind: 'fire.ended'; readonly at: number; readonly fire: FireView }
  /** Ends before this entry may be missing: read the lists again. What follows is complete again. */
  | { readonly kind: 'gap'; readonly at: number }

/** Options of `app.feed()`. */
export interface FeedOptions {
  /**
   * Begin with what is on record since then: starts and ends of runs, and ends of fires, whose fire was due at most a day before
   * it. Lists are ordered by due time, so an end of an older fire is not found. A `gap` follows if more was due than one look reads.
   * @default now
   */
  readonly from?: When | undefined
  readonly signal?: AbortSignal | undefined
  /** Between two looks at the records, 100 ms to a minute. @default '1s' */
  readonly interval?: Duration | undefined
  /** Called once the feed knows where it begins: lists that are read after this, and the feed, contain every end between them. */
  readonly onReady?: (() => void) | undefined
}

/** Ends in one look; more are a gap. */
const MOST_ENDS = 5_000
/** Runs or fires in one answer, and answers in one look. */
const PAGE = 1_000
const PAGES = 10
const HOUR_MS = 3_600_000
/** History that is older may have been pruned. */
const KEPT_MS = 24 * HOUR_MS
/** How long before `from` a fire may have been due whose end is looked up in the records. */
const DUE_BEFORE_MS = 24 * HOUR_MS
/** Between two looks: records of ends may be pruned if it takes longer. */
const LONGEST_SILENCE_MS = HOUR_MS
/** Starts that were reported, so that they are not reported again: more than a look can find. */
const REMEMBERED = 50_000
/** A call to the store that takes longer has failed. */
const CALL_MS = 30_000

export function feed<Tx>(parts: ClientParts<Tx>, options: FeedOptions = {}): AsyncIterable<FeedEntry> {
  const fields = readCommand(options, ['from', 'signal', 'interval', 'onReady'])
  const from = optionalInstant('from', fields.from)
  const intervalMs = readDuration('interval', fields.interval ?? 1_000, { min: 100, max: 60_000 })
  const { signal, onReady = () => {} } = fields
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw optionInvalid('signal', signal, 'an AbortSignal', 'Write signal: controller.signal.')
  if (typeof onReady !== 'function')
    throw optionInvalid('onReady', onReady, 'a function', 'Write onReady: () => refresh().')
  return entries(parts, { from, intervalMs, signal, onReady: onReady as () => void })
}

interface FeedSettings {
  readonly from: number | undefined
  readonly intervalMs: number
  readonly signal: AbortSignal | undefined
  readonly onReady: () => void
}

async function* entries<Tx>(
  parts: ClientParts<Tx>,
  { from, intervalMs, signal, onReady }: FeedSettings,
): AsyncGenerator<FeedEntry, void, undefined> {
  const { clock } = parts.context()
  const reader = new FeedReader(parts.store, clock, signal)
  try {
    await reader.begin(from)
  } catch (error) {
    if (signal?.aborted === true) return
    throw error
  }
  onReady()
  while (signal?.aborted !== true) {
    try {
      yield* await reader.look()
    } catch (error) {
      // The next look begins where the last one that succeeded ended, so an outage loses nothing.
      if (!(error instanceof CronceError) || error.code === 'STORE_CLOSED') throw error
    }
    await clock.sleep(intervalMs, signal)
  }
}

class FeedReader<Tx> {
  readonly #store: Store<Tx>
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #started = new Remembered()
  /** Runs that started before are not reported as started. */
  #since = 0
  /** Where the next look at ends begins. */
  #position: string | null = null
  #lookedAt = 0
  /** Ends since then are yet to be looked up in the records. */
  #history: number | null = null

  constructor(store: Store<Tx>, clock: Clock, signal: AbortSignal | undefined) {
    this.#store = store
    this.#clock = clock
    this.#signal = signal
  }

  async begin(from: number | undefined): Promise<void> {
    const { now, next } = await this.#listEnds()
    this.#position = next
    this.#lookedAt = now
    this.#since = from ?? now
    this.#history = from ?? null
  }

  /** Reads everything first, and only then moves on: a read that fails changes nothing. */
  async look(): Promise<FeedEntry[]> {
    const runs = await this.#runs()
    const ends = await this.#listEnds()
    const { now } = ends
    const past = this.#history === null ? NO_PAST : await this.#pastEnds(this.#history, runs, ends)
    const isSilent = now - this.#lookedAt > LONGEST_SILENCE_MS
    const isOld = this.#history !== null && this.#history < now - KEPT_MS
    const ended = [...past.items, ...ends.items.map((end) => entryOf(end, now))].sort((one, other) => one.at - other.at)
    // A run that was claimed ahead has not started yet.
    const started = runs.items.filter((run) => run.startedAt <= now)
    const entries: FeedEntry[] = [...this.#starts(started, ended), ...ended]
    if (past.isCut || isSilent || isOld || !ends.complete) entries.push({ kind: 'gap', at: now })
    this.#position = ends.next
    this.#lookedAt = now
    this.#history = null
    return entries
  }

  /** A run that ends is reported as started first. */
  #starts(found: readonly RunView[], ended: readonly EndEntry[]): FeedEntry[] {
    const runs = [...found, ...ended.flatMap((entry) => (entry.kind === 'run.ended' ? entry.run : []))]
    return runs
      .filter((run) => run.startedAt >= this.#since && this.#started.isNew(runKey(run)))
      .map((run) => ({ kind: 'run.started', at: run.startedAt, run }))
  }

  #listEnds(): Promise<EndPage> {
    return this.#ask('list ends', () => this.#store.listEnds({ after: this.#position, limit: MOST_ENDS }))
  }

  /** Runs that go on, and in the first look those on record, by start. A run that ended meanwhile is among the ends. */
  async #runs(): Promise<FoundRuns> {
    const open = await this.#listRuns({ outcome: 'open' })
    const past = this.#history === null ? NO_RUNS : await this.#listRuns({ from: this.#history - DUE_BEFORE_MS })
    const byStart = [...past.items, ...open.items].sort((one, other) => one.startedAt - other.startedAt)
    return { items: byStart, isCut: past.isCut }
  }

  /** `isCut`: there are more. */
  async #listRuns(filter: Pick<ViewQuery, 'outcome' | 'from'>): Promise<FoundRuns> {
    const found: RunView[] = []
    let after: string | null = null
    for (let page = 0; page < PAGES; page++) {
      const query: ViewQuery = { ...filter, limit: PAGE, after }
      const answer = await this.#ask('list runs', () => listRuns(this.#store, query))
      found.push(...answer.items.map(viewRun))
      after = answer.next
      if (after === null) break
    }
    return { items: found, isCut: after !== null }
  }

  /** Ends on record since `from` that are not among those of the same look. `isCut`: there may be more. */
  async #pastEnds(from: number, runs: FoundRuns, { items, now }: EndPage): Promise<PastEnds> {
    let { isCut } = runs
    const found: EndEntry[] = runs.items
      .filter(({ endedAt }) => endedAt !== null && endedAt >= from)
      .map((run) => ({ kind: 'run.ended', at: run.endedAt ?? now, run }) as const)
    const byRun = new Set(runs.items.map(reasonKey))
    for (const outcome of ['skipped', 'missed', 'cancelled', 'abandoned', 'failed'] as const) {
      const query = { outcome, from: from - DUE_BEFORE_MS, limit: PAGE, after: null }
      const { items: fires, next } = await this.#ask('list fires', () => listFires(this.#store, query))
      isCut ||= next !== null
      const ended = fires.filter(({ endedAt }) => (endedAt ?? 0) >= from).map(viewFire)
      const own = ended.filter((fire) => fire.attempt === 0 || !byRun.has(reasonKey(fire)))
      found.push(...own.map((fire) => ({ kind: 'fire.ended', at: fire.endedAt ?? now, fire }) as const))
    }
    const isNew = new Set(items.map((end) => endKey(entryOf(end, now))))
    return { items: found.filter((entry) => !isNew.has(endKey(entry))), isCut }
  }

  async #ask<Answer>(operation: string, call: () => Promise<Answer>): Promise<Answer> {
    const answered = new AbortController()
    const signal = this.#signal === undefined ? answered.signal : AbortSignal.any([answered.signal, this.#signal])
    const late = this.#clock.sleep(CALL_MS, signal).then(() => {
      throw new CronceError('STORE_SILENT', `The store did not answer in time to ${operation}.`, {
        hint: 'Check that the store is reachable and not overloaded.',
      })
    })
    try {
      return await Promise.race([readStore(operation, call), late])
    } finally {
      answered.abort()
    }
  }
}

type EndEntry =
  | { readonly kind: 'run.ended'; readonly at: number; readonly run: RunView }
  | { readonly kind: 'fire.ended'; readonly at: number; readonly fire: FireView }

interface FoundRuns {
  readonly items: readonly RunView[]
  readonly isCut: boolean
}

const NO_RUNS: FoundRuns = { items: [], isCut: false }

interface PastEnds {
  readonly items: readonly EndEntry[]
  readonly isCut: boolean
}

const NO_PAST: PastEnds = { items: [], isCut: false }

function entryOf(end: ListedRecord, now: number): EndEntry {
  const at = end.endedAt ?? now
  if (end.run !== null) return { kind: 'run.ended', at, run: viewRun(viewListedRun(end)) }
  return { kind: 'fire.ended', at, fire: viewFire(viewListedFire(end)) }
}

function runKey({ schedule, token }: RunView): string {
  return `${schedule}\n${token}`
}

/** A fire whose key is not that of one of its runs ended otherwise than by a run. */
function reasonKey({ schedule, dueAt, nonce, reason }: RunView | FireView): string {
  return `${schedule}\n${dueAt}\n${nonce}\n${reason}`
}

function endKey(entry: EndEntry): string {
  if (entry.kind === 'run.ended') return runKey(entry.run)
  const { schedule, dueAt, nonce, round } = entry.fire
  return `${schedule}\n${dueAt}\n${nonce}\n${round}`
}

/** The latest keys. */
class Remembered {
  readonly #keys = new Set<string>()

  /** Remembers it. */
  isNew(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > REMEMBERED && oldest !== undefined) this.#keys.delete(oldest)
    return true
  }
}
