import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Summary } from './report.ts'

const SECONDS = 20

test('four processes keep every promise on SQLite, whatever is done to them', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  // As a program of its own, which goes where nothing it starts can outlive it.
  const run = join(import.meta.dirname, 'run.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, [
    run,
    '--json',
    '--seconds',
    String(SECONDS),
    '--seed',
    String(seed),
  ])
  const told = `npm run chaos -- --seconds ${SECONDS} --seed ${seed}\n${stdout}${stderr}`
  assert.equal(status, 0, told)
  const { fires, required, violations, lacking } = JSON.parse(String(stdout)) as Summary
  assert.deepEqual([violations, lacking], [[], []], told)
  assert.ok(required > 0 && fires > required, told)
})
