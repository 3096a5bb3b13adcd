import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { redisCommand, redisText, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { ending } from '../../src/model/outcome.ts'
import type { HistoryRecord } from '../../src/model/record.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import type { Store } from '../../src/store/store.ts'
import { applyAll, applyOne, create, join } from '../../src/testing/conformance/bench.ts'
import {
  after as afterChange,
  beat,
  change,
  creation,
  DAY_MS,
  endedLine,
  schedule,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { callsOf, membersOf, openAt } from './redis-races-kit.ts'

const MINUTE_MS = 60_000

let server: Server
before(async () => {
  server = await startRedis({ appendonly: false })
})
after(() => server?.stop())

type Line = Partial<HistoryRecord> & Pick<HistoryRecord, 'number' | 'dueAt' | 'expiresAt'>

function lineOf(id: string, { dueAt, ...line }: Line): HistoryRecord {
  const run = {
    token: String(9_900 + line.number),
    instance: 'i',
    startedAt: dueAt,
    cancel: null,
    error: null,
    result: null,
  }
  return endedLine(id, dueAt, { attempt: 1, run, ...line })
}

/** Two lines of a fire that was retried once, and ended long after it was due: Redis finds it by an index. */
function retriedFire(id: string, number: number, dueAt: number, expiresAt: number): HistoryRecord[] {
  const failed = { number, dueAt, expiresAt, isFinal: false, ending: ending('error'), endedAt: dueAt + 20_000 }
  return [lineOf(id, failed), lineOf(id, { number: number + 1, dueAt, expiresAt, attempt: 2, endedAt: dueAt + 40_000 })]
}

async function addLines(store: Store, state: ScheduleState, lines: readonly HistoryRecord[]): Promise<ScheduleState> {
  let latest = state
  for (let from = 0; from < lines.length; from += 1_000) {
    const history = lines.slice(from, from + 1_000)
    const added = change(latest, { ended: latest.ended + history.length }, { history })
    await applyAll(store, [added])
    latest = afterChange(added)
  }
  return latest
}

/** How often scripts read a stretch of a list during this work. */
async function readsDuring(work: () => Promise<void>): Promise<number> {
  const before = await callsOf(server, 'lrange')
  await work()
  return (await callsOf(server, 'lrange')) - before
}

test('scripts read a history once, however many retried fires they look for in it', async (context) => {
  const { store, key } = await openAt(context, server.url)
  const { now } = await store.load([])
  const begin = now - 30 * DAY_MS
  const dueAt = (fire: number) => begin + fire * MINUTE_MS
  const lines = Array.from({ length: 1_000 }, (_, fire) => retriedFire('s', 2 * fire + 1, dueAt(fire), now - 1)).flat()
  let state = await addLines(store, await create(store, schedule('s')), lines)

  const pruning = await readsDuring(async () => assert.deepEqual(await store.prune(300), { deleted: 300 }))
  assert.ok(pruning < 40, `prune: ${pruning} reads`)

  const trim = { belowNumber: 2_001, endedBefore: now }
  const trimming = await readsDuring(async () => {
    const trimmed = change(state, {}, { trim })
    await applyAll(store, [trimmed])
    state = afterChange(trimmed)
  })
  assert.ok(trimming < 40, `trim: ${trimming} reads`)
  assert.equal(await redisCommand(server, 'LLEN', `${key}:h:s`), 1_000)

  const fires = Array.from({ length: 50 }, (_, fire) => waiting(dueAt(fire)))
  const creating = await readsDuring(async () => {
    assert.deepEqual(await applyOne(store, withFires(change(state), fires)), { kind: 'applied' })
  })
  assert.ok(creating < 40, `creations below the mark: ${creating} reads`)
})

test('all lines of a retried fire are pruned, also those that no index has in a long history', async (context) => {
  const { store, key } = await openAt(context, server.url)
  const { now } = await store.load([])
  const past = now - 30 * DAY_MS
  const indexed = Array.from({ length: 400 }, (_, line) =>
    lineOf('s', { number: line + 1, dueAt: past + line * MINUTE_MS, expiresAt: now - 1 }),
  )
  const retried = Array.from({ length: 3 }, (_, fire) => [
    // Due and ended a moment ago: no index has it. The final line ends in the future, so an index has it.
    lineOf('s', { number: 401 + 2 * fire, dueAt: now - 3_000 - fire, expiresAt: now - 1, isFinal: false }),
    lineOf('s', {
      number: 402 + 2 * fire,
      dueAt: now - 3_000 - fire,
      attempt: 2,
      endedAt: now + DAY_MS,
      expiresAt: now - 1,
    }),
  ]).flat()
  await addLines(store, await create(store, schedule('s')), [...indexed, ...retried])
  assert.equal((await membersOf(server, `${key}:f:s`)).length, 403)
  assert.deepEqual(await store.prune(500), { deleted: 403 })
  assert.deepEqual([await redisText(server, 'TYPE', `${key}:h:s`), await membersOf(server, `${key}:f:s`)], ['none', []])
})

test('one script looks at a bounded number of lines, of however many schedules', async (context) => {
  const { store } = await openAt(context, server.url)
  await join(store, 'i')
  const { now } = await store.load([])
  const ids = Array.from({ length: 40 }, (_, number) => `s${number}`)
  await applyAll(
    store,
    ids.map((id) => creation(schedule(id))),
  )
  // Of each schedule, the first line has expired, and 719 others are kept.
  const { schedules } = await store.load(ids)
  for (const state of schedules) {
    const lines = Array.from({ length: 720 }, (_, index) => {
      const expiresAt = index === 0 ? now - 1 : now + DAY_MS
      return lineOf(state.id, { number: index + 1, dueAt: now - DAY_MS + index * MINUTE_MS, expiresAt })
    })
    await addLines(store, state, lines)
  }
  const before = await callsOf(server, 'evalsha')
  assert.deepEqual(await store.prune(500), { deleted: 40 })
  const scripts = (await callsOf(server, 'evalsha')) - before
  assert.ok(scripts >= 3, `${scripts} scripts for 28,800 lines`)
  const { chores } = await store.beat(beat('i'))
  assert.equal(chores.prunable, false)
})

test('lines behind thousands of deleted ones are pruned, also if the first line is kept', async (context) => {
  const { store, key } = await openAt(context, server.url)
  await join(store, 'i')
  const { now } = await store.load([])
  const keptUntil = now + 60 * DAY_MS
  const linesFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const number = first + index
      return lineOf('s', { number, dueAt: now - 30 * DAY_MS + number, expiresAt: number === 1 ? keptUntil : now - 1 })
    })
  const pruneAll = async () => {
    let total = 0
    for (;;) {
      const { deleted } = await store.prune(2_000)
      if (deleted === 0) return total
      total += deleted
    }
  }
  /** The store knows when the line that is kept expires, and that there is nothing to prune before that. */
  const isFinished = async () => {
    const expiring = (await redisCommand(server, 'ZRANGE', `${key}:expiring`, '0', '-1', 'WITHSCORES')) as string[]
    assert.deepEqual([expiring.length, expiring[1]], [2, String(keptUntil)])
    assert.deepEqual(await membersOf(server, `${key}:pruning`), [])
    const { chores } = await store.beat(beat('i'))
    assert.equal(chores.prunable, false)
  }
  let state = await addLines(store, await create(store, schedule('s')), linesFrom(1, 21_000))
  assert.equal(await pruneAll(), 20_999)
  await isFinished()
  state = await addLines(store, state, linesFrom(21_001, 1_000))
  assert.equal(await pruneAll(), 1_000)
  await isFinished()
})
