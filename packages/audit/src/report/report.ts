import type { Unreadable } from '../audit.ts'
import type { FileTree } from '../discover/tree.ts'
import type { Schedule } from '../facts/schedule.ts'
import type { Finding, Rule } from '../rules/rule.ts'

/** All that a report shows. */
export interface Report {
  readonly tree: FileTree
  readonly rules: readonly Rule[]
  readonly schedules: readonly Schedule[]
  /** Those that count: neither suppressed nor in the baseline. */
  readonly findings: readonly Finding[]
  readonly fingerprints: ReadonlyMap<Finding, string>
  readonly suppressed: number
  readonly inBaseline: number
  readonly unreadable: readonly Unreadable[]
  readonly notices: readonly string[]
}

const DOCS = 'https://github.com/cronce/cronce/blob/main/docs'

export const HELP = `${DOCS}/audit.md`

export function helpOf(rule: string): string {
  return `${DOCS}/audit/${rule.toLowerCase()}.md`
}

export function ruleOf({ rules }: Report, id: string): Rule {
  return rules.find((rule) => rule.id === id)!
}

/** Schedules that are not the same call several times. */
export function summaryOf({ schedules, findings }: Report): {
  schedules: number
  files: number
  twice: number
  overlap: number
} {
  const twice = new Set(['FLT001', 'FLT009', 'APS001', 'APS005', 'CEL001', 'CTB001', 'FLT007'])
  const overlap = new Set(['OVL001', 'OVL002', 'K8S001', 'CTB002'])
  const places = new Set(schedules.map(({ place }) => `${place.path}:${place.line}`))
  const distinct = (rules: ReadonlySet<string>): number =>
    new Set(
      findings
        .filter(({ rule, level }) => rules.has(rule) && level !== 'info')
        .map(({ place }) => `${place.path}:${place.line}`),
    ).size
  return {
    schedules: places.size,
    files: new Set(schedules.map(({ place }) => place.path)).size,
    twice: distinct(twice),
    overlap: distinct(overlap),
  }
}
