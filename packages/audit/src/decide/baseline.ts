import type { Finding } from '../rules/rule.ts'

/** Findings that were there before, by fingerprint. */
export type Baseline = ReadonlyMap<string, string>

interface BaselineFile {
  readonly version: 1
  readonly findings: Readonly<Record<string, string>>
}

export function readBaseline(text: string): Baseline {
  const json = JSON.parse(text) as BaselineFile
  if (json.version !== 1) throw new Error(`A baseline of version 1 is needed, but this is ${String(json.version)}.`)
  return new Map(Object.entries(json.findings))
}

/** Sorted and without a time, so that it changes only when findings do. */
export function writeBaseline(findings: readonly Finding[], fingerprints: ReadonlyMap<Finding, string>): string {
  const entries = findings.map(
    (finding) => [fingerprints.get(finding)!, `${finding.rule} ${finding.place.path}`] as const,
  )
  entries.sort(([a, first], [b, second]) => (first === second ? (a < b ? -1 : 1) : first < second ? -1 : 1))
  const file: BaselineFile = { version: 1, findings: Object.fromEntries(entries) }
  return `${JSON.stringify(file, null, 2)}\n`
}

export interface Compared {
  readonly fresh: readonly Finding[]
  readonly known: readonly Finding[]
  /** Entries that no finding has any more. */
  readonly stale: readonly string[]
}

export function compare(
  findings: readonly Finding[],
  fingerprints: ReadonlyMap<Finding, string>,
  baseline: Baseline,
): Compared {
  const known = findings.filter((finding) => baseline.has(fingerprints.get(finding)!))
  const fresh = findings.filter((finding) => !baseline.has(fingerprints.get(finding)!))
  const seen = new Set(findings.map((finding) => fingerprints.get(finding)!))
  const stale = [...baseline].flatMap(([fingerprint, text]) => (seen.has(fingerprint) ? [] : [text]))
  return { fresh, known, stale }
}
