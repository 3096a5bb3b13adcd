import { closingOf, partsBetween, type Token, tokensOf } from './tokens.ts'

/** A call that makes a task of node-cron, as it stands in a file. */
export interface FoundTask {
  /** Where the call begins. */
  readonly at: number
  /** The expression, if it is a literal. */
  readonly expression: string | null
  /** Names to choose from, the best first: its variable, its function. */
  readonly hints: readonly string[]
  /** The first function that its function calls, with the text that it is given first. */
  readonly calls: { readonly name: string; readonly text: string | null } | null
  /** Behind the last argument before the options: where options go if there are none. */
  readonly afterTarget: number
  readonly options: FoundOptions
  /** It is made once for each round of a loop or each element of a list. */
  readonly isRepeated: boolean
}

export type FoundOptions =
  | { readonly kind: 'none' }
  /** An object literal. `properties` are the names that stand in it; unless it is whole, more come from elsewhere (`...defaults`). */
  | {
      readonly kind: 'literal'
      readonly start: number
      /** Where its first property begins; `null`: it is empty. */
      readonly first: number | null
      readonly properties: ReadonlyMap<string, string>
      readonly isWhole: boolean
    }
  /** Anything else, such as a variable. `properties`: of the object literal that it is set to in the same file. */
  | { readonly kind: 'other'; readonly text: string; readonly properties: ReadonlyMap<string, string> | null }

/** How a file loads node-cron: Node.js has one copy for each. */
export type Load = 'import' | 'require'

export interface FoundTasks {
  /** The text of 'node-cron' in imports and calls of require, quotes included. */
  readonly modules: readonly { readonly start: number; readonly end: number; readonly text: string }[]
  readonly tasks: readonly FoundTask[]
  /** How often it calls setRunCoordinator. */
  readonly coordinators: number
  /** It calls setup, as the drop-in needs it. */
  readonly hasSetup: boolean
  readonly loads: ReadonlySet<Load>
}

const MODULE = 'node-cron'
const MAKERS = new Set(['schedule', 'createTask'])

/** How a file calls node-cron and what it exports. */
interface Names {
  /** The whole module: cron.schedule. */
  readonly modules: Set<string>
  /** Functions by their local names. */
  readonly makers: Set<string>
}

/** What a file has to do with node-cron. Throws `Unreadable` if it can't be cut into tokens. */
export function findTasks(text: string): FoundTasks {
  const tokens = tokensOf(text)
  const names: Names = { modules: new Set(), makers: new Set() }
  const modules = tokens.filter((token, index) => isModule(token) && readImport(tokens, index, names))
  const tasks: FoundTask[] = []
  tokens.forEach((_, index) => {
    const open = callAt(tokens, index, names)
    if (open !== null) tasks.push(readTask(tokens, index, open, text))
  })
  return {
    ...{ modules, tasks },
    coordinators: tokens.filter(({ text: word }) => word === 'setRunCoordinator').length,
    hasSetup: tokens.some(({ text: word }, index) => word === 'setup' && tokens[index + 1]?.text === '('),
    loads: new Set(modules.map((token) => (isRequired(tokens, tokens.indexOf(token)) ? 'require' : 'import'))),
  }
}

function isRequired(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '(' && tokens[index - 2]?.text === 'require'
}

function isModule({ kind, text }: Token): boolean {
  return kind === 'string' && text.slice(1, -1) === MODULE
}

/** Which names the import or the call of require at this text brings. False: it is some other text. */
function readImport(tokens: readonly Token[], index: number, names: Names): boolean {
  const before = tokens[index - 1]?.text
  if (before === 'from' || before === 'import') {
    const begun = lastBefore(tokens, index, 'import')
    // What is only exported again has no name here.
    if (begun > lastBefore(tokens, index, 'export')) readClause(tokens.slice(begun + 1, index), names)
    return true
  }
  const isCall = before === '(' && /^(require|import)$/.test(tokens[index - 2]?.text ?? '')
  if (!isCall) return false
  // const cron = require('node-cron'), import cron = require('node-cron'), const { schedule } = await import('node-cron').
  const equals = tokens[index - 3]?.text === 'await' ? index - 4 : index - 3
  if (tokens[equals]?.text !== '=') return true
  const begun = Math.max(...['const', 'let', 'var', 'import'].map((word) => lastBefore(tokens, equals, word)))
  if (begun >= 0) readClause(tokens.slice(begun + 1, equals), names)
  return true
}

/** An import is short: farther away stands another one. */
const FARTHEST = 60

function lastBefore(tokens: readonly Token[], index: number, word: string): number {
  for (let at = index - 1; at >= Math.max(0, index - FARTHEST); at--) if (tokens[at]!.text === word) return at
  return -1
}

/** `cron`, `* as cron`, `cron, { schedule }`, `{ schedule as at }`, `{ schedule: at }`. */
function readClause(tokens: readonly Token[], { modules, makers }: Names): void {
  const open = tokens.findIndex(({ text }) => text === '{')
  const outside = open < 0 ? tokens : tokens.slice(0, open)
  for (const { kind, text } of outside) if (kind === 'word' && !/^(as|type|from)$/.test(text)) modules.add(text)
  if (open < 0) return
  for (const { from, to } of partsBetween(tokens, open + 1, closingOf(tokens, open))) {
    const words = tokens.slice(from, to).filter(({ kind, text }) => kind === 'word' && text !== 'as' && text !== 'type')
    const [imported, local = imported] = words
    if (imported === undefined || local === undefined) continue
    if (MAKERS.has(imported.text)) makers.add(local.text)
    if (imported.text === 'default' || imported.text === 'nodeCron') modules.add(local.text)
  }
}

/** The index of the bracket of a call that makes a task; `null`: here is none. */
function callAt(tokens: readonly Token[], index: number, { modules, makers }: Names): number | null {
  const { kind, text } = tokens[index]!
  if (kind !== 'word' || tokens[index - 1]?.text === '.' || tokens[index - 1]?.text === 'function') return null
  const isMethod = modules.has(text) && tokens[index + 1]?.text === '.' && MAKERS.has(tokens[index + 2]?.text ?? '')
  const open = isMethod ? index + 3 : makers.has(text) ? index + 1 : -1
  return tokens[open]?.text === '(' ? open : null
}

function readTask(tokens: readonly Token[], index: number, open: number, text: string): FoundTask {
  const parts = partsBetween(tokens, open + 1, closingOf(tokens, open))
  const [expression, target, options] = parts
  const last = target ?? expression
  const targetTokens = target === undefined ? [] : tokens.slice(target.from, target.to)
  return {
    at: tokens[index]!.start,
    expression: expression === undefined ? null : literalOf(tokens.slice(expression.from, expression.to)),
    hints: [...variableOf(tokens, index), ...targetNames(targetTokens)],
    calls: firstCall(targetTokens),
    afterTarget: last === undefined ? tokens[open]!.end : tokens[last.to - 1]!.end,
    options: options === undefined ? { kind: 'none' } : readOptions(tokens, options, text),
    isRepeated: isRepeated(tokens, index),
  }
}

function literalOf(tokens: readonly Token[]): string | null {
  const [only, more] = tokens
  if (only === undefined || more !== undefined) return null
  const isPlain = only.kind === 'string' || (only.kind === 'template' && !only.text.includes('${'))
  return isPlain ? only.text.slice(1, -1) : null
}

/** `const nightly = cron.schedule(…)`, `this.nightly = …`, `nightly: cron.schedule(…)`. */
function variableOf(tokens: readonly Token[], index: number): string[] {
  const mark = tokens[index - 1]?.text
  const before = tokens[index - 2]
  return (mark === '=' || mark === ':') && before?.kind === 'word' ? [before.text] : []
}

const NOISE = /^(async|function|await|return|void|new|try|const|let|var|if|this|console|log|run|then|catch|default)$/

/** `sendMail`, `reports.daily`, `function sendMail() {}`, `'./tasks/mail.js'`. */
function targetNames(tokens: readonly Token[]): string[] {
  if (tokens.length === 0) return []
  const path = literalOf(tokens)
  if (path !== null) return [path.replace(/^.*\//, '').replace(/\.\w+$/, '')]
  if (tokens.every(({ kind, text }) => kind === 'word' || text === '.')) {
    return [
      tokens
        .filter(({ kind, text }) => kind === 'word' && text !== 'this')
        .map(({ text }) => text)
        .join('-'),
    ]
  }
  if (tokens[0]?.text === 'function' || tokens[1]?.text === 'function') {
    const named = tokens[tokens[0]?.text === 'function' ? 1 : 2]
    if (named?.kind === 'word') return [named.text]
  }
  return []
}

/** `() => sendMail()`, `async () => { await mail.sendAll() }`, `() => ran('warmup')`. */
function firstCall(tokens: readonly Token[]): FoundTask['calls'] {
  const arrow = tokens.findIndex(({ text }) => text === '=>' || text === '{')
  const called = tokens.findIndex(
    ({ kind, text }, at) => at > arrow && kind === 'word' && !NOISE.test(text) && tokens[at + 1]?.text === '(',
  )
  if (arrow < 0 || called < 0) return null
  const isAlone = /^[),]$/.test(tokens[called + 3]?.text ?? '')
  return { name: tokens[called]!.text, text: isAlone ? literalOf(tokens.slice(called + 2, called + 3)) : null }
}

function readOptions(tokens: readonly Token[], { from, to }: { from: number; to: number }, text: string): FoundOptions {
  const open = tokens[from]!
  if (open.text !== '{' || closingOf(tokens, from) !== to - 1) {
    const properties = to - from === 1 ? variableProperties(tokens, open.text, text) : null
    return { kind: 'other', text: text.slice(open.start, tokens[to - 1]!.end).slice(0, 60), properties }
  }
  const first = partsBetween(tokens, from + 1, to - 1)[0]
  return {
    ...{ kind: 'literal', start: open.end, first: first === undefined ? null : tokens[first.from]!.start },
    ...readProperties(tokens, from, text),
  }
}

/** What stands in `const options = { … }`; `null`: there is no such line, or there are several. */
function variableProperties(tokens: readonly Token[], name: string, text: string): ReadonlyMap<string, string> | null {
  const opens = tokens.flatMap((token, index) => {
    if (token.text !== name || !/^(const|let|var)$/.test(tokens[index - 1]?.text ?? '')) return []
    // There may be a type in between.
    const equals = tokens.findIndex(({ text: mark }, at) => at > index && /^[=;({]$/.test(mark))
    return tokens[equals]?.text === '=' && tokens[equals + 1]?.text === '{' ? [equals + 1] : []
  })
  const [open] = opens
  return open === undefined || opens.length > 1 ? null : readProperties(tokens, open, text).properties
}

/** Of the object literal that begins at this bracket. */
function readProperties(
  tokens: readonly Token[],
  open: number,
  text: string,
): { readonly properties: ReadonlyMap<string, string>; readonly isWhole: boolean } {
  const parts = partsBetween(tokens, open + 1, closingOf(tokens, open))
  const properties = new Map<string, string>()
  let isWhole = true
  for (const part of parts) {
    const [key, mark] = [tokens[part.from]!, tokens[part.from + 1]]
    if (key.text === '...' || key.text === '[') isWhole = false
    else {
      const name = key.kind === 'string' ? key.text.slice(1, -1) : key.text
      const value = mark?.text === ':' ? text.slice(tokens[part.from + 2]?.start, tokens[part.to - 1]!.end) : name
      properties.set(name, value)
    }
  }
  return { properties, isWhole }
}

const EACH = /^(forEach|map|flatMap|filter|reduce)$/

/** Whether the call stands in the body of a loop, or in a function that is called for each element of a list. */
function isRepeated(tokens: readonly Token[], index: number): boolean {
  let depth = 0
  for (let at = index - 1; at >= 0; at--) {
    const { kind, text } = tokens[at]!
    if (kind !== 'mark') continue
    if (')]}'.includes(text)) depth++
    else if ('([{'.includes(text) && --depth < 0) {
      depth = 0
      if (text === '(' && EACH.test(tokens[at - 1]?.text ?? '')) return true
      if (text === '{' && isLoopBody(tokens, at)) return true
    }
  }
  return isLoopStatement(tokens, index)
}

/** `for (…) {`, `while (…) {`, `do {`. */
function isLoopBody(tokens: readonly Token[], open: number): boolean {
  if (tokens[open - 1]?.text === 'do') return true
  return isLoopStatement(tokens, open)
}

/** Whether what begins here is what a `for (…)` or `while (…)` repeats, without braces around it. */
function isLoopStatement(tokens: readonly Token[], index: number): boolean {
  if (tokens[index - 1]?.text !== ')') return false
  let depth = 0
  for (let at = index - 1; at >= 0; at--) {
    const { kind, text } = tokens[at]!
    if (kind !== 'mark') continue
    if (')]}'.includes(text)) depth++
    else if ('([{'.includes(text) && --depth === 0) {
      const word = tokens[at - 1]?.text
      return word === 'for' || word === 'while' || (word === 'await' && tokens[at - 2]?.text === 'for')
    }
  }
  return false
}
