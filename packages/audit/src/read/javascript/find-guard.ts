import type { Guard } from '../../facts/schedule.ts'
import { findAll, isCall, isFunction, keyOf, type Node, nameOf, pathOf, unwrap } from './ast.ts'
import { type Condition, conditionsOf, designation, namesOf, partsOf } from './conditions.ts'
import { evaluate } from './evaluate.ts'
import { callsIn, type FunctionRef, functionsOf, nameOfFunction } from './functions.ts'
import { isHarmless } from './handler.ts'
import { isLeaderName, isLockCall } from './lock-names.ts'
import { importOf, lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'
import { primitiveOf } from './primitives.ts'

const NONE: Guard = { kind: 'none' }
const MAX_DEPTH = 3
/** Bounds the search in code where everything calls everything. */
const MAX_FUNCTIONS = 150
const MAX_CALLERS = 20

/** Locks inside one process: they keep runs apart, not instances. */
const MEMORY_PACKAGES =
  /^(?:async-mutex|async-lock|await-lock|p-limit|p-queue|semaphore-async-await|async-sema|mutexify|locks|async)$/
const SHARED_PACKAGES =
  /redlock|redis-(?:lock|semaphore|mutex)|(?:mongo|pg|mysql|dynamodb|redis|nest(?:js)?)[\w@/-]*lock|advisory-lock|live-mutex|leader|shedlock|^cronce/

const STORE_METHODS = new Set(
  'findoneandupdate findoneandreplace updateone updatemany update insertone insert insertinto create upsert rpc query execute executeraw queryraw $queryraw $executeraw $queryrawunsafe $executerawunsafe eval evalsha setnx put putitem updateitem raw save findorcreate sendcommand call defineCommand sql'
    .toLowerCase()
    .split(' '),
)

const ORDER: readonly Guard['kind'][] = ['none', 'ineffective', 'unresolved', 'designated', 'shared']

export function better(a: Guard, b: Guard): Guard {
  return ORDER.indexOf(b.kind) > ORDER.indexOf(a.kind) ? b : a
}

function placeOf(module: Module, node: Node): { path: string; line: number } {
  return { path: module.path, line: module.lineOf(node) }
}

/** What keeps instances apart inside the functions that a schedule runs, to depth 3 across modules. */
export function guardInFunctions(modules: Modules, start: readonly FunctionRef[], own: OwnGuards): Guard {
  let best: Guard = NONE
  const seen = new Set<Node>()
  let level = [...start]
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: FunctionRef[] = []
    for (const { node, module } of level) {
      if (seen.has(node) || seen.size > MAX_FUNCTIONS) continue
      seen.add(node)
      best = better(best, guardInBody(modules, module, node, own, { next, depth }))
      if (best.kind === 'shared') return best
    }
    level = next
  }
  return best
}

/** Guards that the user has named in the configuration: functions, or `file#function`. */
export type OwnGuards = readonly string[]

interface Search {
  /** Functions to look at on the next level. */
  readonly next: FunctionRef[]
  readonly depth: number
}

function guardInBody(modules: Modules, module: Module, body: Node, own: OwnGuards, { next, depth }: Search): Guard {
  let best: Guard = NONE
  for (const node of findAll(body, isInteresting)) {
    if (best.kind === 'shared') return best
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      if (depth > 1 || !isOuterStatement(node, body)) continue
      best = better(best, guardOfCondition(modules, module, { test: node.test!, holds: true }, own, false))
      continue
    }
    best = better(best, guardOfCall(modules, module, node, own))
    if (isCall(node)) next.push(...reachedBy(modules, module, node, best.kind === 'none'))
  }
  return best
}

/** Functions that a call runs: the callee, unless a guard was found before it, and what it is handed by name. */
function reachedBy(modules: Modules, module: Module, call: Node, followsCallee: boolean): FunctionRef[] {
  const callee = followsCallee && !isHarmless(call) ? functionsOf(modules, module, call.callee!) : []
  const handed = (call.arguments ?? []).filter(({ type }) => type === 'Identifier' || type === 'MemberExpression')
  return [...callee, ...handed.flatMap((argument) => functionsOf(modules, module, argument))]
}

/** Whether a statement decides about the whole function: it stands in its body, or in a `try` around all of it. */
function isOuterStatement(node: Node, body: Node): boolean {
  const block = node.parent
  if (block?.type !== 'BlockStatement') return false
  return block.parent === body || (block.parent?.type === 'TryStatement' && block.parent.parent?.parent === body)
}

function isInteresting({ type }: Node): boolean {
  return [
    'CallExpression',
    'NewExpression',
    'TaggedTemplateExpression',
    'IfStatement',
    'ConditionalExpression',
  ].includes(type)
}

/** What one call says: an atomic operation, or something that is named like a lock. */
export function guardOfCall(modules: Modules, module: Module, node: Node, own: OwnGuards): Guard {
  const primitive = primitiveOf(node)
  const place = placeOf(module, node)
  if (primitive !== null) return { kind: 'shared', text: primitive.text, place }
  if (!isCall(node)) return NONE
  const path = pathOf(node.callee!)
  const text = path.join('.').replaceAll('.()', '()')
  if (isOwnGuard(modules, module, node, path, own)) return { kind: 'shared', text, place }
  if (path.some(isLeaderName) && !isDeclaredLocally(modules, module, node)) return { kind: 'shared', text, place }
  if (!isLockCall(path)) return NONE
  return judgeLock(modules, module, node, text)
}

/** A leader flag that this process sets itself, without asking a store, is set in every process. */
function isDeclaredLocally(modules: Modules, module: Module, node: Node): boolean {
  const refs = functionsOf(modules, module, node.callee!)
  if (refs.length === 0) return false
  return !refs.some(
    (ref) => asksStore(modules, ref) || asksStore(modules, { node: ref.module.program, module: ref.module }),
  )
}

function isOwnGuard(modules: Modules, module: Module, node: Node, path: readonly string[], own: OwnGuards): boolean {
  return own.some((guard) => {
    const [file, name] = guard.includes('#') ? guard.split('#') : [null, guard]
    if (path.at(-1) !== name) return false
    return file === null || functionsOf(modules, module, node.callee!).some((ref) => ref.module.path === file)
  })
}

function judgeLock(modules: Modules, module: Module, node: Node, text: string): Guard {
  const place = placeOf(module, node)
  const from = packageOf(module, node.callee!)
  if (from !== null && MEMORY_PACKAGES.test(from)) return NONE
  if (from !== null && SHARED_PACKAGES.test(from)) return { kind: 'shared', text, place }
  const refs = functionsOf(modules, module, node.callee!)
  if (refs.length === 0) return { kind: 'unresolved', text, place }
  if (refs.some((ref) => asksStore(modules, ref))) return { kind: 'shared', text, place }
  const memory = refs.map((ref) => memoryOf(modules, ref)).find((found) => found !== null)
  if (memory != null) return { kind: 'ineffective', text, place: memory }
  // A lock file keeps the processes of one host apart.
  if (refs.some(usesLockFile)) return { kind: 'designated', text, place }
  return { kind: 'unresolved', text, place }
}

function usesLockFile({ module }: FunctionRef): boolean {
  return /proper-lockfile|['"]wx['"]|\bflock\b/.test(module.text)
}

/** The package from which the object of a call comes, also through a variable: `const lock = new Mutex()`. */
function packageOf(module: Module, written: Node): string | null {
  const callee = unwrap(written)
  const root = rootOf(callee)
  const binding = importOf(module, root)
  if (binding !== null) return binding.from.startsWith('.') ? null : binding.from
  const declared = root.type === 'Identifier' ? lookup(module, root.name as string, root) : null
  const init = declared?.init == null ? null : unwrap(declared.init)
  if (init?.type === 'NewExpression') return importOf(module, init.callee!)?.from ?? null
  return init !== null && isCall(init) && init !== callee ? packageOf(module, init.callee!) : null
}

/** The first name of a chain: `a` of `a.b().c`. */
function rootOf(node: Node): Node {
  let root = node
  while (root.type === 'MemberExpression' || isCall(root) || root.type === 'NewExpression') {
    root = unwrap((root.object ?? root.callee)!)
  }
  return root
}

/** Whether a function, or what it calls to depth 3, asks a store or a lock package. */
export function asksStore(modules: Modules, start: FunctionRef): boolean {
  const seen = new Set<Node>()
  let level = [start]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const next: FunctionRef[] = []
    for (const { node, module } of level) {
      if (seen.has(node) || seen.size > MAX_FUNCTIONS) continue
      seen.add(node)
      for (const each of findAll(node, isInteresting)) {
        if (primitiveOf(each) !== null) return true
        if (!isCall(each)) continue
        const method = pathOf(each.callee!).at(-1)!.toLowerCase()
        if (STORE_METHODS.has(method) && memoryReceiver(modules, module, each) === null) return true
        const from = packageOf(module, each.callee!)
        if (from !== null && SHARED_PACKAGES.test(from)) return true
        next.push(...functionsOf(modules, module, each.callee!))
      }
    }
    level = next
  }
  return false
}

/** Where the Map, Set or object is declared in which a function keeps its locks; `null` if it keeps none there. */
export function memoryOf(modules: Modules, { node, module }: FunctionRef): { path: string; line: number } | null {
  for (const call of callsIn(node)) {
    const receiver = memoryReceiver(modules, module, call)
    if (receiver !== null) return placeOf(receiver.module, receiver.node)
  }
  return lockTableOf(modules, { node, module })
}

/** `locks[name] = true` on an object of the module. */
function lockTableOf(modules: Modules, { node, module }: FunctionRef): { path: string; line: number } | null {
  for (const { left } of findAll(node, ({ type }) => type === 'AssignmentExpression')) {
    if (left!.type !== 'MemberExpression' || left!.computed !== true) continue
    const table = unwrap(left!.object!)
    if (!/lock|lease|mutex/i.test(pathOf(table).at(-1)!)) continue
    const value = evaluate(modules, module, table)
    if (value.kind === 'node' && value.node.type === 'ObjectExpression') return placeOf(value.module, value.node)
  }
  return null
}

function memoryReceiver(modules: Modules, module: Module, call: Node): FunctionRef | null {
  const callee = unwrap(call.callee!)
  if (callee.type !== 'MemberExpression') return null
  const method = keyOf(callee)
  if (method === null || !['get', 'set', 'has', 'add', 'delete'].includes(method)) return null
  const value = evaluate(modules, module, callee.object!)
  if (value.kind !== 'node' || value.node.type !== 'NewExpression') return null
  const name = nameOf(value.node.callee)
  return name !== null && /^(?:Weak)?(?:Map|Set)$/.test(name) ? { node: value.node, module: value.module } : null
}

/** What keeps other instances from reaching a registration: conditions around it, and around the calls that lead to it. */
export function guardOfPath(modules: Modules, module: Module, node: Node, own: OwnGuards, depth = MAX_DEPTH): Guard {
  let best: Guard = NONE
  for (const condition of conditionsOf(node)) {
    best = better(best, guardOfCondition(modules, module, condition, own, true))
  }
  best = better(best, guardOfEnclosingCalls(modules, module, node, own))
  if (best.kind !== 'none' || depth === 0) return best
  const callers = callersOf(modules, module, node)
  if (callers.length === 0) return NONE
  const guards = callers.map((caller) => guardOfPath(modules, caller.module, caller.node, own, depth - 1))
  return guards.every(({ kind }) => kind !== 'none' && kind !== 'ineffective') ? guards[0]! : NONE
}

/** @param isPath Whether the condition stands on the way to the registration, rather than in the handler. */
function guardOfCondition(
  modules: Modules,
  module: Module,
  condition: Condition,
  own: OwnGuards,
  isPath: boolean,
): Guard {
  const place = placeOf(module, condition.test)
  const holds = isPath ? condition.holds : !leadsAway(condition.test)
  const designated = designation(modules, module, { test: condition.test, holds })
  if (designated !== null) return { kind: 'designated', text: designated, place }
  if (namesOf(condition.test).some(isLeaderName)) return { kind: 'shared', text: 'leader flag', place }
  if (!isPath) return NONE
  let best: Guard = NONE
  for (const part of partsOf(module, condition.test)) {
    for (const node of findAll(part, isInteresting)) best = better(best, guardOfCall(modules, module, node, own))
  }
  return best
}

/** Inside a handler: whether the branch of an `if` returns at once, so that the work needs the opposite. */
function leadsAway(test: Node): boolean {
  const branch = test.parent?.consequent
  const last = Array.isArray(branch) ? undefined : (branch as Node | undefined)
  const statement = last?.type === 'BlockStatement' ? (last.body as readonly Node[]).at(-1) : last
  return statement?.type === 'ReturnStatement' || statement?.type === 'ThrowStatement'
}

/** `withLock('boot', () => register())`, `election.on('elected', () => register())`. */
function guardOfEnclosingCalls(modules: Modules, module: Module, node: Node, own: OwnGuards): Guard {
  for (let at = node; at.parent !== null; at = at.parent) {
    const { parent } = at
    if (!isFunction(at) || !isCall(parent) || parent.callee === at) continue
    const guard = guardOfCall(modules, module, parent, own)
    if (guard.kind !== 'none') return guard
    const event = nameOf(parent.arguments?.[0])
    if (event !== null && /^(?:elected|leader|promoted|became-?leader)$/i.test(event)) {
      return { kind: 'shared', text: `on ${event}`, place: placeOf(module, parent) }
    }
  }
  return NONE
}

/** The calls of the named function around a place: in its own module, and in those that import it. */
export function callersOf(modules: Modules, module: Module, node: Node): FunctionRef[] {
  let around: Node | null = node.parent
  while (around !== null && !(isFunction(around) && nameOfFunction(around) !== null)) around = around.parent
  if (around === null) return []
  const target = around
  const name = nameOfFunction(target)!
  const files = [
    module,
    ...modules
      .importers(module.path)
      .slice(0, MAX_CALLERS)
      .flatMap((path) => modules.get(path) ?? []),
  ]
  return files.flatMap((file) =>
    callsIn(file.program).flatMap((call) => {
      const last = pathOf(call.callee!).at(-1)
      const isNamed = last === name || file.imports.get(last ?? '') !== undefined
      if (!isNamed || isInside(call, target)) return []
      const isTarget = functionsOf(modules, file, call.callee!).some((ref) => ref.node === target)
      return isTarget ? [{ node: call, module: file }] : []
    }),
  )
}

function isInside(node: Node, ancestor: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) if (at === ancestor) return true
  return false
}
