import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Summary } from './report.ts'

/** Too little happened for a verdict, as on a machine that has no time for us. */
const INVALID = 2

/** Chaos as a program of its own, which goes where nothing it starts can outlive it. Another seed is taken when one says nothing. */
export async function keepsEveryPromise(
  context: TestContext,
  options: readonly string[],
  seeds: readonly number[],
): Promise<void> {
  let last = await run(options, seeds[0]!)
  for (const seed of seeds.slice(1)) {
    if (last.code !== INVALID) break
    context.diagnostic(`too little happened: ${(JSON.parse(last.stdout) as Summary).lacking.join(', ')}`)
    last = await run(options, seed)
  }
  assert.equal(last.code, 0, last.told)
  const { fires, required, violations, lacking } = JSON.parse(last.stdout) as Summary
  assert.deepEqual([violations, lacking], [[], []], last.told)
  assert.ok(required > 0 && fires > required, last.told)
}

async function run(options: readonly string[], seed: number) {
  const args = [...options, '--seed', String(seed)]
  const program = join(import.meta.dirname, 'run.ts')
  const child = spawn(process.execPath, [program, '--json', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { stdout, code: code as number | null, told: `npm run chaos -- ${args.join(' ')}\n${stdout}${stderr}` }
}
