import { audit } from '../audit.ts'
import type { FileTree } from '../discover/tree.ts'
import type { Finding } from '../rules/rule.ts'
import { JAVASCRIPT_REPAIRS } from './javascript-repairs.ts'
import { LINE_REPAIRS } from './line-repairs.ts'
import type { Change } from './patch.ts'
import { PYTHON_REPAIRS } from './python-repairs.ts'
import { applyEdits, type Repair } from './repair.ts'
import { YAML_REPAIRS } from './yaml-repairs.ts'

export const REPAIRS: Readonly<Record<string, Repair>> = {
  ...JAVASCRIPT_REPAIRS,
  ...PYTHON_REPAIRS,
  ...YAML_REPAIRS,
  ...LINE_REPAIRS,
}

export interface Fixed {
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

/**
 * Repairs findings, and audits the result: a repair that does not remove its finding, or that causes an error, is taken back
 * with all others of the same rule in that file.
 */
export async function fixFindings(tree: FileTree, findings: readonly Finding[]): Promise<Fixed> {
  const before = (await audit(tree)).findings
  let wanted = findings.filter(({ rule }) => REPAIRS[rule] !== undefined)
  while (wanted.length > 0) {
    const { texts, done } = repairAll(tree, wanted)
    const after = (await audit(withTexts(tree, texts))).findings
    const failed = new Set(done.filter((each) => isWorse(each, before, after, done)).map(keyOf))
    if (failed.size === 0) return { changes: changesOf(tree, texts), findings: done }
    // Each pass gives up one rule of one file at least, so this ends.
    wanted = done.filter((each) => !failed.has(keyOf(each)))
  }
  return { changes: [], findings: [] }
}

function keyOf({ rule, place }: Finding): string {
  return `${rule} ${place.path}`
}

/** Whether as many findings are gone as were repaired, and no error is new. */
function isWorse(
  { rule, place }: Finding,
  before: readonly Finding[],
  after: readonly Finding[],
  done: readonly Finding[],
): boolean {
  const ofRule = (list: readonly Finding[]): number =>
    list.filter((each) => each.rule === rule && each.place.path === place.path).length
  const errors = (list: readonly Finding[]): number =>
    list.filter((each) => each.level === 'error' && each.place.path === place.path).length
  return ofRule(after) > ofRule(before) - ofRule(done) || errors(after) > errors(before)
}

/** From the last line to the first, so that the lines of the others stay where they are. */
function repairAll(
  tree: FileTree,
  findings: readonly Finding[],
): { texts: ReadonlyMap<string, string>; done: readonly Finding[] } {
  const texts = new Map<string, string>()
  const done: Finding[] = []
  for (const finding of findings.toSorted((a, b) => b.place.line - a.place.line)) {
    const { path } = finding.place
    const current = withTexts(tree, texts)
    const text = current.text(path)
    const edits = text === null ? null : REPAIRS[finding.rule]!({ path, text, finding, tree: current })
    if (text === null || edits === null || edits.length === 0) continue
    texts.set(path, applyEdits(text, edits))
    done.push(finding)
  }
  return { texts, done }
}

function withTexts(tree: FileTree, texts: ReadonlyMap<string, string>): FileTree {
  const now = new Map(texts)
  return { paths: tree.paths, has: (path) => tree.has(path), text: (path) => now.get(path) ?? tree.text(path) }
}

function changesOf(tree: FileTree, texts: ReadonlyMap<string, string>): readonly Change[] {
  return [...texts]
    .map(([path, after]) => ({ path, before: tree.text(path) ?? '', after }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
