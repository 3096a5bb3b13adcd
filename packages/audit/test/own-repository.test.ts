import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { audit } from '../src/audit.ts'
import { applySuppressions } from '../src/decide/suppressions.ts'
import { diskTree } from '../src/discover/disk-tree.ts'

test('this repository has no finding that is not suppressed with a reason', async () => {
  const { findings, suppressions, unreadable } = await audit(diskTree(resolve(import.meta.dirname, '../../..')))
  const { kept, notices } = applySuppressions(findings, suppressions)
  assert.deepEqual(
    kept.map(({ rule, place, message }) => `${rule} ${place.path}:${place.line} ${message}`),
    [],
  )
  assert.deepEqual(notices, [])
  assert.deepEqual(unreadable, [])
})
