import type { Finding } from '../rules/rule.ts'
import { STYLE } from './html-style.ts'
import { helpOf, type Report, ruleOf, summaryOf } from './report.ts'
import { count, guardWords, whenWords, zoneWords } from './words.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!)
}

/** Words in backquotes are code. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/** One file for a browser: no script, no request, the colors of the dashboard. */
export function htmlReport(report: Report, version: string): string {
  const { schedules, files, twice, overlap } = summaryOf(report)
  const levels = (['error', 'warning', 'info'] as const).map(
    (level) => [level, report.findings.filter((finding) => finding.level === level)] as const,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>cronce audit</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>cronce audit</h1>
<div class="figures">
${figure(schedules, `${schedules === 1 ? 'schedule' : 'schedules'} in ${count(files, 'file')}`)}
${figure(twice, 'can run twice', twice > 0 ? 'is-error' : '')}
${figure(overlap, 'can overlap', overlap > 0 ? 'is-warning' : '')}
${levels.map(([level, found]) => figure(found.length, level === 'info' ? 'info' : `${level}s`, found.length > 0 ? `is-${level}` : '')).join('\n')}
</div>
${levels.map(([level, found]) => levelCard(report, level, found)).join('')}${inventory(report)}${notices(report)}<footer>@cronce/audit ${escaped(version)}</footer>
</main>
</body>
</html>
`
}

function figure(value: number, title: string, tone = ''): string {
  return `<div class="figure ${tone}"><span class="value">${value}</span><span class="title">${title}</span></div>`
}

const TITLES = { error: 'Errors', warning: 'Warnings', info: 'Info' } as const

/** Errors are open, the others are folded: a team lead begins with what is wrong. */
function levelCard(report: Report, level: keyof typeof TITLES, findings: readonly Finding[]): string {
  if (findings.length === 0) return ''
  const byRule = Map.groupBy(findings, ({ rule }) => rule)
  const rules = [...byRule].map(([id, list]) => {
    const { title, why, fix } = ruleOf(report, id)
    return `<details class="rule"${level === 'info' ? '' : ' open'}><summary><b class="is-${level}">${id}</b> ${escaped(title)} <span class="count">${list.length}</span></summary>
<p>${prose(why)} <a href="${escaped(helpOf(id))}">More</a></p><p class="fix">${prose(fix)}</p>
${list.map((finding) => findingItem(report, finding)).join('\n')}
</details>`
  })
  return `<section class="card"><header><h2>${TITLES[level]}</h2></header>\n${rules.join('\n')}\n</section>\n`
}

function findingItem(report: Report, { place, message, related = [] }: Finding): string {
  const lines = (report.tree.text(place.path) ?? '').split('\n')
  const frame: string[] = []
  for (let line = Math.max(1, place.line - 1); line <= Math.min(lines.length, place.line + 1); line++) {
    const text = `${String(line).padStart(5)}  ${escaped(lines[line - 1]!.slice(0, 200))}`
    frame.push(line === place.line ? `<mark>${text}</mark>` : text)
  }
  const others = related
    .slice(0, 5)
    .map((each) => `<li><code>${escaped(`${each.place.path}:${each.place.line}`)}</code> ${escaped(each.text)}</li>`)
  const list = others.length === 0 ? '' : `<ul class="lines">${others.join('')}</ul>`
  return `<article><p><code>${escaped(`${place.path}:${place.line}`)}</code></p><p>${prose(message)}</p><pre>${frame.join('\n')}</pre>${list}</article>`
}

function inventory({ schedules }: Report): string {
  if (schedules.length === 0) return ''
  const rows = new Set(
    schedules.map(({ place, source, when, zone, guard, runner, handler, name }) =>
      [
        `<code>${escaped(`${place.path}:${place.line}`)}</code>`,
        source,
        escaped(whenWords(when)),
        when.kind === 'every' || when.kind === 'once' ? '' : escaped(zoneWords(zone)),
        runner === 'process' ? escaped(guardWords(guard)) : '',
        escaped(name ?? handler.text),
      ]
        .map((cell) => `<td>${cell}</td>`)
        .join(''),
    ),
  )
  const heads = ['where', 'what runs it', 'when', 'zone', 'guard', 'job'].map((text) => `<th>${text}</th>`).join('')
  return `<section class="card"><header><h2>Schedules</h2></header><div class="scroll"><table><thead><tr>${heads}</tr></thead><tbody>
${[...rows].map((row) => `<tr>${row}</tr>`).join('\n')}
</tbody></table></div></section>\n`
}

function notices({ unreadable, notices: texts, suppressed, inBaseline }: Report): string {
  const lines = [
    ...(suppressed > 0 ? [`${count(suppressed, 'finding')} suppressed with a reason.`] : []),
    ...(inBaseline > 0 ? [`${count(inBaseline, 'finding')} in the baseline.`] : []),
    ...unreadable.map(({ path, reason }) => `${path}: not read: ${reason}`),
    ...texts,
  ]
  if (lines.length === 0) return ''
  return `<section class="card"><header><h2>Notes</h2></header><ul class="lines">${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul></section>\n`
}
