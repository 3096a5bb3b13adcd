/** How much of a package users install, and what it costs them to load it. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { demand } from './run.ts'

export interface Packed {
  readonly name: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

export interface Weight {
  readonly name: string
  readonly files: number
  readonly bytes: number
  /** Files that its main entry loads, those of its dependencies included. */
  readonly modules: number
  /** CPU time of a process that loads it, in CPU times of a process that does nothing. */
  readonly cpu: number
}

const LIMITS: Readonly<Record<string, Omit<Weight, 'name'>>> = {
  cronce: { files: 300, bytes: 1_500_000, modules: 40, cpu: 4 },
  '@cronce/checker': { files: 20, bytes: 400_000, modules: 5, cpu: 4 },
  '@cronce/conformance': { files: 20, bytes: 300_000, modules: 40, cpu: 5 },
  '@cronce/nestjs': { files: 20, bytes: 100_000, modules: 800, cpu: 25 },
  '@cronce/queues': { files: 20, bytes: 100_000, modules: 5, cpu: 4 },
  '@cronce/server': { files: 20, bytes: 300_000, modules: 80, cpu: 8 },
  '@cronce/dashboard': { files: 20, bytes: 300_000, modules: 90, cpu: 9 },
  '@cronce/audit': { files: 20, bytes: 1_500_000, modules: 40, cpu: 8 },
  '@cronce/cli': { files: 150, bytes: 700_000, modules: 40, cpu: 5 },
}

/** Each program is measured this often, and its best counts: beside other work a process is only ever slower. */
const ROUNDS = 7

/** What a user does first. */
const USE: Readonly<Record<string, string>> = {
  cronce: "const { cronce } = await import('cronce'); cronce({ store: 'sqlite:./never-opened.db' });",
}

const COUNT = `
import { registerHooks } from 'node:module'
let count = 0
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) count++; return next(url, context) } })
process.on('exit', () => console.log(count));
`
const MEASURE = 'const { user, system } = process.cpuUsage(); console.log(user + system)'

/** Weighs what was packed and installed at `home`. Throws if a package exceeds its limits. */
export async function weigh(home: string, packed: readonly Packed[]): Promise<readonly Weight[]> {
  const programs = packed.map(({ name }) => USE[name] ?? `await import('${name}');`)
  const cpu = await measureCpu(home, programs)
  const weights: Weight[] = []
  for (const [index, { name, files, unpackedSize }] of packed.entries()) {
    const modules = await evaluate(home, COUNT + programs[index])
    weights.push({ name, files: files.length, bytes: unpackedSize, modules, cpu: cpu[index]! })
  }
  for (const weight of weights) checkLimits(weight)
  return weights
}

function checkLimits(weight: Weight): void {
  const limits = LIMITS[weight.name]
  if (limits === undefined) throw new Error(`scripts/packages/weigh.ts has no limits for ${weight.name}`)
  for (const key of ['files', 'bytes', 'modules', 'cpu'] as const)
    demand(weight[key] <= limits[key], `${weight.name}: ${key} ${weight[key]} exceeds the limit of ${limits[key]}`)
}

/** In rounds, so that all programs have the same share of the machine. */
async function measureCpu(home: string, programs: readonly string[]): Promise<readonly number[]> {
  const best = ['', ...programs].map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, program] of ['', ...programs].entries())
      best[index] = Math.min(best[index]!, await evaluate(home, program + MEASURE))
  }
  const [nothing, ...others] = best
  return others.map((micros) => micros / nothing!)
}

/** The number that a program prints. Without a compile cache, which a user's first start does not have. */
async function evaluate(cwd: string, program: string): Promise<number> {
  const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: __, ...env } = process.env
  const { stdout } = await promisify(execFile)('node', ['--input-type=module', '-e', program], { cwd, env })
  return Number(stdout.trim())
}

/** As a Markdown table, which is also in docs/architecture.md. */
export function describeWeights(weights: readonly Weight[]): string {
  return weights
    .map(
      ({ name, files, bytes, modules, cpu }) =>
        `${name}: ${files} files, ${(bytes / 1e6).toFixed(2)} MB, loads ${modules} modules in ${cpu.toFixed(1)} times the CPU time of an empty process`,
    )
    .join('\n')
}
