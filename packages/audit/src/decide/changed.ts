import type { Finding } from '../rules/rule.ts'

/** Lines that a change added or replaced, by path; `null`: the whole file is new. */
export type ChangedLines = ReadonlyMap<string, ReadonlySet<number> | null>

const HUNK = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/

/** Reads `git diff --unified=0`. */
export function changedLines(diff: string, untracked: readonly string[]): ChangedLines {
  const changed = new Map<string, Set<number> | null>(untracked.map((path) => [path, null]))
  let lines = new Set<number>()
  for (const line of diff.split('\n')) {
    const path = /^\+\+\+ (?:b\/)?(.+?)\t?$/.exec(line)?.[1]
    if (path !== undefined) {
      lines = new Set()
      if (path !== '/dev/null') changed.set(path.replace(/^"(.*)"$/, '$1'), lines)
    }
    const [, start, count] = HUNK.exec(line) ?? []
    if (start === undefined) continue
    // A hunk that only removes touches the line before it.
    const length = Math.max(1, Number(count ?? 1))
    for (let at = 0; at < length; at++) lines.add(Number(start) + at)
  }
  return changed
}

/** Findings on changed lines, and those whose evidence stands on one, such as the number of instances. */
export function onChanged(findings: readonly Finding[], changed: ChangedLines): Finding[] {
  const isChanged = ({ path, line }: Finding['place']): boolean => {
    const lines = changed.get(path)
    return lines === null || lines?.has(line) === true
  }
  return findings.filter(({ place, related = [] }) => isChanged(place) || related.some((each) => isChanged(each.place)))
}
