import { findAll, isFunction, isNode, type Node, nameOf, pathOf, statementsOf, unwrap, wordsOf } from './ast.ts'
import { evaluate, textOf, type Value } from './evaluate.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'

/** Something that must be true, or false, before a place in the code is reached. */
export interface Condition {
  readonly test: Node
  readonly holds: boolean
}

/** `if` around the place, `&&` before it, and earlier statements that leave the function. */
export function conditionsOf(node: Node): Condition[] {
  const found: Condition[] = []
  for (let at = node; at.parent !== null; at = at.parent) {
    const { parent } = at
    if (parent.type === 'LogicalExpression' && at === parent.right && parent.operator !== '??') {
      found.push({ test: parent.left!, holds: parent.operator === '&&' })
    } else if (parent.type === 'BlockStatement' || parent.type === 'Program') found.push(...earlierExits(parent, at))
    else found.push(...branchOf(parent, at))
  }
  return found
}

function branchOf(parent: Node, at: Node): Condition[] {
  if (parent.type !== 'IfStatement' && parent.type !== 'ConditionalExpression') return []
  if (at === parent.consequent) return [{ test: parent.test!, holds: true }]
  return at === parent.alternate ? [{ test: parent.test!, holds: false }] : []
}

function earlierExits(block: Node, at: Node): Condition[] {
  const statements = statementsOf(block)
  return statements.slice(0, statements.indexOf(at)).flatMap((statement) => {
    const isExit = statement.type === 'IfStatement' && leaves(statement.consequent as Node)
    return isExit ? [{ test: statement.test!, holds: false }] : []
  })
}

function leaves(statement: Node): boolean {
  const last = statement.type === 'BlockStatement' ? statementsOf(statement).at(-1) : statement
  if (last === undefined) return false
  if (['ReturnStatement', 'ThrowStatement', 'ContinueStatement'].includes(last.type)) return true
  return (
    last.type === 'ExpressionStatement' &&
    isNode(last.expression) &&
    /process\.exit/.test(pathOf(last.expression).join('.'))
  )
}

/** A condition and the values of the names in it, as far as they are written in the same file. */
export function partsOf(module: Module, test: Node, depth = 3): Node[] {
  const parts = [test]
  if (depth === 0) return parts
  for (const each of findAll(test, ({ type }) => type === 'Identifier')) {
    if (each.parent?.type === 'MemberExpression' && each.parent.property === each && each.parent.computed !== true)
      continue
    const declared = lookup(module, each.name as string, each)
    const init = declared?.kind === 'variable' ? declared.init : null
    if (init !== null && !isFunction(unwrap(init))) parts.push(...partsOf(module, init, depth - 1))
  }
  return parts
}

/** Set by process managers and platforms, one value per instance. */
const INSTANCE_VARIABLES =
  /^(?:NODE_APP_INSTANCE|pm_id|name|PM2_INSTANCE_ID|INSTANCE_(?:ID|INDEX|NUMBER)|CF_INSTANCE_INDEX|DYNO|POD_NAME|POD_INDEX|HOSTNAME|FLY_PROCESS_GROUP)$/
const ROLE_WORDS = new Set(
  'role worker workers scheduler schedulers schedule schedules cron crons cronjob cronjobs job jobs leader primary master process runner instance task tasks background main'.split(
    ' ',
  ),
)
const SWITCH_WORDS = new Set(
  'enable enabled run is start use active role worker primary leader master runner scheduler on should with process main'.split(
    ' ',
  ),
)

/** Why a condition chooses one instance by configuration, or `null`. */
export function designation(modules: Modules, module: Module, { test, holds }: Condition): string | null {
  const parts = partsOf(module, test)
  for (const part of parts) {
    for (const member of findAll(part, ({ type }) => type === 'MemberExpression')) {
      const path = pathOf(member).join('.')
      if (/(?:^|\.)cluster\.(?:default\.)?(?:isPrimary|isMaster|isWorker|worker)/.test(path)) return path
    }
    for (const identifier of findAll(part, ({ type }) => type === 'Identifier')) {
      if (module.imports.get(identifier.name as string)?.name.match(/^is(?:Primary|Master)$/))
        return identifier.name as string
    }
  }
  const names = environmentOf(modules, module, parts)
  const instance = names.find((name) => INSTANCE_VARIABLES.test(name))
  if (instance !== undefined) return `process.env.${instance}`
  const named = names.find((name) => name !== 'NODE_ENV')
  if (named !== undefined && parts.some((part) => comparesWithRole(part))) return `process.env.${named}`
  const role = names.find((name) => isRole(name, test))
  if (role === undefined) return null
  return whenUnset(modules, module, test) === !holds ? `process.env.${role}` : null
}

const ROLES = new Set(
  'primary secondary worker workers web api scheduler cron crons leader follower master slave background jobs clock server http'.split(
    ' ',
  ),
)

/** `=== 'worker'`: one kind of process is meant, whatever the default is. */
function comparesWithRole(test: Node): boolean {
  return findAll(test, ({ type, operator }) => type === 'BinaryExpression' && /^[!=]==?$/.test(operator!)).some(
    ({ left, right }) =>
      [left!, right!].some((side) => side.type === 'Literal' && ROLES.has(String(side.value).toLowerCase())),
  )
}

function isRole(name: string, test: Node): boolean {
  const words = wordsOf(name)
  if (!words.some((word) => ROLE_WORDS.has(word))) return false
  const isCompared =
    findAll(test, ({ type, operator }) => type === 'BinaryExpression' && /[=!]=/.test(operator!)).length > 0
  return isCompared || words.some((word) => SWITCH_WORDS.has(word))
}

/** Environment variables on which the parts depend. */
function environmentOf(modules: Modules, module: Module, parts: readonly Node[]): string[] {
  return parts.flatMap((part) =>
    findAll(part, ({ type }) => type === 'MemberExpression' || type === 'Identifier' || isCallType(type)).flatMap(
      (node) => {
        const value = evaluate(modules, module, node)
        return value.kind === 'env' ? [value.name] : []
      },
    ),
  )
}

function isCallType(type: string): boolean {
  return type === 'CallExpression'
}

/** What a condition is when no environment variable is set; `null`: not known. */
export function whenUnset(modules: Modules, module: Module, written: Node, depth = 6): boolean | null {
  if (depth === 0) return null
  const node = unwrap(written)
  const recur = (each: Node): boolean | null => whenUnset(modules, module, each, depth - 1)
  switch (node.type) {
    case 'UnaryExpression': {
      const value = node.operator === '!' ? recur(node.argument!) : null
      return value === null ? null : !value
    }
    case 'LogicalExpression':
      return combine(recur(node.left!), recur(node.right!), node.operator === '||')
    case 'BinaryExpression':
      return compareUnset(modules, module, node)
    case 'CallExpression':
      return callUnset(modules, module, node, recur)
    case 'Identifier': {
      const declared = lookup(module, node.name as string, node)
      const init = declared?.kind === 'variable' && declared.path.length === 0 ? declared.init : null
      return init === null ? truth(evaluate(modules, module, node)) : recur(init)
    }
    default:
      return truth(evaluate(modules, module, node))
  }
}

/** `||` (decisive: true) and `&&` (decisive: false) of values that may not be known. */
function combine(left: boolean | null, right: boolean | null, decisive: boolean): boolean | null {
  if (left === decisive || right === decisive) return decisive
  return left === null || right === null ? null : !decisive
}

function callUnset(
  modules: Modules,
  module: Module,
  node: Node,
  recur: (node: Node) => boolean | null,
): boolean | null {
  const name = pathOf(node.callee!).at(-1)
  if (name === 'Boolean') return recur(node.arguments![0]!)
  if (name === 'includes') return dependsOnEnvironment(modules, module, node) ? false : null
  return truth(evaluate(modules, module, node))
}

function dependsOnEnvironment(modules: Modules, module: Module, node: Node): boolean {
  return node.children.some((child) => evaluate(modules, module, child).kind === 'env')
}

function truth(value: Value): boolean | null {
  switch (value.kind) {
    case 'env':
      return value.name === 'NODE_ENV' ? null : value.fallback === null ? false : truth(value.fallback)
    case 'text':
      return value.text !== ''
    case 'number':
      return value.number !== 0
    case 'boolean':
      return value.boolean
    case 'nothing':
      return false
    default:
      return null
  }
}

function compareUnset(modules: Modules, module: Module, node: Node): boolean | null {
  const [left, right] = [evaluate(modules, module, node.left!), evaluate(modules, module, node.right!)]
  const env = left.kind === 'env' ? left : right.kind === 'env' ? right : null
  if (env === null || env.name === 'NODE_ENV' || !/^[!=]==?$/.test(node.operator!)) return null
  const other = env === left ? right : left
  const otherText = textOf(other)
  if (otherText === null && other.kind !== 'nothing') return null
  const isEqual = env.fallback === null ? other.kind === 'nothing' : textOf(env.fallback) === otherText
  return node.operator!.startsWith('=') ? isEqual : !isEqual
}

/** The identifiers and property names of an expression. */
export function namesOf(node: Node): string[] {
  return findAll(node, ({ type }) => type === 'Identifier' || type === 'PrivateIdentifier').flatMap(
    (each) => nameOf(each) ?? [],
  )
}
