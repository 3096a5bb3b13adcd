import type { Report } from './report.ts'

/** The platform shows ten annotations of each level per step. */
const LIMIT = 10
const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const

export function githubReport({ findings }: Report): string {
  const lines: string[] = []
  for (const level of ['error', 'warning', 'info'] as const) {
    const found = findings.filter((finding) => finding.level === level)
    for (const { place, rule, message } of found.slice(0, LIMIT)) {
      lines.push(`::${COMMANDS[level]} file=${property(place.path)},line=${place.line},title=${rule}::${data(message)}`)
    }
    if (found.length > LIMIT)
      lines.push(`${found.length - LIMIT} more at level ${level}: run \`cronce audit\` to see them.`)
  }
  return lines.length === 0 ? 'No findings.\n' : `${lines.join('\n')}\n`
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
