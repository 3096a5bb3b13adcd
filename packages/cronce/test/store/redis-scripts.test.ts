import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { compileLua, MODULE } from '../../../../scripts/compile-lua.ts'

test('the scripts of Redis are those of the Lua files: run node scripts/compile-lua.ts', async () => {
  assert.equal(await readFile(MODULE, 'utf8'), compileLua())
})
