import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FeedEntry, feed } from '../../src/client/feed.ts'
import type { ClientParts } from '../../src/client/parts.ts'
import { ending } from '../../src/model/outcome.ts'
import type { FireRecord, RunNotes, RunRecord } from '../../src/model/record.ts'
import { matchesFire, matchesRun } from '../../src/store/matches.ts'
import type { FireQuery, Page, RunQuery } from '../../src/store/store.ts'
import { fire, NOON } from '../../src/testing/conformance/samples.ts'

type Run = RunRecord & RunNotes
const SECOND = 1_000

const RUN: Run = {
  schedule: 's',
  dueAt: NOON,
  nonce: '',
  token: '',
  job: 'job',
  round: 1,
  attempt: 1,
  instance: 'i',
  request: 'r',
  startedAt: NOON,
  readyAt: NOON,
  slots: [],
  cancel: null,
  ending: null,
  endedAt: null,
  error: null,
  result: null,
  progress: null,
  log: [],
  logCut: false,
}

/** Records that are only looked at: what happens between two looks, and what a feed tells of it. */
class Bench {
  now = NOON
  calls = 0
  readonly runs = new Map<string, Run>()
  readonly fires: FireRecord[] = []
  /** Made once for each question: there are many. */
  readonly #lists = new Map<string, readonly Run[]>()

  begin(count: number, startedAt = this.now): readonly string[] {
    return Array.from({ length: count }, () => {
      const token = String(this.runs.size + 1).padStart(8, '0')
      this.runs.set(token, { ...RUN, token, startedAt })
      this.#lists.clear()
      return token
    })
  }

  end(tokens: readonly string[]): void {
    for (const token of tokens) {
      const run = this.runs.get(token)!
      this.runs.set(token, { ...run, ending: ending('completed'), endedAt: this.now })
    }
    this.#lists.clear()
  }

  /** Goes on by a second after each look, for so many looks; what was told after each of them. */
  async look(looks: number, between: (look: number) => void, from?: number): Promise<FeedEntry[][]> {
    const stop = new AbortController()
    const told: FeedEntry[][] = [[]]
    const sleep = async (): Promise<void> => {
      if (told.length >= looks) return stop.abort()
      this.now += SECOND
      between(told.length)
      told.push([])
    }
    const store = {
      listRuns: async (query: RunQuery): Promise<Page<Run>> => this.#page(this.#list(query), query),
      listFires: async (query: FireQuery): Promise<Page<FireRecord>> =>
        this.#page(
          this.fires.filter((record) => matchesFire(record, query)),
          query,
        ),
    }
    const parts = { store, context: () => ({ clock: { sleep } }) } as unknown as ClientParts<unknown>
    for await (const entry of feed(parts, { from, signal: stop.signal })) told.at(-1)!.push(entry)
    return told
  }

  /** The latest first. */
  #list({ after, limit, ...query }: RunQuery): readonly Run[] {
    if (query.token !== undefined) return [this.runs.get(query.token)!]
    const key = JSON.stringify(query)
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const found = [...this.runs.values()].filter((run) => matchesRun(run, query as RunQuery))
    found.sort((one, other) => compare(other, one))
    this.#lists.set(key, found)
    return found
  }

  #page<Item extends { dueAt: number }>(items: readonly Item[], query: RunQuery | FireQuery): Page<Item> {
    this.calls++
    const begin = query.after === null ? 0 : items.findIndex((item) => keyOf(item) === query.after) + 1
    const shown = items.slice(begin, begin + query.limit)
    const isLast = begin + query.limit >= items.length
    return { now: this.now, items: shown, next: isLast ? null : keyOf(shown.at(-1)!) }
  }
}

function compare(one: Run, other: Run): number {
  return one.startedAt - other.startedAt || (one.token < other.token ? -1 : 1)
}

function keyOf(item: object): string {
  return 'token' in item ? String(item.token) : JSON.stringify(item)
}

function count(told: readonly FeedEntry[], kind: FeedEntry['kind']): number {
  return told.filter((entry) => entry.kind === kind).length
}

test('what was told already is no gap, however much of it there is: 400 runs a second for 20 s, each told once', async () => {
  const bench = new Bench()
  let going: readonly string[] = []
  const told = await bench.look(20, () => {
    bench.end(going)
    going = bench.begin(400)
  })
  const all = told.flat()
  assert.deepEqual([count(all, 'gap'), count(all, 'run.started'), count(all, 'run.ended')], [0, 19 * 400, 18 * 400])
  const tokens = all.flatMap((entry) => (entry.kind === 'run.started' ? entry.run.token : []))
  assert.equal(new Set(tokens).size, tokens.length)
  // Each end is found along with the beginnings, not asked for by itself.
  assert.ok(bench.calls < 20 * 20, `${bench.calls} calls`)
})

test('a run that becomes visible late is told, also where many began since', async () => {
  const bench = new Bench()
  const late: string[] = []
  const told = await bench.look(6, (look) => {
    bench.begin(900)
    if (look === 4) late.push(...bench.begin(1, bench.now - 3 * SECOND))
  })
  const tokens = told.flat().flatMap((entry) => (entry.kind === 'run.started' ? entry.run.token : []))
  assert.ok(tokens.includes(late[0]!))
})

test('more than is told at one look is a gap, once', async () => {
  const bench = new Bench()
  const told = await bench.look(5, (look) => void (look === 2 && bench.begin(30_000)))
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [0, 0, 1, 0, 0],
  )
  assert.ok(count(told.flat(), 'run.started') >= 1_000)
})

test('the ends of runs are told, also while 45,000 are open: those that were when it began, and those since', async () => {
  const bench = new Bench()
  const before = bench.begin(45_000, NOON - 60 * SECOND)
  let since: readonly string[] = []
  const wanted: string[] = []
  const told = await bench.look(12, (look) => {
    if (look === 1) since = bench.begin(500)
    if (look !== 4) return
    const ends = [before[0]!, before[22_000]!, before.at(-1)!, since[0]!]
    bench.end(ends)
    wanted.push(...ends)
  })
  const ended = told.flat().flatMap((entry) => (entry.kind === 'run.ended' ? entry.run.token : []))
  assert.deepEqual(ended.sort(), wanted.sort())
  assert.deepEqual([count(told.flat(), 'gap'), count(told.flat(), 'run.started')], [0, 500])
})

test('of open runs no more than 100,000 are remembered, and that more are open is told', async () => {
  const bench = new Bench()
  const before = bench.begin(105_000, NOON - 60 * SECOND)
  const told = await bench.look(12, (look) => void (look === 8 && bench.end(before)))
  assert.ok(count(told.flat(), 'gap') > 0)
  const ended = count(told.flat(), 'run.ended')
  assert.ok(ended > 0 && ended <= 100_000, `${ended} ends`)
})

test('a fire that was never run is told once, however many runs begin within the hour', async () => {
  const bench = new Bench()
  const told = await bench.look(20, (look) => {
    if (look === 1)
      bench.fires.push(fire('skipped', bench.now, { attempt: 0, ending: ending('overlap'), endedAt: bench.now }))
    bench.end(bench.begin(3_000))
  })
  assert.deepEqual([count(told.flat(), 'fire.ended'), count(told.flat(), 'gap')], [1, 0])
})
