import type { FileTree } from '../discover/tree.ts'
import type { CrontabFile } from '../facts/crontab.ts'
import type { Fact } from '../facts/fact.ts'
import type { Zone } from '../facts/schedule.ts'
import { crontabFacts, isLockedCommand, splitLine, takesLock } from './crontab-line.ts'
import { isAside } from './paths.ts'
import type { Reader } from './reader.ts'

const NAME = /(?:^|\/)(?:cron\.d|crontabs|cron)\/[\w.-]+$|(?:^|\/)[\w.-]*cron(?:tab|jobs?|s)?[\w.-]*$/i
const CODE =
  /\.(?:[cm]?[jt]sx?|py|rb|php|sh|bash|go|rs|java|kt|cs|c|h|cpp|pl|lua|ex|exs|md|rst|html?|css|scss|vue|svelte|ya?ml|json|toml|xml|ini|tf|sql|svg|png|log|lock|csv|service|timer|ps1|bat|gradle|properties|ipynb|erb|tpl|snap|map|1|5|8)$/i
const MAX_LINES = 20_000
/** Lines that are no part of a crontab, such as those of a template. */
const MAX_FOREIGN_LINES = 3

export const crontabReader: Reader = {
  name: 'crontab',
  reads: (path) => NAME.test(path) && !CODE.test(path) && !isAside(path),
  mayHoldFacts: (text) => !/^#!/.test(text) && /^-?(?:@\w+|[\d*]\S*\s+[\d*]\S*\s+\S+\s+\S+\s+\S+)\s+\S/m.test(text),
  read: ({ path, text }, tree) => {
    const lines = text.split('\n')
    if (lines.length > MAX_LINES)
      throw new Error(`The crontab has ${lines.length} lines; at most ${MAX_LINES} are read.`)
    return fileFacts(path, lines, tree)
  },
}

function fileFacts(path: string, lines: readonly string[], tree: FileTree): readonly Fact[] {
  const locks = scriptLocks(tree)
  const facts: Fact[] = []
  const commands: string[] = []
  let others = 0
  let zone: Zone = { kind: 'none' }
  let first = 0
  for (const [index, written] of lines.entries()) {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) continue
    zone = zoneOf(line) ?? zone
    const parts = splitLine(line)
    if (parts === null) {
      if (!isAssignment(line)) others++
      continue
    }
    if (first === 0) first = index + 1
    commands.push(parts.command)
    const place = { path, line: index + 1 }
    facts.push(
      ...crontabFacts(
        { place, ...parts, isLocked: isLockedCommand(parts.command) || locks(parts.command) },
        zone,
        'crontab',
      ),
    )
  }
  if (first === 0 || isProse(others, commands.length)) return []
  return [...facts, fileFact(path, lines, first, commands)]
}

function isAssignment(line: string): boolean {
  return /^\w+\s*=/.test(line)
}

/** A text about cron that quotes a line of a crontab. */
function isProse(others: number, entries: number): boolean {
  return others > MAX_FOREIGN_LINES && others > 2 * entries
}

/** Whether a script of the repository that the command runs takes a lock itself. */
function scriptLocks(tree: FileTree): (command: string) => boolean {
  let scripts: Map<string, string[]> | null = null
  return (command) => {
    const django = /\bmanage\.py\s+([a-z]\w*)/.exec(command)?.[1]
    const name =
      django === undefined
        ? /(?:^|\s)\S*\/([\w.-]+\.(?:sh|bash|py|php|rb|pl))(?=\s|$)/.exec(command)?.[1]
        : `${django}.py`
    if (name === undefined) return false
    scripts ??= Map.groupBy(tree.paths, (path) => path.slice(path.lastIndexOf('/') + 1))
    const named = scripts.get(name) ?? []
    const [path, ...others] =
      django === undefined ? named : named.filter((each) => each.includes('management/commands/'))
    return path !== undefined && others.length === 0 && takesLock(tree.text(path) ?? '')
  }
}

/** `CRON_TZ` moves the schedule in cronie; others read `TZ`. Either states what the author meant. */
function zoneOf(line: string): Zone | null {
  const match = /^(?:CRON_)?TZ\s*=\s*["']?([^"'\s]+)/.exec(line)
  if (match === null) return null
  return /\$/.test(match[1]!) ? { kind: 'computed' } : { kind: 'stated', name: match[1]! }
}

const USER =
  /^(?:root|www-data|ubuntu|debian|ec2-user|nobody|postgres|mysql|nginx|apache|app|node|deploy|admin|git|backup|vagrant|pi)\s/

function fileFact(path: string, lines: readonly string[], first: number, commands: readonly string[]): CrontabFile {
  const isSystem = /(?:^|\/)cron\.d\/|(?:^|\/)etc\/crontab$/.test(path)
  const isUser = /(?:^|\/)crontabs\//.test(path)
  const form = isSystem || commands.every((command) => USER.test(command)) ? 'system' : isUser ? 'user' : 'unknown'
  return {
    kind: 'crontab-file',
    place: { path, line: first },
    form,
    endsWithNewline: lines.at(-1)?.trim() === '',
    lastLine: lines.length,
  }
}
