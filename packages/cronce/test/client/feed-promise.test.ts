import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronceError } from '../../src/errors.ts'
import { copyData } from '../../src/store/memory/data.ts'
import { NOON } from '../../src/testing/conformance/samples.ts'
import { count, endedTokens, FeedBench, SECOND } from './feed-bench.ts'

function failing(): CronceError {
  return new CronceError('STORE_FAILED', 'The store failed.', { hint: 'Try again.' })
}

test('a read that fails in the middle of a look loses no end, whichever read it is', async () => {
  for (const failed of [1, 2, 3, 5, 8, 13, 21]) {
    const bench = await FeedBench.open()
    let begun: readonly string[] = []
    const told = await bench.look(20, async (look) => {
      if (look === 1) begun = await bench.begin(30)
      // Later ones, so that no look reaches back to the beginning of the others.
      if (look === 14) await bench.begin(1)
      if (look !== 15) return
      await bench.end(begun)
      const last = bench.calls + failed
      bench.beforeCall = () => {
        if (bench.calls === last) throw failing()
      }
    })
    assert.deepEqual(endedTokens(told.flat()), [...begun].sort(), `read ${failed} failed`)
  }
})

test('a claim that was decided before the feed began and committed after it is followed to its end', async () => {
  const bench = await FeedBench.open()
  let begun: readonly string[] = []
  const told = await bench.look(6, async (look) => {
    // Longer ago than any look reaches back.
    if (look === 1) begun = await bench.begin(40, NOON - 120 * SECOND)
    if (look === 3) await bench.end(begun)
  })
  assert.deepEqual(endedTokens(told.flat()), [...begun].sort())
})

test('a claim that was decided long ago is reported although it is committed and ends between two looks', async () => {
  const bench = await FeedBench.open()
  let begun: readonly string[] = []
  const told = await bench.look(6, async (look) => {
    if (look !== 3) return
    begun = await bench.begin(20, NOON - 120 * SECOND)
    await bench.end(begun, NOON - 60 * SECOND)
  })
  assert.deepEqual(endedTokens(told.flat()), [...begun].sort())
})

test('a fire that ends without a run is found by its end, however long ago or far ahead it is due', async () => {
  const bench = await FeedBench.open()
  const due = [NOON - 50 * 3_600_000, NOON + 50 * 3_600_000]
  const told = await bench.look(4, async (look) => {
    if (look === 2) for (const dueAt of due) await bench.skip(dueAt)
  })
  const found = told.flat().flatMap((entry) => (entry.kind === 'fire.ended' ? entry.fire.dueAt : []))
  assert.deepEqual(found, due)
})

test('a fire that is cancelled while it waits for a retry ends without a run', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(4, async (look) => {
    if (look === 2) await bench.skip(NOON, { attempt: 2 }, 'cancelled-by-operator')
  })
  assert.equal(count(told.flat(), 'fire.ended'), 1)
})

test('the feed is ready after it knows where it begins, and before the first look', async () => {
  const bench = await FeedBench.open()
  const begun = await bench.begin(1)
  let readyAfter = -1
  const told = await bench.look(3, () => {}, {
    onReady: () => {
      readyAfter = bench.calls
      // Committed after `ready`, before the first look.
      void bench.end(begun)
    },
  })
  assert.equal(readyAfter, 1)
  assert.deepEqual(endedTokens(told[0]!), [...begun])
})

test('a feed that cannot find its position fails, and is never ready', async () => {
  const bench = await FeedBench.open()
  bench.beforeCall = () => {
    throw failing()
  }
  const onReady = (): void => assert.fail('it was ready')
  await assert.rejects(
    bench.look(3, () => {}, { onReady }),
    { code: 'STORE_FAILED' },
  )
})

test('a store that answers nothing for an hour may have pruned ends: a gap', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(5, (look) => {
    bench.beforeCall = () => {
      if (look === 2) throw failing()
    }
    if (look === 2) bench.clock.now += 2 * 3_600_000
  })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [0, 0, 0, 1, 0],
  )
})

test('a store that goes back in time or moves its epoch is a gap, and what ends after it is reported', async () => {
  const bench = await FeedBench.open()
  let begun: readonly string[] = []
  const told = await bench.look(6, async (look) => {
    if (look === 2) begun = await bench.begin(2)
    if (look === 3) bench.source.restore(copyData(bench.source.data))
    if (look === 4) await bench.end(begun)
  })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [0, 0, 0, 1, 0, 0],
  )
  assert.deepEqual(endedTokens(told[4]!), [...begun].sort())
})

test('a start that is older than what is surely kept is a gap', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(3, () => {}, { from: NOON - 25 * 3_600_000 })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [1, 0, 0],
  )
})

test('a feed from an earlier instant finds what ended since then and was due up to a day before', async () => {
  for (const [hours, isFound] of [
    [2, true],
    [23, true],
    [25, false],
  ] as const) {
    const bench = await FeedBench.open()
    const begun = await bench.begin(1)
    bench.clock.now += hours * 3_600_000
    await bench.end(begun)
    await bench.skip(NOON)
    const told = (await bench.look(2, () => {}, { from: bench.now - 600 * SECOND })).flat()
    assert.deepEqual(endedTokens(told), isFound ? begun : [], `${hours} h`)
    assert.deepEqual([count(told, 'fire.ended'), count(told, 'gap')], [isFound ? 1 : 0, 0], `${hours} h`)
  }
})

test('a feed from an earlier instant is a gap if more was due in the day before than it reads', async () => {
  const bench = await FeedBench.open()
  const begun = await bench.begin(10_001)
  await bench.end(begun)
  bench.clock.now += 3 * 3_600_000
  const told = await bench.look(2, () => {}, { from: bench.now - 600 * SECOND })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [1, 0],
  )
})

test('a run whose record is pruned before its end was reported is a gap', async () => {
  const bench = await FeedBench.open()
  const told = await bench.look(4, async (look) => {
    if (look !== 2) return
    await bench.end(await bench.begin(1))
    bench.clock.now += 25 * 3_600_000
    await bench.prune()
    bench.clock.now -= 25 * 3_600_000
  })
  assert.deepEqual(
    told.map((entries) => count(entries, 'gap')),
    [0, 0, 1, 0],
  )
})
