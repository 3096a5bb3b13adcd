/**
 * Reads every message of the packages out of their source: the texts that reach an error, a warning, a note or a line of the doctor.
 * A text that is put together is followed through constants, tables, functions and callers. Unknown values become `…`.
 */
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
// TypeScript 7 has no compiler API.
import ts from 'typescript-5.9'
import { ERROR_CODES } from '../../packages/cronce/src/error-codes.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Stands for a value that is known only when the program runs. */
export const HOLE = '…'
/** More alternatives than any message has; beyond them the parts of a text are values. */
const MOST_TEXTS = 64
const DEEPEST = 12
/** Stands for `null` and `undefined`. */
const NONE = '\0'

export type Kind = 'error' | 'plain error' | 'warning' | 'note' | 'doctor'

export interface Message {
  readonly kind: Kind
  /** `file:line` of the call. */
  readonly place: string
  /** The code of an error, the check of the doctor; `null`: it has none. */
  readonly code: string | null
  /** The level of a line of the doctor. */
  readonly level: string | null
  readonly text: string
  /** `null`: no hint, or not always one. */
  readonly hints: readonly string[] | null
}

export interface Reading {
  readonly messages: readonly Message[]
  /** How many calls have a message. */
  readonly calls: number
  /** `file:line` of the calls whose text comes from elsewhere: another error, a server, the caller. */
  readonly unread: readonly string[]
  /** All other texts of several words: output of the CLI, help, descriptions, parts of messages. */
  readonly others: readonly { readonly place: string; readonly text: string }[]
}

/** A function that was entered, with the expressions that its parameters stand for. */
interface Frame {
  readonly values: ReadonlyMap<ts.Symbol, Bound>
}
/** `null`: the argument is left out. `'unknown'`: it is a value that the source does not show. */
interface Bound {
  readonly node: ts.Expression | null | 'unknown'
  readonly frame: Frame
}
interface Slots {
  readonly kind: Kind
  readonly code: ts.Expression | null
  readonly level: ts.Expression | null
  readonly text: ts.Expression
  /** The hint, or the object with a property `hint`. */
  readonly hint: ts.Expression | null
  readonly isInDetails: boolean
}

const NOWHERE: Frame = { values: new Map() }
const PLAIN_ERRORS = new Set(['Error', 'RangeError', 'TypeError'])
const CODED_ERRORS = new Set(['CronceError', 'StoreError', 'CronError'])
/** Describe a value in a few words. Separate tests check the article. */
const VALUE_WORDS = new Set(['kindOf', 'withArticle', 'show', 'shellWord'])
/** Their constructors pass on what `new` is given, which is read there. */
const SEEN_BY_CALLERS = new Set([...CODED_ERRORS, 'UsageError'])
const LOGGING = new Set(['warn', 'error', 'info'])

export function readMessages(): Reading {
  const files = globSync('packages/{cronce,cli,server,checker,conformance,nestjs}/src/**/*.ts', { cwd: ROOT })
    .filter((file) => !file.includes('/testing/'))
    .map((file) => join(ROOT, file))
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    paths: {
      cronce: [join(ROOT, 'packages/cronce/src/index.ts')],
      'cronce/*': [join(ROOT, 'packages/cronce/src/*.ts')],
      '@cronce/*': [join(ROOT, 'packages/*/src/index.ts')],
    },
  })
  const sources = files.map((file) => program.getSourceFile(file)!)
  return new Reader(program.getTypeChecker(), sources).read()
}

class Reader {
  readonly #checker: ts.TypeChecker
  readonly #sources: readonly ts.SourceFile[]
  /** Calls of a function, by its symbol. */
  readonly #calls = new Map<ts.Symbol, (ts.CallExpression | ts.NewExpression)[]>()
  readonly #reached = new Set<ts.Node>()

  constructor(checker: ts.TypeChecker, sources: readonly ts.SourceFile[]) {
    this.#checker = checker
    this.#sources = sources
  }

  read(): Reading {
    const sinks: Slots[] = []
    this.#each((node) => {
      const slots = slotsOf(node)
      if (slots !== null) sinks.push(slots)
      if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return
      const symbol = this.#symbolOf(node.expression)
      if (symbol === undefined) return
      const calls = this.#calls.get(symbol) ?? []
      calls.push(node)
      this.#calls.set(symbol, calls)
    })
    const messages = new Map<string, Message>()
    const unread: string[] = []
    for (const slots of sinks) {
      const found = this.#expand(slots, NOWHERE, 0)
      const known = found.filter(({ text }) => /\p{L}/u.test(text))
      if (known.length === 0) unread.push(placeOf(slots.text))
      for (const message of known) messages.set(JSON.stringify(message), message)
    }
    return { messages: [...messages.values()], calls: sinks.length, unread, others: this.#others() }
  }

  #each(visit: (node: ts.Node) => void): void {
    const walk = (node: ts.Node): void => {
      visit(node)
      ts.forEachChild(node, walk)
    }
    for (const source of this.#sources) walk(source)
  }

  /** The messages of one call; where its texts are parameters, those of every caller. */
  #expand(slots: Slots, frame: Frame, depth: number): readonly Message[] {
    const owner = this.#ownerOfParameters(slots, frame)
    const calls = owner === null ? [] : (this.#calls.get(this.#symbolOfFunction(owner)!) ?? [])
    if (owner !== null && calls.length > 0 && depth < 5) {
      return calls.flatMap((call) =>
        this.#expand(slots, this.#enter(owner, call.arguments ?? [], NOWHERE, frame), depth + 1),
      )
    }
    const { kind } = slots
    const place = placeOf(slots.text)
    const one = (node: ts.Expression | null): string | null =>
      node === null ? null : (this.#texts(node, frame, 0).find((text) => text !== HOLE) ?? null)
    const hints = this.#hintsOf(slots, frame)
    const codes = slots.code === null ? [slots.kind === 'error' ? 'USAGE' : null] : this.#texts(slots.code, frame, 0)
    return this.#texts(slots.text, frame, 0).flatMap((text) =>
      codes.map((code) => ({ kind, place, code, level: one(slots.level), text, hints })),
    )
  }

  #hintsOf({ hint, isInDetails }: Slots, frame: Frame): readonly string[] | null {
    if (hint === null) return null
    const found = isInDetails ? this.#members(hint, 'hint', frame) : [{ node: hint, frame }]
    const texts = found.flatMap((bound) => this.#boundTexts(bound, 0))
    return texts.length === 0 || texts.includes(NONE) ? null : texts
  }

  /** The function around the call, if its parameters are the message and not only a value in it. */
  #ownerOfParameters({ code, text, hint, level }: Slots, frame: Frame): ts.SignatureDeclaration | null {
    for (const slot of [code, text, hint, level]) {
      if (slot === null) continue
      const owner = this.#parameterAtEdge(slot, frame, 0)
      if (owner !== null) return owner
    }
    return null
  }

  #parameterAtEdge(given: ts.Expression, frame: Frame, depth: number): ts.SignatureDeclaration | null {
    const node = unwrap(given)
    if (depth > DEEPEST) return null
    const edge = (part: ts.Expression): ts.SignatureDeclaration | null => this.#parameterAtEdge(part, frame, depth + 1)
    if (ts.isIdentifier(node)) {
      const symbol = this.#symbolOf(node)
      if (symbol === undefined) return null
      const bound = frame.values.get(symbol)
      if (bound !== undefined) return null
      const declaration = symbol.valueDeclaration
      if (declaration === undefined) return null
      if (ts.isParameter(declaration)) return declaration.parent
      if (ts.isBindingElement(declaration)) return parameterOf(declaration)?.parent ?? null
      if (ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined)
        return edge(declaration.initializer)
      return null
    }
    if (ts.isTemplateExpression(node)) {
      const parts: ts.Expression[] = []
      if (node.head.text === '') parts.push(node.templateSpans[0]!.expression)
      const last = node.templateSpans.at(-1)!
      if (/^[.)]*$/.test(last.literal.text)) parts.push(last.expression)
      for (const part of parts) {
        const owner = edge(part)
        if (owner !== null && this.#isText(part)) return owner
      }
      return null
    }
    if (ts.isConditionalExpression(node)) return edge(node.whenTrue) ?? edge(node.whenFalse)
    if (ts.isBinaryExpression(node)) return edge(node.left) ?? edge(node.right)
    if (ts.isPropertyAccessExpression(node) && node.name.text === 'hint') return edge(node.expression)
    return null
  }

  #isText(node: ts.Expression): boolean {
    const type = this.#checker.getTypeAtLocation(node)
    return (type.flags & (ts.TypeFlags.String | ts.TypeFlags.StringLiteral | ts.TypeFlags.Union)) !== 0
  }

  #enter(owner: ts.SignatureDeclaration, args: readonly ts.Expression[], from: Frame, base: Frame): Frame {
    const values = new Map(base.values)
    for (const [index, parameter] of owner.parameters.entries()) {
      const node = args[index] ?? parameter.initializer ?? null
      if (ts.isIdentifier(parameter.name)) {
        const symbol = this.#checker.getSymbolAtLocation(parameter.name)
        if (symbol !== undefined) values.set(symbol, { node, frame: from })
      } else if (ts.isObjectBindingPattern(parameter.name)) {
        for (const element of parameter.name.elements) {
          const symbol = ts.isIdentifier(element.name) ? this.#checker.getSymbolAtLocation(element.name) : undefined
          if (symbol === undefined) continue
          const key = (element.propertyName ?? element.name).getText()
          const value = node === null ? null : this.#member(node, key, from)
          values.set(symbol, value ?? { node: element.initializer ?? 'unknown', frame: from })
        }
      }
    }
    return { values }
  }

  /** What `object.key` stands for, if the object is written down somewhere. */
  #member(object: ts.Expression, key: string, frame: Frame): Bound | null {
    return this.#members(object, key, frame)[0] ?? null
  }

  #members(given: ts.Expression, key: string, frame: Frame): readonly Bound[] {
    const node = unwrap(given)
    if (ts.isObjectLiteralExpression(node)) return this.#propertiesOf(node, key, frame)
    if (ts.isConditionalExpression(node)) {
      return [...this.#members(node.whenTrue, key, frame), ...this.#members(node.whenFalse, key, frame)]
    }
    if (!ts.isIdentifier(node)) return []
    const symbol = this.#symbolOf(node)
    if (symbol === undefined) return []
    const bound = frame.values.get(symbol)
    if (bound !== undefined) return isGiven(bound) ? this.#members(bound.node, key, bound.frame) : []
    const declaration = symbol.valueDeclaration
    if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return []
    return declaration.initializer === undefined ? [] : this.#members(declaration.initializer, key, frame)
  }

  #propertiesOf(object: ts.ObjectLiteralExpression, key: string, frame: Frame): readonly Bound[] {
    const own = propertyOf(object, key)
    if (own !== null) return [{ node: own, frame }]
    return object.properties.flatMap((property) =>
      ts.isSpreadAssignment(property) ? this.#members(property.expression, key, frame) : [],
    )
  }

  /** All texts that an expression can be; `NONE` only where its type has `null` or `undefined`. */
  #texts(given: ts.Expression, frame: Frame, depth: number): readonly string[] {
    const node = unwrap(given)
    if (depth > DEEPEST) return [HOLE]
    const texts = this.#anyTexts(node, frame, depth)
    if (!texts.includes(NONE) || this.#mayBeNone(given)) return texts
    const known = texts.filter((text) => text !== NONE)
    return known.length === 0 ? [HOLE] : known
  }

  #mayBeNone(node: ts.Expression): boolean {
    const type = this.#checker.getTypeAtLocation(node)
    const types = type.isUnion() ? type.types : [type]
    return types.some(({ flags }) => flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.Any))
  }

  #anyTexts(node: ts.Expression, frame: Frame, depth: number): readonly string[] {
    const texts = (part: ts.Expression, inside = frame): readonly string[] => this.#texts(part, inside, depth + 1)
    if (ts.isStringLiteralLike(node)) {
      this.#reached.add(node)
      return [node.text]
    }
    if (ts.isTemplateExpression(node)) {
      this.#reached.add(node)
      return concat([
        [node.head.text],
        ...node.templateSpans.flatMap((span) => [texts(span.expression).map(shown), [span.literal.text]]),
      ])
    }
    if (ts.isConditionalExpression(node))
      return unique(this.#branchesOf(node, frame, depth).flatMap((branch) => texts(branch)))
    if (ts.isBinaryExpression(node)) {
      const { kind } = node.operatorToken
      if (kind === ts.SyntaxKind.PlusToken) return concat([texts(node.left), texts(node.right)])
      if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken) {
        const left = texts(node.left)
        const isAlways = !left.includes(NONE) && !left.includes(HOLE)
        return isAlways ? left : unique([...left.filter((text) => text !== NONE), ...texts(node.right)])
      }
      return [HOLE]
    }
    if (isNone(node)) return [NONE]
    if (ts.isIdentifier(node)) return this.#named(node, frame, depth)
    if (ts.isCallExpression(node)) return this.#called(node, frame, depth)
    if (ts.isPropertyAccessExpression(node)) {
      const member = this.#member(node.expression, node.name.text, frame)
      if (member === null) return [HOLE]
      return this.#boundTexts(member, depth + 1)
    }
    if (ts.isElementAccessExpression(node)) {
      const table = this.#objectOf(node.expression, frame)
      const values = table?.properties.flatMap((property) =>
        ts.isPropertyAssignment(property) ? [property.initializer] : [],
      )
      return values === undefined || values.length === 0 ? [HOLE] : unique(values.flatMap((value) => texts(value)))
    }
    return [HOLE]
  }

  /** Without the branch that is never taken here: `expected === undefined ? … : …` where `expected` is known. */
  #branchesOf(node: ts.ConditionalExpression, frame: Frame, depth: number): readonly ts.Expression[] {
    const { condition, whenTrue, whenFalse } = node
    const operator = ts.isBinaryExpression(condition) ? condition.operatorToken.kind : null
    const isEqual = operator === ts.SyntaxKind.EqualsEqualsEqualsToken
    if (!ts.isBinaryExpression(condition) || !isNone(condition.right)) return [whenTrue, whenFalse]
    const [ifNone, ifGiven] = isEqual ? [whenTrue, whenFalse] : [whenFalse, whenTrue]
    const texts = this.#texts(condition.left, frame, depth + 1)
    if (texts.every((text) => text === NONE)) return [ifNone]
    return texts.includes(NONE) || texts.includes(HOLE) ? [whenTrue, whenFalse] : [ifGiven]
  }

  #boundTexts(bound: Bound, depth: number): readonly string[] {
    if (isGiven(bound)) return this.#texts(bound.node, bound.frame, depth)
    return [bound.node === null ? NONE : HOLE]
  }

  #named(node: ts.Identifier, frame: Frame, depth: number): readonly string[] {
    const symbol = this.#symbolOf(node)
    if (symbol === undefined) return [HOLE]
    const bound = frame.values.get(symbol)
    if (bound !== undefined) return this.#boundTexts(bound, depth + 1)
    const declaration = symbol.valueDeclaration
    if (declaration === undefined) return [HOLE]
    if (ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined) {
      return this.#texts(declaration.initializer, frame, depth + 1)
    }
    if (ts.isBindingElement(declaration) && ts.isVariableDeclaration(declaration.parent.parent)) {
      const from = declaration.parent.parent.initializer
      const key = (declaration.propertyName ?? declaration.name).getText()
      const member = from === undefined ? null : this.#member(from, key, frame)
      if (member !== null) return this.#boundTexts(member, depth + 1)
      return declaration.initializer === undefined
        ? [HOLE]
        : unique([HOLE, ...this.#texts(declaration.initializer, frame, depth + 1)])
    }
    return [HOLE]
  }

  #called(node: ts.CallExpression, frame: Frame, depth: number): readonly string[] {
    const callee = unwrap(node.expression)
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'join') {
      const list = unwrap(callee.expression)
      const between = node.arguments[0]
      if (!ts.isArrayLiteralExpression(list) || between === undefined || !ts.isStringLiteralLike(between)) return [HOLE]
      const parts = list.elements.map((element) => this.#texts(element, frame, depth + 1))
      return concat(parts.flatMap((part, index) => (index === 0 ? [part] : [[between.text], part])))
    }
    const functions = VALUE_WORDS.has(calleeName(node)) ? [] : this.#functionsOf(callee, frame)
    if (functions.length === 0) return [HOLE]
    return unique(
      functions.flatMap((called) => {
        const inside = this.#enter(called, node.arguments, frame, frame)
        return returnsOf(called).flatMap((result) => this.#texts(result, inside, depth + 1))
      }),
    )
  }

  #functionsOf(callee: ts.Expression, frame: Frame): readonly ts.FunctionLikeDeclaration[] {
    if (ts.isElementAccessExpression(callee)) {
      const table = this.#objectOf(callee.expression, frame)
      return (table?.properties ?? []).flatMap((property) =>
        ts.isPropertyAssignment(property) ? this.#functionsOf(unwrap(property.initializer), frame) : [],
      )
    }
    if (ts.isArrowFunction(callee) || ts.isFunctionExpression(callee)) return [callee]
    const symbol = this.#symbolOf(callee)
    const bound = symbol === undefined ? undefined : frame.values.get(symbol)
    if (bound !== undefined && isGiven(bound)) return this.#functionsOf(unwrap(bound.node), bound.frame)
    const declaration = symbol?.valueDeclaration
    if (declaration === undefined || declaration.getSourceFile().isDeclarationFile) return []
    if (ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration)) return [declaration]
    if (ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined) {
      return this.#functionsOf(unwrap(declaration.initializer), frame)
    }
    return []
  }

  #objectOf(given: ts.Expression, frame: Frame): ts.ObjectLiteralExpression | null {
    const node = unwrap(given)
    if (ts.isObjectLiteralExpression(node)) return node
    if (!ts.isIdentifier(node)) return null
    const symbol = this.#symbolOf(node)
    const bound = symbol === undefined ? undefined : frame.values.get(symbol)
    if (bound !== undefined && isGiven(bound)) return this.#objectOf(bound.node, bound.frame)
    const declaration = symbol?.valueDeclaration
    if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return null
    return declaration.initializer === undefined ? null : this.#objectOf(declaration.initializer, frame)
  }

  #symbolOf(node: ts.Node): ts.Symbol | undefined {
    const shorthand = ts.isIdentifier(node) && ts.isShorthandPropertyAssignment(node.parent)
    const symbol = shorthand
      ? this.#checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.#checker.getSymbolAtLocation(node)
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  /** Of a constructor, the class: that is what `new` names. */
  #symbolOfFunction(owner: ts.SignatureDeclaration): ts.Symbol | undefined {
    if (ts.isConstructorDeclaration(owner)) return this.#checker.getSymbolAtLocation(owner.parent.name!)
    if (owner.name !== undefined) return this.#checker.getSymbolAtLocation(owner.name)
    const variable = owner.parent
    return ts.isVariableDeclaration(variable) ? this.#checker.getSymbolAtLocation(variable.name) : undefined
  }

  #others(): Reading['others'] {
    const found: { place: string; text: string }[] = []
    this.#each((node) => {
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return
      if (this.#reached.has(node)) return
      const text = ts.isTemplateExpression(node)
        ? node.head.text + node.templateSpans.map(({ literal }) => HOLE + literal.text).join('')
        : node.text
      if (/[a-z]{2,} [a-z]/.test(text)) found.push({ place: placeOf(node), text })
    })
    return found
  }
}

/** Which parts of an expression are a message, its code and its hint. */
function slotsOf(node: ts.Node): Slots | null {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) return slotsOfCall(node)
  if (ts.isArrayLiteralExpression(node)) return slotsOfList(node.elements)
  return ts.isObjectLiteralExpression(node) ? slotsOfObject(node) : null
}

function slots(kind: Kind, text: ts.Expression, rest: Partial<Slots> = {}): Slots {
  return { code: null, level: null, hint: null, isInDetails: false, kind, text, ...rest }
}

function slotsOfCall(node: ts.CallExpression | ts.NewExpression): Slots | null {
  const args = node.arguments ?? []
  const [first, second, third = null, fourth = null] = args
  const name = calleeName(node)
  if (first === undefined) return null
  if (name === 'super' && SEEN_BY_CALLERS.has(classAround(node))) return null
  if (CODED_ERRORS.has(name) || (name === 'super' && args.length >= 2)) {
    return second === undefined ? null : slots('error', second, { code: first, hint: third, isInDetails: true })
  }
  if (name === 'UsageError') return slots('error', first, { hint: second ?? null })
  if (PLAIN_ERRORS.has(name) || name === 'super') return slots('plain error', first)
  if (name === 'finding' && third !== null) {
    return slots('doctor', third, { code: first, level: second ?? null, hint: fourth })
  }
  if (name === 'note') return slots('note', first)
  if (LOGGING.has(name))
    return isWarningCode(first) && second !== undefined
      ? slots('warning', second, { code: first })
      : slots('warning', first)
  return slotsOfList(args)
}

/** `['STORE_LOST', message, hint]`: a line of a table, or the arguments of a function that makes an error. */
function slotsOfList([code, text, hint]: readonly ts.Expression[]): Slots | null {
  if (code === undefined || text === undefined || !isCode(code) || !isTextual(text)) return null
  // Lines without a hint share the one of the function that reads the table.
  return slots(hint === undefined && ts.isArrayLiteralExpression(code.parent) ? 'note' : 'error', text, {
    code,
    hint: hint ?? null,
  })
}

/** `{ refused: 'QUEUE_FULL', message, hint }` is an error; `{ code, message }` reports one, with the fix in its message. */
function slotsOfObject(node: ts.ObjectLiteralExpression): Slots | null {
  const refused = propertyOf(node, 'refused')
  const code = refused ?? propertyOf(node, 'code')
  const text = propertyOf(node, 'message')
  if (code === null || text === null || !(ts.isStringLiteralLike(code) || ts.isIdentifier(code))) return null
  return slots(refused === null ? 'note' : 'error', text, { code, hint: propertyOf(node, 'hint') })
}

function isCode(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) && Object.hasOwn(ERROR_CODES, node.text)
}

function isWarningCode(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) && /^[A-Z]+(?:_[A-Z]+)+$/.test(node.text)
}

function classAround(node: ts.Node): string {
  let around = node
  while (!ts.isClassLike(around)) around = around.parent
  return around.name?.text ?? ''
}

function isTextual(node: ts.Expression): boolean {
  const inside = unwrap(node)
  return (
    (ts.isStringLiteralLike(inside) || ts.isTemplateExpression(inside) || ts.isIdentifier(inside)) && !isCode(inside)
  )
}

function propertyOf(object: ts.ObjectLiteralExpression, key: string): ts.Expression | null {
  for (const property of object.properties) {
    if (property.name === undefined || nameText(property.name) !== key) continue
    if (ts.isPropertyAssignment(property)) return property.initializer
    if (ts.isShorthandPropertyAssignment(property)) return property.name
  }
  return null
}

function calleeName({ expression }: ts.CallExpression | ts.NewExpression): string {
  if (expression.kind === ts.SyntaxKind.SuperKeyword) return 'super'
  if (ts.isIdentifier(expression)) return expression.text
  return ts.isPropertyAccessExpression(expression) ? expression.name.text.replace('#', '') : ''
}

function isNone(node: ts.Expression): boolean {
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === 'undefined')
}

function shown(text: string): string {
  return text === NONE ? HOLE : text
}

function isGiven(bound: Bound): bound is Bound & { readonly node: ts.Expression } {
  return bound.node !== null && bound.node !== 'unknown'
}

function unwrap(node: ts.Expression): ts.Expression {
  let inside = node
  while (
    ts.isParenthesizedExpression(inside) ||
    ts.isAsExpression(inside) ||
    ts.isSatisfiesExpression(inside) ||
    ts.isNonNullExpression(inside) ||
    ts.isAwaitExpression(inside)
  ) {
    inside = inside.expression
  }
  return inside
}

function nameText(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : name.getText()
}

function parameterOf(element: ts.BindingElement): ts.ParameterDeclaration | null {
  let node: ts.Node = element
  while (ts.isBindingElement(node) || ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node))
    node = node.parent
  return ts.isParameter(node) ? node : null
}

function returnsOf(called: ts.FunctionLikeDeclaration): readonly ts.Expression[] {
  const { body } = called
  if (body === undefined) return []
  if (!ts.isBlock(body)) return [body]
  const found: ts.Expression[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression)
    ts.forEachChild(node, walk)
  }
  ts.forEachChild(body, walk)
  return found
}

function placeOf(node: ts.Node): string {
  const source = node.getSourceFile()
  const { line } = source.getLineAndCharacterOfPosition(node.getStart())
  return `${relative(ROOT, source.fileName)}:${line + 1}`
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}

/** Every way to put one alternative of each part behind the other. */
function concat(parts: readonly (readonly string[])[]): readonly string[] {
  let whole: readonly string[] = ['']
  for (const part of parts) {
    const next = whole.length * part.length > MOST_TEXTS ? [HOLE] : part
    whole = whole.flatMap((start) => next.map((end) => start + end))
  }
  return whole
}
