import { helpOf, type Report, ruleOf, summaryOf } from './report.ts'

/** A stable schema: fields are only added while the version is 1. */
export function jsonReport(report: Report): string {
  const { schedules, findings, fingerprints, unreadable, notices, suppressed, inBaseline } = report
  return `${JSON.stringify(
    {
      version: 1,
      summary: { ...summaryOf(report), suppressed, inBaseline },
      schedules: schedules.map(({ kind: _, ...schedule }) => schedule),
      findings: findings.map((finding) => {
        const { title, why, fix } = ruleOf(report, finding.rule)
        return { ...finding, title, why, fix, help: helpOf(finding.rule), fingerprint: fingerprints.get(finding) }
      }),
      unreadable,
      notices,
    },
    null,
    2,
  )}\n`
}
