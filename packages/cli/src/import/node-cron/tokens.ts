/**
 * Tokens of JavaScript and TypeScript, as far as calls, arguments and object literals are concerned. Comments and white space are
 * left out. It knows no types and no JSX: a file with JSX is not read.
 */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex' | 'number' | 'mark'
  /** As it is written. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The text can't be cut into tokens: a string, a comment or a bracket does not end. */
export class Unreadable extends Error {
  readonly at: number

  constructor(what: string, at: number) {
    super(what)
    this.at = at
  }
}

const SPACE = /[\s\ufeff]+/y
const LINE_COMMENT = /\/\/[^\n\u2028\u2029]*/y
const WORD = /[#\p{ID_Start}$_\\](?:[\p{ID_Continue}$\\]|\u200c|\u200d)*/uy
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?|\.\d[\d_]*(?:[eE][+-]?\d+)?)n?/y
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\p{ID_Continue}$]*/uy
const MARK =
  /=>|\.\.\.|\?\?=|\?\.(?!\d)|\?\?|>>>=|\*\*=|&&=|\|\|=|===|!==|<<=|>>=|[-+*/%&|^<>=!]=|\+\+|--|&&|\|\||\*\*|[{}()[\];,.:?~<>=+\-*/%&|^!@]/y

/** Behind these words an expression begins, so that a slash is a regular expression. */
const BEFORE_EXPRESSION = new Set(
  'return typeof instanceof in of new delete void throw case do else await yield'.split(' '),
)

export function tokensOf(text: string): readonly Token[] {
  return new Lexer(text).read()
}

class Lexer {
  readonly #text: string
  readonly #tokens: Token[] = []
  /** The brackets that are open: what stands before them. */
  readonly #open: { readonly mark: string; readonly before: Token | undefined }[] = []
  /** What stood before the bracket that was closed last. */
  #closed: Token | undefined
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): readonly Token[] {
    // Of a program for a shell.
    if (this.#text.startsWith('#!')) this.#at = Math.max(this.#text.indexOf('\n'), 0)
    while (this.#at < this.#text.length) this.#next()
    if (this.#open.length > 0) throw new Unreadable(`a ${this.#open.at(-1)!.mark} is not closed`, this.#at)
    return this.#tokens
  }

  #next(): void {
    if (this.#skip(SPACE) || this.#skip(LINE_COMMENT) || this.#skipBlockComment()) return
    const char = this.#text[this.#at]!
    if (char === '"' || char === "'") this.#push('string', this.#endOfString(char))
    else if (char === '`') this.#push('template', this.#endOfTemplate(this.#at))
    else if (char === '/' && this.#isExpressionNext() && this.#take('regex', REGEX)) return
    else if (!this.#take('word', WORD) && !this.#take('number', NUMBER)) this.#mark()
  }

  #mark(): void {
    const before = this.#tokens.at(-1)
    if (!this.#take('mark', MARK)) {
      throw new Unreadable(`${JSON.stringify(this.#text[this.#at])} is not expected`, this.#at)
    }
    const { text, start } = this.#tokens.at(-1)!
    if ('([{'.includes(text)) this.#open.push({ mark: text, before })
    if (!')]}'.includes(text)) return
    const opened = this.#open.pop()
    if (opened === undefined || '([{'.indexOf(opened.mark) !== ')]}'.indexOf(text)) {
      throw new Unreadable(`a ${text} closes nothing`, start)
    }
    this.#closed = opened.before
  }

  #skip(pattern: RegExp): boolean {
    const end = this.#match(pattern)
    if (end !== null) this.#at = end
    return end !== null
  }

  #skipBlockComment(): boolean {
    if (!this.#text.startsWith('/*', this.#at)) return false
    const end = this.#text.indexOf('*/', this.#at + 2)
    if (end < 0) throw new Unreadable('a comment does not end', this.#at)
    this.#at = end + 2
    return true
  }

  #take(kind: Token['kind'], pattern: RegExp): boolean {
    const end = this.#match(pattern)
    if (end !== null) this.#push(kind, end)
    return end !== null
  }

  #match(pattern: RegExp): number | null {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text) ? pattern.lastIndex : null
  }

  #push(kind: Token['kind'], end: number): void {
    this.#tokens.push({ kind, text: this.#text.slice(this.#at, end), start: this.#at, end })
    this.#at = end
  }

  #endOfString(quote: string): number {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const char = this.#text[at]
      if (char === '\\') at++
      else if (char === quote) return at + 1
      else if (char === '\n') break
    }
    throw new Unreadable('a string does not end', this.#at)
  }

  /** What is inserted in a template may contain strings, comments and templates of its own. */
  #endOfTemplate(start: number): number {
    for (let at = start + 1; at < this.#text.length; at++) {
      const char = this.#text[at]
      if (char === '\\') at++
      else if (char === '`') return at + 1
      else if (char === '$' && this.#text[at + 1] === '{') at = this.#endOfInsertion(at + 2) - 1
    }
    throw new Unreadable('a template does not end', start)
  }

  #endOfInsertion(start: number): number {
    const inner = new Lexer(this.#text)
    inner.#at = start
    for (;;) {
      if (inner.#at >= inner.#text.length) throw new Unreadable('a template does not end', start)
      if (inner.#text[inner.#at] === '}' && inner.#open.length === 0) return inner.#at + 1
      inner.#next()
    }
  }

  /** Whether a slash begins a regular expression: else it divides. */
  #isExpressionNext(): boolean {
    const last = this.#tokens.at(-1)
    if (last === undefined) return true
    if (last.kind === 'word') return BEFORE_EXPRESSION.has(last.text)
    if (last.kind !== 'mark') return false
    // if (x) /y/.test(z), but (x) / y.
    if (last.text === ')') return /^(if|while|for|with)$/.test(this.#closed?.text ?? '')
    // Behind a block; what divides an object literal is rarely written.
    return last.text !== ']' && last.text !== '++' && last.text !== '--'
  }
}

/** The index of the bracket that closes the one at `open`. */
export function closingOf(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index]!
    if (kind !== 'mark') continue
    if ('([{'.includes(text)) depth++
    else if (')]}'.includes(text) && --depth === 0) return index
  }
  throw new Unreadable(`a ${tokens[open]!.text} is not closed`, tokens[open]!.start)
}

/** What stands between commas, from one token to another (not included): the indexes of each part. */
export function partsBetween(
  tokens: readonly Token[],
  from: number,
  to: number,
): readonly { readonly from: number; readonly to: number }[] {
  const parts: { from: number; to: number }[] = []
  let begun = from
  for (let index = from; index < to; index++) {
    const { kind, text } = tokens[index]!
    if (kind !== 'mark') continue
    if ('([{'.includes(text)) index = closingOf(tokens, index)
    else if (text === ',') {
      parts.push({ from: begun, to: index })
      begun = index + 1
    }
  }
  // A comma behind the last one is allowed.
  if (begun < to) parts.push({ from: begun, to })
  return parts
}
