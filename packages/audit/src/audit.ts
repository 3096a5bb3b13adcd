import { applyLevels, isLeftOut, type Settings, settingsOf, unitsOf } from './decide/settings.ts'
import { type Suppression, suppressionsIn } from './decide/suppressions.ts'
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
  readonly settings: Settings
  /** All that the rules report, by file and line; suppressions and baselines are for the caller. */
  readonly findings: readonly Finding[]
  readonly suppressions: readonly Suppression[]
  readonly unreadable: readonly Unreadable[]
}

interface Reading {
  readonly facts: readonly Fact[]
  readonly suppressions: readonly Suppression[]
  readonly unreadable: readonly Unreadable[]
}

/** Discover, read facts, join, apply rules: each stage is handed what the one before it found. */
export async function audit(tree: FileTree, rules: readonly Rule[] = RULES): Promise<Audit> {
  const settings = settingsOf(tree)
  const { facts, suppressions, unreadable } = await readFacts(tree, READERS, settings)
  const project = projectOf(tree, [...facts, ...unitsOf(settings)])
  const reported = withoutRepeats(rules.flatMap((rule) => rule.check(project))).sort(byPlace)
  return { project, settings, findings: applyLevels(reported, settings), suppressions, unreadable }
}

async function readFacts(tree: FileTree, readers: readonly Reader[], settings: Settings): Promise<Reading> {
  const facts: Fact[] = []
  const suppressions: Suppression[] = []
  const unreadable: Unreadable[] = []
  const prepared = new Set<Reader>()
  for (const path of tree.paths) {
    const candidates = isLeftOut(path, settings) ? [] : readers.filter((reader) => reader.reads(path))
    const text = candidates.length === 0 ? null : tree.text(path)
    if (text === null) {
      const reason = candidates.length === 0 ? null : (tree.problem?.(path) ?? null)
      if (reason !== null) unreadable.push({ path, reason })
      continue
    }
    suppressions.push(...suppressionsIn(path, text))
    for (const reader of candidates) {
      if (!reader.mayHoldFacts(text, path)) continue
      try {
        if (!prepared.has(reader)) await reader.prepare?.()
        prepared.add(reader)
        facts.push(...reader.read({ path, text }, tree))
      } catch (error) {
        unreadable.push({ path, reason: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  return { facts, suppressions, unreadable }
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
