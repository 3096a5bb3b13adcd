import type { Repeatable, Timer } from '../../facts/timer.ts'
import {
  bodyOf,
  enclosingFunction,
  findAll,
  isCall,
  isFunction,
  keyOf,
  type Node,
  nameOf,
  pathOf,
  propertyOf,
  statementsOf,
  unwrap,
  wordsOf,
} from './ast.ts'
import { evaluate, numberOf } from './evaluate.ts'
import { callsIn, functionsOf, nameOfFunction } from './functions.ts'
import { hasInFlightFlag, isAsync } from './handler.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'

const HEARTBEAT = new Set('heartbeat heartbeats renew renewal keepalive keep ping extend refresh beat alive'.split(' '))

export function timersIn(modules: Modules, module: Module): Timer[] {
  return findAll(module.program, isCall).flatMap((node) => {
    const call = timerName(module, node)
    const callback = node.arguments?.[0]
    // An empty function only keeps the process alive.
    if (call === null || callback === undefined || isEmpty(callback)) return []
    const refs = functionsOf(modules, module, callback)
    const delay = node.arguments?.[1]
    return [
      {
        kind: 'timer',
        place: { path: module.path, line: module.lineOf(node) },
        call,
        ms: delay === undefined ? null : numberOf(evaluate(modules, module, delay)),
        isAsync: isAsync(modules, refs),
        isSerial: hasInFlightFlag(modules, refs) || refs.some((ref) => stopsItself(ref.node, node)),
        isHeartbeat: isHeartbeat(callback, node),
      },
    ]
  })
}

function isEmpty(callback: Node): boolean {
  const body = isFunction(callback) ? bodyOf(callback) : null
  return body?.type === 'BlockStatement' && statementsOf(body).length === 0
}

function timerName(module: Module, node: Node): Timer['call'] | null {
  const path = pathOf(node.callee!)
  const name = path.at(-1)
  if (name !== 'setInterval' && name !== 'setTimeout') return null
  if (path.length > 2 || (path.length === 2 && !/^(?:global|globalThis)$/.test(path[0]!))) return null
  return path.length === 1 && lookup(module, name, node) !== null ? null : name
}

/** A poll that ends itself: `const timer = setInterval(async () => { …; clearInterval(timer) })`. */
function stopsItself(callback: Node, timer: Node): boolean {
  const holder = timer.parent?.type === 'VariableDeclarator' ? nameOf(timer.parent.id) : null
  if (holder === null) return false
  return callsIn(callback).some(
    ({ callee, arguments: given }) => nameOf(callee) === 'clearInterval' && nameOf(given?.[0]) === holder,
  )
}

function isHeartbeat(callback: Node, timer: Node): boolean {
  const around = enclosingFunction(timer)
  const holder =
    timer.parent?.type === 'AssignmentExpression' ? pathOf(timer.parent.left!).at(-1)! : nameOf(timer.parent?.id)
  const outer = [around === null ? null : nameOfFunction(around), holder].flatMap((name) => name ?? [])
  const names =
    callback.type === 'Identifier' || callback.type === 'MemberExpression'
      ? pathOf(callback)
      : callsIn(callback).map(({ callee }) => pathOf(callee!).at(-1)!)
  return [...outer, ...names].some((name) => wordsOf(name).some((word) => HEARTBEAT.has(word)))
}

const REMOVES = /\bremoveRepeatable(?:ByKey)?\b|\bremoveJobScheduler\b|\bobliterate\b/

/** Repeat options of Bull and BullMQ, and Agenda's `create().repeatEvery().save()`. */
export function repeatablesIn(module: Module): Repeatable[] {
  const isRemovedFirst = REMOVES.test(module.text)
  const found: Repeatable[] = []
  const add = (node: Node, text: string): void => {
    found.push({ kind: 'repeatable', place: { path: module.path, line: module.lineOf(node) }, text, isRemovedFirst })
  }
  for (const node of findAll(module.program, ({ type }) => type === 'CallExpression' || type === 'Property')) {
    if (node.type === 'Property') {
      if (keyOf(node) === 'defaultJobOptions' && isRepeat(node.value as Node)) add(node, 'defaultJobOptions.repeat')
      continue
    }
    const path = pathOf(node.callee!)
    const method = path.at(-1)
    if (method === 'add' || method === 'createJob') {
      if ((node.arguments ?? []).some(isRepeat))
        add(unwrap(node.callee!).property ?? node, `${path.at(-2) ?? 'queue'}.add with repeat`)
    } else if (method === 'repeatEvery' && isUniqueless(module, node))
      add(node, 'create().repeatEvery() without unique()')
  }
  return found
}

function isRepeat(options: Node): boolean {
  const repeat = options.type === 'ObjectExpression' ? propertyOf(options, 'repeat') : null
  return repeat?.type === 'ObjectExpression' && propertyOf(repeat, 'cron', 'pattern', 'every') !== null
}

function isUniqueless(module: Module, node: Node): boolean {
  const chain = pathOf(node)
  if (chain.includes('unique')) return false
  for (let at = node.parent; at !== null && at.type !== 'ExpressionStatement'; at = at.parent) {
    if (at.type === 'MemberExpression' && keyOf(at) === 'unique') return false
  }
  const isCreated = chain.includes('create') || /\.create\(/.test(module.text)
  return isCreated && !/\.unique\(/.test(module.text)
}
