import { breakOf, indentOf, insertAfter, lineAt, type Repair, replaceInLine } from './repair.ts'

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
