import type { YamlNode } from './node.ts'

const MAX_DEPTH = 50
const TOKEN =
  /\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\{\{.*?\}\}|[[\]{},]|:(?=[\s,[\]{}"']|$)|(?:\{\{.*?\}\}|[^\s,[\]{}:"']|:(?=[^\s,[\]{}]))(?:\{\{.*?\}\}|[^,[\]{}:]|:(?=[^\s,[\]{}]))*)/y

/** Adds what `[a, b]` or `{ a: b }` holds to the children of `node`. */
export function parseFlow(text: string, node: YamlNode): 'closed' | 'unclosed' {
  const stack: YamlNode[] = [node]
  let key: string | null = null
  let isClosed = false
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(text); token !== null && !isClosed; token = TOKEN.exec(text)) {
    const word = token[1]!
    const top = stack.at(-1)!
    if (word === '[' || word === '{') {
      if (stack.length > MAX_DEPTH) return 'closed'
      // The first bracket is the node itself.
      stack.push(token.index === 0 ? node : add(top, key, null))
      key = null
    } else if (word === ']' || word === '}') {
      stack.pop()
      key = null
      isClosed = stack.length === 1
    } else if (word === ',') key = null
    else if (word !== ':') key = scalar(text, top, key, word)
  }
  return isClosed ? 'closed' : 'unclosed'
}

/** A word before a colon is the key of what follows it; every other word is a value. */
function scalar(text: string, parent: YamlNode, key: string | null, word: string): string | null {
  const plain = unquoted(word)
  const isKey = key === null && /^\s*:(?:[\s,[\]{}"']|$)/.test(text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 50))
  if (isKey) {
    if (/^\s*:\s*[,}\]]/.test(text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 50))) add(parent, plain, null)
    return plain
  }
  add(parent, key, plain).isQuoted = plain !== word
  return null
}

function add(parent: YamlNode, key: string | null, value: string | null): YamlNode {
  const { line, indent, blocks } = parent
  const node: YamlNode = { line, indent, key, value, isQuoted: false, blocks, isOpen: false, alias: null, children: [] }
  parent.children.push(node)
  return node
}

function unquoted(word: string): string {
  if (/^".*"$/s.test(word)) return word.slice(1, -1).replace(/\\(.)/g, '$1')
  if (/^'.*'$/s.test(word)) return word.slice(1, -1).replaceAll("''", "'")
  return word.trim()
}
