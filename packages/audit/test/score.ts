/**
 * Scores the audit on labelled files: `node packages/audit/test/score.ts --corpus FILE --texts DIR [--show]`.
 * DIR holds each file at OWNER+NAME/COMMIT/PATH, with the files that it needs beside it, or the whole repository.
 * Prints the score per rule, and ends with exit code 1 below the bars or if a finding at level error is wrong.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { audit } from '../src/audit.ts'
import { diskTree } from '../src/discover/disk-tree.ts'
import { RULES } from '../src/rules/rules.ts'

interface Label {
  readonly rule: string
  readonly line: number
  readonly optional?: boolean
  readonly scope?: 'file'
  readonly why: string
}

interface Entry {
  readonly repo: string
  readonly path: string
  readonly commit: string
  readonly findings?: readonly Label[]
}

interface Counts {
  hits: number
  missed: number
  wrong: number
  wrongErrors: number
  optional: number
}

const TOLERANCE = 3
const MIN_PRECISION = 0.95
const MIN_RECALL = 0.9

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    texts: { type: 'string' },
    show: { type: 'boolean' },
    only: { type: 'string' },
  },
})
const scored = new Set(RULES.filter(({ isScored }) => isScored).map(({ id }) => id))
const counts = new Map<string, Counts>()
const absent: string[] = []
let files = 0

for (const line of readFileSync(values.corpus!, 'utf8').split('\n')) {
  if (line === '') continue
  const entry = JSON.parse(line) as Entry
  const folder = join(values.texts!, entry.repo.replace('/', '+'), entry.commit)
  if (values.only !== undefined && !entry.repo.includes(values.only) && !entry.path.includes(values.only)) continue
  if (!existsSync(join(folder, entry.path))) {
    absent.push(`${entry.repo} ${entry.path}`)
    continue
  }
  files++
  await score(entry, folder)
}
print()

async function score({ repo, path, findings: labels = [] }: Entry, folder: string): Promise<void> {
  const { findings, unreadable } = await audit(diskTree(folder))
  for (const { path: file, reason } of unreadable) console.log(`unreadable ${repo} ${file}: ${reason}`)
  const found = findings.filter(({ place, rule }) => place.path === path && scored.has(rule))
  const isHit = (label: Label, { rule, place }: (typeof found)[number]): boolean =>
    rule === label.rule && (label.scope === 'file' || Math.abs(place.line - label.line) <= TOLERANCE)
  for (const label of labels) {
    if (label.optional === true || !scored.has(label.rule)) continue
    const count = countsOf(label.rule)
    if (found.some((finding) => isHit(label, finding))) count.hits++
    else {
      count.missed++
      if (values.show) console.log(`missed ${label.rule} ${repo} ${path}:${label.line} ${label.why}`)
    }
  }
  for (const finding of found) {
    const label = labels.find((each) => isHit(each, finding))
    const count = countsOf(finding.rule)
    if (label === undefined) {
      count.wrong++
      if (finding.level === 'error') count.wrongErrors++
      if (values.show)
        console.log(`wrong  ${finding.rule} ${finding.level} ${repo} ${path}:${finding.place.line} ${finding.message}`)
    } else if (label.optional === true) count.optional++
  }
}

function countsOf(rule: string): Counts {
  const known = counts.get(rule) ?? { hits: 0, missed: 0, wrong: 0, wrongErrors: 0, optional: 0 }
  counts.set(rule, known)
  return known
}

function print(): void {
  const total: Counts = { hits: 0, missed: 0, wrong: 0, wrongErrors: 0, optional: 0 }
  console.log('rule      hits missed wrong optional precision recall')
  const row = (name: string, { hits, missed, wrong, optional }: Counts): string =>
    [name.padEnd(8), hits, missed, wrong, optional, ratio(hits, hits + wrong), ratio(hits, hits + missed)]
      .map((cell) => String(cell).padStart(6))
      .join(' ')
  for (const [rule, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(row(rule, count))
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += count[key]
  }
  console.log(row('all', total))
  console.log(`${files} files, ${absent.length} without text, ${total.wrongErrors} wrong at level error`)
  for (const each of absent) console.log(`no text: ${each}`)
  const { hits, wrong, missed, wrongErrors } = total
  const isGood = hits >= MIN_PRECISION * (hits + wrong) && hits >= MIN_RECALL * (hits + missed) && wrongErrors === 0
  if (!isGood) process.exitCode = 1
}

function ratio(part: number, whole: number): string {
  return whole === 0 ? '-' : (part / whole).toFixed(3)
}
