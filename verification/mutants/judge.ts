import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'

export interface Judged extends Found {
  readonly mutant: Mutant
  /** `unnamed`: a violation was found, but not one that the mutant names. */
  readonly verdict: 'caught' | 'survived' | 'unnamed'
  readonly seconds: number
}

/** How hard to look. */
export interface Effort {
  /** In this order. */
  readonly seeds: readonly number[]
  /** Only violations that the checker finds in the history count, not the invariants of the store. */
  readonly history: boolean
}

/** The verdict of a judge in a child process. */
export interface Found {
  /** The properties, invariants or tests that noticed it. */
  readonly by: readonly string[]
  readonly message: string
  /** Seeds, or models. */
  readonly tried: number
  readonly seed: number | null
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const HOOK = new URL('load-mutant.ts', import.meta.url).href
const REPORTER = new URL('failed-tests.ts', import.meta.url).href
/** A mutant may never end. Longer than many seeds take on a busy machine: running out of time would count as a crash. */
const PATIENCE_MS = 3_600_000
/** The verdict about a process that ended without one. */
const CRASH = 'crash'

/** The first `count` seeds, after one that is known to show the mutant. Only the duration depends on that one. */
export function seedsFrom(count: number, first: number | undefined): readonly number[] {
  return [...(first === undefined ? [] : [first]), ...Array.from({ length: count }, (_, index) => index + 1)]
}

/** The result of the simulation for the unchanged product. A judge that always fails has caught no mutant. */
export async function judgeSound(effort: Effort): Promise<Found> {
  return foundIn(await runNode(['verification/mutants/judge-simulation.ts', JSON.stringify(effort)]))
}

export async function judgeMutant(mutant: Mutant, effort: Effort): Promise<Judged> {
  const begun = performance.now()
  // By the environment, so that the processes that a judge starts are mutants, too.
  const environment = { MUTANT: mutant.name, NODE_OPTIONS: `--import=${HOOK}` }
  const output = await runNode(argumentsFor(mutant, effort), environment)
  const found = mutant.caughtBy.judge === 'tests' ? failedIn(output) : foundIn(output)
  const isNamed = found.by.some((name) => mutant.caughtBy.names.includes(name))
  const verdict = found.by.length === 0 ? 'survived' : isNamed ? 'caught' : 'unnamed'
  return { mutant, verdict, ...found, seconds: (performance.now() - begun) / 1_000 }
}

function argumentsFor({ caughtBy }: Mutant, effort: Effort): string[] {
  if (caughtBy.judge !== 'tests') return [`verification/mutants/judge-${caughtBy.judge}.ts`, JSON.stringify(effort)]
  const pattern = caughtBy.names.map((name) => `^${name.replace(/[()?.*+]/g, '\\$&')}$`).join('|')
  return [`--test-reporter=${REPORTER}`, `--test-name-pattern=${pattern}`, caughtBy.file]
}

interface Output {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function runNode(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Output> {
  const { promise, resolve, reject } = Promise.withResolvers<Output>()
  const env = { ...process.env, ...environment, NODE_TEST_CONTEXT: undefined }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, timeout: PATIENCE_MS, killSignal: 'SIGKILL' })
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text))
  child.on('error', reject)
  child.on('close', (code) => resolve({ code, ...output }))
  return promise
}

function failedIn({ code, out, err }: Output): Found {
  const by = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as string]))
  if (by.length === 0 && code !== 0) return { by: [CRASH], message: lastLines(err), tried: 0, seed: null }
  return { by, message: by.join('; '), tried: 0, seed: null }
}

function foundIn({ out, err }: Output): Found {
  const line = out.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) return { by: [CRASH], message: lastLines(err), tried: 0, seed: null }
  return JSON.parse(line) as Found
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-12).join('\n')
}
