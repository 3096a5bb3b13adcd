/** What the template actions of a line do to the lines after it. */
export interface Control {
  /** The line consists of actions only. */
  readonly isWholeLine: boolean
  /** Blocks that it opens, minus those that it closes. */
  readonly opened: number
  /** An action that writes text, rather than only controlling. */
  readonly hasOutput: boolean
}

const ACTION = /(?<!\$)\{\{-?\s*(.*?)\s*-?\}\}|\{%-?\s*(.*?)\s*-?%\}/g
const OPENS = /^(?:if|with|range|define|block|for|macro)\b/
const CLOSES = /^(?:end|endif|endfor|endmacro|endwith|endblock)\b/
const SILENT = /^(?:else|elif|elsif|set\b|\$[\w.]*\s*:?=|\/\*|#|-?\s*$|fail\b|\$?_\s*:?=)/
/** A longer line is not a line of a template. */
const MAX_LINE = 5000
const NOTHING: Control = { isWholeLine: false, opened: 0, hasOutput: false }

export function controlOf(trimmed: string): Control {
  if (trimmed.length > MAX_LINE) return NOTHING
  if (!trimmed.includes('}}') && !trimmed.includes('%}')) return NOTHING
  let opened = 0
  let hasOutput = false
  const rest = trimmed.replace(ACTION, (_, helm: string | undefined, jinja: string | undefined) => {
    const action = helm ?? jinja ?? ''
    if (OPENS.test(action)) opened++
    else if (CLOSES.test(action)) opened--
    else if (helm !== undefined && !SILENT.test(action)) hasOutput = true
    return ''
  })
  return { isWholeLine: /^\s*(?:#.*)?$/.test(rest), opened, hasOutput }
}

/** The column at which the output of an action begins: what `nindent` says, or else where it stands. */
export function outputColumn(line: string): number {
  const stated = /\bn?indent\s+(\d{1,3})/.exec(line)
  return stated === null ? line.length - line.trimStart().length : Number(stated[1])
}

/** An action over several lines becomes one line; empty lines keep the numbers of the lines after it. */
export function joinActions(lines: readonly string[]): readonly string[] {
  const joined = [...lines]
  for (let at = 0; at < joined.length; at++) {
    if (!joined[at]!.includes('{{')) continue
    for (let next = at + 1; next < Math.min(joined.length, at + 200) && isUnclosed(joined[at]!); next++) {
      joined[at] += ` ${joined[next]!.trim()}`
      joined[next] = ''
    }
  }
  return joined
}

function isUnclosed(line: string): boolean {
  return line.length < MAX_LINE && line.lastIndexOf('{{') > line.lastIndexOf('}}')
}
