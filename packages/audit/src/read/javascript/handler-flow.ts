import type { Place } from '../../facts/place.ts'
import type { HandlerFlow } from '../../facts/schedule.ts'
import {
  bodyOf,
  enclosing,
  findInFunction,
  isCall,
  isFunction,
  isNode,
  type Node,
  pathOf,
  propertyOf,
  unwrap,
} from './ast.ts'
import { type FunctionRef, functionsOf } from './functions.ts'
import type { Module } from './module.ts'
import type { Modules } from './modules.ts'
import { textsIn } from './primitives.ts'

/** Calls are followed this far. */
const DEPTH = 2

export function flowOf(modules: Modules, refs: readonly FunctionRef[]): HandlerFlow {
  const first = <T>(find: (ref: FunctionRef) => T | null): T | null =>
    refs.reduce<T | null>((found, ref) => found ?? find(ref), null)
  return {
    floating: first((ref) => floatingCall(modules, ref)),
    uncaught: first((ref) => uncaughtIn(modules, ref, DEPTH, new Set())),
    unlimited: first((ref) => firstCall(modules, ref, DEPTH, new Set(), unlimitedRequest)),
    unkeyed: first((ref) => firstCall(modules, ref, DEPTH, new Set(), unkeyedEffect)),
  }
}

function placeOf(module: Module, node: Node): Place {
  return { path: module.path, line: module.lineOf(node) }
}

const SINKS = new Set(['then', 'catch', 'finally'])

/** A statement that calls an async function of this repository and does not wait for it. */
function floatingCall(modules: Modules, { node, module }: FunctionRef): Place | null {
  for (const { expression } of findInFunction(node, ({ type }) => type === 'ExpressionStatement')) {
    if (!isNode(expression) || !isCall(expression)) continue
    if (SINKS.has(pathOf(expression.callee!).at(-1)!)) continue
    const callees = functionsOf(modules, module, expression.callee!)
    if (callees.length > 0 && callees.every((callee) => callee.node.async === true)) return placeOf(module, expression)
  }
  return null
}

/** The first thing that can reject while nothing catches it: an `await` or a returned promise outside of `try`. */
function uncaughtIn(modules: Modules, { node, module }: FunctionRef, depth: number, seen: Set<Node>): Place | null {
  if (seen.has(node)) return null
  seen.add(node)
  for (const awaited of rejections(node)) {
    if (isCaught(awaited, node)) continue
    const callees = isCall(awaited) ? functionsOf(modules, module, awaited.callee!) : []
    if (callees.length === 0 || depth === 0) return placeOf(module, awaited)
    if (callees.some((ref) => uncaughtIn(modules, ref, depth - 1, seen) !== null)) return placeOf(module, awaited)
  }
  return null
}

/** What a function waits for or hands back. */
function rejections(node: Node): Node[] {
  const body = bodyOf(node)
  const awaited = findInFunction(node, ({ type }) => type === 'AwaitExpression').map(({ argument }) => argument!)
  const returned = body !== null && body.type !== 'BlockStatement' && isCall(unwrap(body)) ? [unwrap(body)] : []
  return [...awaited, ...(node.async === true ? [] : returned)].map(unwrap)
}

function isCaught(node: Node, around: Node): boolean {
  if (isCall(node) && pathOf(node.callee!).at(-1) === 'catch') return true
  if (isCall(node) && pathOf(node.callee!).join('.') === 'Promise.allSettled') return true
  for (let at = node; at !== around && at.parent !== null; at = at.parent) {
    if (at.parent.type === 'TryStatement' && at.parent.block === at && at.parent.handler != null) return true
  }
  return false
}

type Judge<T> = (module: Module, call: Node) => T | null

/** The first call of a function, or of those that it calls, that a judge has something to say about. */
function firstCall<T>(
  modules: Modules,
  { node, module }: FunctionRef,
  depth: number,
  seen: Set<Node>,
  judge: Judge<T>,
): T | null {
  if (seen.has(node)) return null
  seen.add(node)
  for (const call of findInFunction(node, isCall)) {
    const own = judge(module, call)
    if (own !== null) return own
    for (const callee of depth === 0 ? [] : functionsOf(modules, module, call.callee!)) {
      const found = firstCall(modules, callee, depth - 1, seen, judge)
      if (found !== null) return found
    }
  }
  return null
}

/** `fetch` waits for as long as the peer does; axios and got have no limit unless one is given. */
function unlimitedRequest(module: Module, call: Node): Place | null {
  const path = pathOf(call.callee!).join('.')
  if (!/^(?:fetch|axios(?:\.(?:get|post|put|patch|delete|request))?|got(?:\.\w+)?)$/.test(path)) return null
  const given = call.arguments ?? []
  // Options that are not written here may hold the limit.
  const isOpaque = given.slice(1).some((each) => each.type !== 'ObjectExpression' && !textsIn(each).length)
  const isLimited = given.some(
    (each) => each.type === 'ObjectExpression' && propertyOf(each, 'signal', 'timeout', 'cancelToken') !== null,
  )
  const hasSpread = given.some(({ properties }) => properties?.some(({ type }) => type === 'SpreadElement') === true)
  return isOpaque || isLimited || hasSpread ? null : placeOf(module, call)
}

const PAYMENT =
  /(?:^|\.)stripe\.(?:\w+\.)*(?:charges|paymentIntents|transfers|payouts|refunds|invoiceItems|subscriptions)\.create$/i
const MAIL =
  /(?:^|\.)(?:sendMail|sendEmail)$|(?:^|\.)(?:sgMail|resend\.emails|postmark\w*|ses)\.send(?:Email)?$|\bmessages\.create$/

/** Payments and messages that carry no idempotency key. */
function unkeyedEffect(module: Module, call: Node): HandlerFlow['unkeyed'] {
  const path = pathOf(call.callee!).join('.')
  if (!PAYMENT.test(path) && !MAIL.test(path)) return null
  const around = enclosing(call, isFunction)
  const text = module.text.slice((around ?? call).start, (around ?? call).end)
  return /idempoten|dedup|messageId/i.test(text) ? null : { place: placeOf(module, call), text: path }
}
