/**
 * `npm run verify:long`: everything that takes too long for `npm test`, one after the other, since chaos wants the machine for itself;
 * then docs/evidence from what they say. What they wrote, and their pictures with tooltips, stay in the folder `evidence`.
 *
 *     npm run verify:long [-- --simulation-seconds 900 --fires 20000 --explorer-states 400000 --fleet-seconds 300 --to docs/evidence --raw evidence]
 */
import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    'simulation-seconds': { type: 'string', default: '900' },
    fires: { type: 'string', default: '20000' },
    'explorer-states': { type: 'string', default: '400000' },
    'fleet-seconds': { type: 'string', default: '300' },
    to: { type: 'string', default: join(import.meta.dirname, '../docs/evidence') },
    raw: { type: 'string', default: join(import.meta.dirname, '../evidence') },
  },
})

mkdirSync(values.raw, { recursive: true })

const CHAOS = ['chaos/run.ts', '--fires', values.fires, '--seed', '1'] as const

/** Names begin with what the report calls them. */
const STEPS: readonly (readonly [name: string, script: string, ...args: string[]])[] = [
  ['simulation', 'simulation/run.ts', '--from', '1', '--seeds', '1000000', '--seconds', values['simulation-seconds']],
  ['mutants', 'mutants/run.ts'],
  ['explorer', 'explorer/run.ts', '--most', values['explorer-states']],
  ['chaos', ...CHAOS, '--picture', join(values.raw, 'chaos.svg')],
  ['chaos-postgres', ...CHAOS, '--store', 'postgres', '--picture', join(values.raw, 'chaos-postgres.svg')],
  ['chaos-pgbouncer', ...CHAOS, '--store', 'pgbouncer'],
  ['chaos-redis', ...CHAOS, '--store', 'redis', '--picture', join(values.raw, 'chaos-redis.svg')],
  ['exclusive', 'exclusive/run.ts'],
  ['matrix', 'chaos/run.ts', '--matrix'],
  ['matrix-postgres', 'chaos/run.ts', '--matrix', '--store', 'postgres'],
  ['matrix-redis', 'chaos/run.ts', '--matrix', '--store', 'redis'],
]

/** Tests that run for as long as their environment variable asks. */
const TESTS: readonly (readonly [name: string, file: string, env: Readonly<Record<string, string>>])[] = [
  ['fleet', '../packages/cli/test/fleet.test.ts', { CRONCE_FLEET_SECONDS: values['fleet-seconds'] }],
]

const failed: string[] = []
for (const [name, file, env] of TESTS) {
  console.log(`▶ ${name}`)
  const test = join(import.meta.dirname, file)
  const { status } = spawnSync(process.execPath, ['--test', test], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  console.log(`${status === 0 ? '✔' : '✖'} ${name}`)
  if (status !== 0) failed.push(name)
}
for (const [name, script, ...args] of STEPS) {
  console.log(`▶ ${name}`)
  const startedAt = performance.now()
  const code = await run(join(values.raw, `${name}.json`), script, ...args, '--json')
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(`${code === 0 ? '✔' : '✖'} ${name} (${seconds} s${code === 0 ? '' : `, exit code ${code}`})`)
  if (code !== 0) failed.push(name)
}
const reports = STEPS.flatMap(([name]) => [`--${name.split('-')[0]}`, join(values.raw, `${name}.json`)])
const folders = ['--to', values.to, '--raw', values.raw]
const picture = ['--picture', join(values.raw, 'chaos.svg')]
const written = await run(join(values.raw, 'report.txt'), 'report.ts', ...reports, ...picture, ...folders)
console.log(`The raw material is in ${values.raw}; the report is in ${values.to}.`)
process.exitCode = failed.length === 0 && written === 0 ? 0 : 1

/** Its output goes to a file, its progress to the terminal. */
async function run(output: string, script: string, ...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  await finished(child.stdout.pipe(createWriteStream(output)))
  return exited
}
