import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeedEntry } from '../../src/index.ts'
import { NOON } from '../../src/testing/conformance/samples.ts'
import { testKit } from '../../src/testing.ts'
import { count, endedTokens, FeedBench, SECOND } from './feed-bench.ts'

test('400 runs a second for 20 s are each reported once, without a gap', async () => {
  const bench = await FeedBench.open()
  let open: readonly string[] = []
  const told = await bench.look(20, async () => {
    await bench.end(open)
    open = await bench.begin(400)
  })
  const all = told.flat()
  assert.deepEqual([count(all, 'gap'), count(all, 'run.started'), count(all, 'run.ended')], [0, 19 * 400, 18 * 400])
  const tokens = all.flatMap((entry) => (entry.kind === 'run.started' ? entry.run.token : []))
  assert.equal(new Set(tokens).size, tokens.length)
  // Up to four pages of starts and one of ends at each look.
  assert.ok(bench.calls <= 20 * 6, `${bench.calls} calls`)
})

test('a run that becomes visible late is reported as started, also where many began since', async () => {
  const bench = await FeedBench.open()
  const late: string[] = []
  const told = await bench.look(6, async (look) => {
    await bench.begin(900)
    if (look === 4) late.push(...(await bench.begin(1, bench.now - 3 * SECOND)))
  })
  const tokens = told.flat().flatMap((entry) => (entry.kind === 'run.started' ? entry.run.token : []))
  assert.ok(tokens.includes(late[0]!))
})

test('a run that starts and ends between two looks is reported as started before it is reported as ended', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(4, async (look) => {
    if (look === 2) await bench.end(await bench.begin(1))
  })
  assert.deepEqual(
    told.flat().map(({ kind }) => kind),
    ['run.started', 'run.ended'],
  )
})

test('with more open runs than one look reads, a start is reported with the end at the latest', async () => {
  const bench = await FeedBench.open()
  let begun: readonly string[] = []
  const looks = await bench.look(6, async (look) => {
    if (look === 2) begun = await bench.begin(30_000)
    if (look === 4) await bench.end([begun[0]!, begun[15_000]!, begun.at(-1)!])
  })
  const startedIn = (entries: readonly FeedEntry[]): string[] =>
    entries.flatMap((entry) => (entry.kind === 'run.started' ? entry.run.token : []))
  const started = startedIn(looks.slice(0, 4).flat())
  assert.equal(started.length, 10_000)
  const ended = endedTokens(looks[4]!)
  assert.deepEqual(ended, [begun[0]!, begun[15_000]!, begun.at(-1)!].sort())
  const late = ended.filter((token) => !started.includes(token))
  assert.ok(late.length > 0)
  assert.deepEqual(
    startedIn(looks[4]!)
      .filter((token) => ended.includes(token))
      .sort(),
    late,
  )
  assert.equal(count(looks.flat(), 'gap'), 0)
})

test('more ends than one look reads are a gap, once, and the ends that follow are reported', async () => {
  const bench = await FeedBench.open()
  const begun = await bench.begin(6_001, NOON - 60 * SECOND)
  const told = await bench.look(5, async (look) => {
    if (look === 2) await bench.end(begun.slice(0, 6_000))
    if (look === 3) await bench.end(begun.slice(6_000))
  })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [0, 0, 1, 0, 0],
  )
  assert.deepEqual(endedTokens(told[3]!), begun.slice(6_000))
})

test('the ends of runs are reported, also while 45,000 are open: those of before the feed began, and those since', async () => {
  const bench = await FeedBench.open()
  const before = await bench.begin(45_000, NOON - 60 * SECOND)
  let since: readonly string[] = []
  const wanted: string[] = []
  const told = await bench.look(12, async (look) => {
    if (look === 1) since = await bench.begin(500)
    if (look !== 4) return
    wanted.push(before[0]!, before[22_000]!, before.at(-1)!, since[0]!)
    await bench.end(wanted)
  })
  assert.deepEqual(endedTokens(told.flat()), wanted.sort())
  assert.deepEqual([count(told.flat(), 'gap'), count(told.flat(), 'run.started')], [0, 500])
})

test('a fire that never ran is reported once, however many runs begin and end', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(8, async (look) => {
    if (look === 1) await bench.skip(NOON - 3_600_000)
    await bench.end(await bench.begin(3_000))
  })
  assert.deepEqual([count(told.flat(), 'fire.ended'), count(told.flat(), 'gap')], [1, 0])
})

test('more ends on record since `from` than one look reads are a gap', async () => {
  const kit = testKit()
  const app = kit.app()
  app.job('busy', { every: '1s' }, async (run) => {
    await new Promise((resolve) => run.signal.addEventListener('abort', resolve, { once: true }))
  })
  await app.start()
  const from = kit.now()
  await kit.advance('20m')
  const abort = new AbortController()
  const told: FeedEntry[] = []
  const reading = (async () => {
    for await (const entry of app.feed({ from, signal: abort.signal })) told.push(entry)
  })()
  await kit.advance('2s')
  abort.abort()
  await reading
  assert.equal(count(told, 'gap'), 1)
  await Promise.all([app.stop(), kit.advance('10m')])
})

test('the past of a feed contains fires that ended while they waited for a retry, and no end twice', async () => {
  const kit = testKit()
  const app = kit.app()
  const fail = (): never => {
    throw new Error('no')
  }
  app.job('waits', { retry: { attempts: 1, backoff: { base: '10m', jitter: 0 } } }, fail)
  app.job('fails', {}, fail)
  app.job('works', {}, () => 1)
  await app.start()
  const from = kit.now()
  for (const name of ['waits', 'fails', 'works']) await app.schedules.trigger(name)
  await kit.advance('1m')
  const [waiting] = (await app.fires.list({ schedule: 'waits' })).items
  await app.fires.cancel(waiting!)
  const abort = new AbortController()
  const told: string[] = []
  const reading = (async () => {
    for await (const entry of app.feed({ from, signal: abort.signal })) {
      if (entry.kind === 'run.ended') told.push(`${entry.kind} ${entry.run.schedule} ${entry.run.reason}`)
      if (entry.kind === 'fire.ended') told.push(`${entry.kind} ${entry.fire.schedule} ${entry.fire.reason}`)
    }
  })()
  await kit.advance('2s')
  abort.abort()
  await reading
  assert.deepEqual(told.sort(), [
    'fire.ended waits cancelled-by-operator',
    'run.ended fails error',
    'run.ended waits error',
    'run.ended works completed',
  ])
  await app.stop()
})
