import type { CronRoute } from '../../facts/route.ts'
import { enclosing, findAll, isCall, isFunction, type Node, nameOf, pathOf, unwrap, wordsOf } from './ast.ts'
import { partsOf } from './conditions.ts'
import { evaluate } from './evaluate.ts'
import { functionsOf } from './functions.ts'
import type { Module } from './module.ts'
import type { Modules } from './modules.ts'

const ROUTE =
  /(?:^|\/)(?:app\/.*\/?api\/(?:.*\/)?crons?\/(?:.*\/)?route|pages\/api\/(?:.*\/)?crons?\/.+|api\/(?:.*\/)?crons?\/.+)\.[cm]?[jt]s$/

/** Whether a file is a route that a platform calls by schedule, by its path or by `vercel.json`. */
export function isCronRoute(path: string, listed: readonly string[]): boolean {
  if (ROUTE.test(path)) return true
  return listed.some((route) => {
    const name = route.replace(/[?#].*$/, '').replace(/^\/|\/$/g, '')
    return (
      name !== '' &&
      new RegExp(`(?:^|/)(?:app/|pages/|src/)?${escapePattern(name)}(?:/route|/index)?\\.[cm]?[jt]s$`).test(path)
    )
  })
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const CHECK =
  /secret|auth|token|verif|signature|api_?key|bearer|unauthori[sz]ed|forbidden|session|x-vercel-cron|password|guard|protect|middleware|\b40[13]\b/i
const EFFECT = /^(?:save|fetch|post|put|add|rpc|query|exec)$/i
const EFFECT_WORDS = new Set(
  'create update delete insert upsert send remove sync process run publish notify execute trigger refresh import generate cleanup activate expire purge archive charge renew'.split(
    ' ',
  ),
)

export function routeIn(modules: Modules, module: Module): CronRoute | null {
  const handler = handlerOf(module)
  if (handler === null) return null
  const place = { path: module.path, line: module.lineOf(handler) }
  const hasEffect = findAll(handler, isCall).some(({ callee }) => {
    const name = pathOf(callee!).at(-1)!
    return EFFECT.test(name) || wordsOf(name).some((word) => EFFECT_WORDS.has(word))
  })
  return {
    kind: 'cron-route',
    place,
    secret: secretOf(modules, module, handler),
    weakness: weaknessOf(modules, module),
    hasEffect,
  }
}

/** A check in the file itself, in a wrapper around the handler, or in a function that is handed the request. */
function secretOf(modules: Modules, module: Module, handler: Node): CronRoute['secret'] {
  if (CHECK.test(module.text)) return 'checked'
  const wrapped = unwrap(handler.type === 'VariableDeclarator' ? (handler.init ?? handler) : handler)
  const parameters = new Set((wrapped.params ?? []).flatMap((each) => nameOf(each) ?? []))
  const asked = isCall(wrapped)
    ? [wrapped]
    : findAll(wrapped, isCall).filter((call) =>
        (call.arguments ?? []).some((each) => parameters.has(nameOf(each) ?? '')),
      )
  for (const call of asked) {
    const refs = functionsOf(modules, module, call.callee!)
    if (refs.length === 0) return 'unknown'
    if (refs.some((ref) => CHECK.test(ref.module.text))) return 'checked'
  }
  return isFunction(wrapped) ? 'missing' : 'unknown'
}

/** The exported GET or POST of a route file, or its default export. */
function handlerOf(module: Module): Node | null {
  for (const name of ['GET', 'POST', 'default', 'handler']) {
    const target = module.exports.get(name)
    if (target === undefined || 'from' in target) continue
    if ('node' in target) return target.node
    const declared = module.scopes.get(module.program)?.get(target.local)
    if (declared !== undefined) return declared.node
  }
  return null
}

/** An environment variable, not a field of some object. */
function isSecretName(name: string): boolean {
  return /^[A-Z][A-Z\d_]*$/.test(name) && /SECRET|TOKEN|API_?KEY|PASSWORD|AUTH/.test(name)
}

function weaknessOf(modules: Modules, module: Module): CronRoute['weakness'] {
  const at = (node: Node): { path: string; line: number } => ({ path: module.path, line: module.lineOf(node) })
  const compared = comparedSecrets(modules, module)
  for (const node of findAll(module.program, ({ type }) => type === 'LogicalExpression')) {
    const value = evaluate(modules, module, node)
    if (value.kind !== 'env' || value.fallback?.kind !== 'text' || !compared.has(value.name)) continue
    if (node.operator !== '&&' && value.fallback.text !== '')
      return { place: at(node), kind: 'literal', name: value.name }
  }
  for (const node of findAll(
    module.program,
    ({ type, operator }) => type === 'BinaryExpression' && /^[!=]==?$/.test(operator!),
  )) {
    for (const side of [node.left!, node.right!]) {
      const found = undefinedSecret(modules, module, side)
      if (found === null) continue
      const check = presenceCheck(modules, module, node, found)
      if (check === 'required') continue
      return { place: at(node), kind: check === 'optional' ? 'optional' : 'undefined', name: found }
    }
  }
  return null
}

/** Environment variables that requests are compared with. */
function comparedSecrets(modules: Modules, module: Module): ReadonlySet<string> {
  const sides = findAll(
    module.program,
    ({ type, operator }) => type === 'BinaryExpression' && /^[!=]==?$/.test(operator!),
  )
  const names = sides.flatMap(({ left, right }) =>
    [left!, right!].flatMap((side) =>
      partsOf(module, side, 2).flatMap((part) =>
        [part, ...(unwrap(part).expressions ?? [])].map((each) => evaluate(modules, module, each)),
      ),
    ),
  )
  return new Set(names.flatMap((value) => (value.kind === 'env' && isSecretName(value.name) ? [value.name] : [])))
}

/** `Bearer ${process.env.X}`, also through a variable: the name of X. A plain `=== process.env.X` cannot equal a header. */
function undefinedSecret(modules: Modules, module: Module, side: Node): string | null {
  for (const part of partsOf(module, side, 2)) {
    const template = unwrap(part)
    if (template.type !== 'TemplateLiteral') continue
    for (const hole of template.expressions ?? []) {
      const value = evaluate(modules, module, hole)
      if (value.kind === 'env' && value.fallback === null && isSecretName(value.name)) return value.name
    }
  }
  const value = evaluate(modules, module, side)
  return value.kind === 'env' && value.fallback === null && isSecretName(value.name) ? value.name : null
}

/** Whether the presence of the secret is tested before the comparison: and whether its absence opens the route. */
function presenceCheck(
  modules: Modules,
  module: Module,
  comparison: Node,
  name: string,
): 'required' | 'optional' | null {
  const isSecret = (node: Node): boolean => {
    const value = evaluate(modules, module, unwrap(node))
    return value.kind === 'env' && value.name === name
  }
  const scope = enclosing(comparison, isFunction) ?? module.program
  for (const node of findAll(scope, ({ type }) => CHECKS.has(type))) {
    const answer = checkOf(node, comparison, isSecret)
    if (answer !== null) return answer
  }
  return null
}

const CHECKS = new Set(['UnaryExpression', 'LogicalExpression', 'IfStatement'])

function checkOf(node: Node, comparison: Node, isSecret: (node: Node) => boolean): 'required' | 'optional' | null {
  switch (node.type) {
    case 'UnaryExpression':
      return node.operator === '!' && isSecret(node.argument!) ? 'required' : null
    case 'LogicalExpression':
      if (node.operator !== '&&' || !isSecret(node.left!)) return null
      return isRejection(comparison) && containsNode(node.right!, comparison) ? 'optional' : 'required'
    default:
      if (!isSecret(node.test!)) return null
      return containsNode(node.consequent as Node, comparison) ? 'optional' : 'required'
  }
}

function isRejection(comparison: Node): boolean {
  return comparison.operator!.startsWith('!')
}

function containsNode(node: Node, inner: Node): boolean {
  for (let at: Node | null = inner; at !== null; at = at.parent) if (at === node) return true
  return false
}
