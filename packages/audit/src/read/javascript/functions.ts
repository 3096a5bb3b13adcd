import { findAll, isCall, isClass, isFunction, isNode, keyOf, type Node, nameOf, unwrap } from './ast.ts'
import { classAround, evaluate, fieldValue } from './evaluate.ts'
import { importOf, lookup, type Module } from './module.ts'
import { followExport, type Modules } from './modules.ts'

/** A function and the module in which it is written. */
export interface FunctionRef {
  readonly node: Node
  readonly module: Module
}

const MAX_DEPTH = 8

/** The functions that an expression can stand for. Empty: not known. */
export function functionsOf(
  modules: Modules,
  module: Module,
  written: Node,
  depth = MAX_DEPTH,
): readonly FunctionRef[] {
  if (depth === 0) return []
  const known = resolved.get(written)
  if (known !== undefined) return known
  const found = resolveFunctions(modules, module, unwrap(written), depth)
  if (depth === MAX_DEPTH) resolved.set(written, found)
  return found
}

/** An expression stands in one module of one tree, so its functions are always the same. */
const resolved = new WeakMap<Node, readonly FunctionRef[]>()

function resolveFunctions(modules: Modules, module: Module, node: Node, depth: number): readonly FunctionRef[] {
  if (isFunction(node)) return [{ node, module }]
  if (node.type === 'Identifier') return ofIdentifier(modules, module, node, depth)
  if (node.type === 'MemberExpression') return ofMember(modules, module, node, depth)
  if (isCall(node)) {
    // `this.run.bind(this)`; any other call: what the called function returns.
    const callee = unwrap(node.callee!)
    if (callee.type === 'MemberExpression' && keyOf(callee) === 'bind') {
      return functionsOf(modules, module, callee.object!, depth - 1)
    }
  }
  return []
}

function ofIdentifier(modules: Modules, module: Module, node: Node, depth: number): readonly FunctionRef[] {
  const declared = lookup(module, node.name as string, node)
  if (declared?.kind === 'function') return [{ node: declared.node, module }]
  if (declared?.kind === 'variable' && declared.init !== null && declared.path.length === 0) {
    const found = functionsOf(modules, module, declared.init, depth - 1)
    if (found.length > 0) return found
  }
  const binding = importOf(module, node)
  return binding === null ? [] : ofExport(modules, module.path, binding, depth)
}

function ofExport(
  modules: Modules,
  from: string,
  binding: { from: string; name: string },
  depth: number,
): readonly FunctionRef[] {
  const found = followExport(modules, from, binding)
  if (found === null) return []
  const { module } = found
  const target = module.exports.get(found.name === '*' ? 'default' : found.name)
  if (target === undefined || 'from' in target) return []
  if ('node' in target) return functionsOf(modules, module, target.node, depth - 1)
  const declared = module.scopes.get(module.program)?.get(target.local)
  if (declared?.kind === 'function') return [{ node: declared.node, module }]
  if (declared?.kind === 'import') return ofExport(modules, module.path, module.imports.get(target.local)!, depth - 1)
  return declared?.init == null ? [] : functionsOf(modules, module, declared.init, depth - 1)
}

function ofMember(modules: Modules, module: Module, node: Node, depth: number): readonly FunctionRef[] {
  const name = keyOf(node)
  if (name === null) return []
  const value = evaluate(modules, module, node)
  if (value.kind === 'node' && isFunction(value.node)) return [{ node: value.node, module: value.module }]
  const object = unwrap(node.object!)
  const binding = object.type === 'Identifier' ? importOf(module, object) : null
  if (binding !== null) {
    const direct = ofExport(modules, module.path, { from: binding.from, name }, depth - 1)
    if (direct.length > 0 && (binding.name === '*' || binding.name === 'default')) return direct
  }
  const holder = classOf(modules, module, object)
  return holder === null ? [] : methodOf(modules, holder, name, depth)
}

/** The class of an object: `this`, an injected service, `new X()`, an exported instance. */
function classOf(modules: Modules, module: Module, object: Node): FunctionRef | null {
  if (object.type === 'ThisExpression') {
    const around = classAround(object)
    return around === null ? null : { node: around, module }
  }
  if (object.type === 'MemberExpression' && object.object?.type === 'ThisExpression') {
    const around = classAround(object)
    const type = around === null ? null : injectedType(around, keyOf(object) ?? '')
    return type === null ? null : classNamed(modules, module, type)
  }
  const value = evaluate(modules, module, object)
  if (value.kind !== 'node') return null
  if (isClass(value.node)) return { node: value.node, module: value.module }
  if (value.node.type !== 'NewExpression') return null
  const made = evaluate(modules, value.module, value.node.callee!)
  return made.kind === 'node' && isClass(made.node) ? { node: made.node, module: made.module } : null
}

/** The name of the class that a constructor parameter or a field is declared with. */
function injectedType(holder: Node, name: string): Node | null {
  for (const member of membersOf(holder)) {
    if (member.type === 'PropertyDefinition' && keyOf(member) === name) {
      const made = isNode(member.value) && member.value.type === 'NewExpression' ? member.value.callee : undefined
      return made ?? typeNameOf(member)
    }
    const parameter = member.kind === 'constructor' ? parameterNamed(member.value as Node, name) : null
    if (parameter !== null) return typeNameOf(parameter)
  }
  const given = fieldValue(holder, name)
  const made = given === null ? null : unwrap(given)
  return made?.type === 'NewExpression' ? (made.callee ?? null) : null
}

function parameterNamed(builder: Node, name: string): Node | null {
  const parameters = (builder.params ?? []).map((each) =>
    each.type === 'TSParameterProperty' ? each.parameter! : each,
  )
  return parameters.find((each) => nameOf(each) === name) ?? null
}

function typeNameOf(node: Node): Node | null {
  const type = node.typeAnnotation?.typeAnnotation
  return type?.typeName ?? null
}

function classNamed(modules: Modules, module: Module, name: Node): FunctionRef | null {
  const value = evaluate(modules, module, name)
  return value.kind === 'node' && isClass(value.node) ? { node: value.node, module: value.module } : null
}

export function membersOf(holder: Node): readonly Node[] {
  const body = (holder.body as Node | undefined)?.body
  return Array.isArray(body) ? (body as readonly Node[]) : []
}

function methodOf(
  modules: Modules,
  { node, module }: FunctionRef,
  name: string,
  depth: number,
): readonly FunctionRef[] {
  for (const member of membersOf(node)) {
    if (keyOf(member) !== name || !isNode(member.value)) continue
    if (member.type === 'MethodDefinition') return [{ node: member.value, module }]
    return functionsOf(modules, module, member.value, depth - 1)
  }
  const parent = node.superClass == null || depth === 0 ? null : classNamed(modules, module, node.superClass)
  return parent === null ? [] : methodOf(modules, parent, name, depth - 1)
}

/** All calls inside a function, nested functions included. */
export function callsIn(node: Node): Node[] {
  return findAll(node, isCall)
}

/** The name under which a function can be called: its own, or that of the variable or property that holds it. */
export function nameOfFunction(node: Node): string | null {
  const own = nameOf(node.id)
  if (own !== null) return own
  const { parent } = node
  if (parent === null) return null
  if (parent.type === 'VariableDeclarator') return nameOf(parent.id)
  if (parent.type === 'AssignmentExpression') return keyOf(parent.left!) ?? nameOf(parent.left)
  if (['Property', 'MethodDefinition', 'PropertyDefinition'].includes(parent.type)) return keyOf(parent)
  return null
}
