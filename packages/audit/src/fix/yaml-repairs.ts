import { judge, shortestGap } from '../cron/judge.ts'
import { type Broken, breakOf, indentOf, insertAfter, type Line, lineAt, type Repair, replaceInLine } from './repair.ts'

const HOLE = /\{\{|\{%|<%/

/** Templates decide more than their text shows. */
function plain(repair: Repair): Repair {
  return (broken) => (HOLE.test(broken.text) ? null : repair(broken))
}

/** A setting of a CronJob: its value is replaced, or it is written below `schedule`. */
function cronJobSetting(key: string, value: string): Repair {
  return plain(({ text, finding }) => {
    const line = lineAt(text, finding.place.line)
    const stated = new RegExp(`^(\\s*${key}:\\s*)[^\\s#]+`)
    if (stated.test(line.text)) return replaceInLine(line, stated, `$1${value}`)
    return /^\s*schedule:\s*\S/.test(line.text)
      ? insertAfter(text, line, `${indentOf(line.text)}${key}: ${value}`)
      : null
  })
}

/** A setting of the Job: it becomes the first line below the `spec` of `jobTemplate`. */
function jobSetting(key: string, writtenFor: (broken: Broken) => string): Repair {
  return plain((broken) => {
    const lines = broken.text.split('\n').map((_, index) => lineAt(broken.text, index + 1))
    const schedule = broken.finding.place.line - 1
    const template = siblingOf(lines, schedule, /^\s*jobTemplate:\s*(?:#.*)?$/)
    const spec = template === null ? null : firstChild(lines, template, /^\s*spec:\s*(?:#.*)?$/)
    const first = spec === null ? null : firstChild(lines, spec, /./)
    if (first === null) return null
    const { start, text } = lines[first]!
    return [{ start, end: start, text: `${indentOf(text)}${key}: ${writtenFor(broken)}${breakOf(broken.text)}` }]
  })
}

const EMPTY = /^\s*(?:#.*)?$/

/** The line of the same mapping that matches. */
function siblingOf(lines: readonly Line[], from: number, pattern: RegExp): number | null {
  const indent = indentOf(lines[from]!.text).length
  for (const step of [1, -1]) {
    for (let at = from + step; at >= 0 && at < lines.length; at += step) {
      const { text } = lines[at]!
      if (EMPTY.test(text)) continue
      const here = indentOf(text).length
      if (here < indent || text.startsWith('---')) break
      if (here === indent && pattern.test(text)) return at
    }
  }
  return null
}

/** The first line directly below a key that matches. */
function firstChild(lines: readonly Line[], parent: number, pattern: RegExp): number | null {
  const outer = indentOf(lines[parent]!.text).length
  let indent: number | null = null
  for (let at = parent + 1; at < lines.length; at++) {
    const { text } = lines[at]!
    if (EMPTY.test(text)) continue
    const here = indentOf(text).length
    if (here <= outer || text.startsWith('---')) return null
    indent ??= here
    if (here === indent && pattern.test(text)) return at
  }
  return null
}

const HOUR_S = 3600

/** A run may last until the next fire, and an hour at most. */
function deadlineOf({ text, finding }: Broken): string {
  const expression = /schedule:\s*(["']?)(.+?)\1\s*(?:#.*)?$/.exec(lineAt(text, finding.place.line).text)?.[2] ?? ''
  const { trigger } = judge(expression, 'robfig')
  const gap = trigger === null ? null : shortestGap(trigger)
  return String(gap === null ? HOUR_S : Math.min(HOUR_S, Math.max(60, gap / 1000)))
}

/** A setting that stands too deep moves up, before `jobTemplate`. */
const moveUp: Repair = plain(({ text, finding }) => {
  const line = lineAt(text, finding.place.line)
  const setting = /^\s*(\w+:\s*[^\s#][^#]*?)\s*$/.exec(line.text)?.[1]
  if (setting === undefined) return null
  for (let number = finding.place.line - 1; number > 0; number--) {
    const above = lineAt(text, number)
    if (!/^\s*jobTemplate:\s*$/.test(above.text)) continue
    const lineBreak = breakOf(text)
    return [
      { start: above.start, end: above.start, text: `${indentOf(above.text)}${setting}${lineBreak}` },
      { start: line.start - lineBreak.length, end: line.end, text: '' },
    ]
  }
  return null
})

const addConcurrency: Repair = ({ text }) => {
  const jobs = /^jobs:/m.exec(text)
  if (jobs === null) return null
  const lineBreak = breakOf(text)
  const block = ['concurrency:', '  group: $' + '{{ github.workflow }}', '', ''].join(lineBreak)
  return [{ start: jobs.index, end: jobs.index, text: block }]
}

/** Swarm: `order: start-first` below the line of the unit. Kubernetes: a literal `maxSurge`. */
const stopFirst: Repair = plain(({ text, finding }) => {
  const { start } = lineAt(text, finding.place.line)
  const found = /\border:\s*start-first\b|\bmaxSurge:\s*['"]?\d+%?['"]?/.exec(text.slice(start))
  if (found === null) return null
  const at = start + found.index
  return [
    { start: at, end: at + found[0].length, text: found[0].startsWith('order') ? 'order: stop-first' : 'maxSurge: 0' },
  ]
})

export const YAML_REPAIRS: Readonly<Record<string, Repair>> = {
  K8S001: cronJobSetting('concurrencyPolicy', 'Forbid'),
  MIS002: cronJobSetting('startingDeadlineSeconds', '200'),
  K8S003: jobSetting('backoffLimit', () => '0'),
  K8S004: jobSetting('activeDeadlineSeconds', deadlineOf),
  K8S005: moveUp,
  K8S008: ({ text, finding }) =>
    replaceInLine(lineAt(text, finding.place.line), /\bbatch\/(?:v1beta1|v2alpha1)\b/, 'batch/v1'),
  K8S009: ({ text, finding }) =>
    replaceInLine(
      lineAt(text, finding.place.line),
      /^(\s*schedule:\s*\{\{-?\s*)(.*?)(\s*-?\}\}\s*)$/,
      '$1$2 | quote$3',
    ),
  GHA001: addConcurrency,
  DEP001: stopFirst,
}
