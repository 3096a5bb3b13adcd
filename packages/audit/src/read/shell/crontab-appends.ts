import type { CrontabAppend } from '../../facts/crontab-append.ts'
import { type ShellLine, unquoted } from './lines.ts'

const LIST = /\bcrontab\s+(?:-u\s*\S+\s+)?-l\b/
const INSTALL = /\|\s*(?:sudo\s+)?(?:\S*\/)?crontab(?:\s+-u\s*\S+)?(?:\s+(?:-|\/dev\/stdin))?\s*(?:$|[;&|)}"'#]|\d?>)/
const INSTALL_TEXT = /\bcrontab\s+(?:-u\s*\S+\s+)?-?\s*<<<|\bcrontab\s+(?:-u\s*\S+\s+)?<\(/
const FILTER = /\b(?:[ef]?grep|sed|awk|uniq|comm|perl)\b|\bsort\s+-\w*u/
const ADDITION = /\b(?:echo|printf|cat)\b|<<</
const TABLE =
  /(?:>>|\btee\s+(?:-a|--append)\s)\s*["']?(\/etc\/crontab\b|\/etc\/cron\.d\/[^\s"';|&)]+|\/etc\/crontabs\/[^\s"';|&)]+|\/var\/spool\/cron\/[^\s"';|&)]+)/
/** The string is a command all the same. */
const RUNS_TEXT = /\b(?:ssh|eval|su|(?:ba|z|da)?sh\s+-\w*c|docker\s+exec|kubectl\s+exec|sudo\s+-\w+)\b/

/** Each is compared with every line before it; no script of a person has more. */
const MAX_APPENDS = 50

/** Every place at which the script adds to a crontab that keeps its old lines. */
export function crontabAppends(path: string, lines: readonly ShellLine[]): readonly CrontabAppend[] {
  const commands = lines.map((line) => ({ ...line, code: RUNS_TEXT.test(line.text) ? line.text : unquoted(line.text) }))
  const found = [
    ...commands.filter(({ code }) => isPipe(code)).map((line) => ({ line, target: 'the crontab' })),
    ...fromVariables(commands).map((line) => ({ line, target: 'the crontab' })),
    ...fromFiles(commands).map((line) => ({ line, target: 'the crontab' })),
  ].slice(0, MAX_APPENDS)
  const toTables = commands
    .filter(({ text }) => TABLE.test(text))
    .slice(0, MAX_APPENDS)
    .flatMap((line) => {
      const table = TABLE.exec(line.text)?.[1]
      if (table === undefined || (TABLE.exec(line.code) === null && !line.text.includes(`"${table}`))) return []
      return [{ line, target: table, isChecked: isTableChecked(commands, line, table) }]
    })
  const all = [...found.map((append) => ({ ...append, isChecked: isChecked(commands, append.line) })), ...toTables]
  const byLine = new Map(all.map((append) => [append.line.line, append]))
  return [...byLine.values()].map(({ line, target, isChecked }) => ({
    kind: 'crontab-append',
    place: { path, line: line.line },
    isChecked,
    target,
  }))
}

interface Command extends ShellLine {
  /** The text without what stands in quotes. */
  readonly code: string
}

/** `(crontab -l; echo …) | crontab -` and `crontab -l | { cat; echo …; } | crontab -`. */
function isPipe(code: string): boolean {
  const list = LIST.exec(code)
  if (list === null || !(INSTALL.test(code) || INSTALL_TEXT.test(code))) return false
  return ADDITION.test(code) && !FILTER.test(code)
}

/** `old=$(crontab -l)`, then `echo "$old" "$new" | crontab -`. */
function fromVariables(commands: readonly Command[]): readonly Command[] {
  const held = new Set<string>()
  return commands.filter(({ text, code }) => {
    const assigned = /^(?:local\s+|export\s+|readonly\s+|declare\s+)?(\w+)=(.*)$/s.exec(text)
    const uses = [...held].find((name) => new RegExp(`\\$\\{?${name}\\b`).test(text))
    if (assigned !== null) {
      const [, name = '', value = ''] = assigned
      const keeps = (LIST.test(value) || uses !== undefined) && !FILTER.test(value)
      if (keeps) held.add(name)
      else held.delete(name)
      return false
    }
    if (uses === undefined || !(INSTALL.test(code) || INSTALL_TEXT.test(code)) || FILTER.test(code)) return false
    const rest = text.replace(new RegExp(`["']?\\$\\{?${uses}\\b\\}?["']?`, 'g'), '')
    return /\$\w|\$\{|\*\s+\*/.test(rest.replace(INSTALL, ''))
  })
}

/** `crontab -l > file`, `echo … >> file`, `crontab file`. */
function fromFiles(commands: readonly Command[]): readonly Command[] {
  const name = (text: string) => text.replace(/["']/g, '')
  return commands.flatMap((start, index) => {
    const file = LIST.test(start.text)
      ? /(?:>>?|\btee(?:\s+-a)?)\s*((?!&|\/dev\/)["']?[^\s;|&)]+)/.exec(
          start.text.replace(/\d>\s*\S+|&>\s*\S+/g, ''),
        )?.[1]
      : undefined
    if (file === undefined || FILTER.test(start.code)) return []
    const after = commands.slice(index, index + 60)
    const target = name(file)
    const adds = after.find(({ text }) =>
      [...text.matchAll(/(?:>>|\btee\s+-a)\s*(["']?[^\s;|&)]+["']?)/g)].some(
        (match) => name(match[1]!) === target && !LIST.test(text.slice(0, match.index)),
      ),
    )
    const isInstalled = after.some(({ text }) =>
      new RegExp(`\\bcrontab\\s+(?:-u\\s*\\S+\\s+)?["']?${escaped(target)}(?:["'\\s;&|)]|$)`).test(name(text)),
    )
    const isFiltered = after.some(({ text }) => FILTER.test(unquoted(text)) && name(text).includes(target))
    return adds !== undefined && isInstalled && !isFiltered ? [adds] : []
  })
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const LOOKS = /\b(?:[ef]?grep|rg|awk|sed)\b|\[\[|=~|\bcase\b|^if\b|\bwc\b/

/** Whether the script looks at the crontab before it appends, on a path that leads to the append. */
function isChecked(commands: readonly Command[], append: Command): boolean {
  const before = commands.filter(({ line }) => line <= append.line)
  const holding = new Set(
    before.flatMap(({ text }) => (LIST.test(text) ? (/^(?:local\s+)?(\w+)=/.exec(text)?.[1] ?? []) : [])),
  )
  return before.some((command) => {
    const uses = [...holding].some((name) => new RegExp(`\\$\\{?${name}\\b`).test(command.text))
    const looks = (LIST.test(command.code) || uses) && LOOKS.test(command.code)
    const empties = /\bcrontab\s+(?:-u\s*\S+\s+)?-r\b/.test(command.code)
    return (looks || empties) && leadsTo(before, command, append)
  })
}

/** In the same scope or one around it, or in a function that was called before. */
function leadsTo(before: readonly Command[], check: Command, append: Command): boolean {
  if (check.line === append.line || check.scope === '' || append.scope === check.scope) return true
  if (append.scope.startsWith(`${check.scope}/`)) return true
  const name = check.scope.split('/')[0]!
  return (
    name !== '' &&
    before.some(
      ({ text, scope }) =>
        scope !== check.scope &&
        new RegExp(`(?:^|[\\s;!(&|])${escaped(name)}(?:[\\s;)&|]|$)`).test(text) &&
        !/\(\)/.test(text),
    )
  )
}

/** A file of cron is looked at, emptied or written anew before. */
function isTableChecked(commands: readonly Command[], append: Command, table: string): boolean {
  return commands.some(({ text, line }) => {
    if (line > append.line || !text.includes(table)) return false
    if (line === append.line) return /\bgrep\b[^|]*(?:\|\||&&)|\|\|/.test(text) && /\bgrep\b/.test(text)
    const isWritten = new RegExp(`(?:^|[^>])>\\s*["']?${escaped(table)}`).test(text)
    return isWritten || /\b(?:grep|sed|rm|truncate|cp|mv|install|unlink|ln)\b|\[\[?\s+!?\s*-[fesz]/.test(text)
  })
}
