import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInput } from '../../src/client/read-input.ts'

test('an input is what was written, as a copy', () => {
  const input = { a: [1, -0.5, 'x', null, true, {}], ['__proto__']: 1 }
  const read = readInput(input)
  assert.deepEqual(read, input)
  assert.notEqual(read, input)
  assert.equal(readInput(undefined), null)
  const bare: unknown = Object.assign(Object.create(null), { a: 1 })
  assert.deepEqual(readInput(bare), { a: 1 })
})

test('an object that appears twice is not a cycle', () => {
  const shared = { a: 1 }
  assert.deepEqual(readInput([shared, shared]), [shared, shared])
})

test('values that JSON would drop or change are refused, and the message names the place', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const cases: [unknown, RegExp, RegExp][] = [
    [{ a: undefined }, /input\.a is undefined/, /Leave it out/],
    [new Array(2), /input\[0\] is undefined/, /Leave it out/],
    [{ a: { b: () => {} } }, /input\.a\.b is a function/, /Give data/],
    [{ a: 10n }, /input\.a is a bigint/, /String\(value\)/],
    [{ a: Symbol('x') }, /input\.a is a symbol/, /text/],
    [{ at: new Date(0) }, /input\.at is a Date/, /toISOString/],
    [new Map(), /input is a Map/, /plain objects/],
    [{ a: Number.NaN }, /input\.a is NaN/, /null/],
    [Number.POSITIVE_INFINITY, /input is Infinity/, /null/],
    [cycle, /input\.self is an object/, /contains itself/],
    [new (class Invoice {})(), /input is an Invoice/, /plain objects/],
    [{ [Symbol('x')]: 1 }, /input is an object/, /plain objects/],
    [{ toJSON: () => 1 }, /input\.toJSON is a function/, /Give data/],
  ]
  for (const [input, message, hint] of cases) {
    assert.throws(() => readInput(input), { code: 'INPUT_INVALID', message, hint })
  }
})

test('an input has at most 64 KB as JSON, in bytes, and 64 levels', () => {
  assert.equal((readInput('x'.repeat(65_534)) as string).length, 65_534)
  assert.throws(() => readInput('x'.repeat(65_535)), { code: 'INPUT_TOO_LARGE', message: /65537 bytes.*65536/ })
  assert.throws(() => readInput('é'.repeat(40_000)), { code: 'INPUT_TOO_LARGE' })

  let deep: unknown = 0
  for (let level = 0; level < 64; level++) deep = [deep]
  assert.deepEqual(readInput(deep), deep)
  assert.throws(() => readInput([deep]), { code: 'INPUT_INVALID', hint: /at most 64 levels/ })
  for (let level = 0; level < 100_000; level++) deep = { deep }
  assert.throws(() => readInput(deep), { code: 'INPUT_INVALID', hint: /at most 64 levels/ })
})
