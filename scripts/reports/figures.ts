/**
 * Text that is generated from reports. Blocks stand between comments:
 *
 *     <!-- figures: redis -->          the whole report
 *     <!-- figures: redis/Failover --> one section
 *     <!-- figures: comparisons -->    cronce beside its peers, of all reports
 *     <!-- figures: plots -->          all plots of the benchmarks
 *     <!-- /figures -->
 *
 * and single figures in a sentence between `<!-- figure: redis/NAME -->` and `<!-- / -->`. A block of a report that is too old is marked:
 * `<!-- figures: redis, outdated -->`.
 */
import { ALLOWED_COMMITS } from './age.ts'
import { fileOfPlot } from './plot.ts'
import type { Comparison, Report, Section } from './report.ts'

export type Reports = ReadonlyMap<string, Report>

/** Commits since the report; `null`: unknown to this clone. */
export type AgeOf = (report: Report) => number | null

const BLOCK =
  /^(?<indent>)<!-- figures: (?<name>[^\n,]+?)(?<mark>, outdated)? -->\n(?<body>[\s\S]*?)^<!-- \/figures -->$/gm
const INLINE = /<!-- figure: (?<report>[\w-]+)\/(?<figure>.+?) -->(?<value>.*?)<!-- \/ -->/g
const COUNT = /(\d[\d,]*) commits? (?:has|have) changed/
const NOT_MEASURED = 'Not measured yet.'
/** Their plots stand together, at the beginning of docs/benchmarks.md. */
const BENCHMARKS: ReadonlySet<string> = new Set(['redis', 'postgres', 'engine', 'cron', 'etcd'])

/** The page with all blocks and figures as the reports have them now. */
export function refresh(page: string, reports: Reports, ageOf: AgeOf, folder: string): string {
  const blocks = page.replace(BLOCK, (...match) => {
    const { name } = match.at(-1) as { name: string }
    const report = reports.get(name.split('/')[0]!)
    const age = report === undefined ? null : ageOf(report)
    const isOutdated = age !== null && age > ALLOWED_COMMITS
    return blockOf(name, reports, { age, isOutdated }, folder)
  })
  return blocks.replace(INLINE, (...match) => {
    const { report, figure } = match.at(-1) as { report: string; figure: string }
    return `<!-- figure: ${report}/${figure} -->${figureOf(reports, report, figure)}<!-- / -->`
  })
}

/** What is wrong with a page: text that differs from its report, or a report that is too old and not marked. */
export function problemsOf(file: string, page: string, reports: Reports, ageOf: AgeOf, folder: string): string[] {
  const problems: string[] = []
  const fix = 'Run npm run figures.'
  for (const match of page.matchAll(BLOCK)) {
    const { name, mark } = match.groups as { name: string; mark?: string }
    const isOutdated = mark !== undefined
    // The number of commits is that of the day on which the text was written.
    const written = COUNT.exec(match[0])?.[1]
    const age = written === undefined ? null : Number(written.replaceAll(',', ''))
    if (match[0] !== blockOf(name, reports, { age, isOutdated }, folder)) {
      problems.push(`${file}: the figures of ${name} differ from the report. ${fix}`)
    }
    const report = reports.get(name.split('/')[0]!)
    if (report === undefined) continue
    const now = ageOf(report)
    if (now === null) problems.push(`${file}: the report ${report.name} names a commit that this repository lacks.`)
    else if (now > ALLOWED_COMMITS && !isOutdated) {
      problems.push(
        `${file}: ${now} commits have changed the code since the report ${report.name}, ${ALLOWED_COMMITS} are allowed. Measure again, or mark the text as outdated: npm run figures.`,
      )
    }
  }
  for (const match of page.matchAll(INLINE)) {
    const { report, figure, value } = match.groups as { report: string; figure: string; value: string }
    if (value !== figureOf(reports, report, figure)) {
      problems.push(`${file}: ${report}/${figure} is ${figureOf(reports, report, figure)}, not ${value}. ${fix}`)
    }
  }
  return problems
}

interface Age {
  readonly age: number | null
  readonly isOutdated: boolean
}

function blockOf(name: string, reports: Reports, age: Age, folder: string): string {
  const [first = '', section] = name.split('/')
  const mark = age.isOutdated ? ', outdated' : ''
  const body = bodyOf(first, section, reports, age, folder)
  return `<!-- figures: ${name}${mark} -->\n${body}\n<!-- /figures -->`
}

function bodyOf(name: string, section: string | undefined, reports: Reports, age: Age, folder: string): string {
  if (name === 'comparisons') return comparisonTable([...reports.values()])
  if (name === 'plots') return plotList(reports, [...BENCHMARKS], folder)
  const report = reports.get(name)
  if (report === undefined) return NOT_MEASURED
  const sections = section === undefined ? report.sections : report.sections.filter(({ title }) => title === section)
  const isAlone = section === undefined && !BENCHMARKS.has(name) && report.plots.length > 0
  const plots = isAlone ? [plotList(reports, [name], folder)] : []
  return [headOf(report, age), ...sections.map(textOf), ...plots].join('\n\n')
}

function textOf({ title, lines }: Section): string {
  const text = lines.join('\n')
  return title === '' ? text : `### ${title}\n\n${text}`
}

/** Where the figures come from, and how old they are. */
export function headOf({ command, isQuick, machine, measured }: Report, { age, isOutdated }: Age): string {
  const commits = [...new Set(measured.map(({ commit }) => `\`${commit}\``))].join(', ')
  const days = [...new Set(measured.map(({ at }) => at.slice(0, 10)))].sort()
  const when = days.length > 1 ? `${days[0]} to ${days.at(-1)}` : (days[0] ?? 'never')
  const loads = measured.map(({ load }) => load[0] ?? 0)
  const load = loads.length === 0 ? '' : `, load average ${range(loads)} at the end of each part`
  return [
    `Measured with \`${command}\` at commit ${commits} (${when}) on ${machine}${load}.`,
    ...(age === null ? [] : [`When this text was written, ${commitsHave(age)} changed the measured code since.`]),
    ...(isOutdated ? ['**Outdated**: measure again before you rely on these figures.'] : []),
    ...(isQuick ? ['**A quick run**: fewer rounds and smaller sizes. Read it as a first look.'] : []),
  ].join('\n')
}

function commitsHave(count: number): string {
  return count === 1 ? '1 commit has' : `${count.toLocaleString('en-US')} commits have`
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? String(least) : `${least} to ${most}`
}

function figureOf(reports: Reports, report: string, figure: string): string {
  return reports.get(report)?.figures[figure] ?? 'not measured'
}

/** Ratios first, because they survive a change of machine; CPU second; absolute figures last. */
export function comparisonTable(reports: readonly Report[]): string {
  const rows = reports.flatMap(({ comparisons }) => comparisons)
  if (rows.length === 0) return NOT_MEASURED
  const lines = rows.map((row) => {
    const cpu = row.cpu === null ? '-' : `${micro(row.cpu[0])} / ${micro(row.cpu[1])}`
    return `| ${row.what} | ${row.peer} | ${ratioOf(row)} | ${cpu} | ${row.absolute[0]} / ${row.absolute[1]} |`
  })
  return [
    '| | beside | cronce is | CPU µs per fire: cronce / peer | absolute: cronce / peer |',
    '| --- | --- | ---: | ---: | ---: |',
    ...lines,
  ].join('\n')
}

/** In words that leave no doubt about which of the two is better. */
export function ratioOf({ ratio, isMoreBetter }: Pick<Comparison, 'ratio' | 'isMoreBetter'>): string {
  const isBetter = isMoreBetter ? ratio >= 1 : ratio <= 1
  const times = ratio >= 1 ? ratio : 1 / ratio
  return `${times.toPrecision(3)}× ${isBetter ? 'better' : 'worse'}`
}

function micro(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function plotList(reports: Reports, names: readonly string[], folder: string): string {
  const images = names.flatMap((name) =>
    (reports.get(name)?.plots ?? []).map(
      (plot) => `![${plot.title}. ${plot.note}](${folder}${fileOfPlot(name, plot)})`,
    ),
  )
  return images.length === 0 ? NOT_MEASURED : images.join('\n\n')
}
