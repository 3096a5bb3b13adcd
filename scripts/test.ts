/** `npm test`: every check there is, in the order in which a failure is cheapest to find. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

const { CRONCE_LONG } = process.env
/** Take long, and what they show is shown in part by others each time; `npm run test:long` has all of them. */
const LONG = [
  'packages/cli/test/doctor-stores.test.ts',
  'packages/cli/test/steer-stores.test.ts',
  'packages/cronce/test/migrate/guides.test.ts',
  'packages/cronce/test/node-cron/drop-in-processes.test.ts',
  'packages/cronce/test/store/postgres-pgbouncer.test.ts',
  'packages/cronce/test/store/redis-link-cluster.test.ts',
  'scripts/servers/nothing-left.test.ts',
]
const UNIT_TESTS = globSync(['packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts', 'verification/*.test.ts'])
  .filter((file) => CRONCE_LONG === '1' || !LONG.includes(file))
  .sort()
const TEST = ['--import', import.meta.resolve('./untracked-promises.ts'), '--test']
/** Not beside chaos, which wants the machine for itself. */
const PROOFS = ['simulation', 'explorer', 'mutants', 'skew', 'exclusive'].map(
  (folder) => `verification/${folder}/**/*.test.ts`,
)

const STEPS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['import rules', 'node', 'scripts/check-imports.ts'],
  ['build', 'tsc', '-b'],
  ['types', 'tsc', '-p', 'tsconfig.checks.json'],
  // Three at a time on two cores: most of them wait for processes and servers of their own.
  ['unit tests', 'node', ...TEST, '--test-concurrency=3', ...UNIT_TESTS],
  ['simulation', 'node', 'verification/simulation/run.ts', '--seeds', '100000', '--seconds', '8'],
  ['explorer and mutants', 'node', ...TEST, '--test-concurrency=2', ...PROOFS],
  ['chaos', 'node', ...TEST, '--test-concurrency=2', 'verification/chaos/**/*.test.ts'],
  ['demo', 'node', 'scripts/demo/run.ts', '--seconds', '5'],
  ['docs and examples', 'node', 'scripts/check-docs.ts'],
  ['package shape', 'node', 'scripts/check-packages.ts'],
]

/** Hundreds of processes load the same sources: the types are taken out of each of them once. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'node-compile')
const env = { ...process.env, NODE_COMPILE_CACHE }

for (const [name, command, ...args] of STEPS) {
  const startedAt = performance.now()
  console.log(`\n▶ ${name}`)
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env })
  if (status !== 0) {
    console.error(`✖ ${name} failed${error === undefined ? '' : `: ${error.message}`}`)
    process.exit(status ?? 1)
  }
  console.log(`✔ ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
}
