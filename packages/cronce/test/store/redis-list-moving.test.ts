import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { openLink } from '../../src/store/redis/open-link.ts'
import { openStore } from '../../src/store/redis/store.ts'
import type { Store } from '../../src/store/store.ts'
import { applyAll, firesOf, join, running } from '../../src/testing/conformance/bench.ts'
import {
  change,
  claimAgain,
  creation,
  DAY_MS,
  endedLine,
  NOON,
  after as outcome,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from '../../src/testing/conformance/samples.ts'
import { openAt, until } from './redis-races-kit.ts'
import { afterwards } from './sqlite-kit.ts'

let server: Server
before(async () => {
  server = await startRedis({ appendonly: false })
})
after(() => server?.stop())

/** A store that does this before each of its scripts, as a peer would. */
async function openInterrupted(
  context: TestContext,
  namespace: string,
  interrupt: () => Promise<void>,
): Promise<Store> {
  const link = openLink(server.url, { wait: undefined, timeoutMs: 30_000 })
  afterwards(context, () => link.close())
  let interruptions = Promise.resolve()
  const interrupted = {
    ...link,
    name: link.name,
    run: async (...args: Parameters<typeof link.run>) => {
      // The store may run several scripts at once: their interruptions come one after the other.
      interruptions = interruptions.then(interrupt)
      await interruptions
      return link.run(...args)
    },
    command: (...args: Parameters<typeof link.command>) => link.command(...args),
    session: () => link.session(),
    close: () => link.close(),
  }
  return (await openStore(interrupted, { namespace, prefix: 'cronce', waits: false })) as Store
}

/** One schedule for each name, with one fire that waits: the first name has the earliest due time. */
async function openFires(store: Store, ids: readonly string[]): Promise<void> {
  await applyAll(
    store,
    ids.map((id, index) => withFires(creation(schedule(id)), [waiting(NOON + index)])),
  )
}

test('a list of open fires has those that peers claim and give back while it is read', async (context) => {
  const { store: peer, namespace } = await openAt(context, server.url)
  await join(peer, 'i', 'j')
  const ids = Array.from({ length: 420 }, (_, number) => `s${String(number).padStart(3, '0')}`)
  await openFires(peer, ids)
  const moving = ids.filter((_, number) => number % 60 === 0)
  let moves = 0
  const move = async () => {
    const { schedules } = await peer.load(moving)
    const instance = moves++ % 4 < 2 ? 'i' : 'j'
    await applyAll(
      peer,
      schedules.map((state) => {
        const [fire] = state.open
        const claimed = claimAgain({ ...state, open: [{ ...fire!, run: null }] }, { instance, dueAt: fire!.dueAt })
        if (fire!.run === null) return claimed
        const run = { ...runOf(claimed), token: fire!.run.token, instance: fire!.run.instance }
        return settlement(state, run, { fireEnds: null })
      }),
    )
  }
  const store = await openInterrupted(context, namespace, move)
  for (const order of ['latest', 'earliest'] as const) {
    for (const limit of [50, 1_000]) {
      for (let list = 0; list < 3; list++) {
        const found = (await firesOf(store, { outcome: 'open', order }, limit)).map((fire) => fire.schedule)
        assert.deepEqual(found, order === 'latest' ? ids.toReversed() : ids)
      }
    }
  }
})

test('a list of fires has those that end while it is read', async (context) => {
  const { store: peer, namespace } = await openAt(context, server.url)
  const ids = Array.from({ length: 420 }, (_, number) => `s${String(number).padStart(3, '0')}`)
  await openFires(peer, ids)
  const ending = ids.slice(0, 40)
  let next = 0
  const end = async () => {
    const { schedules } = await peer.load(ending.slice(next, next + 1))
    next++
    const changes = schedules.map((state) => {
      const line = endedLine(state.id, state.open[0]!.dueAt, { number: 1, expiresAt: NOON + 900 * DAY_MS })
      return change(state, { open: [], ended: 1 }, { history: [line] })
    })
    await applyAll(peer, changes)
  }
  const store = await openInterrupted(context, namespace, end)
  for (let list = 0; list < 5; list++) {
    const found = (await firesOf(store, {}, 1_000)).map((fire) => fire.schedule)
    assert.deepEqual(found, ids.toReversed())
  }
})

for (const read of ['load', 'due'] as const) {
  test(`an answer of ${read} contains nothing that was written after its time`, async (context) => {
    const { store: peer, namespace } = await openAt(context, server.url)
    await join(peer, 'i')
    const { state: claimed, run } = await running(peer, 'a', { instance: 'i', epoch: peer.info.epoch })
    const waking = change(claimed, { wakeAt: NOON })
    await applyAll(peer, [waking])
    let endedAt = Number.POSITIVE_INFINITY
    let scripts = Number.NEGATIVE_INFINITY
    // Its second script reads the settings of the schedule, which it has not seen before.
    const settle = async () => {
      if (++scripts !== 2) return
      const { now } = await peer.load([])
      await until(async () => (await peer.load([])).now > now)
      endedAt = (await peer.load([])).now
      await applyAll(peer, [settlement(outcome(waking), run, { endedAt })])
    }
    const reader = await openInterrupted(context, namespace, settle)
    scripts = 0

    const query = { jobs: [{ job: 'report', buckets: '1'.repeat(256) }], patienceMs: 0, limit: 10 }
    const { now, schedules } = read === 'load' ? await reader.load(['a']) : await reader.due(query)

    assert.deepEqual([scripts, schedules.map(({ open }) => open.length)], [2, [0]])
    assert.ok(now >= endedAt, `${now} is not before ${endedAt}`)
  })
}
