import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { Redis } from 'ioredis'
import { type Server, startRedis } from '../../../../scripts/servers/index.ts'
import type { ActivityRecord } from '../../src/model/activity.ts'
import type { Change } from '../../src/model/change.ts'
import { ending } from '../../src/model/outcome.ts'
import { isRunning, type ScheduleState } from '../../src/model/schedule.ts'
import { viewOpenRun } from '../../src/model/views.ts'
import { namespaceKey } from '../../src/store/redis/keys.ts'
import type { Link } from '../../src/store/redis/link.ts'
import { openLink } from '../../src/store/redis/open-link.ts'
import { openStore } from '../../src/store/redis/store.ts'
import type { Store } from '../../src/store/store.ts'
import { applyOne, create, firesOf, join, loadOne, runsOf } from '../../src/testing/conformance/bench.ts'
import {
  beat,
  change,
  claim,
  creation,
  DAY_MS,
  decideIn,
  definition,
  HOUR_MS,
  removal,
  runOf,
  schedule,
  settlement,
} from '../../src/testing/conformance/samples.ts'
import { type Random, randomFrom } from './random-kit.ts'
import { afterwards } from './sqlite-kit.ts'

// Plain changes are written by scripts of their own. What they write is what the general script would have written.
const { CRONCE_CASES = '1', CRONCE_SEED = '20261117' } = process.env
const ROUNDS = Math.ceil(2 * Number(CRONCE_CASES))
const STEPS = 120
const SCHEDULES = ['a', 'b c', 'd\n', 'é', 'e', 'f']
const JOBS = ['mail', 'report']
const INSTANCES = ['i', 'j']

let server: Server
let client: Redis
before(async () => {
  server = await startRedis({ appendonly: false })
  client = new Redis(server.url)
})
after(async () => {
  await client?.quit()
  await server?.stop()
})

/** How often each script ran. */
type Runs = Map<string, number>

async function open(context: TestContext, namespace: string, plain: boolean, runs: Runs): Promise<Store> {
  const link = openLink(server.url, {})
  const counting: Link = {
    name: link.name,
    run(script, ...rest) {
      runs.set(script.name, (runs.get(script.name) ?? 0) + 1)
      return link.run(script, ...rest)
    },
    command: (...args) => link.command(...args),
    session: () => link.session(),
    close: () => link.close(),
  }
  const store = (await openStore(counting, { namespace, prefix: 'cronce', waits: false, plain })) as Store
  afterwards(context, () => store.close())
  return store
}

/** Fires that are new are due later than all before. */
let lastDue = 0

/** One that is plain more often than not. */
function anyChange(random: Random, now: number, epoch: number, id: string, state: ScheduleState | undefined): Change {
  const one = <Item>(items: readonly Item[]): Item => items[random(items.length)]!
  const wakeAt = random(5) === 0 ? null : now + random(1_000)
  if (state === undefined) return creation(schedule(id, { wakeAt, definition: definition({ job: one(JOBS) }) }))
  const [running] = state.open.filter(isRunning)
  if (running !== undefined && random(5) > 0) {
    const how = ending(one(['completed', 'completed', 'error']))
    const result = one([null, null, { a: 'short' }, 'long '.repeat(300)])
    const expiresAt = now + (random(10) === 0 ? HOUR_MS : DAY_MS) + random(1_000)
    const fireEnds = random(8) === 0 ? { fireEnds: one([null, ending('crash-budget')]) } : {}
    const run = viewOpenRun(state, running)
    const startedAt = run.startedAt + (random(3) === 0 ? random(100) : 0)
    const settled = settlement(
      state,
      { ...run, startedAt },
      {
        how,
        result,
        expiresAt,
        endedAt: now,
        ...fireEnds,
      },
    )
    const trim = random(10) === 0 ? { belowNumber: settled.state!.ended, endedBefore: now + 1 } : null
    return { ...settled, state: { ...settled.state!, wakeAt, fired: random(9) }, trim }
  }
  if (random(12) === 0) return random(2) === 0 ? removal(state) : change(state, { revision: state.revision + 1 })
  lastDue = Math.max(lastDue + 1, now - 1_500)
  const dueAt = random(6) === 0 ? now - random(3) * HOUR_MS : lastDue
  const slots = random(6) === 0 ? { slots: ['s'], limit: 2 } : {}
  const nonce = random(8) === 0 ? { nonce: `n${random(4)}` } : {}
  const chosen = {
    instance: random(4) === 0 ? 'j' : 'i',
    dueAt,
    startedAt: now,
    epoch,
    claim: random(99),
    ...slots,
    ...nonce,
  }
  const claimed = claim(state, chosen)
  const notBefore = random(10) === 0 ? now + HOUR_MS : dueAt
  return { ...claimed, state: { ...claimed.state!, wakeAt }, notBefore: random(2) === 0 ? notBefore : null }
}

/** Everything but what differs with the moment: times of the server, and whether a line was written soon enough to be regular. */
async function contentOf(namespace: string): Promise<Map<string, unknown>> {
  const prefix = namespaceKey('cronce', namespace)
  const content = new Map<string, unknown>()
  for (const key of (await client.keys('*')).sort()) {
    const name = key.slice(prefix.length + 1)
    if (!key.startsWith(`${prefix}:`) || /^(?:instance:|f$|f:|r$|r:)/.test(name)) continue
    const type = await client.type(key)
    if (type === 'list') {
      const lines = await client.lrange(key, 0, -1)
      content.set(
        name,
        lines.map((line) => line.replace(/^\w/, (flag) => flag.toUpperCase())),
      )
    } else if (type === 'stream') {
      const entries = await client.xrange(key, '-', '+')
      const refs = entries.flatMap(([, fields]) =>
        fields.flatMap((ref, at) => (at % 2 === 0 ? [`${ref} ${fields[at + 1]}`] : [])),
      )
      content.set(name, refs.sort())
    } else if (type === 'hash') {
      content.set(name, await client.hgetall(key))
    } else if (type === 'set') content.set(name, (await client.smembers(key)).sort())
    else content.set(name, await client.zrange(key, '0', '-1', 'WITHSCORES'))
  }
  return content
}

test('plain changes are written as the general script writes them', async (context) => {
  const [plainRuns, generalRuns]: [Runs, Runs] = [new Map(), new Map()]
  const seen = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomFrom(Number(CRONCE_SEED) + round)
    const names = [`plain-${round}`, `general-${round}`] as const
    const stores = [await open(context, names[0], true, plainRuns), await open(context, names[1], false, generalRuns)]
    const [plain, general] = stores as [Store, Store]
    decideIn(plain.info.epoch)
    assert.equal(general.info.epoch, plain.info.epoch)
    for (const store of stores) for (const id of INSTANCES) await store.beat(beat(id, { join: true }))
    for (let step = 0; step < STEPS; step++) {
      const { schedules, now } = await plain.load(SCHEDULES)
      if (random(9) === 0) for (const store of stores) await store.prune(5)
      const ids = SCHEDULES.filter(() => random(3) > 0)
      const changes = ids.map((id) => {
        const state = schedules.find((one) => one.id === id)
        const decided = anyChange(random, now, plain.info.epoch, id, state)
        return random(20) === 0 ? { ...decided, version: decided.version + 1 } : decided
      })
      const claimant = random(4) > 0 ? { instance: random(4) === 0 ? 'j' : 'i', leaseMs: HOUR_MS } : undefined
      const answers = []
      for (const store of stores) answers.push((await store.apply(changes, { claimant })).results)
      for (const { kind } of answers[0]!) seen.add(kind)
      assert.deepEqual(answers[0], answers[1])
      if (step % 20 < 19) continue
      assert.deepEqual(
        await contentOf(names[0]),
        await contentOf(names[1]),
        `seed ${Number(CRONCE_SEED) + round}, step ${step}`,
      )
    }
    for (const list of [firesOf, runsOf]) {
      assert.deepEqual(new Set<unknown>(await list(plain)), new Set<unknown>(await list(general)))
    }
    for (const store of stores) await store.close()
  }
  assert.ok(plainRuns.get('claim')! > 10 && plainRuns.get('settle')! > 10, 'plain scripts were used')
  assert.deepEqual([generalRuns.get('claim'), generalRuns.get('settle')], [undefined, undefined])
  assert.deepEqual(
    [...['applied', 'conflict', 'early', 'exists', 'full']].filter((kind) => !seen.has(kind)),
    [],
  )
})

/** A schedule whose fire runs, by a plain claim. */
async function claimPlainly(context: TestContext, namespace: string, runs: Runs) {
  const store = await open(context, namespace, true, runs)
  decideIn(store.info.epoch)
  await join(store, 'i')
  const state = await create(store, schedule('s'))
  const { now } = await store.load([])
  const claimed = claim(state, { instance: 'i', dueAt: now, startedAt: now, epoch: store.info.epoch })
  assert.deepEqual(await applyOne(store, claimed, CLAIMANT), { kind: 'applied' })
  assert.equal(runs.get('claim'), 1)
  return { store, claimed, settled: settlement(claimed.state!, runOf(claimed), { endedAt: now }) }
}

const CLAIMANT = { claimant: { instance: 'i', leaseMs: HOUR_MS } }

test('a plain change of an earlier epoch is refused, also if the epoch moves with it', async (context) => {
  const runs: Runs = new Map()
  const { store, claimed, settled } = await claimPlainly(context, 'epoch', runs)
  await client.hset(namespaceKey('cronce', 'epoch'), 'run', 'another')
  assert.deepEqual(await applyOne(store, settled), { kind: 'conflict' })
  assert.equal(runs.get('settle'), 1)
  assert.deepEqual(await loadOne(store, 's'), claimed.state)
})

test('a claim of a fire that a plain settlement ended is refused with its record', async (context) => {
  const { store, claimed, settled } = await claimPlainly(context, 'identity', new Map())
  assert.deepEqual(await applyOne(store, settled), { kind: 'applied' })
  const [fire] = claimed.state!.open
  const { instance, startedAt } = fire!.run!
  // Only a schedule that was read is claimed plainly.
  const state = await loadOne(store, 's')
  assert.deepEqual(state, settled.state)
  const again = claim(state!, { instance, dueAt: fire!.dueAt, startedAt, epoch: store.info.epoch })
  const fires = await firesOf(store)
  assert.deepEqual(await applyOne(store, again, CLAIMANT), { kind: 'exists', fire: fires[0] })
  assert.deepEqual([await loadOne(store, 's'), fires.length], [settled.state, 1])
})

const NOON = Date.UTC(2027, 5, 1, 12)
const LINE: ActivityRecord = {
  ...{ id: 'line', at: NOON, action: 'cancel', origin: 'cli', author: null, note: null },
  ...{ subject: { type: 'schedule', name: 's' }, changed: {}, expiresAt: 2 * NOON },
}

test('a change with a line of the operator log is not a plain one', async (context) => {
  const runs: Runs = new Map()
  const { store, settled } = await claimPlainly(context, 'activity', runs)
  assert.deepEqual(await applyOne(store, { ...settled, activity: LINE }), { kind: 'applied' })
  assert.deepEqual((await store.listActivity({ after: null, limit: 9 })).items, [LINE])
  assert.equal(runs.get('settle'), undefined)
})
