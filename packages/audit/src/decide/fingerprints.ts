import { createHash } from 'node:crypto'
import type { FileTree } from '../discover/tree.ts'
import type { Finding } from '../rules/rule.ts'

/**
 * A name of each finding that stays when lines are added above it: rule, file and the text of the line without spaces. Findings
 * with the same name are numbered.
 */
export function fingerprintsOf(tree: FileTree, findings: readonly Finding[]): ReadonlyMap<Finding, string> {
  const lines = new Map<string, readonly string[]>()
  const counts = new Map<string, number>()
  const names = new Map<Finding, string>()
  for (const finding of findings) {
    const { path, line } = finding.place
    const text = lines.get(path) ?? (tree.text(path) ?? '').split('\n')
    lines.set(path, text)
    const key = `${finding.rule} ${path} ${(text[line - 1] ?? '').replaceAll(/\s+/g, '')}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    names.set(finding, createHash('sha256').update(`${key} ${count}`).digest('hex').slice(0, 20))
  }
  return names
}
