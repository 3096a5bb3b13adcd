import { splitLine } from '../read/crontab-line.ts'
import { breakOf, insertAfter, lineAt, type Repair, replaceInLine } from './repair.ts'

const USER =
  /^(root|www-data|ubuntu|debian|ec2-user|nobody|postgres|mysql|nginx|apache|app|node|deploy|admin|git|backup|vagrant|pi)\s+/
const OPERATOR = /&&|\|\||[;|&](?!\d)|^cd\s/

/** `flock -n` before the command; a list of commands goes into one shell. */
const lockLine: Repair = ({ path, text, finding }) => {
  const line = lineAt(text, finding.place.line)
  const parts = splitLine(line.text.trim())
  if (parts === null) return null
  const isSystem = /(?:^|\/)cron\.d\/|(?:^|\/)etc\/crontab$/.test(path)
  const user = USER.exec(parts.command)?.[0] ?? (isSystem ? (/^\S+\s+/.exec(parts.command)?.[0] ?? '') : '')
  const command = parts.command.slice(user.length)
  const work = command.replace(/\s*\d?>>?.*$/, '')
  // cron itself changes `%`, and quotes inside quotes are for people.
  if (/%/.test(command) || (OPERATOR.test(command.replace(/\d?>&\d/g, '')) && command.includes("'"))) return null
  const words = work.split(/\s+/).filter((word) => /[/.]/.test(word) && !word.startsWith('-'))
  const name = (words.at(-1) ?? work.split(/\s+/)[0]!)
    .split('/')
    .at(-1)!
    .replaceAll(/[^\w-]+/g, '-')
  const isList = OPERATOR.test(command.replace(/\d?>&\d/g, ''))
  const locked = `flock -n /tmp/${name || 'job'}.lock ${isList ? `sh -c '${command}'` : command}`
  const at = line.start + line.text.lastIndexOf(parts.command) + user.length
  return [{ start: at, end: at + command.length, text: locked }]
}

/** `(crontab -l; echo "LINE") | crontab -`: the line is taken out of the list before it is added. */
const filterCrontab: Repair = ({ text, finding }) => {
  const line = lineAt(text, finding.place.line)
  const added = /\becho\s+(?:-e\s+)?("[^"]+"|'[^']+')/.exec(line.text)?.[1]
  if (added === undefined || !/^\s*\(\s*crontab -l\b/.test(line.text)) return null
  const quote = added[0]!
  const command = added.slice(1, -1).replace(/^(?:@\w+|(?:\S+\s+){4}\S+)\s+(?=\S)/, '')
  return replaceInLine(
    line,
    /\bcrontab -l(?:\s+2>\s*\/dev\/null)?/,
    `crontab -l 2>/dev/null | grep -vF ${quote}${command}${quote}`,
  )
}

const deleteLine: Repair = ({ text, finding }) => {
  const line = lineAt(text, finding.place.line)
  const next = text.indexOf('\n', line.end)
  return [{ start: line.start, end: next === -1 ? text.length : next + 1, text: '' }]
}

/** A comment behind a value is part of the value: it goes on a line of its own. */
const liftComment: Repair = ({ text, finding }) => {
  const line = lineAt(text, finding.place.line)
  const match = /^(\s*\w+\s*=\s*[^#;]*?)\s+([#;].*)$/.exec(line.text)
  if (match === null) return null
  return [{ start: line.start, end: line.end, text: `${match[2]}${breakOf(text)}${match[1]}` }]
}

const persist: Repair = ({ text, finding }) => {
  const stated = /^Persistent\s*=.*$/m.exec(text)
  if (stated !== null)
    return [{ start: stated.index, end: stated.index + stated[0].trimEnd().length, text: 'Persistent=true' }]
  return insertAfter(text, lineAt(text, finding.place.line), 'Persistent=true')
}

export const LINE_REPAIRS: Readonly<Record<string, Repair>> = {
  CTB001: filterCrontab,
  CTB002: lockLine,
  CTB004: ({ text }) => [{ start: text.length, end: text.length, text: breakOf(text) }],
  CTB008: deleteLine,
  SYS002: liftComment,
  MIS004: persist,
  DEP002: ({ text, finding }) => {
    const line = lineAt(text, finding.place.line)
    return OPERATOR.test(line.text) ? null : replaceInLine(line, /^(\s*(?:CMD|ENTRYPOINT)\s+)(?=[^[\s])/i, '$1exec ')
  },
}
