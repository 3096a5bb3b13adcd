import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJson } from '../../src/engine/run/to-json.ts'
import { isDeeper } from '../../src/model/json.ts'
import { LIMITS } from '../../src/model/limits.ts'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Fleet, type Member, type Tx } from './fleet.ts'

const TOO_DEEP = `it is nested deeper than ${LIMITS.depth} levels`

function nested(depth: number): unknown {
  let value: unknown = 'core'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value }
  return value
}

async function handledBy(
  handle: (run: Run<unknown, Tx>) => unknown,
): Promise<{ readonly fleet: Fleet; readonly only: Member }> {
  const fleet = await createFleet()
  const only = await fleet.add((app) => app.job('bill', '1 0 * * *', handle))
  await fleet.advance('2m')
  return { fleet, only }
}

test('levels are counted by what is open at the same time, and brackets in texts do not count', () => {
  const inText = JSON.stringify({ text: `${'['.repeat(100)}"\\${'{'.repeat(100)}`, '[{"': '\\' })
  assert.equal(isDeeper(inText, 1), false)
  assert.equal(isDeeper(JSON.stringify(Array.from({ length: 200 }, () => [{}])), 3), false)
  assert.equal(isDeeper(JSON.stringify(Array.from({ length: 200 }, () => [{}])), 2), true)
  for (const depth of [0, 1, 63, 64, 65, 4_000]) {
    const text = JSON.stringify(nested(depth))
    assert.deepEqual([isDeeper(text, depth - 1), isDeeper(text, depth)], [depth > 0, false], `${depth}`)
  }
})

test('a value of any depth becomes JSON or a problem with its reason', () => {
  assert.deepEqual(toJson(nested(LIMITS.depth), LIMITS.result), { kind: 'json', json: nested(LIMITS.depth) })
  for (const depth of [LIMITS.depth + 1, 1_000, 4_000]) {
    assert.deepEqual(toJson(nested(depth), LIMITS.stepResult), { kind: 'problem', problem: TOO_DEEP }, `${depth}`)
  }
  assert.equal(toJson(nested(100_000), LIMITS.result).kind, 'problem')
})

test('a result that is nested too deep is cut, and its run has succeeded', async () => {
  const { fleet } = await handledBy(() => nested(LIMITS.depth + 1))
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(
    items.map(({ state, result }) => [state, result]),
    [['succeeded', `[cut: ${TOO_DEEP}]`]],
  )
  fleet.end()
})

test('a result as deep as may be is kept', async () => {
  const { fleet } = await handledBy(() => nested(LIMITS.depth))
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(items[0]!.result, nested(LIMITS.depth))
  fleet.end()
})

test('a step or a key whose result is nested too deep is done, and its caller gets an error about the result', async () => {
  const refusals: unknown[] = []
  const note = (error: { readonly code?: unknown; readonly message: string }): void => {
    refusals.push([error.code, error.message.includes(TOO_DEEP)])
  }
  const { fleet, only } = await handledBy((run) => run.once('charge', () => nested(LIMITS.depth + 1)).catch(note))
  const done = only.app.once('mail', () => nested(LIMITS.depth + 1)).catch(note)
  await fleet.advance('10s')
  await done
  assert.deepEqual(refusals, [
    ['STEP_RESULT_INVALID', true],
    ['STEP_RESULT_INVALID', true],
  ])
  const [step] = await fleet.operator.steps.list({ schedule: 'bill', dueAt: fleet.handled[0]!.dueAt })
  assert.equal(step!.state, 'done')
  assert.deepEqual(Object.keys(step!.result as object), ['cronce:refused'])
  fleet.end()
})

test('a message of a progress that is not a text is kept as its text', async () => {
  const { fleet } = await handledBy((run) => run.progress(0.5, [['deep']] as unknown as string))
  const { items } = await fleet.operator.runs.list()
  assert.equal(items[0]!.progress?.message, 'deep')
  fleet.end()
})
