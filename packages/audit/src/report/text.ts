import type { Finding } from '../rules/rule.ts'
import { helpOf, type Report, ruleOf, summaryOf } from './report.ts'
import { count, guardWords, whenWords, zoneWords } from './words.ts'

/** Inventory first, then each finding with its lines, its reason and its fix. */
export function textReport(report: Report, isInventoryOnly = false): string {
  const parts = [inventory(report)]
  if (!isInventoryOnly) parts.push(...report.findings.map((finding) => findingText(report, finding)), totals(report))
  parts.push(
    ...report.unreadable.map(({ path, reason }) => `${path}: not read: ${reason}\n`),
    ...report.notices.map((notice) => `${notice}\n`),
  )
  return parts.join('\n')
}

function inventory(report: Report): string {
  const { schedules, files, twice, overlap } = summaryOf(report)
  if (schedules === 0) return 'No schedules found.\n'
  const lines = [
    `${count(schedules, 'schedule')} in ${count(files, 'file')}; ${twice} can run twice; ${overlap} can overlap.`,
  ]
  const rows = report.schedules.map(({ place, source, when, zone, guard, runner, handler, name }) => [
    `${place.path}:${place.line}`,
    source,
    whenWords(when),
    when.kind === 'every' || when.kind === 'once' ? '' : zoneWords(zone),
    runner === 'process' ? guardWords(guard) : '',
    name ?? handler.text,
  ])
  const seen = new Set<string>()
  const widths = [0, 1, 2, 3].map((index) => Math.min(50, Math.max(...rows.map((row) => row[index]!.length))))
  for (const row of rows) {
    const line = `  ${row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()}`
    if (!seen.has(line)) lines.push(line)
    seen.add(line)
  }
  return `${lines.join('\n')}\n`
}

const CONTEXT = 1

function findingText(report: Report, finding: Finding): string {
  const { place, rule, level, message, related = [] } = finding
  const { why, fix } = ruleOf(report, rule)
  const lines = (report.tree.text(place.path) ?? '').split('\n')
  const frame: string[] = []
  const last = Math.min(lines.length, place.line + CONTEXT)
  for (let line = Math.max(1, place.line - CONTEXT); line <= last; line++) {
    frame.push(
      `  ${line === place.line ? '>' : ' '} ${String(line).padStart(String(last).length)} | ${lines[line - 1]!.slice(0, 160)}`.trimEnd(),
    )
  }
  return [
    `${level} ${rule} ${place.path}:${place.line}`,
    `  ${message}`,
    ...frame,
    ...related.slice(0, 5).map((each) => `  see ${each.place.path}:${each.place.line}: ${each.text}`),
    `  why: ${why}`,
    `  fix: ${fix}`,
    `  ${helpOf(rule)}`,
    '',
  ].join('\n')
}

function totals({ findings, suppressed, inBaseline }: Report): string {
  const levels = (['error', 'warning', 'info'] as const).map((level) => {
    const number = findings.filter((finding) => finding.level === level).length
    return level === 'info' ? `${number} info` : count(number, level)
  })
  const others = [
    suppressed > 0 ? `${suppressed} suppressed` : '',
    inBaseline > 0 ? `${inBaseline} in the baseline` : '',
  ]
  return `${[...levels, ...others].filter((part) => part !== '').join(', ')}\n`
}
