/**
 * Every benchmark, one after the other, since each needs the machine for itself; then the figures and plots in the docs.
 *
 *     npm run bench:all                    # from the beginning: some hours
 *     npm run bench:all -- --resume        # what is missing or was measured on another commit
 *     npm run bench:all -- --quick         # every figure once, half an hour or more
 *     npm run bench:all -- --only cron,etcd
 *     [--raw evidence/bench] [--report docs/reports]
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { currentCommit, describeMachine, type Report, ROOT } from '../scripts/reports/report.ts'
import { writeFigures } from '../scripts/reports/run.ts'

/** Those that keep each part as soon as it is measured. The others take minutes, and are repeated as a whole. */
const BENCHMARKS = [
  { name: 'cron', savesParts: false, flags: ['--expose-gc'] },
  { name: 'etcd', savesParts: false, flags: [] },
  { name: 'redis', savesParts: true, flags: [] },
  { name: 'postgres', savesParts: true, flags: [] },
  { name: 'engine', savesParts: true, flags: [] },
] as const

const { values } = parseArgs({
  options: {
    resume: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    raw: { type: 'string', default: 'evidence/bench' },
    report: { type: 'string', default: 'docs/reports' },
  },
})
const raw = resolve(ROOT, values.raw)
mkdirSync(raw, { recursive: true })
const commit = currentCommit()
const wanted = values.only?.split(',')
const unknown = wanted?.filter((name) => !BENCHMARKS.some((one) => one.name === name)) ?? []
if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(', ')}.`)

console.log(`Commit ${commit}, ${describeMachine()}.`)
let failed = 0
for (const benchmark of BENCHMARKS.filter(({ name }) => wanted === undefined || wanted.includes(name))) {
  const { name, savesParts, flags } = benchmark
  const save = join(raw, `${name}${values.quick ? '-quick' : ''}.json`)
  if (!values.resume) rmSync(save, { force: true })
  else if (!savesParts && isMeasured(name)) {
    console.log(`✔ ${name} was measured on this commit`)
    continue
  }
  console.log(`▶ ${name}`)
  const begun = performance.now()
  const code = await run([
    ...flags,
    `bench/${name}/run.ts`,
    ...['--report', values.report],
    ...(savesParts ? ['--save', save] : []),
    ...(values.quick ? ['--quick'] : []),
  ])
  const seconds = Math.round((performance.now() - begun) / 1_000)
  console.log(`${code === 0 ? '✔' : '✖'} ${name} (${seconds} s${code === 0 ? '' : `, exit code ${code}`})`)
  if (code === 130) process.exit(code)
  if (code !== 0) failed++
}
if (values.report === 'docs/reports') console.log(`Written: ${writeFigures().join(', ')}`)
process.exitCode = failed === 0 ? 0 : 1

/** Its output is in the report. What it says meanwhile goes to the terminal. */
function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  const interrupt = (): void => void child.kill('SIGTERM')
  process.once('SIGINT', interrupt)
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      process.off('SIGINT', interrupt)
      resolve(signal === null ? (code ?? 1) : 130)
    }),
  )
}

function isMeasured(name: string): boolean {
  const file = resolve(ROOT, values.report, `${name}.json`)
  if (!existsSync(file)) return false
  const { isQuick, measured } = JSON.parse(readFileSync(file, 'utf8')) as Report
  return isQuick === values.quick && measured.every((one) => one.commit === commit)
}
