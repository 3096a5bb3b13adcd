import {
  enclosingFunction,
  findAll,
  isClass,
  isFunction,
  isNode,
  keyOf,
  type Node,
  nameOf,
  pathOf,
  propertyOf,
  unwrap,
} from './ast.ts'
import { importOf, lookup, type Module } from './module.ts'
import { followExport, type Modules } from './modules.ts'
import { NEST_EXPRESSIONS } from './nest-expressions.ts'

/** What an expression is known to be. `env`: an environment variable, with what is taken when it is not set. */
export type Value =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'boolean'; readonly boolean: boolean }
  | { readonly kind: 'nothing' }
  /** An object, array, function or class, where it is written. */
  | { readonly kind: 'node'; readonly node: Node; readonly module: Module }
  | { readonly kind: 'env'; readonly name: string; readonly fallback: Value | null }
  | { readonly kind: 'unknown' }

const UNKNOWN: Value = { kind: 'unknown' }
const MAX_DEPTH = 12

export function evaluate(modules: Modules, module: Module, written: Node, depth = MAX_DEPTH): Value {
  if (depth === 0) return UNKNOWN
  const node = unwrap(written)
  switch (node.type) {
    case 'Literal':
      return literal(node.value)
    case 'TemplateLiteral':
      return template(modules, module, node, depth)
    case 'Identifier':
      return identifier(modules, module, node, depth)
    case 'MemberExpression':
      return member(modules, module, node, depth)
    case 'LogicalExpression':
      return logical(modules, module, node, depth)
    case 'BinaryExpression':
      return binary(
        evaluate(modules, module, node.left!, depth - 1),
        node.operator!,
        evaluate(modules, module, node.right!, depth - 1),
      )
    case 'UnaryExpression':
      return unary(evaluate(modules, module, node.argument!, depth - 1), node.operator!)
    case 'CallExpression':
      return called(modules, module, node, depth)
    default:
      return isObjectLike(node) ? { kind: 'node', node, module } : UNKNOWN
  }
}

/** The text of a value, or what it is when the environment says nothing. */
export function textOf(value: Value): string | null {
  if (value.kind === 'text') return value.text
  if (value.kind === 'env' && value.fallback !== null) return textOf(value.fallback)
  return null
}

export function numberOf(value: Value): number | null {
  if (value.kind === 'number') return value.number
  if (value.kind === 'env' && value.fallback !== null) return numberOf(value.fallback)
  if (value.kind === 'text' && /^\d+$/.test(value.text)) return Number(value.text)
  return null
}

function isObjectLike(node: Node): boolean {
  return (
    ['ObjectExpression', 'ArrayExpression', 'NewExpression'].includes(node.type) || isFunction(node) || isClass(node)
  )
}

function literal(value: unknown): Value {
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'number') return { kind: 'number', number: value }
  if (typeof value === 'boolean') return { kind: 'boolean', boolean: value }
  return value === null ? { kind: 'nothing' } : UNKNOWN
}

function template(modules: Modules, module: Module, node: Node, depth: number): Value {
  let text = ''
  for (const [index, quasi] of (node.quasis ?? []).entries()) {
    text += (quasi.value as { cooked: string }).cooked
    const hole = node.expressions?.[index]
    if (hole === undefined) continue
    const value = evaluate(modules, module, hole, depth - 1)
    const filled = textOf(value) ?? numberOf(value)
    if (filled === null) return UNKNOWN
    text += String(filled)
  }
  return { kind: 'text', text }
}

function identifier(modules: Modules, module: Module, node: Node, depth: number): Value {
  const name = node.name as string
  if (name === 'undefined') return { kind: 'nothing' }
  const declared = lookup(module, name, node)
  if (declared?.kind === 'class' || declared?.kind === 'enum') return { kind: 'node', node: declared.node, module }
  const isOwn = declared?.kind === 'variable' && !module.imports.has(name)
  if (isOwn && declared.init !== null && (declared.isConst || !isAssigned(module, name))) {
    const value = evaluate(modules, module, declared.init, depth - 1)
    return declared.path.reduce((at, key) => property(modules, at, key, depth - 1), value)
  }
  const made = isOwn && !declared.isConst ? madeLater(module, name, declared.init) : null
  if (made !== null) return { kind: 'node', node: made, module }
  const binding = importOf(module, node)
  return binding === null ? UNKNOWN : exported(modules, module.path, binding, depth)
}

const objects = new WeakMap<Module, ReadonlyMap<string, readonly Node[]>>()

/** `let service = null`, and later `service = new Service()`, the only object that it is ever given. */
function madeLater(module: Module, name: string, init: Node | null): Node | null {
  if (init !== null && !isEmptyValue(init)) return null
  let given = objects.get(module)
  if (given === undefined) {
    const writes = findAll(module.program, isWriteOfName).filter(({ right }) => !isEmptyValue(right!))
    given = new Map(
      [...Map.groupBy(writes, ({ left }) => nameOf(left)!)].map(([key, each]) => [
        key,
        each.map(({ right }) => right!),
      ]),
    )
    objects.set(module, given)
  }
  const [only, ...others] = (given.get(name) ?? []).map(unwrap)
  return only?.type === 'NewExpression' && others.length === 0 ? only : null
}

function isWriteOfName({ type, left }: Node): boolean {
  return type === 'AssignmentExpression' && left?.type === 'Identifier'
}

function isEmptyValue(written: Node): boolean {
  const node = unwrap(written)
  return (node.type === 'Literal' && node.value === null) || nameOf(node) === 'undefined'
}

const writes = new WeakMap<Module, Map<string, number>>()

/** Whether a variable is written after its declaration; any variable of the same name counts. */
function isAssigned(module: Module, name: string): boolean {
  let counts = writes.get(module)
  if (counts === undefined) {
    counts = new Map()
    for (const [, found] of module.text.matchAll(/([\w$]+)\s*(?:[-+*/|&?]{0,2}=(?![=>])|\+\+|--)/g)) {
      counts.set(found!, (counts.get(found!) ?? 0) + 1)
    }
    writes.set(module, counts)
  }
  return (counts.get(name) ?? 0) > 1
}

function exported(modules: Modules, from: string, binding: { from: string; name: string }, depth: number): Value {
  if (depth <= 0) return UNKNOWN
  const found = followExport(modules, from, binding)
  if (found === null) return UNKNOWN
  const { module, name } = found
  if (name === '*') {
    const target = module.exports.get('default')
    return target !== undefined && 'node' in target
      ? evaluate(modules, module, target.node, depth - 1)
      : { kind: 'node', node: module.program, module }
  }
  return exportValue(modules, module, name, depth)
}

function exportValue(modules: Modules, module: Module, name: string, depth: number): Value {
  const target = module.exports.get(name)
  if (target === undefined || 'from' in target) return UNKNOWN
  if ('node' in target) return evaluate(modules, module, target.node, depth - 1)
  const declared = module.scopes.get(module.program)?.get(target.local)
  if (declared === undefined) return UNKNOWN
  if (declared.kind === 'variable' && declared.init !== null) return evaluate(modules, module, declared.init, depth - 1)
  if (declared.kind === 'import') return exported(modules, module.path, module.imports.get(target.local)!, depth - 1)
  return declared.kind === 'parameter' ? UNKNOWN : { kind: 'node', node: declared.node, module }
}

function member(modules: Modules, module: Module, node: Node, depth: number): Value {
  const path = pathOf(node)
  const known = wellKnown(module, path)
  if (known !== null) return known
  if (path[0] === 'this' && path.length === 2) {
    const holder = classAround(node)
    return holder === null ? UNKNOWN : classMember(modules, module, holder, path[1]!, depth)
  }
  const key = keyOf(node)
  if (key === null) return UNKNOWN
  const binding = node.object!.type === 'Identifier' ? importOf(module, node.object!) : null
  if (binding?.name === '*') {
    const direct = exported(modules, module.path, { from: binding.from, name: key }, depth)
    if (direct.kind !== 'unknown') return direct
  }
  return property(modules, evaluate(modules, module, node.object!, depth - 1), key, depth - 1)
}

/** `process.env.X` and `CronExpression.X` of Nest. */
function wellKnown(module: Module, path: readonly string[]): Value | null {
  if (path.length === 3 && path[0] === 'process' && path[1] === 'env')
    return { kind: 'env', name: path[2]!, fallback: null }
  if (path.length !== 2 || module.imports.get(path[0]!)?.name !== 'CronExpression') return null
  const expression = NEST_EXPRESSIONS[path[1]!]
  return expression === undefined ? null : { kind: 'text', text: expression }
}

export function classAround(node: Node): Node | null {
  for (let at = node.parent; at !== null; at = at.parent) if (isClass(at)) return at
  return null
}

function classMember(modules: Modules, module: Module, holder: Node, name: string, depth: number): Value {
  const members = (holder.body as Node | undefined)?.body
  for (const each of Array.isArray(members) ? (members as readonly Node[]) : []) {
    if (keyOf(each) !== name || !isNode(each.value)) continue
    return each.type === 'MethodDefinition'
      ? { kind: 'node', node: each.value, module }
      : evaluate(modules, module, each.value, depth - 1)
  }
  const given = fieldValue(holder, name)
  return given === null ? UNKNOWN : evaluate(modules, module, given, depth - 1)
}

const fields = new WeakMap<Node, Map<string, readonly Node[]>>()

/** `this.interval = 60_000` in the constructor, if nothing else in the class writes the field. */
export function fieldValue(holder: Node, name: string): Node | null {
  let writes = fields.get(holder)
  if (writes === undefined) {
    writes = Map.groupBy(findAll(holder, isWriteOfField), ({ left }) => keyOf(left!) ?? '')
    fields.set(holder, writes)
  }
  const [only, ...others] = writes.get(name) ?? []
  if (only === undefined || others.length > 0) return null
  return enclosingFunction(only)?.parent?.kind === 'constructor' ? only.right! : null
}

function isWriteOfField({ type, left }: Node): boolean {
  return type === 'AssignmentExpression' && left?.type === 'MemberExpression' && left.object?.type === 'ThisExpression'
}

/** The property of an object literal, enum, class or module. */
function property(modules: Modules, value: Value, key: string, depth: number): Value {
  if (value.kind !== 'node' || depth <= 0) return UNKNOWN
  const { node, module } = value
  switch (node.type) {
    case 'ObjectExpression':
      return evaluateOr(modules, module, propertyOf(node, key), depth)
    case 'ArrayExpression':
      return evaluateOr(modules, module, node.elements?.[Number(key)], depth)
    case 'TSEnumDeclaration':
      return evaluateOr(modules, module, enumMember(node, key), depth)
    case 'Program':
      return exportValue(modules, module, key, depth)
    case 'NewExpression': {
      const made = evaluate(modules, module, node.callee!, depth - 1)
      if (made.kind !== 'node' || !isClass(made.node)) return UNKNOWN
      return classMember(modules, made.module, made.node, key, depth)
    }
    default:
      return isClass(node) ? classMember(modules, module, node, key, depth) : UNKNOWN
  }
}

function evaluateOr(modules: Modules, module: Module, node: Node | null | undefined, depth: number): Value {
  return node == null ? UNKNOWN : evaluate(modules, module, node, depth - 1)
}

function enumMember(node: Node, key: string): Node | null | undefined {
  const body = node.body as Node | undefined
  return (body?.members ?? node.members ?? []).find(({ id }) => nameOf(id) === key)?.initializer
}

function logical(modules: Modules, module: Module, node: Node, depth: number): Value {
  const left = evaluate(modules, module, node.left!, depth - 1)
  if (node.operator === '&&') return UNKNOWN
  if (left.kind === 'env' && left.fallback === null) {
    const fallback = evaluate(modules, module, node.right!, depth - 1)
    return { ...left, fallback }
  }
  if (left.kind === 'nothing') return evaluate(modules, module, node.right!, depth - 1)
  if (left.kind !== 'unknown') return left
  // `config.x || literal`: the literal is what is taken when nothing is configured.
  const fallback = evaluate(modules, module, node.right!, depth - 1)
  return fallback.kind === 'unknown' ? UNKNOWN : { kind: 'env', name: pathOf(node.left!).join('.'), fallback }
}

function binary(left: Value, operator: string, right: Value): Value {
  if (operator === '+' && (left.kind === 'text' || right.kind === 'text')) {
    const [a, b] = [textOf(left) ?? numberOf(left), textOf(right) ?? numberOf(right)]
    return a === null || b === null ? UNKNOWN : { kind: 'text', text: `${a}${b}` }
  }
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a === null || b === null) return UNKNOWN
  const results: Readonly<Record<string, number>> = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '/': a / b,
    '**': a ** b,
    '%': a % b,
  }
  const number = results[operator]
  return number === undefined ? UNKNOWN : { kind: 'number', number }
}

function unary(value: Value, operator: string): Value {
  const number = numberOf(value)
  if (operator === '-' && number !== null) return { kind: 'number', number: -number }
  if (operator === '+' && number !== null) return { kind: 'number', number }
  if (operator === '!' && value.kind === 'boolean') return { kind: 'boolean', boolean: !value.boolean }
  return UNKNOWN
}

/** Conversions, and functions that only return a value: `Number(x)`, `parseInt(x)`, `String(x)`, `config.get('X', 'y')`. */
function called(modules: Modules, module: Module, node: Node, depth: number): Value {
  const path = pathOf(node.callee!)
  const name = path.at(-1)!
  const [first, second] = node.arguments ?? []
  if (first === undefined) return UNKNOWN
  if (['Number', 'parseInt', 'parseFloat', 'String'].includes(name)) return evaluate(modules, module, first, depth - 1)
  if (path.length === 1 && name === 'ms') return duration(textOf(evaluate(modules, module, first, depth - 1)))
  if (path[0] === 'Object' && name === 'freeze') return evaluate(modules, module, first, depth - 1)
  if (name === 'get' && first.type === 'Literal') {
    const fallback = second === undefined ? null : evaluate(modules, module, second, depth - 1)
    return { kind: 'env', name: String(first.value), fallback: fallback?.kind === 'unknown' ? null : fallback }
  }
  return UNKNOWN
}

const UNITS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
])

/** `ms('6h')` and `ms('10 minutes')`, of the package `ms`. */
function duration(text: string | null): Value {
  const [, count, word = 'ms'] = /^(\d+(?:\.\d+)?)\s*([a-z]+)?$/i.exec(text ?? '') ?? []
  const unit = /^(?:ms|msecs?|milliseconds?)$/i.test(word) ? 'ms' : word.slice(0, 1).toLowerCase()
  const size = UNITS.get(unit)
  return count === undefined || size === undefined ? UNKNOWN : { kind: 'number', number: Number(count) * size }
}
