import { lastName, type PythonModule, resolved } from './module.ts'
import type { Node } from './parser.ts'

/** What an expression is, as far as the module alone says it. */
export type Value =
  | { readonly kind: 'text'; readonly text: string; readonly line: number }
  | { readonly kind: 'number'; readonly number: number; readonly line: number }
  | { readonly kind: 'bool'; readonly isTrue: boolean; readonly line: number }
  | { readonly kind: 'none'; readonly line: number }
  | { readonly kind: 'list'; readonly items: readonly Value[]; readonly line: number }
  | { readonly kind: 'dict'; readonly entries: readonly Entry[]; readonly isOpen: boolean; readonly line: number }
  | { readonly kind: 'call'; readonly callee: string; readonly node: Node; readonly line: number }
  | { readonly kind: 'unknown'; readonly text: string; readonly line: number }

export interface Entry {
  readonly key: string
  readonly value: Value
  readonly line: number
}

const MAX_DEPTH = 12

export function evaluate(module: PythonModule, node: Node | null | undefined, depth = 0): Value {
  if (node === null || node === undefined) return { kind: 'unknown', text: '', line: 0 }
  const line = node.startPosition.row + 1
  const unknown: Value = { kind: 'unknown', text: node.text.slice(0, 100), line }
  if (depth > MAX_DEPTH) return unknown
  const inner = (of: Node | null | undefined) => evaluate(module, of, depth + 1)
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
      return textOf(node, line) ?? unknown
    case 'list':
    case 'tuple':
      return { kind: 'list', items: elements(node).map(inner), line }
    case 'dictionary':
      return dictOf(module, node, line, depth)
    default:
      return constant(node, line) ?? compound(module, node, depth) ?? unknown
  }
}

function constant(node: Node, line: number): Value | null {
  switch (node.type) {
    case 'integer':
    case 'float':
      return { kind: 'number', number: Number(node.text.replaceAll('_', '')), line }
    case 'true':
    case 'false':
      return { kind: 'bool', isTrue: node.type === 'true', line }
    case 'none':
      return { kind: 'none', line }
    default:
      return null
  }
}

function compound(module: PythonModule, node: Node, depth: number): Value | null {
  const inner = (of: Node | null | undefined) => evaluate(module, of, depth + 1)
  switch (node.type) {
    case 'parenthesized_expression':
      return inner(node.namedChildren[0])
    case 'unary_operator':
      return negated(node, inner(node.childForFieldName('argument')))
    case 'binary_operator':
      return folded(node, inner(node.childForFieldName('left')), inner(node.childForFieldName('right')))
    case 'boolean_operator': {
      const left = inner(node.childForFieldName('left'))
      return left.kind === 'unknown' || left.kind === 'none' ? inner(node.childForFieldName('right')) : left
    }
    case 'identifier':
    case 'attribute':
      return constantOf(module, node, depth)
    case 'call':
      return callValue(module, node, depth)
    default:
      return null
  }
}

function elements(node: Node): readonly Node[] {
  return node.namedChildren.filter(({ type }) => type !== 'comment')
}

function textOf(node: Node, line: number): Value | null {
  if (node.descendantsOfType('interpolation').length > 0) return null
  const parts = node.type === 'string' ? [node] : node.namedChildren.filter(({ type }) => type === 'string')
  const text = parts.map((part) => part.text.replace(/^\w*?('''|"""|'|")([\s\S]*)\1$/, '$2')).join('')
  return { kind: 'text', text, line }
}

function dictOf(module: PythonModule, node: Node, line: number, depth: number): Value {
  const entries: Entry[] = []
  let isOpen = false
  for (const pair of elements(node)) {
    const key = pair.type === 'pair' ? evaluate(module, pair.childForFieldName('key'), depth + 1) : null
    if (key?.kind !== 'text') isOpen = true
    else {
      const value = evaluate(module, pair.childForFieldName('value'), depth + 1)
      entries.push({ key: key.text, value, line: pair.startPosition.row + 1 })
    }
  }
  return { kind: 'dict', entries, isOpen, line }
}

function negated(node: Node, argument: Value): Value | null {
  if (argument.kind !== 'number' || !node.text.startsWith('-')) return null
  return { ...argument, number: -argument.number }
}

function folded(node: Node, left: Value, right: Value): Value | null {
  const operator = node.childForFieldName('operator')?.text
  if (left.kind === 'text' && right.kind === 'text' && operator === '+')
    return { ...left, text: `${left.text}${right.text}`.slice(0, 10_000) }
  if (left.kind !== 'number' || right.kind !== 'number') return null
  const a = left.number
  const b = right.number
  const results: Readonly<Record<string, number>> = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '/': a / b,
    '//': Math.floor(a / b),
  }
  const number = results[operator ?? '']
  return number === undefined ? null : { ...left, number }
}

/** A name that is assigned once. Names that are imported from other modules stay unknown. */
function constantOf(module: PythonModule, node: Node, depth: number): Value | null {
  const assigned = module.constants.get(lastName(node.text)) ?? []
  const isOwn = node.type === 'identifier' ? !module.imports.has(node.text) : isOwnAttribute(module, node.text)
  if (assigned.length !== 1 || !isOwn) return null
  return evaluate(module, assigned[0], depth + 1)
}

function isOwnAttribute(module: PythonModule, text: string): boolean {
  return !module.imports.has(text.split('.')[0]!)
}

const FROM_ENVIRONMENT = /(?:^|\.)(?:getenv|environ\.get|config|env(?:\.(?:str|int|bool|float))?|get_env\w*)$/
const CONVERSIONS = new Set(['int', 'str', 'float', 'bool'])

/** A setting of the environment has its default, unless the operator says otherwise. */
function callValue(module: PythonModule, node: Node, depth: number): Value | null {
  const line = node.startPosition.row + 1
  const callee = (node.childForFieldName('function')?.text ?? '').replace(/\s+/g, '')
  const given = elements(node.childForFieldName('arguments') ?? node)
  const positional = given.filter(({ type }) => type !== 'keyword_argument')
  const keyword = (name: string) =>
    given.find((argument) => argument.childForFieldName('name')?.text === name)?.childForFieldName('value')
  if (CONVERSIONS.has(callee) && positional.length === 1)
    return converted(callee, evaluate(module, positional[0], depth + 1))
  if (FROM_ENVIRONMENT.test(callee)) {
    const byDefault = keyword('default') ?? positional[1]
    return byDefault === undefined ? null : evaluate(module, byDefault, depth + 1)
  }
  if (callee === 'dict' && positional.length === 0) {
    const entries = given.map((argument) => ({
      key: argument.childForFieldName('name')?.text ?? '',
      value: evaluate(module, argument.childForFieldName('value'), depth + 1),
      line: argument.startPosition.row + 1,
    }))
    return { kind: 'dict', entries: entries.filter(({ key }) => key !== ''), isOpen: false, line }
  }
  return { kind: 'call', callee: resolved(module, callee), node, line }
}

function converted(to: string, value: Value): Value | null {
  if (to === 'str' && value.kind === 'number') return { kind: 'text', text: String(value.number), line: value.line }
  if ((to === 'int' || to === 'float') && value.kind === 'text') {
    const number = Number(value.text)
    return Number.isNaN(number) ? null : { kind: 'number', number, line: value.line }
  }
  return value
}

/** The entry of a dict, or `undefined`. */
export function entryOf(value: Value, key: string): Entry | undefined {
  return value.kind === 'dict' ? value.entries.find((entry) => entry.key === key) : undefined
}

/** `False`, `'false'`, `'0'`: configuration files write all of them. */
export function isFalse(value: Value): boolean {
  if (value.kind === 'bool') return !value.isTrue
  return value.kind === 'text' && /^(?:false|0|no|off)$/i.test(value.text)
}
