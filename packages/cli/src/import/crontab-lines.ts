/** Crontab(5) cut into lines. Any text is a crontab here: a line that makes no sense is `broken`, with the reason. */
export type CrontabLine = { readonly line: number; readonly raw: string } & (
  | { readonly kind: 'blank' }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string; readonly isQuoted: boolean }
  | ({ readonly kind: 'entry' } & CrontabEntry)
  | { readonly kind: 'broken'; readonly why: string }
)

export interface CrontabEntry {
  /** The five fields with one blank between them, or a macro such as `@daily`. */
  readonly schedule: string
  /** Of a system crontab. */
  readonly user: string | null
  readonly command: string
  /** What stands behind the first `%`, with its line ends; `null`: there is none. */
  readonly stdin: string | null
  /** A `-` in front: cronie does not log the line. */
  readonly isUnlogged: boolean
}

export interface CrontabText {
  readonly lines: readonly CrontabLine[]
  readonly hasCarriageReturns: boolean
  /** The last line has no line end: many crons leave such a line out. */
  readonly isUnfinished: boolean
}

export function readCrontab(text: string, { isSystem }: { isSystem: boolean }): CrontabText {
  const plain = text.replace(/^\uFEFF/, '')
  const raws = plain.split('\n')
  if (raws.at(-1) === '') raws.pop()
  return {
    lines: raws.map((raw, index) => ({ line: index + 1, ...readLine(raw.replace(/\r$/, ''), isSystem) })),
    hasCarriageReturns: plain.includes('\r\n'),
    isUnfinished: plain !== '' && !plain.endsWith('\n'),
  }
}

type Unnumbered = CrontabLine extends infer Line ? (Line extends CrontabLine ? Omit<Line, 'line'> : never) : never

/** NAME = value, either of them in quotes. Cron expands nothing in it, and a quote that is closed must be the end. */
const VARIABLE = /^(?:"([^"]+)"|'([^']+)'|([^\s="'][^\s=]*))[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|([^"'].*)?)$/

function readLine(raw: string, isSystem: boolean): Unnumbered {
  const text = raw.replace(/^[ \t]+/, '').replace(/[ \t\v\f]+$/, '')
  if (text === '') return { kind: 'blank', raw }
  if (text.startsWith('#')) return { kind: 'comment', raw, text: text.slice(1).replace(/^ /, '') }
  const variable = VARIABLE.exec(text)
  if (variable !== null) {
    const [, double, single, bare, doubleValue, singleValue, bareValue] = variable
    const quoted = doubleValue ?? singleValue
    return {
      kind: 'variable',
      raw,
      name: double ?? single ?? bare ?? '',
      value: quoted ?? bareValue ?? '',
      isQuoted: quoted !== undefined,
    }
  }
  return readEntry(raw, text, isSystem)
}

const MACRO = /^(@every[ \t]+\S+|@\S+)(?:[ \t]+(.*))?$/
const FIELDS = /^(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)(?:[ \t]+(.*))?$/

function readEntry(raw: string, text: string, isSystem: boolean): Unnumbered {
  const isUnlogged = /^-(?=[\d*@~])/.test(text)
  const timed = splitSchedule(isUnlogged ? text.slice(1) : text)
  if (timed === null) return { kind: 'broken', raw, why: brokenFields(text) }
  const { schedule, rest } = timed
  const [, user = '', command = ''] = isSystem ? (/^(\S+)(?:[ \t]+(.*))?$/.exec(rest) ?? []) : ['', '', rest]
  if (isSystem && user !== '' && command === '') {
    return { kind: 'broken', raw, why: `there is no command behind the user ${JSON.stringify(user)}` }
  }
  if (command === '') return { kind: 'broken', raw, why: 'there is no command behind the schedule' }
  return { kind: 'entry', raw, schedule, user: isSystem ? user : null, isUnlogged, ...splitPercent(command) }
}

/** The schedule, and what stands behind it. `null`: there is none. */
function splitSchedule(text: string): { readonly schedule: string; readonly rest: string } | null {
  const macro = text.startsWith('@') ? MACRO.exec(text) : null
  if (macro !== null) return { schedule: macro[1]!.replace(/[ \t]+/, ' '), rest: macro[2] ?? '' }
  const fields = FIELDS.exec(text)
  return fields === null ? null : { schedule: fields.slice(1, 6).join(' '), rest: fields[6] ?? '' }
}

function brokenFields(text: string): string {
  if (/^[^\s=]+[ \t]*=/.test(text)) return 'a value that begins with a quote must end with it, and nothing may follow'
  return 'it has fewer than five fields, and is not a variable'
}

/**
 * A `%` ends the command: what follows is its standard input, in which further ones are line ends. `\%` is a percent sign.
 * As cron does it: a backslash that is itself escaped does not escape, and other backslashes stay.
 */
export function splitPercent(text: string): { readonly command: string; readonly stdin: string | null } {
  let command = ''
  let at = 0
  for (; at < text.length && text[at] !== '%'; at++) {
    const isPair = text[at] === '\\' && at + 1 < text.length
    command += isPair ? (text[at + 1] === '%' ? '%' : text.slice(at, at + 2)) : text[at]
    if (isPair) at++
  }
  if (at >= text.length) return { command, stdin: null }
  const stdin = text.slice(at + 1).replace(/\\%|%/g, (found) => (found === '%' ? '\n' : '%'))
  return { command: command.trimEnd(), stdin: stdin === '' || stdin.endsWith('\n') ? stdin : `${stdin}\n` }
}
