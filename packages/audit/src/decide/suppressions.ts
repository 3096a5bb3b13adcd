import type { Place } from '../facts/place.ts'
import type { Finding } from '../rules/rule.ts'

/** A comment that takes findings out of the report, for a reason. */
export interface Suppression {
  readonly place: Place
  readonly rules: readonly string[]
  /** `null`: the comment gives none, so it has no effect. */
  readonly reason: string | null
  /** The line that it is about, or `null` for the whole file. */
  readonly line: number | null
}

const MARK = 'cronce-audit-ignore'
const COMMENT =
  /(?:\/\/|#|\/\*|<!--)\s*cronce-audit-ignore-(next-line|file)\s+([A-Z]{3}\d{3}(?:[\s,]+[A-Z]{3}\d{3})*)(?:\s+--\s*(.+?))?\s*(?:\*\/|-->)?\s*$/

export function suppressionsIn(path: string, text: string): Suppression[] {
  if (!text.includes(MARK)) return []
  return text.split('\n').flatMap((line, index) => {
    const [, scope, rules, reason] = COMMENT.exec(line.trimEnd()) ?? []
    if (scope === undefined || rules === undefined) return []
    return [
      {
        place: { path, line: index + 1 },
        rules: rules.split(/[\s,]+/),
        reason: reason ?? null,
        line: scope === 'file' ? null : index + 2,
      },
    ]
  })
}

export interface Suppressed {
  readonly kept: readonly Finding[]
  readonly suppressed: readonly Finding[]
  /** Problems of the comments themselves. */
  readonly notices: readonly string[]
}

export function applySuppressions(findings: readonly Finding[], suppressions: readonly Suppression[]): Suppressed {
  const used = new Set<Suppression>()
  const kept: Finding[] = []
  const suppressed: Finding[] = []
  for (const finding of findings) {
    const found = suppressions.find(({ place, rules, reason, line }) => {
      const isHere = place.path === finding.place.path && (line === null || line === finding.place.line)
      return isHere && reason !== null && rules.includes(finding.rule)
    })
    if (found !== undefined) used.add(found)
    ;(found === undefined ? kept : suppressed).push(finding)
  }
  const notices = suppressions.flatMap((suppression) => {
    const { place, rules, reason } = suppression
    const where = `${place.path}:${place.line}`
    if (reason === null)
      return [`${where}: the suppression of ${rules.join(', ')} has no effect: add a reason after \`--\`.`]
    return used.has(suppression) ? [] : [`${where}: the suppression of ${rules.join(', ')} is not used: delete it.`]
  })
  return { kept, suppressed, notices }
}
