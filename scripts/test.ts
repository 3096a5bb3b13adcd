/** `npm test`: every check there is, in the order in which a failure is cheapest to find. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const { CRONCE_LONG } = process.env
/** Take long, and what they show is shown in part by others each time; `npm run test:long` has all of them. */
const LONG = [
  'packages/cli/test/demo-long.test.ts',
  'packages/cli/test/doctor-stores.test.ts',
  'packages/cli/test/prometheus.test.ts',
  'packages/cli/test/steer-stores.test.ts',
  'packages/cronce/test/migrate/guides.test.ts',
  'packages/cronce/test/node-cron/coordinator-servers.test.ts',
  'packages/cronce/test/node-cron/drop-in-processes.test.ts',
  'packages/cronce/test/node-cron/drop-in-servers.test.ts',
  'packages/cronce/test/processes/deploy-situations.test.ts',
  'packages/cronce/test/store/etcd-random.test.ts',
  'packages/cronce/test/store/postgres-libraries.test.ts',
  'packages/cronce/test/store/postgres-pgbouncer.test.ts',
  'packages/cronce/test/store/redis-link-cluster.test.ts',
  'packages/cronce/test/watch/alertmanager.test.ts',
  'packages/cronce/test/watch/processes.test.ts',
  'packages/dashboard/test/dashboard-long.test.ts',
  'packages/nestjs/test/migrate.test.ts',
  'packages/nestjs/test/nest-11.test.ts',
  'packages/nestjs/test/processes-long.test.ts',
  'packages/queues/test/bull.test.ts',
  'packages/queues/test/bullmq-faults.test.ts',
  'packages/queues/test/migrate-bullmq.test.ts',
  'packages/queues/test/postgres-completed.test.ts',
  'scripts/recipes/next.test.ts',
  'scripts/recipes/other-runtimes.test.ts',
  'scripts/recipes/recipes-long.test.ts',
  'scripts/recipes/serverless-long.test.ts',
  'scripts/servers/nothing-left.test.ts',
  'scripts/site/site-browser.test.ts',
]
const isWanted = (file: string): boolean => CRONCE_LONG === '1' || !LONG.includes(file)
/**
 * Wait for nothing: no process, no server, no real time. One process runs all of a group, so that each source is loaded once.
 * Several groups, because beside other work one process gets little of the machine.
 */
const WITHOUT_WAITING = [
  ['packages/cronce/test/engine/**/*.test.ts'],
  ['packages/cronce/test/{client,policy,testing}/**/*.test.ts', 'packages/cronce/test/*.test.ts'],
  ['packages/cronce/test/{signature,trigger}/**/*.test.ts', 'packages/checker/test/**/*.test.ts'],
  [
    'packages/audit/test/**/*.test.ts',
    'packages/cronce/test/watch/{heartbeat,job-watch,reconcile,rules,silent,stuck,takeover}.test.ts',
  ],
].map((patterns) => globSync(patterns).filter(isWanted).sort())
const UNIT_TESTS = globSync([
  'packages/*/test/**/*.test.ts',
  'scripts/**/*.test.ts',
  'verification/{,long/,peers/,soak/}*.test.ts',
])
  .filter((file) => isWanted(file) && !WITHOUT_WAITING.flat().includes(file))
  // By file name, not by folder: those of one folder use the processor, or wait, all at the same time.
  .sort((a, b) => (basename(a) < basename(b) ? -1 : 1))
const IMPORT = ['--import', import.meta.resolve('./test-preload.ts')]
/** A test that hangs is named instead of waited for. No test takes this long, however busy the machine. */
const TEST = [...IMPORT, '--test', '--test-timeout=600000']
/** Not beside chaos, which needs the whole machine. */
const PROOFS = ['simulation', 'explorer', 'mutants', 'skew', 'exclusive'].map(
  (folder) => `verification/${folder}/**/*.test.ts`,
)

type Step = readonly [name: string, command: string, ...args: string[]]

/** One stage after the other; what is in one does not need the other core, or each other. */
const STAGES: readonly (readonly Step[])[] = [
  [
    ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
    ['import rules', 'node', 'scripts/check-imports.ts'],
    ['function sizes', 'node', 'scripts/check-functions.ts'],
    ['build', 'node', 'scripts/build.ts'],
  ],
  [['types', 'tsc', '-p', 'tsconfig.checks.json']],
  [
    ...WITHOUT_WAITING.map(
      (files): Step => ['unit tests without waiting', 'node', ...IMPORT, 'scripts/test-together.ts', ...files],
    ),
    // More at a time than there are cores: many of them only wait for processes and servers of their own.
    ['unit tests', 'node', ...TEST, '--test-concurrency=5', ...UNIT_TESTS],
  ],
  [['simulation', 'node', 'verification/simulation/run.ts', '--seeds', '100000', '--seconds', '8', '--least', '20']],
  [['explorer and mutants', 'node', ...TEST, '--test-concurrency=2', ...PROOFS]],
  [['chaos', 'node', ...TEST, '--test-concurrency=2', 'verification/chaos/**/*.test.ts']],
  [
    ['demo', 'node', 'scripts/demo.ts', '--seconds', '5'],
    ['docs and examples', 'node', 'scripts/check-docs.ts'],
    ['package shape', 'node', 'scripts/check-packages.ts'],
  ],
]

/** Hundreds of processes load the same sources: the types are taken out of each of them once. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'node-compile')
const env = { ...process.env, NODE_COMPILE_CACHE }

const IN_SIGHT = ['inherit', 'inherit'] as const
const KEPT = ['pipe', 'pipe'] as const

interface Ended {
  readonly code: number
  readonly output: Buffer
  readonly seconds: number
}

/** `isAlone`: output is streamed. Otherwise it is buffered, so that outputs do not mix. */
function start([, command, ...args]: Step, isAlone: boolean): Promise<Ended> {
  const startedAt = performance.now()
  const said: Buffer[] = []
  const child = spawn(command, args, { stdio: ['inherit', ...(isAlone ? IN_SIGHT : KEPT)], env })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk))
  return new Promise((resolve) => {
    const end = (code: number): void =>
      resolve({ code, output: Buffer.concat(said), seconds: (performance.now() - startedAt) / 1_000 })
    child.on('close', (code) => end(code ?? 1))
    child.on('error', (error) => {
      said.push(Buffer.from(`${error.message}\n`))
      end(1)
    })
  })
}

for (const stage of STAGES) {
  const isAlone = stage.length === 1
  if (isAlone) console.log(`\n▶ ${stage[0]![0]}`)
  const started = stage.map((step) => start(step, isAlone))
  let failed = 0
  for (const [index, [name]] of stage.entries()) {
    const { code, output, seconds } = await started[index]!
    if (!isAlone) console.log(`\n▶ ${name}`)
    process.stdout.write(output)
    const time = `(${seconds.toFixed(1)} s)`
    if (code === 0) console.log(`✔ ${name} ${time}`)
    else console.error(`✖ ${name} failed ${time}`)
    failed ||= code
  }
  // Only when the whole stage has ended, so that none of its processes outlives this.
  if (failed !== 0) process.exit(failed)
}
