import type { Effect, Handler } from '../../facts/schedule.ts'
import { bodyOf, findAll, isCall, isFunction, isNode, type Node, pathOf, statementsOf, unwrap, wordsOf } from './ast.ts'
import { evaluate } from './evaluate.ts'
import { callsIn, type FunctionRef, functionsOf } from './functions.ts'
import { flowOf } from './handler-flow.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'
import { textsIn } from './primitives.ts'

/**
 * What is known of the function that a schedule runs.
 * @param isDirect Whether the functions are the handler itself, rather than parts of a wrapper around it.
 */
export function describeHandler(
  modules: Modules,
  refs: readonly FunctionRef[],
  text: string,
  isDirect: boolean,
): Handler {
  const dropped = isDirect ? (refs.flatMap((ref) => droppedFunction(ref) ?? [])[0] ?? null) : null
  const about = { isAsync: isAsync(modules, refs), effect: effectOf(modules, refs), dropped, text }
  return isDirect ? { ...about, flow: flowOf(modules, refs) } : about
}

/** Whether the work goes on after the function has returned. `null`: not known. */
export function isAsync(modules: Modules, refs: readonly FunctionRef[], depth = 3): boolean | null {
  if (refs.length === 0) return null
  const answers = refs.map((ref) => {
    const known = asyncness.get(ref.node)
    if (known !== undefined) return known
    const answer = isAsyncFunction(modules, ref, depth)
    if (depth === 3 || answer === true) asyncness.set(ref.node, answer)
    return answer
  })
  return answers.includes(true) ? true : answers.includes(null) ? null : false
}

const asyncness = new WeakMap<Node, boolean | null>()

function isAsyncFunction(modules: Modules, { node, module }: FunctionRef, depth: number): boolean | null {
  if (node.async === true) return true
  let answer: boolean | null = false
  for (const call of callsIn(node)) {
    if (['then', 'catch', 'finally'].includes(pathOf(call.callee!).at(-1)!)) return true
    const callees = depth === 0 ? [] : functionsOf(modules, module, call.callee!)
    if (callees.length === 0) answer = isHarmless(call) ? answer : null
    else if (isAsync(modules, callees, depth - 1) === true) return true
  }
  return answer
}

/** A function that is created as a statement and never called: the handler does nothing. */
function droppedFunction({ node, module }: FunctionRef): { path: string; line: number } | null {
  const body = bodyOf(node)
  if (body === null) return null
  if (node.type === 'ArrowFunctionExpression' && isFunction(unwrap(body))) {
    return { path: module.path, line: module.lineOf(body) }
  }
  for (const statement of statementsOf(body)) {
    if (statement.type !== 'ExpressionStatement' || !isNode(statement.expression)) continue
    const expression = unwrap(statement.expression)
    if (isFunction(expression)) return { path: module.path, line: module.lineOf(expression) }
  }
  return null
}

const LOG = /^(?:console|logger|log|pino|winston|debug|logging)$/i
const PURE_ROOT =
  /^(?:Date|Math|JSON|Object|Array|String|Number|Boolean|BigInt|Intl|Promise|moment|dayjs|DateTime|luxon|format|subDays|addDays|subHours|addHours|subMinutes|startOfDay|endOfDay|Symbol|RegExp|parseInt|parseFloat|isNaN|Buffer|chalk|colors|kleur)$/
const PURE_METHOD =
  /^(?:to\w*|get(?:Time|Date|Day|Month|FullYear|Hours|Minutes|Seconds|Milliseconds|UTC\w+)|set(?:Date|Month|FullYear|Hours|Minutes|Seconds|UTC\w+)|now|format|map|filter|forEach|reduce|join|split|slice|push|includes|some|every|find|sort|concat|trim|replace\w*|padStart|padEnd|keys|values|entries|then|catch|finally|add|subtract|startOf|endOf|utc|tz|diff|unix|valueOf|isBefore|isAfter|floor|round|length|flat|stringify|match|matchAll|test|startsWith|endsWith|indexOf|at|charAt|substring|substr|reverse|flatMap)$/
const LOCAL_ROOT =
  /^(?:fs|fsp|os|path|process|v8|performance|global|cache|nodeCache|memoryCache|lruCache|register|gauge|histogram|counter)$/
const LOCAL_MODULE = /^(?:node:)?(?:fs|fs\/promises|os|path|v8|perf_hooks|process|util)$/
const LOCAL_WORDS = new Set('disk memory heap cpu storage folder directory dir uptime gauge'.split(' '))
const SET_BASED = /^(?:deleteMany|updateMany)$/
const SET_SQL = /^\s*(?:delete\s+from|update)\b[\s\S]*\bwhere\b/i

/** Methods of lists and dates, but of a queue or a store where the call is awaited. */
const WRITE_METHOD = /^(?:add|push|set\w*)$/

/** Calls that change nothing anywhere. */
export function isHarmless(call: Node): boolean {
  const path = pathOf(call.callee!)
  const method = path.at(-1)!
  if (WRITE_METHOD.test(method) && call.parent?.type === 'AwaitExpression') return false
  if (isRegExp(call)) return true
  return path.some((name) => LOG.test(name)) || PURE_ROOT.test(path[0]!) || PURE_METHOD.test(method)
}

/** `/…/.exec(text)`. */
function isRegExp(call: Node): boolean {
  const { object } = unwrap(call.callee!)
  return object !== undefined && unwrap(object).type === 'Literal' && unwrap(object).regex !== undefined
}

/** What happens when two instances run this: the strongest effect of any call, to depth 2. */
function effectOf(modules: Modules, refs: readonly FunctionRef[]): Effect {
  if (refs.length === 0) return 'unknown'
  const effects = refs.map((ref) => effectOfFunction(modules, ref, 3, new Set()))
  if (effects.includes('unknown')) return 'unknown'
  return (
    effects.find((effect) => effect === 'set-based') ?? effects.find((effect) => effect === 'process-local') ?? 'logs'
  )
}

function effectOfFunction(modules: Modules, { node, module }: FunctionRef, depth: number, seen: Set<Node>): Effect {
  if (seen.has(node)) return 'logs'
  seen.add(node)
  let strongest: Effect = writesOwnState(module, node) ? 'process-local' : 'logs'
  for (const call of findAll(node, ({ type }) => type === 'CallExpression' || type === 'TaggedTemplateExpression')) {
    const effect = isCall(call) ? effectOfCall(modules, module, call, depth, seen) : 'unknown'
    if (effect === 'unknown') return 'unknown'
    if (effect === 'set-based' || (effect === 'process-local' && strongest === 'logs')) strongest = effect
  }
  return strongest
}

function effectOfCall(modules: Modules, module: Module, call: Node, depth: number, seen: Set<Node>): Effect {
  const path = pathOf(call.callee!)
  if (SET_BASED.test(path.at(-1)!)) return isAbsolute(call) ? 'set-based' : 'unknown'
  if (textsIn(call).some((text) => SET_SQL.test(text) && !/[-+]\s*\d/.test(text))) return 'set-based'
  if (path.some((name) => LOG.test(name))) return 'logs'
  if (isLocalCommand(path, call)) return 'process-local'
  const callees = functionsOf(modules, module, call.callee!)
  if (callees.length > 0) {
    if (depth === 0) return 'unknown'
    const effects = callees.map((ref) => effectOfFunction(modules, ref, depth - 1, seen))
    return effects.find((effect) => effect === 'unknown') ?? effects[0]!
  }
  if (isMemory(modules, module, call) || isLocalCall(module, path)) return 'process-local'
  return isHarmless(call) ? 'logs' : 'unknown'
}

const LOCAL_COMMAND = /^\s*(?:du|df|free|uptime|ps|ls|stat|lsof|rm|find|sync)\s/

/** `exec('du -s …')`: a command that looks at this machine or cleans it up. */
function isLocalCommand(path: readonly string[], call: Node): boolean {
  if (!wordsOf(path.at(-1)!).some((word) => word === 'exec' || word === 'execa' || word === 'spawn')) return false
  return textsIn(call).some((text) => LOCAL_COMMAND.test(text))
}

/** The disk, memory and processor of this machine, and the counters of this process. */
function isLocalCall(module: Module, path: readonly string[]): boolean {
  const [root] = path
  if (LOCAL_ROOT.test(root!) || LOCAL_MODULE.test(module.imports.get(root!)?.from ?? '')) return true
  return wordsOf(path.at(-1)!).some((word) => LOCAL_WORDS.has(word))
}

/** Constant data and no `increment`: the second run changes nothing. */
function isAbsolute(call: Node): boolean {
  return findAll(call, ({ type }) => type === 'Property').every((property) => {
    const key = pathOf(property.key!).at(-1)!
    return !/^(?:increment|decrement|multiply|divide|push|\$inc|\$push|\$mul)$/.test(key)
  })
}

function isMemory(modules: Modules, module: Module, call: Node): boolean {
  const callee = unwrap(call.callee!)
  if (callee.type !== 'MemberExpression') return false
  const value = evaluate(modules, module, callee.object!)
  if (value.kind !== 'node') return false
  if (value.node.type === 'ArrayExpression' || value.node.type === 'ObjectExpression') return true
  return value.node.type === 'NewExpression' && /^(?:Weak)?(?:Map|Set)$/.test(pathOf(value.node.callee!).at(-1)!)
}

/** Whether a function assigns to a variable of its module or a field of its object. */
function writesOwnState(module: Module, node: Node): boolean {
  return findAll(node, ({ type }) => type === 'AssignmentExpression').some(({ left }) => {
    if (left!.type === 'MemberExpression') return pathOf(left!)[0] === 'this'
    const declared = left!.type === 'Identifier' ? lookup(module, left!.name as string, left!) : null
    return declared !== null && module.scopes.get(module.program)?.get(left!.name as string) === declared
  })
}

/** A flag that is tested, set before the work and cleared after it: `if (isRunning) return; isRunning = true; … isRunning = false`. */
export function hasInFlightFlag(modules: Modules, refs: readonly FunctionRef[], depth = 2): boolean {
  return refs.some(({ node, module }) => {
    const tested = new Set(
      findAll(
        node,
        ({ type }) => type === 'IfStatement' || type === 'ConditionalExpression' || type === 'LogicalExpression',
      ).flatMap((each) =>
        findAll((each.test ?? each.left)!, ({ type }) => type === 'Identifier' || type === 'MemberExpression').map(
          (name) => pathOf(name).join('.'),
        ),
      ),
    )
    if (isSetAndCleared(module, node, tested)) return true
    if (depth === 0) return false
    return callsIn(node).some((call) => hasInFlightFlag(modules, functionsOf(modules, module, call.callee!), depth - 1))
  })
}

function isSetAndCleared(module: Module, node: Node, tested: ReadonlySet<string>): boolean {
  const set = new Set<string>()
  const cleared = new Set<string>()
  for (const { left, right } of findAll(node, ({ type }) => type === 'AssignmentExpression')) {
    const name = pathOf(left!).join('.')
    const value = unwrap(right!)
    const isCleared = value.type === 'Literal' && (value.value === false || value.value === null)
    ;(isCleared || (value.type === 'Identifier' && value.name === 'undefined') ? cleared : set).add(name)
  }
  for (const call of callsIn(node)) {
    const path = pathOf(call.callee!)
    const name = path.slice(0, -1).join('.')
    if (path.at(-1) === 'add' || path.at(-1) === 'set') set.add(name)
    if (path.at(-1) === 'delete') cleared.add(name)
  }
  return [...set].some(
    (name) =>
      cleared.has(name) &&
      [...tested].some((each) => each === name || each.startsWith(`${name}.`)) &&
      !isLocal(module, node, name),
  )
}

/** A variable of the function itself is new in every run; a field of an object may be shared. */
function isLocal(module: Module, node: Node, name: string): boolean {
  const declared = [...module.scopes].find(([scope, names]) => isWithin(scope, node) && names.has(name))
  return declared !== undefined && declared[1].get(name)!.kind !== 'parameter'
}

function isWithin(scope: Node, node: Node): boolean {
  return scope.type !== 'Program' && scope.start >= node.start && scope.end <= node.end
}
