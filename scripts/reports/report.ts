/** What a measurement found, small enough to be committed. The figures in README and docs are generated from these files. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Plot } from './plot.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
export const REPORTS = 'docs/reports'

export interface Report {
  /** Also the name of its file. */
  readonly name: string
  /** Repeats it. */
  readonly command: string
  /** Fewer rounds and smaller sizes than the complete run. */
  readonly isQuick: boolean
  readonly machine: string
  readonly measured: readonly Measured[]
  /** Paths of the repository that decide these figures: a later change of them makes the report older. */
  readonly covers: readonly string[]
  readonly sections: readonly Section[]
  /** Single figures that texts quote by their name. */
  readonly figures: Readonly<Record<string, string>>
  /** cronce beside its peers, for the first table of docs/benchmarks.md. */
  readonly comparisons: readonly Comparison[]
  readonly plots: readonly Plot[]
}

/** A part of a report, and the state of code and machine when it was measured. */
export interface Measured {
  readonly part: string
  readonly commit: string
  readonly at: string
  readonly load: readonly number[]
}

export interface Section {
  readonly title: string
  /** Markdown, by line, so that a changed figure is a short difference. */
  readonly lines: readonly string[]
}

export interface Comparison {
  readonly what: string
  readonly peer: string
  /** cronce to the peer; above 1 is better for cronce if `isMoreBetter`. */
  readonly ratio: number
  readonly isMoreBetter: boolean
  /** CPU of processes and server per fire, in microseconds. `null`: not measured. */
  readonly cpu: readonly [ours: number, theirs: number] | null
  readonly absolute: readonly [ours: string, theirs: string]
}

/** CPU, memory, system and Node.js. No names, since the file is public. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU'
  const gibibytes = Math.round(totalmem() / 2 ** 30)
  return `${availableParallelism()} cores of ${model}, ${gibibytes} GiB, ${process.platform} ${release().split('-')[0]}, Node ${process.versions.node}`
}

export function measuredNow(part: string): Measured {
  return { part, commit: currentCommit(), at: new Date().toISOString(), load: roundedLoad() }
}

/** The commit, with `-dirty` if the sources differ from it. */
export function currentCommit(): string {
  const commit = git('rev-parse', '--short=12', 'HEAD')
  const isChanged = git('status', '--porcelain', '--', 'packages', 'bench', 'verification') !== ''
  return isChanged ? `${commit}-dirty` : commit
}

/** Lines of Markdown under `###` headings become sections. What stands before the first heading has the title ''. */
export function sectionsOf(markdown: string): readonly Section[] {
  const [intro = '', ...rest] = markdown.trim().split(/^### /m)
  const sections = rest.map((text) => {
    const [title = '', ...lines] = text.trim().split('\n')
    return { title, lines: trimmed(lines) }
  })
  return [{ title: '', lines: trimmed(intro.trim().split('\n')) }, ...sections].filter(({ lines }) => lines.length > 0)
}

export function readReports(root = ROOT): ReadonlyMap<string, Report> {
  const files = globSync(`${REPORTS}/*.json`, { cwd: root }).sort()
  return new Map(
    files.map((file) => [basename(file, '.json'), JSON.parse(readFileSync(join(root, file), 'utf8')) as Report]),
  )
}

export function writeReport(report: Report, folder = join(ROOT, REPORTS)): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${report.name}.json`), `${JSON.stringify(report, null, 2)}\n`)
}

function trimmed(lines: readonly string[]): readonly string[] {
  const text = lines.join('\n').trim()
  return text === '' ? [] : text.split('\n')
}

function roundedLoad(): readonly number[] {
  return loadavg().map((one) => Math.round(one * 10) / 10)
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}
