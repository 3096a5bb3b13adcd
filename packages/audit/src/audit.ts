import type { FileTree } from './discover/tree.ts'
import type { Fact } from './facts/fact.ts'
import { type Project, projectOf } from './join/project.ts'
import type { Reader } from './read/reader.ts'
import { READERS } from './read/readers.ts'
import type { Finding, Rule } from './rules/rule.ts'
import { RULES } from './rules/rules.ts'

/** A file that a reader could not read. */
export interface Unreadable {
  readonly path: string
  readonly reason: string
}

export interface Audit {
  readonly project: Project
  readonly findings: readonly Finding[]
  readonly unreadable: readonly Unreadable[]
}

/** Discover, read facts, join, apply rules: each stage is handed what the one before it found. */
export async function audit(tree: FileTree, rules: readonly Rule[] = RULES): Promise<Audit> {
  const unreadable: Unreadable[] = []
  const facts = await readFacts(tree, READERS, unreadable)
  const project = projectOf(tree, facts)
  const findings = withoutRepeats(rules.flatMap((rule) => rule.check(project))).sort(byPlace)
  return { project, findings, unreadable }
}

async function readFacts(tree: FileTree, readers: readonly Reader[], unreadable: Unreadable[]): Promise<Fact[]> {
  const facts: Fact[] = []
  const prepared = new Set<Reader>()
  for (const path of tree.paths) {
    const candidates = readers.filter((reader) => reader.reads(path))
    const text = candidates.length === 0 ? null : tree.text(path)
    if (text === null) continue
    for (const reader of candidates) {
      if (!reader.mayHoldFacts(text)) continue
      try {
        if (!prepared.has(reader)) await reader.prepare?.()
        prepared.add(reader)
        facts.push(...reader.read({ path, text }, tree))
      } catch (error) {
        unreadable.push({ path, reason: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  return facts
}

/** One rule says one thing about one line, however many schedules lead to it. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const first = new Map<string, Finding>()
  for (const finding of findings) {
    const key = `${finding.rule} ${finding.place.path}:${finding.place.line}`
    if (!first.has(key)) first.set(key, finding)
  }
  return [...first.values()]
}

function byPlace(a: Finding, b: Finding): number {
  if (a.place.path !== b.place.path) return a.place.path < b.place.path ? -1 : 1
  return a.place.line - b.place.line || (a.rule < b.rule ? -1 : 1)
}
