import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  demandInput,
  type InferInput,
  type InferOutput,
  isStandardSchema,
  type SchemaResult,
  type StandardSchema,
  validateInput,
} from '../../src/client/standard-schema.ts'

function schema<Input, Output>(validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>) {
  return { '~standard': { version: 1, vendor: 'test', validate } } as StandardSchema<Input, Output>
}

const day = schema<string, Date>((value) =>
  typeof value === 'string' ? { value: new Date(value) } : { issues: [{ message: 'expected a text', path: ['day'] }] },
)

test('a run is given what the schema makes of the stored input', async () => {
  const input: InferInput<typeof day> = '2027-01-01T00:00:00Z'
  const output: InferOutput<typeof day> = new Date(input)
  assert.deepEqual(await validateInput(day, input), { ok: true, value: output })
})

test('a schema may answer later', async () => {
  const later = schema<number, number>(async (value) => ({ value: Number(value) + 1 }))
  assert.deepEqual(await validateInput(later, 1), { ok: true, value: 2 })
})

test('a value that does not fit is reported by field, up to a limit', async () => {
  assert.deepEqual(await validateInput(day, 5), { ok: false, message: 'day: expected a text' })
  const strict = schema(() => ({
    issues: Array.from({ length: 100 }, (_, index) => ({ message: 'bad', path: ['list', { key: index }] })),
  }))
  const { message } = (await validateInput(strict, {})) as { message: string }
  assert.equal(message, 'list.0: bad; list.1: bad; list.2: bad; list.3: bad; list.4: bad; and 95 more')
  await assert.rejects(demandInput(day, 'billing', 5), {
    code: 'INPUT_INVALID',
    message: 'The input does not fit the schema of job billing: day: expected a text',
  })
})

test('no input is undefined or null, as the schema likes it', async () => {
  const optional = schema((value) => (value === undefined ? { value: 'none' } : { issues: [{ message: 'no' }] }))
  const nullable = schema((value) => (value === null ? { value: 'null' } : { issues: [{ message: 'no' }] }))
  assert.deepEqual(await validateInput(optional, null), { ok: true, value: 'none' })
  assert.deepEqual(await validateInput(nullable, null), { ok: true, value: 'null' })
  assert.equal((await validateInput(day, null)).ok, false)
})

test('a schema is recognized by its property, whether object or function', () => {
  assert.equal(isStandardSchema(day), true)
  assert.equal(isStandardSchema(Object.assign(() => {}, day)), true)
  for (const other of [null, undefined, {}, { '~standard': null }, { '~standard': {} }, 'x']) {
    assert.equal(isStandardSchema(other), false)
  }
})
