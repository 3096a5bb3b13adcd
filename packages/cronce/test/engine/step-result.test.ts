import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import type { Json, Jsonified, ReturnsJson } from '../../src/model/json.ts'
import type { Run } from '../../src/run/run.ts'
import { createFleet, NEW_YEAR } from './fleet.ts'

class Money {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
}

/** What JSON keeps, and what is read back. */
const KEPT: Readonly<Record<string, readonly [value: unknown, readBack: Json]>> = {
  'plain data': [
    { id: 'ch_1', paid: true, lines: [1, 'two', null] },
    { id: 'ch_1', paid: true, lines: [1, 'two', null] },
  ],
  nothing: [undefined, null],
  'a property that is undefined': [{ id: 1, note: undefined }, { id: 1 }],
  'an object without a prototype': [Object.assign(Object.create(null), { id: 1 }), { id: 1 }],
  'an object of another realm': [
    runInNewContext('({ id: 1, lines: [{ cents: 5 }] })'),
    { id: 1, lines: [{ cents: 5 }] },
  ],
}

/** Values that JSON would change, and the error about each. */
const CHANGED: Readonly<Record<string, readonly [value: unknown, message: RegExp]>> = {
  'a date': [new Date(0), /JSON would change it: the result is an instance of Date\./],
  'a date within': [{ lines: [{ at: new Date(0) }] }, /the result\.lines\[0\]\.at is an instance of Date\./],
  'a map': [new Map([['a', 1]]), /is an instance of Map\./],
  'a set within': [{ tags: new Set(['a']) }, /the result\.tags is an instance of Set\./],
  bytes: [Buffer.from('a'), /is an instance of Buffer\./],
  'an error': [new Error('no'), /is an instance of Error\./],
  'an object of a class': [{ price: new Money(5) }, /the result\.price is an instance of Money\./],
  'not a number': [{ rate: Number.NaN }, /the result\.rate is NaN\./],
  infinity: [[Number.POSITIVE_INFINITY], /the result\[0\] is Infinity\./],
  'undefined in an array': [[1, undefined], /the result\[1\] is undefined\./],
  'a method': [{ id: 1, refund() {} }, /the result\.refund is a function\./],
  'a function': [() => 1, /a function is not JSON/],
  'a bigint': [{ cents: 5n }, /BigInt/],
  'minus zero': [{ change: -0 }, /the result\.change is -0\./],
  'an object with a symbol as key': [{ line: { [Symbol('id')]: 1 } }, /the result\.line has the key Symbol\(id\)\./],
  'an array with a symbol as key': [Object.assign([1], { [Symbol('id')]: 1 }), /the result has the key Symbol\(id\)\./],
  'an array with a property besides its items': [['a1'.match(/a(.)/)], /the result\[0\] has the key index\./],
}

/** What a step and a key come to in the run that does them, and in a later one. */
async function tellTwice(value: unknown): Promise<{ readonly calls: number; readonly told: unknown[] }> {
  const fleet = await createFleet()
  const told: unknown[] = []
  let calls = 0
  const work = (): unknown => {
    calls++
    return value
  }
  const tell = (doing: Promise<unknown>): Promise<unknown> =>
    doing.then(
      (result) => told.push({ result }),
      ({ code, message, hint }) => told.push({ code, message, hint }),
    )
  const [member] = await fleet.addMany(1, (app) =>
    app.job('bill', { cron: '1 0 * * *', retry: 1 }, async (run: Run) => {
      await tell(run.once('charge', work))
      if (run.attempt === 1) throw new Error('after the step')
    }),
  )
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, 2)
  for (const _ of ['first', 'later']) {
    const done = tell(member!.app.once('order-7', work))
    await fleet.advance('10s')
    await done
  }
  const [step] = await fleet.operator.steps.list({ schedule: 'bill', dueAt: NEW_YEAR + 60_000 })
  assert.equal(step!.state, 'done')
  fleet.end()
  return { calls, told }
}

describe('the result of a step or key', () => {
  for (const [what, [value, readBack]] of Object.entries(KEPT)) {
    test(`that is ${what} is the same for the first caller and for later ones`, async () => {
      const { calls, told } = await tellTwice(value)
      assert.equal(calls, 2, 'once for the step, once for the key')
      assert.deepEqual(told, Array(4).fill({ result: readBack }))
    })
  }

  for (const [what, [value, message]] of Object.entries(CHANGED)) {
    test(`that is ${what} is refused, for the first caller and for later ones`, async () => {
      const { calls, told } = await tellTwice(value)
      assert.equal(calls, 2, 'what was done is not done again')
      assert.equal(told.length, 4)
      for (const error of told as { code: string; message: string; hint: string }[]) {
        assert.equal(error.code, 'STEP_RESULT_INVALID')
        assert.match(error.message, message)
        assert.match(error.hint, /plain JSON data: a date as date\.toISOString\(\)/)
      }
      assert.deepEqual(told[0], told[1], 'of the step')
      assert.deepEqual(told[2], told[3], 'of the key')
      assert.match((told[2] as { message: string }).message, /^The result of key "order-7" cannot be stored: /)
    })
  }
})

type Equal<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false
const isSo = <Fact extends true>(): Fact | undefined => undefined
type Tree = { readonly name: string; readonly children: readonly Tree[] }
interface Comment {
  text: string
  answers: Comment[]
  parent: Comment | null
}
interface Receipt {
  id: string
  note?: string
  lines: { cents: number | undefined }[]
}

/** Judged by the compiler: `npm test` checks the types of tests. */
describe('the type of the result of a step or key', () => {
  test('is that of the value after JSON', () => {
    isSo<Equal<Jsonified<Receipt>, Receipt>>()
    isSo<Equal<Jsonified<'paid' | 7 | null>, 'paid' | 7 | null>>()
    isSo<Equal<Jsonified<string | undefined>, string | null>>()
    isSo<Equal<Jsonified<void>, null>>()
    isSo<Equal<Jsonified<unknown>, unknown>>()
    isSo<Equal<Jsonified<Date>, never>>()
    isSo<Equal<Jsonified<{ at: Date; id: string }>, { at: never; id: string }>>()
  })

  test('is known for values that JSON keeps, also for recursive ones', () => {
    isSo<Equal<ReturnsJson<Receipt>, unknown>>()
    isSo<Equal<ReturnsJson<Tree>, unknown>>()
    isSo<Equal<ReturnsJson<Comment>, unknown>>()
    isSo<Equal<ReturnsJson<Json>, unknown>>()
    isSo<Equal<ReturnsJson<{ answer: Json; more?: Json[] }>, unknown>>()
    isSo<Equal<ReturnsJson<readonly [string, number]>, unknown>>()
    isSo<Equal<ReturnsJson<void>, unknown>>()
    isSo<Equal<ReturnsJson<never>, unknown>>()
    isSo<Equal<ReturnsJson<{ name: string; message: string; stack?: string }>, unknown>>()
    isSo<Equal<ReturnsJson<unknown>, unknown>>()
    isSo<Equal<ReturnsJson<unknown[]>, unknown>>()
    isSo<Equal<ReturnsJson<Receipt[]>, unknown>>()
    isSo<Equal<ReturnsJson<[id: string, note?: string]>, unknown>>()
    isSo<Equal<ReturnsJson<[head: Receipt, ...tail: Receipt[]]>, unknown>>()
  })

  test('of a generic function is taken by a function that returns unknown', () => {
    type Once = <Value>(work: (() => Value) & ReturnsJson<Value>) => Promise<Jsonified<Value>>
    const keep = <Row extends { id: number }>(once: Once, row: Row): Promise<Row> =>
      once((): unknown => row) as Promise<Row>
    assert.equal(typeof keep, 'function')
  })

  test('does not exist for values that JSON would change: such a call does not compile', () => {
    isSo<Equal<Equal<ReturnsJson<Date>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<Map<string, number>>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<{ lines: { at: Date }[] }>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<{ refund(): void }>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<bigint>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<Uint8Array>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<Error>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<TypeError | string>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<{ failed: AggregateError[] }>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<undefined[]>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<{ lines: readonly (number | undefined)[] }>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<[string, number | undefined]>, unknown>, false>>()
    isSo<Equal<Equal<ReturnsJson<Awaited<void>[]>, unknown>, false>>()
  })
})
