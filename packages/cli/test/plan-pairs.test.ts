import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlannedChange } from '../src/plan/planned-change.ts'
import { drawPair, type Outcome, oracleSays, type Pair, playPair } from './plan-pairs.ts'

// CRONCE_SEED picks other pairs; CRONCE_LONG=1 plays a thousand.
const { CRONCE_SEED = '20261118', CRONCE_LONG, CRONCE_PAIRS } = process.env
const PAIRS = Number(CRONCE_PAIRS ?? (CRONCE_LONG === '1' ? 1_000 : 60))

interface Seen {
  moved: number
  lost: number
  added: number
  asked: number
  readonly kinds: Map<string, number>
}

test('what plan predicts for random pairs of releases is what the engine then does', async () => {
  const seen: Seen = { moved: 0, lost: 0, added: 0, asked: 0, kinds: new Map() }
  for (let index = 0; index < PAIRS; index++) {
    const pair = drawPair(Number(CRONCE_SEED) + index)
    await assertPredicted(pair, seen)
  }
  // The pairs are worth it.
  const kinds = [...seen.kinds.keys()].sort()
  assert.deepEqual(
    kinds,
    ['added', 'changed', 'renamed', 'retired', 'undeclared'].filter((kind) => kinds.includes(kind)),
  )
  assert.ok(kinds.length >= 4, kinds.join())
  assert.ok(Math.min(seen.moved, seen.lost, seen.added, seen.asked) > PAIRS / 4, JSON.stringify(seen))
})

async function assertPredicted(pair: Pair, seen: Seen): Promise<void> {
  const outcome = await playPair(pair)
  const { plan, after, before } = outcome
  const about = JSON.stringify(pair)
  assert.ok(outcome.isUntouched, `the plan changed the store: ${about}`)
  for (const change of plan.changes) {
    assertChange(change, outcome, about)
    seen.kinds.set(change.kind, (seen.kinds.get(change.kind) ?? 0) + 1)
    seen.moved += change.fires.moved.length
    seen.lost += change.fires.lost.length
    seen.added += change.fires.added.length
  }
  // What the plan does not name goes on as if nothing had been deployed.
  const named = new Set(plan.changes.flatMap(({ name, was }) => (was === null ? [name] : [name, was])))
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    if (!named.has(name)) assert.deepEqual(after.get(name), before.get(name), `${name} of ${about}`)
  }
  for (const name of Object.keys(pair.after)) {
    const said = oracleSays(pair, name)
    const isFree = plan.changes.some((change) => change.name === name && change.after?.pause === null)
    const isSkipped = plan.changes.some((change) => change.name === name && (change.after?.skipped.length ?? 0) > 0)
    if (said === null || !isFree || isSkipped) continue
    seen.asked++
    assert.deepEqual(after.get(name) ?? [], said, `the oracle about ${name} of ${about}`)
  }
}

function assertChange(change: PlannedChange, { after, before }: Outcome, about: string): void {
  const { name, was, kind, fires, next } = change
  const label = `${kind} ${name} of ${about}`
  const is = after.get(name) ?? []
  const old = kind === 'added' ? [] : (before.get(was ?? name) ?? [])
  assert.deepEqual(next.after.filter((at) => at < fires.until).map(iso), is.slice(0, 10).map(iso), `next of ${label}`)
  assert.deepEqual(
    next.before.filter((at) => at < fires.until).map(iso),
    old.slice(0, 10).map(iso),
    `next before of ${label}`,
  )
  assert.deepEqual([fires.before, fires.after], [old.length, is.length], label)
  // A pair at the end may have its other half beyond it.
  const inner = is.slice(0, -3).concat(old.slice(0, -3))
  const end = Math.min(fires.until, ...[is.at(-3), old.at(-3)].map((at) => at ?? Number.POSITIVE_INFINITY))
  const wanted = slowly(old, is)
  const within = (at: number): boolean => at < end && inner.length > 0
  assert.deepEqual(fires.lost.filter(within).map(iso), wanted.lost.filter(within).map(iso), `lost of ${label}`)
  assert.deepEqual(fires.added.filter(within).map(iso), wanted.added.filter(within).map(iso), `added of ${label}`)
  const pairs = (moved: readonly { from: number; to: number }[]): readonly string[] =>
    moved.filter(({ from, to }) => within(from) && within(to)).map(({ from, to }) => `${iso(from)} to ${iso(to)}`)
  assert.deepEqual(pairs(fires.moved), pairs(wanted.moved), `moved of ${label}`)
  assert.equal(fires.kept, old.filter((at) => is.includes(at)).length, `kept of ${label}`)
}

/** The rule as the documentation has it, word by word, and as slowly. */
function slowly(old: readonly number[], now: readonly number[]) {
  const between = (at: number, times: readonly number[], mine: number): boolean => {
    const before = times.filter((other) => other < mine).at(-1) ?? Number.NEGATIVE_INFINITY
    const behind = times.find((other) => other > mine) ?? Number.POSITIVE_INFINITY
    return before < at && at < behind
  }
  const moved: { from: number; to: number }[] = []
  for (const from of old.filter((at) => !now.includes(at))) {
    const to = now.find(
      (at) =>
        !old.includes(at) && !moved.some((pair) => pair.to === at) && between(at, old, from) && between(from, now, at),
    )
    if (to !== undefined) moved.push({ from, to })
  }
  return {
    moved,
    lost: old.filter((at) => !now.includes(at) && !moved.some(({ from }) => from === at)),
    added: now.filter((at) => !old.includes(at) && !moved.some(({ to }) => to === at)),
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
