import { parseFlow } from './flow.ts'
import type { YamlNode } from './node.ts'
import { controlOf, joinActions, outputColumn } from './template.ts'

export interface YamlDocument {
  readonly root: YamlNode
  readonly anchors: ReadonlyMap<string, YamlNode>
}

const BLOCK_SCALAR = /^[|>][-+\d]*\s*(?:#.*)?$/
/** Larger files are data. */
const MAX_TEXT = 1_000_000
const MAX_JOINED_LINES = 200
const MAX_JOINED_TEXT = 20_000

/**
 * The keys of a YAML file by indentation. It also reads Helm templates, which are no YAML, and never expands an alias,
 * so that its time and memory are linear in the text.
 */
export function outline(text: string): readonly YamlDocument[] {
  if (text.length > MAX_TEXT) throw new Error(`The file has ${text.length} characters; at most ${MAX_TEXT} are read.`)
  const reading = new Reading(joinActions(text.split(/\r?\n/)))
  while (reading.next()) {}
  return reading.documents
}

class Reading {
  readonly documents: YamlDocument[] = []
  readonly #lines: readonly string[]
  #at = 0
  #blocks = 0
  #stack: YamlNode[] = []
  #anchors = new Map<string, YamlNode>()

  constructor(lines: readonly string[]) {
    this.#lines = lines
    this.#begin()
  }

  #begin(): void {
    this.#anchors = new Map()
    const root = nodeOf(this.#at + 1, -1, null, this.#blocks)
    this.#stack = [root]
    this.documents.push({ root, anchors: this.#anchors })
  }

  next(): boolean {
    const line = this.#lines[this.#at]
    if (line === undefined) return false
    this.#at++
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return true
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(line)) {
      this.#begin()
      return true
    }
    const control = controlOf(trimmed)
    if (control.isWholeLine) {
      this.#blocks = Math.max(0, this.#blocks + control.opened)
      if (control.hasOutput) this.#parentAt(outputColumn(line), false).isOpen = true
      return true
    }
    this.#entry(line.length - line.trimStart().length, trimmed)
    this.#blocks = Math.max(0, this.#blocks + control.opened)
    return true
  }

  /** `- - key: value` is one entry in another. */
  #entry(start: number, content: string): void {
    let indent = start
    let rest = content
    for (let depth = 0; depth < 20 && /^-(?:\s|$)/.test(rest); depth++) {
      const item = this.#push(indent, null)
      const inner = rest.slice(1).trimStart()
      if (inner === '' || inner.startsWith('#')) return
      indent += rest.length - inner.length
      rest = inner
      const anchor = /^&([\w-]{1,80})(?:\s+|$)/.exec(rest)
      if (anchor !== null) this.#anchors.set(anchor[1]!, item)
      if (keyLength(rest) === null && !/^-(?:\s|$)/.test(rest)) {
        this.#scalar(item, rest)
        return
      }
    }
    const length = keyLength(rest)
    if (length === null) this.#continuation(rest)
    else this.#scalar(this.#push(indent, unquote(rest.slice(0, length).trim()).text), rest.slice(length + 1).trim())
  }

  #push(indent: number, key: string | null): YamlNode {
    const parent = this.#parentAt(indent, key === null)
    const node = nodeOf(this.#at, indent, key, this.#blocks)
    parent.children.push(node)
    this.#stack.push(node)
    return node
  }

  #parentAt(indent: number, isItem: boolean): YamlNode {
    while (this.#stack.length > 1) {
      const top = this.#stack.at(-1)!
      const isInside =
        top.indent < indent || (isItem && top.indent === indent && top.key !== null && top.value === null)
      if (isInside) break
      this.#stack.pop()
    }
    return this.#stack.at(-1)!
  }

  /** A plain scalar goes on in the next line. */
  #continuation(rest: string): void {
    const top = this.#stack.at(-1)!
    if (top.value !== null && top.value.length < 10_000) top.value += ` ${withoutComment(rest)}`
    else if (top.value === null && top.indent >= 0) this.#scalar(top, rest)
  }

  /** Anchors and tags stand before the value. */
  #withoutProperties(node: YamlNode, written: string): string {
    let rest = written
    for (let count = 0; count < 3; count++) {
      const property = /^(?:&([\w.-]{1,80})|!\S{0,200})(?:\s+|$)/.exec(rest)
      if (property === null) break
      if (property[1] !== undefined) this.#anchors.set(property[1], node)
      rest = rest.slice(property[0].length)
    }
    return rest
  }

  #scalar(node: YamlNode, written: string): void {
    const rest = this.#withoutProperties(node, written)
    if (rest === '' || rest.startsWith('#')) return
    if (BLOCK_SCALAR.test(rest)) {
      node.value = this.#block(node.indent, rest.startsWith('>'))
      node.isQuoted = true
      return
    }
    const alias = /^\*([\w.-]{1,80})\s*(?:#.*)?$/.exec(rest)
    if (alias !== null) {
      node.alias = alias[1]!
      return
    }
    if (/^[[{](?!\{)/.test(rest)) {
      this.#flow(node, rest)
      return
    }
    if (/^\{\{/.test(rest) && controlOf(rest).isWholeLine && /\b(?:include|toYaml|tpl|template)\b/.test(rest)) {
      node.isOpen = true
    }
    const { text, isQuoted } = unquote(/^["']/.test(rest) ? this.#quoted(rest) : withoutComment(rest))
    node.value = text
    node.isQuoted = isQuoted
  }

  #quoted(rest: string): string {
    const quote = rest[0]!
    return this.#joinedUntil(rest, quote, (text) => closesQuote(text, quote))
  }

  #flow(node: YamlNode, rest: string): void {
    this.#joinedUntil(rest, rest.startsWith('[') ? ']' : '}', (text) => {
      node.children.length = 0
      node.isOpen = parseFlow(text, node) === 'unclosed'
      return !node.isOpen
    })
  }

  /** Adds lines until the text is complete, which only a line with the closing mark can make it. */
  #joinedUntil(first: string, mark: string, isComplete: (text: string) => boolean): string {
    let text = first
    let isClosed = isComplete(text)
    for (let count = 0; count < MAX_JOINED_LINES && !isClosed; count++) {
      const line = this.#lines[this.#at]
      if (line === undefined || text.length > MAX_JOINED_TEXT) break
      this.#at++
      text += ` ${line.trim()}`
      isClosed = line.includes(mark) && isComplete(text)
    }
    return text
  }

  #block(indent: number, isFolded: boolean): string {
    const from = this.#at
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!
      if (line.trim() === '') continue
      if (line.length - line.trimStart().length > indent) continue
      // The actions of a template may stand in the first column of a block scalar.
      const control = controlOf(line.trim())
      if (!control.isWholeLine || indent < 0) break
      this.#blocks = Math.max(0, this.#blocks + control.opened)
    }
    const lines = this.#lines.slice(from, this.#at)
    return lines.map((line) => line.trim()).join(isFolded ? ' ' : '\n')
  }
}

const MAX_KEY = 300

/** How long the key is that the text begins with, without its colon; `null` if there is none. */
function keyLength(text: string): number | null {
  const quote = text[0]
  if (quote === undefined || '[]{}#&*!|>%@`,'.includes(quote)) return text.startsWith('{{') ? plainKey(text) : null
  if (quote !== '"' && quote !== "'") return plainKey(text)
  const end = text.indexOf(quote, 1)
  const colon = end < 0 ? null : /^\s*:(?=\s|$)/.exec(text.slice(end + 1, end + 20))
  return colon === null ? null : end + colon[0].length
}

function plainKey(text: string): number | null {
  for (let at = 0; at < Math.min(text.length, MAX_KEY); at++) {
    if (text.startsWith('{{', at)) {
      const end = text.indexOf('}}', at)
      if (end < 0) return null
      at = end + 1
    } else if (text[at] === ':' && /^(?:\s|$)/.test(text.slice(at + 1, at + 2))) return at === 0 ? null : at
    else if (text[at] === '#' && text[at - 1] === ' ') return null
  }
  return null
}

function nodeOf(line: number, indent: number, key: string | null, blocks: number): YamlNode {
  return { line, indent, key, value: null, isQuoted: false, blocks, isOpen: false, alias: null, children: [] }
}

function closesQuote(text: string, quote: string): boolean {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === "'") at++
      else return true
    }
  }
  return false
}

function withoutComment(text: string): string {
  const at = text.search(/\s#/)
  return (at < 0 ? text : text.slice(0, at)).trim()
}

function unquote(text: string): { readonly text: string; readonly isQuoted: boolean } {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(text)
  if (double !== null) return { text: double[1]!.replace(/\\(.)/g, '$1'), isQuoted: true }
  const single = /^'((?:[^']|'')*)'/.exec(text)
  if (single !== null) return { text: single[1]!.replaceAll("''", "'"), isQuoted: true }
  return { text, isQuoted: false }
}
