import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { drawSeed } from '../draw-seed.ts'
import { EXIT, type Summary } from './report.ts'

/** Runs of chaos, each with another seed, until one has a verdict. A machine that has no time for us in all of them fails. */
const MOST_RUNS = 4
/** The number of slow runs (only elapsed time was wrong) that counts as a failure. */
const MOST_SLOW = 2

/** Chaos as a program of its own, in a namespace that nothing it starts can outlive. */
export async function keepsEveryPromise(context: TestContext, options: readonly string[]): Promise<void> {
  const { summary, told } = await runUntilJudged((seed) => run(options, seed), context.diagnostic.bind(context))
  const { fires, required, violations, lacking } = summary
  assert.deepEqual([violations, lacking], [[], []], told)
  assert.ok(required > 0 && fires > required, told)
}

export interface ProgramRun {
  readonly code: number | null
  readonly summary: Pick<Summary, 'fires' | 'required' | 'violations' | 'lacking'>
  /** The command that repeats it, and what it printed. */
  readonly told: string
}

/** The first run with a good verdict. Throws if there is a bad one, too many slow ones, or none in time. */
export async function runUntilJudged(
  start: (seed: number) => Promise<ProgramRun>,
  say: (line: string) => void,
  first = drawSeed(),
): Promise<ProgramRun> {
  let slow = 0
  let told = ''
  for (let seed = first; seed < first + MOST_RUNS; seed++) {
    const ran = await start(seed)
    told = ran.told
    const verdict = Object.entries(EXIT).find(([, code]) => code === ran.code)?.[0] ?? `exit code ${ran.code}`
    const reasons = [...ran.summary.lacking, ...ran.summary.violations.map(({ message }) => message)]
    say(`CRONCE_SEED=${seed}: ${[verdict, ...reasons].join(', ')}`)
    if (ran.code === EXIT.good) return ran
    if (ran.code === EXIT.slow) slow++
    if (slow >= MOST_SLOW || (ran.code !== EXIT.slow && ran.code !== EXIT.invalid)) assert.fail(told)
  }
  return assert.fail(`No verdict in ${MOST_RUNS} runs.\n${told}`)
}

const NOTHING: ProgramRun['summary'] = { fires: 0, required: 0, violations: [], lacking: [] }

async function run(options: readonly string[], seed: number): Promise<ProgramRun> {
  const args = [...options, '--seed', String(seed)]
  const program = join(import.meta.dirname, 'run.ts')
  const child = spawn(process.execPath, [program, '--json', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  const isJudged = Object.values(EXIT).includes(code)
  const summary = isJudged && stdout !== '' ? (JSON.parse(stdout) as Summary) : NOTHING
  return { code, summary, told: `npm run chaos -- ${args.join(' ')}\n${stdout}${stderr}` }
}
