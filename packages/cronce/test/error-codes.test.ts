import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ERROR_CODES, type ErrorCode } from '../src/index.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('every code of an error is in the documentation', () => {
  const docs = globSync('docs/**/*.md', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'))
  const documented = new Set(docs.flatMap((text) => text.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g) ?? []))
  assert.deepEqual(
    Object.keys(ERROR_CODES).filter((code) => !documented.has(code)),
    [],
  )
})

test('exit codes and statuses agree about what kind of error it is', () => {
  for (const [code, { exit, status }] of Object.entries(ERROR_CODES)) {
    if (status === 404 && code !== 'ROUTE_UNKNOWN') assert.equal(exit, 3, code)
    if (exit === 5) assert.equal(status, 503, code)
    assert.ok(exit >= 1 && exit <= 5, code)
    assert.ok(status === null || (status >= 400 && status <= 599), code)
  }
  assert.deepEqual(ERROR_CODES.SCHEDULE_EXISTS, { exit: 4, status: 409 })
  assert.deepEqual(ERROR_CODES.OPTION_INVALID, { exit: 2, status: 400 })
  assert.deepEqual(ERROR_CODES.STORE_UNREACHABLE, { exit: 5, status: 503 })
})

test('a code is one of a closed list, for the compiler, too', () => {
  const known: ErrorCode = 'SCHEDULE_NOT_FOUND'
  // @ts-expect-error a code that does not exist
  const unknown: ErrorCode = 'SCHEDULE_NOT_FUOND'
  assert.ok(known in ERROR_CODES)
  assert.ok(!(unknown in ERROR_CODES))
})
