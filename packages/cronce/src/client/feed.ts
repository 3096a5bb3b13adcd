import { CronceError } from '../errors.ts'
import type { RunQuery } from '../store/store.ts'
import { readStore } from './ask-store.ts'
import { viewFire, viewRun } from './make-view.ts'
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

/** Of runs and of fires, at each look. */
const MOST = 1_000
/** Of open runs. */
const PAGES = 20
/** Records of one moment may become visible one after the other. */
const OVERLAP_MS = 10_000
const FIRES_MS = 3_600_000
/** Of what was told, so that it is not told again. */
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
  const told = new Told()
  // Those that are going on when it begins are not told to begin, but how they end is.
  const going = await readStore('list runs', () => parts.store.listRuns({ outcome: 'open', limit: MOST, after: null }))
  const since = from ?? going.now
  let runsFrom = since
  const open = new Map<string, RunView>()
  for (const run of going.items.map(viewRun)) {
    if (run.startedAt >= since) continue
    open.set(keyOf(run), run)
    told.isNew(`s ${keyOf(run)}`)
  }
  while (signal?.aborted !== true) {
    try {
      const runs = await newRuns(parts, Math.max(since, runsFrom - OVERLAP_MS))
      if (runs.isCut) yield { kind: 'gap', at: runs.now }
      for (const run of runs.items) {
        runsFrom = Math.max(runsFrom, run.startedAt)
        if (told.isNew(`s ${keyOf(run)}`)) {
          yield { kind: 'run.started', at: run.startedAt, run }
          open.set(keyOf(run), run)
        }
      }
      for (const run of await endedOf(parts, open)) {
        open.delete(keyOf(run))
        yield { kind: 'run.ended', at: run.endedAt ?? runs.now, run }
      }
      for (const fire of await unrunFires(parts, since, runs.now)) {
        const key = `f ${fire.schedule}\n${fire.dueAt}\n${fire.nonce}\n${fire.round}`
        if (told.isNew(key)) yield { kind: 'fire.ended', at: fire.endedAt ?? runs.now, fire }
      }
    } catch (error) {
      // A store that does not answer for a while ends no feed: what happened meanwhile is told when it does.
      if (!(error instanceof CronceError) || error.code === 'STORE_CLOSED') throw error
    }
    await parts.context().clock.sleep(intervalMs, signal)
  }
}

/** The earliest first. */
async function newRuns<Tx>(
  { store }: ClientParts<Tx>,
  from: number,
): Promise<{ readonly now: number; readonly items: readonly RunView[]; readonly isCut: boolean }> {
  const { now, items, next } = await readStore('list runs', () => store.listRuns({ from, limit: MOST, after: null }))
  return { now, items: items.map(viewRun).reverse(), isCut: next !== null }
}

/** How those that were open went on. */
async function endedOf<Tx>({ store }: ClientParts<Tx>, open: Map<string, RunView>): Promise<RunView[]> {
  if (open.size === 0) return []
  const going = await openRuns(store)
  // More are open than are looked at: then absence says nothing.
  if (going === null) return []
  const ended: RunView[] = []
  for (const [key, { schedule, token }] of open) {
    if (going.has(key)) continue
    const { items } = await readStore('look for a run', () =>
      store.listRuns({ schedule, token, limit: 1, after: null }),
    )
    if (items[0]?.ending != null) ended.push(viewRun(items[0]))
    // Its record is gone, and nobody will hear of it again.
    else if (items[0] === undefined) open.delete(key)
  }
  return ended.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
}

/** The keys of all runs that are open; `null`: there are too many. */
async function openRuns<Tx>(store: ClientParts<Tx>['store']): Promise<ReadonlySet<string> | null> {
  const keys = new Set<string>()
  let after: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const query: RunQuery = { outcome: 'open', limit: MOST, after }
    const found = await readStore('list runs', () => store.listRuns(query))
    for (const run of found.items) keys.add(keyOf(run))
    if (found.next === null) return keys
    after = found.next
  }
  return null
}

/** Fires that ended without ever having been run. */
async function unrunFires<Tx>({ store }: ClientParts<Tx>, since: number, now: number): Promise<readonly FireView[]> {
  const found: FireView[] = []
  for (const outcome of ['skipped', 'missed', 'cancelled', 'abandoned'] as const) {
    const query = { outcome, from: now - FIRES_MS, limit: MOST, after: null }
    const { items } = await readStore('list fires', () => store.listFires(query))
    found.push(...items.filter((record) => record.attempt === 0 && (record.endedAt ?? 0) >= since).map(viewFire))
  }
  return found.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
}

function keyOf({ schedule, token }: { readonly schedule: string; readonly token: string }): string {
  return `${schedule}\n${token}`
}

class Told {
  readonly #keys = new Set<string>()

  isNew(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > REMEMBERED && oldest !== undefined) this.#keys.delete(oldest)
    return true
  }
}
