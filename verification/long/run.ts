/**
 * `npm run verify:long`: everything that takes too long for `npm test`, one slice after the other, since chaos needs the machine for
 * itself; then docs/evidence from what they print. A slice takes minutes, and none more than two hours.
 *
 *     npm run verify:long                                  # from the beginning
 *     npm run verify:long -- --resume                      # what is missing, red, or was judged on other code
 *     npm run verify:long -- --part simulation,chaos-redis/03 [--resume]
 *     npm run verify:long -- --list                        # the parts and slices, with their results
 *     [--fires 20000] [--simulation-seconds 300] [--simulation-slices 8] [--explorer-states 400000] [--fleet-seconds 300] [--raw evidence] [--to docs/evidence] [--reports docs/reports] [--pack FILE.tar.gz]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AHEAD_MODELS } from '../explorer/ahead/model.ts'
import { MODELS } from '../explorer/models.ts'
import { MUTANTS } from '../mutants/mutants.ts'
import { chooseSlices, longParts, type Slice } from './parts.ts'
import { writeReport } from './report.ts'
import { hashCode, isStillGood, Results, readOutput } from './results.ts'

const ROOT = join(import.meta.dirname, '../..')
const MOST_MS = 7_200_000

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    resume: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    fires: { type: 'string', default: '20000' },
    'simulation-seconds': { type: 'string', default: '300' },
    'simulation-slices': { type: 'string', default: '8' },
    'explorer-states': { type: 'string', default: '400000' },
    'fleet-seconds': { type: 'string', default: '300' },
    to: { type: 'string', default: join(ROOT, 'docs/evidence') },
    raw: { type: 'string', default: join(ROOT, 'evidence') },
    reports: { type: 'string', default: join(ROOT, 'docs/reports') },
    /** An archive of the raw material, for a release. */
    pack: { type: 'string' },
  },
})

const parts = longParts(
  {
    simulationSeconds: Number(values['simulation-seconds']),
    simulationSlices: Number(values['simulation-slices']),
    fires: Number(values.fires),
    states: Number(values['explorer-states']),
    fleetSeconds: Number(values['fleet-seconds']),
    folder: values.raw,
  },
  {
    models: [...Object.keys(MODELS), ...Object.keys(AHEAD_MODELS)],
    mutants: MUTANTS.map(({ name }) => name),
  },
)
const slices = chooseSlices(parts, values.part === undefined ? [] : values.part.split(','))
const results = new Results(values.raw)
const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
const code = hashCode(ROOT)
let running: ChildProcess | null = null
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true
    running?.kill('SIGTERM')
  })
}

if (values.list) for (const slice of slices) console.log(describe(slice))
else process.exitCode = await runAll()

async function runAll(): Promise<number> {
  const todo = slices.filter((slice) => !values.resume || !isStillGood(results.find(slice), code))
  console.log(`${todo.length} of ${slices.length} slices to run, on commit ${commit}.`)
  let red = 0
  for (const slice of todo) {
    const exitCode = await runSlice(slice)
    if (isInterrupted) {
      console.log('Interrupted. What has ended is kept: npm run verify:long -- --resume goes on.')
      return 130
    }
    if (exitCode !== 0) red++
  }
  const all = results.all()
  // Complete: every slice that there is, with a result of this code.
  const isQuick = parts.some((part) => part.slices.some((slice) => !isStillGood(results.find(slice), code)))
  writeReport({ results: all, commit, to: values.to, raw: values.raw, reports: values.reports, isQuick })
  if (values.pack !== undefined) pack(values.pack)
  console.log(`The raw material is in ${values.raw}; the report is in ${values.to}.`)
  return red === 0 ? 0 : 1
}

async function runSlice(slice: Slice): Promise<number> {
  const label = `${slice.part}/${slice.name}`
  console.log(`▶ ${label}`)
  const startedAt = new Date().toISOString()
  const begun = performance.now()
  const { exitCode, output } = await execute(slice)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  // What was cut off says nothing.
  if (!isInterrupted) {
    results.keep({
      ...{ part: slice.part, slice: slice.name, command: commandOf(slice), commit, code, startedAt, seconds },
      exitCode,
      output: readOutput(output),
    })
  }
  console.log(`${exitCode === 0 ? '✔' : '✖'} ${label} (${seconds} s${exitCode === 0 ? '' : `, exit code ${exitCode}`})`)
  return exitCode
}

/** Its output is kept, its progress goes to the terminal. */
function execute({ args, env }: Slice): Promise<{ readonly exitCode: number; readonly output: string }> {
  const child = spawn(process.execPath, args, {
    ...{ cwd: ROOT, env: { ...process.env, ...env }, timeout: MOST_MS },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running = child
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode: exitCode ?? 1, output })))
}

/** What is in the folder of raw material, as one file. */
function pack(file: string): void {
  execFileSync('tar', ['--create', '--gzip', '--file', file, '--directory', values.raw, '.'])
  console.log(`The raw material as one file: ${file}`)
}

function describe(slice: Slice): string {
  const result = results.find(slice)
  const state =
    result === null ? 'not run' : `${result.exitCode === 0 ? '✔' : '✖'} ${result.seconds} s, ${result.commit}`
  return `${`${slice.part}/${slice.name}`.padEnd(40)} ${state}`
}

function commandOf({ args, env = {} }: Slice): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return [...variables, 'node', ...args].join(' ')
}
