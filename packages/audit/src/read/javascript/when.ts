import type { Place } from '../../facts/place.ts'
import type { When, Zone } from '../../facts/schedule.ts'
import {
  enclosingFunction,
  findAll,
  isCall,
  isFunction,
  keyOf,
  type Node,
  nameOf,
  pathOf,
  propertyOf,
  unwrap,
} from './ast.ts'
import { evaluate, numberOf, textOf, type Value } from './evaluate.ts'
import { callersOf } from './find-guard.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'
import type { Registration } from './registrations.ts'

export interface KnownWhen {
  readonly when: When
  /** Where the expression is written, if that is another place than the registration. */
  readonly place: Place | null
}

/** All times that one registration can stand for: several, if it stands in a loop or a wrapper. */
export function whensOf(modules: Modules, module: Module, registration: Registration): KnownWhen[] {
  const node = registration.when
  if (node === null) return [{ when: { kind: 'unknown', text: '' }, place: null }]
  if (registration.source === 'node-schedule') {
    const rule = recurrenceOf(modules, module, node)
    if (rule !== null) return [{ when: rule.when, place: null }]
  }
  if (isDate(modules, module, node) || (registration.source === 'node-schedule' && isNamedAsInstant(node)))
    return [{ when: { kind: 'once' }, place: null }]
  const direct = whenOf(evaluate(modules, module, node), registration)
  if (direct !== null) return [{ when: direct, place: null }]
  const many = valuesOf(modules, module, node).flatMap(({ value, place }) => {
    const when = whenOf(value, registration)
    return when === null ? [] : [{ when, place }]
  })
  return many.length > 0
    ? many
    : [{ when: { kind: 'unknown', text: module.text.slice(node.start, node.end) }, place: null }]
}

function whenOf(value: Value, { unit, dialect }: Registration): When | null {
  if (unit === 'ms') {
    const ms = numberOf(value)
    return ms === null ? null : { kind: 'every', ms }
  }
  const number = value.kind === 'number' ? value.number : null
  if (unit === 'human' && number !== null) return { kind: 'every', ms: number }
  const text = textOf(value)
  if (text === null) return null
  if (unit === 'human' && !/^\S+(?:\s+\S+){4,6}$/.test(text.trim())) return inWords(text)
  return { kind: 'cron', expression: text, dialect }
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `5 minutes`, `10s`. */
function inWords(text: string): When {
  const [, count, unit] = /^(?:every\s+)?(\d+)?\s*(s|m|h|d|w)\w*$/i.exec(text.trim()) ?? []
  const size = UNITS[unit?.toLowerCase() ?? '']
  return size === undefined ? { kind: 'unknown', text } : { kind: 'every', ms: Number(count ?? 1) * size }
}

/** A single instant: `new Date(…)`, a parameter that is declared or named as a date. */
function isDate(modules: Modules, module: Module, written: Node, depth = 4): boolean {
  const node = unwrap(written)
  if (node.type === 'NewExpression') return /^(?:Date|DateTime)$/.test(pathOf(node.callee!).at(-1)!)
  if (isCall(node)) {
    const path = pathOf(node.callee!)
    return /^(?:toDate|toJSDate)$/.test(path.at(-1)!) || path[0] === 'DateTime'
  }
  const choices = choicesOf(node)
  if (choices.length > 0) return depth > 0 && choices.some((choice) => isDate(modules, module, choice, depth - 1))
  const known = evaluate(modules, module, node)
  const value = known.kind === 'env' && known.fallback !== null ? known.fallback : known
  if (value.kind === 'node') return value.node.type === 'NewExpression' && nameOf(value.node.callee) === 'Date'
  return value.kind === 'unknown' && isDeclaredDate(modules, module, node, depth)
}

/** What is not known is an instant if its type, its value or its name says so. */
function isDeclaredDate(modules: Modules, module: Module, node: Node, depth: number): boolean {
  const declared = node.type === 'Identifier' ? lookup(module, node.name as string, node) : null
  if (nameOf(declared?.node.typeAnnotation?.typeAnnotation?.typeName) === 'Date') return true
  if (declared?.init != null) return depth > 0 && isDate(modules, module, declared.init, depth - 1)
  return /(?:date|^at$|deadline|timestamp)$/i.test(pathOf(node).at(-1) ?? '')
}

/** The values that `a ? b : c` and `b ?? c` choose from: what stands for an instant once does so always. */
function choicesOf({ type, left, right, consequent, alternate }: Node): readonly Node[] {
  if (type === 'ConditionalExpression') return [consequent as Node, alternate!]
  return type === 'LogicalExpression' ? [left!, right!] : []
}

/** node-schedule takes dates as well: `scheduleJob(warningTime, …)`. */
function isNamedAsInstant(written: Node): boolean {
  const node = unwrap(written)
  return (
    node.type === 'Identifier' &&
    /[a-z](?:Time|Date|At|Moment)$/.test(node.name as string) &&
    !/cron|rule|schedule/i.test(node.name as string)
  )
}

/** Values of a loop variable or of a parameter, from the array or from the callers. */
function valuesOf(modules: Modules, module: Module, written: Node): { value: Value; place: Place | null }[] {
  const node = unwrap(written)
  const root = node.type === 'MemberExpression' ? unwrap(node.object!) : node
  if (root.type !== 'Identifier') return []
  const key = node.type === 'MemberExpression' ? keyOf(node) : null
  const declared = lookup(module, root.name as string, root)
  if (declared === null) return []
  const path = [...declared.path, ...(key === null ? [] : [key])]
  const array = iteratedArray(declared.node)
  if (array !== null) {
    const value = evaluate(modules, module, array)
    if (value.kind !== 'node' || value.node.type !== 'ArrayExpression') return []
    return (value.node.elements ?? []).flatMap((element) => {
      const target = element === null ? null : below(element, path)
      if (target === null) return []
      return [
        {
          value: evaluate(modules, value.module, target),
          place: { path: value.module.path, line: value.module.lineOf(target) },
        },
      ]
    })
  }
  return declared.kind === 'parameter' ? argumentsOf(modules, module, node, declared.node, path) : []
}

/** The array over which a `for … of`, `forEach` or `map` goes, whose variable this is. */
function iteratedArray(declaration: Node): Node | null {
  if (declaration.type === 'VariableDeclarator') {
    const loop = declaration.parent?.parent
    return loop?.type === 'ForOfStatement' ? loop.right! : null
  }
  const callback = declaration.parent
  const call = callback?.parent
  if (callback === null || callback === undefined || call == null || !isFunction(callback) || !isCall(call)) return null
  const callee = unwrap(call.callee!)
  const isLoop = callee.type === 'MemberExpression' && /^(?:forEach|map)$/.test(keyOf(callee) ?? '')
  return isLoop && call.arguments?.[0] === callback && callback.params?.[0] === declaration ? callee.object! : null
}

function below(element: Node, path: readonly string[]): Node | null {
  let at: Node | null = unwrap(element)
  for (const key of path) {
    at =
      at?.type === 'ObjectExpression'
        ? propertyOf(at, key)
        : at?.type === 'ArrayExpression'
          ? (at.elements?.[Number(key)] ?? null)
          : null
  }
  return at
}

function argumentsOf(
  modules: Modules,
  module: Module,
  node: Node,
  parameter: Node,
  path: readonly string[],
): { value: Value; place: Place | null }[] {
  const index = enclosingFunction(node)?.params?.indexOf(parameter) ?? -1
  const holder = parameter.parent
  const position = index === -1 ? (holder?.params?.indexOf(parameter) ?? -1) : index
  if (position === -1) return []
  return callersOf(modules, module, node).flatMap(({ node: call, module: caller }) => {
    const argument = call.arguments?.[position]
    const target = argument === undefined ? null : path.length === 0 ? argument : below(argument, path)
    if (target === null) return []
    return [{ value: evaluate(modules, caller, target), place: { path: caller.path, line: caller.lineOf(target) } }]
  })
}

/** A `RecurrenceRule`, or an object with its fields, as a cron expression of six fields. */
function recurrenceOf(modules: Modules, module: Module, written: Node): { when: When; zone: Zone } | null {
  const fields = recurrenceFields(modules, module, written)
  if (fields === null) return null
  const zone = zoneOfRule(modules, module, fields.get('tz'))
  const rule = fields.get('rule')
  if (rule !== undefined) {
    const text = textOf(evaluate(modules, module, rule))
    return {
      when:
        text === null ? { kind: 'unknown', text: 'rule' } : { kind: 'cron', expression: text, dialect: 'cron-parser' },
      zone,
    }
  }
  const parts = ['second', 'minute', 'hour', 'date', 'month', 'dayOfWeek'].map((name) => {
    const field = fields.get(name)
    if (field === undefined) return name === 'second' ? '0' : '*'
    const number = numberOf(evaluate(modules, module, field))
    if (number !== null) return String(name === 'month' ? number + 1 : number)
    return field.type === 'Literal' && field.value === null ? '*' : null
  })
  if (parts.includes(null)) {
    // A rule that names an hour in a way that was not evaluated still names one.
    const isFixedHour = fields.has('hour')
    return { when: { kind: 'calendar', text: 'RecurrenceRule', isFixedHour }, zone }
  }
  return { when: { kind: 'cron', expression: parts.join(' '), dialect: 'cron-parser' }, zone }
}

function zoneOfRule(modules: Modules, module: Module, tz: Node | undefined): Zone {
  if (tz === undefined) return { kind: 'none' }
  const text = textOf(evaluate(modules, module, tz))
  return text === null ? { kind: 'computed' } : { kind: 'stated', name: text }
}

function recurrenceFields(modules: Modules, module: Module, written: Node): Map<string, Node> | null {
  const node = unwrap(written)
  const value = evaluate(modules, module, node)
  const made = value.kind === 'node' ? value.node : node
  if (made.type === 'ObjectExpression') {
    const properties = (made.properties ?? []).filter(({ type }) => type === 'Property')
    return new Map(properties.map((property) => [keyOf(property) ?? '', property.value as Node]))
  }
  if (made.type !== 'NewExpression' || pathOf(made.callee!).at(-1) !== 'RecurrenceRule') return null
  const given = (made.arguments ?? []).map((argument, index) => [RULE_ARGUMENTS[index] ?? '', argument] as const)
  const variable = nameOf(node)
  const assigned = findAll(module.program, ({ type }) => type === 'AssignmentExpression')
    .filter(({ left }) => left!.type === 'MemberExpression' && nameOf(left!.object) === variable)
    .map(({ left, right }) => [keyOf(left!) ?? '', right!] as const)
  return new Map([...given, ...assigned])
}

const RULE_ARGUMENTS = ['year', 'month', 'date', 'dayOfWeek', 'hour', 'minute', 'second']

export function zoneOf(modules: Modules, module: Module, { zone, when, source }: Registration): Zone {
  if (source === 'node-schedule' && when !== null) return recurrenceOf(modules, module, when)?.zone ?? { kind: 'none' }
  if (zone === null) return { kind: 'none' }
  const value = evaluate(modules, module, zone)
  if (value.kind === 'nothing') return { kind: 'none' }
  // What stands in for options that are not a literal may hold a zone, or not: it is not reported as missing.
  const text = textOf(value)
  return text === null ? { kind: 'computed' } : { kind: 'stated', name: text }
}
