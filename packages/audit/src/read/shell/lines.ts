/** A command line of a script: continued lines and groups in parentheses are one. */
export interface ShellLine {
  readonly line: number
  readonly text: string
  /** Function and branch of `case` around it: '' is the script itself, `install/2` a branch in a function. */
  readonly scope: string
}

const MAX_JOINED = 40
const MAX_LENGTH = 8000

/** Here-documents are data and are left out, but for the line that opens them. */
export function shellLines(text: string): readonly ShellLine[] {
  const raw = text.split('\n')
  const lines: ShellLine[] = []
  const scopes = new Scopes()
  const lastAt = new Map(raw.map((line, index) => [line.trim(), index]))
  for (let at = 0; at < raw.length; at++) {
    const line = at + 1
    let joined = raw[at]!
    if (/^\s*(?:#|$)/.test(joined)) continue
    for (let count = 0; count < MAX_JOINED && at + 1 < raw.length && goesOn(joined); count++) {
      at++
      joined = `${joined.replace(/\\\s*$/, '')} ${raw[at]!.replace(/^\s*#.*$/, '').trim()}`.slice(0, MAX_LENGTH)
      if (isUnbalanced(joined) && !/[;({|&]\s*$/.test(joined)) joined += ' ;'
    }
    lines.push({ line, text: joined.trim(), scope: scopes.enter(joined) })
    const delimiter = /<<-?\s*\\?["']?([A-Za-z_]\w*)["']?/.exec(joined.replace(/<<</g, ''))?.[1]
    if (delimiter === undefined || (lastAt.get(delimiter) ?? 0) <= at) continue
    do at++
    while (raw[at]!.trim() !== delimiter)
  }
  return lines
}

function goesOn(line: string): boolean {
  return /(?:^|[^\\])\\\s*$/.test(line) || isUnbalanced(line)
}

/** A group that begins the line and is not closed on it. */
function isUnbalanced(line: string): boolean {
  const bare = unquoted(line).trim()
  if (!/^[({](?:\s|\w|$)/.test(bare)) return false
  const open = bare.match(/[({]/g)?.length ?? 0
  const closed = bare.match(/[)}]/g)?.length ?? 0
  return open > closed
}

/** Quotes are kept, and what they hold is left out unless it is a command substitution. */
export function unquoted(text: string): string {
  return text.replace(/\\["'$`]/g, '').replace(/'[^']*'|"[^"]*"/g, (quoted) => {
    if (quoted.startsWith("'")) return "''"
    const commands = quoted.match(/\$\([^"]*\)|`[^`]*`/g) ?? []
    return `"${commands.join(' ')}"`
  })
}

/** Follows functions by their closing brace, and branches of `case` by `;;`. */
class Scopes {
  #name = ''
  #indent = 0
  #branch = 0
  #isInBranch = false

  enter(line: string): string {
    const indent = line.length - line.trimStart().length
    const trimmed = line.trim()
    const opened =
      /^(?:function\s+)?([\w:.-]+)\s*\(\)\s*[{(]?\s*$|^function\s+([\w:.-]+)\s*\{?\s*$|^(?:function\s+)?([\w:.-]+)\s*\(\)\s*\{/.exec(
        trimmed,
      )
    if (opened !== null) {
      this.#name = opened[1] ?? opened[2] ?? opened[3] ?? ''
      this.#indent = indent
      this.#isInBranch = false
    } else if (this.#name !== '' && /^[})]/.test(trimmed) && indent <= this.#indent) {
      this.#name = ''
      this.#isInBranch = false
    } else if (/^\(?["']?[\w*?.|\s"'[\]-]+["']?\)/.test(trimmed) && !/^\(/.test(trimmed) && /^[^$(]*\)/.test(trimmed)) {
      this.#isInBranch = true
      this.#branch++
    }
    const scope = this.#isInBranch ? `${this.#name}/${this.#branch}` : this.#name
    if (/;;\s*$|^esac\b/.test(trimmed)) this.#isInBranch = false
    return scope
  }
}
