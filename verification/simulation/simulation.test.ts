import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { History, LedgerRun } from '../../packages/checker/src/history.ts'
import { createWorld } from '../../packages/cronce/test/virtual/world.ts'
import { lackingIn } from './demands.ts'
import { drawScenario } from './draw-scenario.ts'
import { createDice } from './random.ts'
import type { Scenario } from './scenario.ts'
import { type Outcome, simulate } from './simulate.ts'

test('what happens in a world happens by time, and by request at the same time', async () => {
  const dice = createDice(1)
  const world = createWorld()
  const wanted: { time: number; index: number }[] = []
  const seen: { time: number; index: number }[] = []
  for (let index = 0; index < 2_000; index++) {
    const item = { time: dice.whole(0, 300), index }
    const callOff = world.at(item.time, () => {
      assert.equal(world.now(), item.time)
      seen.push(item)
    })
    if (dice.chance(0.2)) callOff()
    else wanted.push(item)
  }
  await world.advance(300)
  wanted.sort((one, other) => one.time - other.time || one.index - other.index)
  assert.deepEqual(seen, wanted)
})

test('all consequences of promises happen before the next event', async () => {
  const world = createWorld()
  const seen: string[] = []
  for (const name of ['one', 'two']) {
    world.at(1, async () => {
      for (let hop = 0; hop < 50; hop++) await null
      queueMicrotask(() => seen.push(name))
      seen.push(`${name} hops`)
    })
  }
  await world.advance(1)
  assert.deepEqual(seen, ['one hops', 'one', 'two hops', 'two'])
})

const { CRONCE_LONG } = process.env
const isLong = CRONCE_LONG === '1'
/** Five instances and 46 actions in little time. */
const REPLAYED = isLong ? 89 : 12

test('a seed is the same history twice, and in another process', async () => {
  const one = await simulate(REPLAYED, { hash: true })
  const other = await simulate(REPLAYED, { hash: true })
  assert.ok(one.fires > 50)
  assert.equal(JSON.stringify(other.history), JSON.stringify(one.history))
  assert.deepEqual(other.counters, one.counters)
  assert.equal(other.hash, one.hash)
  const run = join(import.meta.dirname, 'run.ts')
  const told = execFileSync(process.execPath, [run, '--replay', String(REPLAYED)], { encoding: 'utf8' })
  assert.match(told, new RegExp(`hash ${one.hash}`))
  const scenario = { ...one.scenario, seed: REPLAYED + 1 }
  assert.notEqual((await simulate(REPLAYED, { scenario, hash: true })).hash, one.hash)
})

const LAST_SKEWED = isLong ? 220 : 206

test('S14: however wrong the clocks of the processes are, as long as they stay so, the same is granted and settled', async () => {
  for (let seed = 201; seed <= LAST_SKEWED; seed++) {
    const scenario = shortened(drawScenario(seed))
    const one = await simulate(seed, { scenario: withSkews(scenario, [150, -7_000, 60_000]) })
    const other = await simulate(seed, { scenario: withSkews(scenario, [-3_600_000, 200, -90_000]) })
    assert.ok(runsOf(one).length > 0)
    assert.deepEqual(runsOf(other), runsOf(one), `seed ${seed}`)
    assert.deepEqual(startsOf(other.history), startsOf(one.history), `seed ${seed}`)
  }
})

function shortened({ kind, ...scenario }: Scenario): Scenario {
  const faultsMs = kind === 'days' ? 6 * 3_600_000 : 30_000
  const actions = scenario.actions.filter(({ at }) => at < faultsMs)
  return { ...scenario, kind, faultsMs, calmMs: faultsMs / 10, actions }
}

/** All beyond the skew that is reported. A skew may change only whether it is reported. */
function withSkews(scenario: Scenario, skews: readonly number[]): Scenario {
  return {
    ...scenario,
    nodes: scenario.nodes.map((node, index) => ({ ...node, skewMs: skews[index % skews.length]! })),
  }
}

function runsOf({ history }: Outcome): readonly LedgerRun[] {
  return history.reads.at(-1)!.runs
}

function startsOf({ entries }: History): readonly unknown[] {
  return entries.filter(({ kind }) => kind === 'start' || kind === 'finish' || kind === 'effect')
}

test('seeds that met no trouble prove nothing', () => {
  assert.deepEqual(lackingIn({}, 99), [])
  const lacking = lackingIn({ outage: 1 }, 100)
  assert.ok(lacking.includes('an instance was declared dead'))
  assert.ok(!lacking.includes('the store could not be reached'))
})

test('rare events are required only of runs with many seeds', () => {
  const rare = 'a crash at step:sent'
  assert.ok(!lackingIn({}, 400).includes(rare))
  assert.ok(lackingIn({}, 500).includes(rare))
})

const saved = join(import.meta.dirname, 'scenarios')

for (const file of readdirSync(saved).filter((name) => name.endsWith('.json'))) {
  test(`a saved scenario that once failed does not fail any more: ${file}`, async () => {
    const { scenario } = JSON.parse(readFileSync(join(saved, file), 'utf8')) as { readonly scenario: Scenario }
    const { violations, fires } = await simulate(scenario.seed, { scenario })
    assert.ok(fires > 0)
    assert.deepEqual(violations, [])
  })
}
