/** `npm test`: every check there is, in the order in which a failure is cheapest to find. */
import { spawnSync } from 'node:child_process'

const STEPS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['import rules', 'node', 'scripts/check-imports.ts'],
  ['build', 'tsc', '-b'],
  ['types', 'tsc', '-p', 'tsconfig.checks.json'],
  ['unit tests', 'node', '--test', '--test-concurrency=2', 'packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts'],
  ['demo', 'node', 'scripts/demo/run.ts', '--seconds', '5'],
  ['docs and examples', 'node', 'scripts/check-docs.ts'],
  ['package shape', 'node', 'scripts/check-packages.ts'],
]

for (const [name, command, ...args] of STEPS) {
  const startedAt = performance.now()
  console.log(`\n▶ ${name}`)
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) {
    console.error(`✖ ${name} failed${error === undefined ? '' : `: ${error.message}`}`)
    process.exit(status ?? 1)
  }
  console.log(`✔ ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
}
