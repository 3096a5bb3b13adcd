import type { Io } from '../io.ts'
import { type Column, table } from '../output.ts'
import { columnsOf, sanitize, wrap } from '../terminal.ts'
import { type Finding, type Imported, jobsOf, type Place } from './imported.ts'

const columnsFor = (placeText: (place: Place) => string): readonly Column<Finding>[] => [
  { title: 'LINE', value: ({ place }) => placeText(place) },
  {
    title: 'WHAT',
    value: ({ what }) => what,
    color: ({ level }) => (level === 'lost' ? 'red' : 'yellow'),
  },
  { title: 'WHY', value: ({ why }) => why },
  { title: 'WHAT TO DO', value: ({ todo }) => todo },
]

/** What is worth knowing, for people: a table where there is room, else one paragraph each, since nothing of it may be cut. */
export function findingsText(findings: readonly Finding[], isOneFile: boolean, io: Io): string {
  if (findings.length === 0) return ''
  const placeText = ({ file, line, column }: Place): string =>
    `${isOneFile ? '' : `${file}:`}${line}${column === undefined ? '' : `:${column}`}`
  const columns = columnsFor(placeText)
  const room = io.columns ?? Number.POSITIVE_INFINITY
  const plain = table(findings, columns, true, { ...io, paint: (_, text) => text })
  if (plain.split('\n').every((line) => columnsOf(line) <= room)) {
    return table(findings, columns, true, { ...io, paint: io.paintErr })
  }
  return findings
    .map(({ place, level, what, why, todo }) => {
      const head = io.paintErr(level === 'lost' ? 'red' : 'yellow', sanitize(what))
      return `${placeText(place)}  ${head}\n  ${wrap(sanitize(`${why}: ${todo}`), room, '  ')}\n`
    })
    .join('')
}

/** One sentence on how it went. */
export function summary(imported: Imported): string {
  const jobs = jobsOf(imported).length
  const lost = imported.findings.filter(({ level }) => level === 'lost').length
  const found = `${count(jobs, 'job')}${jobs === 0 && lost === 0 ? ': there was nothing to import' : ''}`
  if (lost === 0) return `${found}.`
  return `${found}; ${count(lost, 'thing')} did not translate, kept as ${lost === 1 ? 'a comment' : 'comments'}.`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
