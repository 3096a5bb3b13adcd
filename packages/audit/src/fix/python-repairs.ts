import { breakOf, type Edit, indentOf, lineAt, type Repair, replaceInLine } from './repair.ts'

interface Arguments {
  /** Behind the last argument, a comma included. */
  readonly last: number
  readonly hasComma: boolean
  readonly close: number
  readonly text: string
}

/** The arguments of the first call at or behind an offset. Strings and comments may hold anything. */
function argumentsAt(text: string, from: number): Arguments | null {
  const open = text.indexOf('(', from)
  if (open === -1) return null
  let depth = 0
  let last = open + 1
  for (let at = open; at < text.length; at++) {
    const char = text[at]!
    if (char === '#') at = lineEnd(text, at)
    else if (char === '"' || char === "'") at = stringEnd(text, at)
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    if (depth === 0) return { last, hasComma: text[last - 1] === ',', close: at, text: text.slice(open + 1, at) }
    if (at > open && !/\s/.test(text[at] ?? ' ') && char !== '#') last = at + 1
  }
  return null
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

function stringEnd(text: string, at: number): number {
  const triple = text.slice(at, at + 3)
  const quote = /^(?:"""|''')$/.test(triple) ? triple : text[at]!
  for (let end = at + quote.length; end < text.length; end++) {
    if (text[end] === '\\') end++
    else if (text.startsWith(quote, end)) return end + quote.length - 1
  }
  return text.length
}

function addArguments(text: string, found: Arguments, added: readonly string[]): readonly Edit[] {
  const isMultiline = text.slice(found.last, found.close).includes('\n')
  if (!isMultiline) {
    const lead = found.hasComma ? ' ' : ', '
    return [{ start: found.last, end: found.last, text: `${lead}${added.join(', ')}` }]
  }
  const line = text.slice(text.lastIndexOf('\n', found.last - 1) + 1, found.last)
  const lead = `${breakOf(text)}${indentOf(line)}`
  const list = added.map((each) => `${lead}${each}`).join(',')
  return [
    { start: found.last, end: found.last, text: `${found.hasComma ? '' : ','}${list}${found.hasComma ? ',' : ''}` },
  ]
}

/** A job that replaces its stored copy needs an id; without one, it is named after its function. */
const replaceExisting: Repair = ({ text, finding }) => {
  const { start } = lineAt(text, finding.place.line)
  const found = argumentsAt(text, text.indexOf('add_job', start))
  if (found === null || text.indexOf('add_job', start) === -1 || /\breplace_existing\b|\*\*/.test(found.text))
    return null
  const name = /^\s*(?:func\s*=\s*)?(?:[\w.]+\.)?([a-z_]\w*)\s*[,)]/i.exec(`${found.text},`)?.[1]
  const hasId = /\bid\s*=/.test(found.text)
  if (!hasId && name === undefined) return null
  return addArguments(text, found, [...(hasId ? [] : [`id='${name}'`]), 'replace_existing=True'])
}

export const PYTHON_REPAIRS: Readonly<Record<string, Repair>> = {
  APS001: replaceExisting,
  APS002: replaceExisting,
  APS003: ({ text, finding }) =>
    replaceInLine(
      lineAt(text, finding.place.line),
      /(coalesce['"]?\s*(?:[:=]|\]\s*=)\s*)(?:False|['"]false['"])/i,
      '$1True',
    ),
  APS004: ({ text, finding }) => {
    const { start } = lineAt(text, finding.place.line)
    const at = text.slice(start).search(/\b(?:add_job|scheduled_job)\b/)
    const found = at === -1 ? null : argumentsAt(text, start + at)
    return found === null || found.text.includes('**') ? null : addArguments(text, found, ['misfire_grace_time=60'])
  },
}
