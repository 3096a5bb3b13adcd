import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Summary } from './report.ts'

const SECONDS = 15

/** Their plans are always the same; when the faults strike is not. */
const SEEDS = [1, 2]
/** Too little happened for a verdict, as on a machine that has no time for us. */
const INVALID = 2

test('four processes keep every promise on SQLite, whatever is done to them', () => {
  let last = runOnce(SEEDS[0]!)
  for (const seed of SEEDS.slice(1)) if (last.status === INVALID) last = runOnce(seed)
  assert.equal(last.status, 0, last.told)
  const { fires, required, violations, lacking } = JSON.parse(last.stdout) as Summary
  assert.deepEqual([violations, lacking], [[], []], last.told)
  assert.ok(required > 0 && fires > required, last.told)
})

/** As a program of its own, which goes where nothing it starts can outlive it. */
function runOnce(seed: number) {
  const args = ['--seconds', String(SECONDS), '--seed', String(seed)]
  const run = join(import.meta.dirname, 'run.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, [run, '--json', ...args], { encoding: 'utf8' })
  return { stdout, status, told: `npm run chaos -- ${args.join(' ')}\n${stdout}${stderr}` }
}
