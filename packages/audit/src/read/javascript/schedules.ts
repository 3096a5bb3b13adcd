import type { Guard, Schedule } from '../../facts/schedule.ts'
import {
  enclosing,
  findAll,
  isCall,
  isFunction,
  isNode,
  type Node,
  nameOf,
  pathOf,
  propertyOf,
  unwrap,
  wordsOf,
} from './ast.ts'
import { designation, whenUnset } from './conditions.ts'
import { evaluate, textOf } from './evaluate.ts'
import {
  asksStore,
  better,
  callersOf,
  guardInFunctions,
  guardOfCall,
  guardOfPath,
  type OwnGuards,
} from './find-guard.ts'
import { callsIn, type FunctionRef, functionsOf, nameOfFunction } from './functions.ts'
import { describeHandler, hasInFlightFlag } from './handler.ts'
import { isLockCall } from './lock-names.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'
import { findRegistrations, type Registration } from './registrations.ts'
import { whensOf, zoneOf } from './when.ts'

const NONE: Guard = { kind: 'none' }

export interface ScheduleWithHandler {
  readonly schedules: readonly Schedule[]
  readonly refs: readonly FunctionRef[]
}

export function schedulesIn(modules: Modules, module: Module, own: OwnGuards, nestRoot: Guard): ScheduleWithHandler[] {
  return findRegistrations(modules, module).map((registration) => {
    const refs = registration.handler === null ? [] : handlerRefs(modules, module, registration.handler)
    const guard = registration.runner === 'queue' ? NONE : guardOf(modules, module, registration, refs, own, nestRoot)
    const text = registration.handler === null ? '' : textOfHandler(module, registration.handler)
    const place = { path: module.path, line: lineOfCall(module, registration.node) }
    const shared = {
      kind: 'schedule',
      place,
      source: registration.source,
      runner: registration.runner,
      name: registration.name === null ? null : textOf(evaluate(modules, module, registration.name)),
      zone: zoneOf(modules, module, registration),
      zoneGroup: null,
      guard,
      handler: describeHandler(
        modules,
        refs,
        text,
        registration.handler !== null && !isCall(unwrap(registration.handler)),
      ),
      overlap: overlapOf(modules, module, registration, refs, guard),
      isDynamic: isDynamic(module, registration),
      isUnreached: isUnreached(modules, module, registration.node),
      isAtImport: isAtImport(modules, module, registration),
    } as const
    const schedules = whensOf(modules, module, registration).map(({ when, place: written }) =>
      written === null ? { ...shared, when } : { ...shared, when, whenPlace: written },
    )
    return { schedules, refs }
  })
}

/** The line of the method name: chains can begin many lines above. */
export function lineOfCall(module: Module, node: Node): number {
  const callee = node.callee === undefined ? node : unwrap(node.callee)
  return module.lineOf(node.type === 'CallExpression' && callee.type === 'MemberExpression' ? callee.property! : node)
}

function textOfHandler(module: Module, handler: Node): string {
  if (isFunction(handler)) return nameOfFunction(handler) ?? ''
  return module.text.slice(handler.start, Math.min(handler.end, handler.start + 60)).split('\n')[0]!
}

/** The functions that run: also those inside `safeRun(name, withLock(name, ttl, fn))`. */
function handlerRefs(modules: Modules, module: Module, handler: Node): readonly FunctionRef[] {
  const node = unwrap(handler)
  const direct = functionsOf(modules, module, node)
  if (direct.length > 0 || !isCall(node)) return direct
  return [
    ...functionsOf(modules, module, node.callee!),
    ...(node.arguments ?? []).flatMap((argument) => handlerRefs(modules, module, argument)),
  ]
}

function guardOf(
  modules: Modules,
  module: Module,
  registration: Registration,
  refs: readonly FunctionRef[],
  own: OwnGuards,
  nestRoot: Guard,
): Guard {
  let guard = guardOfOptions(modules, module, registration)
  if (registration.handler !== null) {
    for (const call of isFunction(registration.handler) ? [] : callsIn(registration.handler)) {
      guard = better(guard, guardOfCall(modules, module, call, own))
    }
  }
  if (guard.kind !== 'shared') guard = better(guard, guardInFunctions(modules, refs, own))
  if (guard.kind !== 'shared') guard = better(guard, guardOfPath(modules, module, registration.node, own))
  if (guard.kind !== 'shared') guard = better(guard, guardOfParameter(modules, module, registration, own))
  if (registration.source !== 'nest') return guard
  return better(better(guard, guardOfDecorators(modules, module, registration.node)), nestRoot)
}

/** Coordinators of node-cron, and the option `disabled` of Nest. */
function guardOfOptions(modules: Modules, module: Module, { options, node, source }: Registration): Guard {
  if (options === null) return NONE
  const place = { path: module.path, line: module.lineOf(node) }
  if (propertyOf(options, 'runCoordinator', 'coordinator') !== null)
    return { kind: 'shared', text: 'runCoordinator', place }
  if (source === 'node-cron' && propertyOf(options, 'distributed') !== null) {
    return { kind: 'designated', text: 'distributed: true', place }
  }
  const disabled = source === 'nest' ? propertyOf(options, 'disabled') : null
  if (disabled === null || whenUnset(modules, module, disabled) === false) return NONE
  const text = designation(modules, module, { test: disabled, holds: false }) ?? 'disabled'
  return { kind: 'designated', text, place: { path: module.path, line: module.lineOf(disabled) } }
}

/** A wrapper runs what it is handed: it is guarded if every caller hands it something guarded. */
function guardOfParameter(modules: Modules, module: Module, { node, handler }: Registration, own: OwnGuards): Guard {
  const names =
    handler === null
      ? []
      : isFunction(handler)
        ? callsIn(handler).map(({ callee }) => unwrap(callee!))
        : [unwrap(handler)]
  for (const each of names) {
    const declared = each.type === 'Identifier' ? lookup(module, each.name as string, each) : null
    const holder = declared?.kind === 'parameter' ? declared.node.parent : null
    const index = holder?.params?.indexOf(declared!.node) ?? -1
    if (index === -1) continue
    const guards = callersOf(modules, module, node).map(({ node: call, module: caller }) => {
      const argument = call.arguments?.[index]
      if (argument === undefined) return NONE
      const calls = isFunction(argument) ? [] : callsIn(argument)
      const wrapped = calls.reduce<Guard>(
        (found, inner) => better(found, guardOfCall(modules, caller, inner, own)),
        NONE,
      )
      return better(wrapped, guardInFunctions(modules, handlerRefs(modules, caller, argument), own))
    })
    if (guards.length > 0 && guards.every(({ kind }) => kind === 'shared' || kind === 'unresolved')) return guards[0]!
  }
  return NONE
}

const GUARD_WORDS = new Set(
  'lock locked mutex lease leader redlock singleton single once exclusive distributed cluster shedlock'.split(' '),
)

/** Decorators beside `@Cron`: those that wrap the method guard it; metadata and interceptors do nothing for schedules. */
function guardOfDecorators(modules: Modules, module: Module, node: Node): Guard {
  const method = node.parent?.type === 'Decorator' ? node.parent.parent : null
  let best: Guard = NONE
  for (const decorator of method?.decorators ?? []) {
    const expression = decorator.expression as Node
    const path = pathOf(isCall(expression) ? expression.callee! : expression)
    const name = path.at(-1)!
    const place = { path: module.path, line: module.lineOf(decorator) }
    if (name === 'UseInterceptors' || name === 'UseGuards') {
      const isLock = (expression.arguments ?? []).some((each) =>
        pathOf(each).some((part) => wordsOf(part).some((word) => GUARD_WORDS.has(word))),
      )
      if (isLock) best = better(best, { kind: 'ineffective', text: `@${name}`, place })
    } else if (wordsOf(name).some((word) => GUARD_WORDS.has(word))) {
      best = better(best, judgeDecorator(modules, module, expression, { text: `@${name}`, place }))
    }
  }
  return best
}

function judgeDecorator(
  modules: Modules,
  module: Module,
  expression: Node,
  about: { text: string; place: { path: string; line: number } },
): Guard {
  const refs = functionsOf(modules, module, isCall(expression) ? expression.callee! : expression)
  if (refs.length === 0) return { kind: 'unresolved', ...about }
  const wraps = refs.some(({ node }) =>
    findAll(node, ({ type }) => type === 'AssignmentExpression').some(({ left }) =>
      /\.(?:value|get)$/.test(pathOf(left!).join('.')),
    ),
  )
  const isMetadataOnly = refs.every(({ node }) =>
    callsIn(node).some(({ callee }) => /SetMetadata|UseInterceptors|defineMetadata/.test(pathOf(callee!).at(-1)!)),
  )
  if (!wraps) return { kind: isMetadataOnly ? 'ineffective' : 'unresolved', ...about }
  const locks = refs.some(
    (ref) => asksStore(modules, ref) || callsIn(ref.node).some(({ callee }) => isLockCall(pathOf(callee!))),
  )
  return { kind: locks ? 'shared' : 'unresolved', ...about }
}

function overlapOf(
  modules: Modules,
  module: Module,
  { options, isSerial }: Registration,
  refs: readonly FunctionRef[],
  guard: Guard,
): Schedule['overlap'] {
  if (isSerial) return 'prevented'
  for (const name of options === null ? [] : ['noOverlap', 'waitForCompletion', 'protect', 'preventOverrun']) {
    const option = propertyOf(options!, name)
    if (option === null) continue
    const value = evaluate(modules, module, option)
    if (value.kind !== 'boolean' || value.boolean) return 'prevented'
  }
  if (hasInFlightFlag(modules, refs) || hasSpread(options)) return 'prevented'
  // A lock by name also keeps a second run of the same process away; a leader flag does not.
  if ((guard.kind === 'shared' && guard.text !== 'leader flag') || guard.kind === 'unresolved') return 'prevented'
  return refs.some(usesMutex) ? 'prevented' : 'possible'
}

function hasSpread(options: Node | null): boolean {
  return (options?.properties ?? []).some(({ type }) => type === 'SpreadElement')
}

function usesMutex({ node }: FunctionRef): boolean {
  return callsIn(node).some(({ callee }) => isLockCall(pathOf(callee!)))
}

const REQUEST = /^(?:req|request|res|reply|ctx|interaction|message|msg|dto)$/

/** Registered while something else is served: its time or name comes from a parameter that no call passes literally. */
function isDynamic(module: Module, { node, when, name }: Registration): boolean {
  const around = enclosing(node, (each) => isFunction(each) && nameOfFunction(each) !== null)
  if (around === null) return false
  if ((around.params ?? []).some((each) => REQUEST.test(nameOf(each) ?? ''))) return true
  return [when, name].some((part) => {
    if (!isNode(part)) return false
    return findAll(part, ({ type }) => type === 'Identifier').some(
      (each) => lookup(module, each.name as string, each)?.kind === 'parameter',
    )
  })
}

/** The function around a registration is called nowhere, as far as the files say. */
function isUnreached(modules: Modules, module: Module, node: Node): boolean {
  const around = enclosing(node, (each) => isFunction(each) && nameOfFunction(each) !== null)
  if (around === null) return false
  const name = nameOfFunction(around)!
  if (around.parent?.type === 'MethodDefinition' || around.parent?.type === 'PropertyDefinition')
    return !isMentioned(modules, module, around.parent, name)
  return callersOf(modules, module, node).length === 0 && !module.text.includes(`${name})`)
}

/** Methods that a framework calls by their names. */
const HOOK =
  /^(?:constructor|on[A-Z]\w*|init\w*|start(?:ed)?|run|boot\w*|setup|ready|register|created|execute|handle\w*|main|load|launch|connect|up|serve|listen|configure\w*|before[A-Z]\w*|after[A-Z]\w*)$/
const MAX_FILES = 300

/** Whether another place that can know a method names it: its own file, or one that imports it at some distance. */
function isMentioned(modules: Modules, module: Module, method: Node, name: string): boolean {
  if (HOOK.test(name) || (method.decorators ?? []).length > 0) return true
  const uses = new RegExp(`[.'"\`[]#?${name}\\b|[{,]\\s*${name}\\s*[},]`)
  if (uses.test(module.text)) return true
  const seen = new Set([module.path])
  for (const path of seen) {
    if (
      seen.size > MAX_FILES ||
      modules.importers(path).some((each) => !seen.has(each) && usesName(modules, each, uses))
    )
      return true
    for (const each of modules.importers(path)) seen.add(each)
  }
  return false
}

function usesName(modules: Modules, path: string, uses: RegExp): boolean {
  return uses.test(modules.get(path)?.text ?? '')
}

/** The module body itself registers it, and another module imports that. */
function isAtImport(modules: Modules, module: Module, { node, runner }: Registration): boolean {
  if (runner !== 'process' || node.parent?.type === 'Decorator' || enclosing(node, isFunction) !== null) return false
  return modules.importers(module.path).length > 0
}
