/**
 * Simulates many seeds, and says what was met and what is wrong.
 *
 *     npm run simulate -- [--seeds 1000] [--from SEED] [--seconds 45] [--least 0] [--jobs 2] [--json]
 *     npm run simulate -- --replay SEED [--keep 3,7,9]
 *     npm run simulate -- --scenario FILE
 *
 * Without `--from` the first seed is `CRONCE_SEED`, or another one each time. If the seeds meet too little in the given time, more
 * of them follow, for three times as long at most.
 *
 * Ends with 0 when all is well, 1 when something is wrong, 2 when too little was met to tell.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { judge } from '../../packages/checker/src/judge.ts'
import { renderText } from '../../packages/checker/src/timeline/render-text.ts'
import { drawSeed } from '../draw-seed.ts'
import { DEMANDED_FROM, lackingIn } from './demands.ts'
import { drawScenario } from './draw-scenario.ts'
import { about } from './excerpt.ts'
import type { Finding } from './invariants/report.ts'
import type { Scenario } from './scenario.ts'
import { shrink } from './shrink.ts'
import { type Outcome, simulate } from './simulate.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string' },
    seconds: { type: 'string', default: '45' },
    /** The minimum number of seeds, even if they take longer than that. */
    least: { type: 'string', default: '0' },
    jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    json: { type: 'boolean', default: false },
    replay: { type: 'string' },
    keep: { type: 'string' },
    scenario: { type: 'string' },
  },
})

const FROM = values.from === undefined ? drawSeed() : Number(values.from)
const MOST_ROUNDS = 4
const SHRINKING_SECONDS = 60
const SHOWN = 3

if (values.replay !== undefined) await replay(drawScenario(Number(values.replay)), values.keep)
else if (values.scenario !== undefined) await replay(readScenario(values.scenario), values.keep)
else await runMany()

/** As a failing seed leaves it behind, or as it is saved with what it found. */
function readScenario(file: string): Scenario {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Scenario | { readonly scenario: Scenario }
  return 'scenario' in read ? read.scenario : read
}

/** With all of its actions, or only those of these numbers. */
async function replay(scenario: Scenario, keep: string | undefined): Promise<void> {
  const kept = keep?.split(',').map(Number)
  const actions = kept === undefined ? scenario.actions : scenario.actions.filter((_, index) => kept.includes(index))
  const outcome = await simulate(scenario.seed, { scenario: { ...scenario, actions }, hash: true })
  show(outcome, outcome.violations)
  console.log(`hash ${outcome.hash}`)
  process.exitCode = outcome.violations.length === 0 ? 0 : 1
}

async function runMany(): Promise<void> {
  const began = performance.now()
  const jobs = Number(values.jobs)
  const tally = emptyTally()
  // First of all: a run that is cut off must be repeatable, too.
  if (!values.json) console.log(`Seeds from ${FROM}; CRONCE_SEED=${FROM} repeats them.`)
  const progress = setInterval(() => process.stderr.write(`${line(tally, began)}\r`), 1_000)
  let lacking: string[] = []
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const from = FROM + round * Number(values.seeds)
    await Promise.all(Array.from({ length: jobs }, (_, index) => runSome(from, index, jobs, tally)))
    lacking = lackingIn(tally.counters, tally.seeds)
    if (lacking.length === 0 || tally.violations.length > 0) break
  }
  clearInterval(progress)
  process.stderr.write(`${line(tally, began)}\n`)
  tally.violations.sort((one, other) => one.seed - other.seed)
  const seconds = (performance.now() - began) / 1_000
  if (values.json) console.log(JSON.stringify({ from: FROM, seconds, lacking, ...tally }, null, 2))
  else printTally(tally, lacking)
  if (!values.json) await explain(tally.violations)
  process.exitCode = tally.violations.length > 0 ? 1 : lacking.length > 0 || tally.seeds === 0 ? 2 : 0
}

/** One process: every so-manieth seed. */
async function runSome(from: number, index: number, jobs: number, tally: Tally): Promise<void> {
  const count = Math.ceil((Number(values.seeds) - index) / jobs)
  const args = [from + index, jobs, count, values.seconds, Math.ceil(Number(values.least) / jobs)].map(String)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run-seeds.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  for await (const text of createInterface({ input: child.stdout })) {
    const known = tally.violations.length
    addTally(tally, JSON.parse(text))
    // At once: a long run may be cut off before it prints its results.
    for (const { seed, name, message } of tally.violations.slice(known)) {
      process.stderr.write(`\nseed ${seed}: ${name}: ${message}\n`)
    }
  }
  const code = await ended
  if (code !== 0) throw new Error(`A process with seeds from ${args[0]} ended with ${code}.`)
}

function line({ seeds, fires, violations }: Tally, began: number): string {
  const seconds = (performance.now() - began) / 1_000
  const speed = Math.round(fires / seconds)
  return `${seeds} seeds, ${fires} fires, ${speed} fires/s, ${violations.length} violations, ${seconds.toFixed(0)} s`
}

function printTally(tally: Tally, lacking: readonly string[]): void {
  const days = tally.simulatedMs / 86_400_000
  console.log(`${tally.seeds} seeds, ${tally.fires} fires, ${days.toFixed(1)} simulated days, ${tally.events} events`)
  console.log(`faults: ${list(tally.faults)}`)
  console.log(`met: ${list(tally.counters)}`)
  for (const { seed, name, message } of tally.violations) console.log(`seed ${seed}: ${name}: ${message}`)
  if (tally.seeds < DEMANDED_FROM)
    console.log(`fewer than ${DEMANDED_FROM} seeds: nothing is demanded of what they met`)
  for (const what of lacking) console.log(`INVALID: ${what}`)
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

/** One seed of each kind, made as small as it gets. */
async function explain(violations: readonly (Finding & { readonly seed: number })[]): Promise<void> {
  const kinds = new Map(violations.toReversed().map((violation) => [violation.name, violation]))
  for (const { seed, name } of [...kinds.values()].slice(0, SHOWN)) {
    const outcome = await shrink(drawScenario(seed), name, SHRINKING_SECONDS)
    const file = join(tmpdir(), `scenario-${seed}.json`)
    writeFileSync(file, `${JSON.stringify(outcome.scenario, null, 2)}\n`)
    console.log(`\nseed ${seed}, as small as it gets:`)
    show(
      outcome,
      outcome.violations.filter((violation) => violation.name === name),
    )
    console.log(`npm run simulate -- --scenario ${file}`)
  }
}

function show({ history, scenario }: Outcome, violations: readonly Finding[]): void {
  for (const action of scenario.actions) console.log(`action ${JSON.stringify(action)}`)
  const text = violations.map(({ message }) => message).join(' ')
  console.log(renderText(about(history, text), { ...judge(about(history, text)), violations: [] }))
  for (const { name, message } of violations) console.log(`${name}: ${message}`)
}
