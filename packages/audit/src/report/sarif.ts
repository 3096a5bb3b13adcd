import { HELP, helpOf, type Report, ruleOf } from './report.ts'

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const

/** SARIF 2.1.0, with fingerprints that do not name lines. */
export function sarifReport(report: Report, version: string): string {
  const used = [...new Set(report.findings.map(({ rule }) => rule))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'cronce-audit',
            informationUri: HELP,
            version,
            rules: used.map((id) => {
              const { title, why, fix, level } = ruleOf(report, id)
              return {
                id,
                shortDescription: { text: title },
                fullDescription: { text: why },
                help: { text: fix },
                helpUri: helpOf(id),
                defaultConfiguration: { level: LEVELS[level] },
              }
            }),
          },
        },
        results: report.findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: used.indexOf(finding.rule),
          level: LEVELS[finding.level],
          message: { text: finding.message },
          locations: [locationOf(finding.place.path, finding.place.line)],
          ...(finding.related === undefined
            ? {}
            : {
                relatedLocations: finding.related.map(({ place, text }) => ({
                  ...locationOf(place.path, place.line),
                  message: { text },
                })),
              }),
          partialFingerprints: { 'cronceAudit/v1': report.fingerprints.get(finding) },
        })),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function locationOf(path: string, line: number): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
      region: { startLine: line },
    },
  }
}
