import { parseSync } from 'oxc-parser'
import {
  enclosing,
  findAll,
  isClass,
  isFunction,
  isNode,
  keyOf,
  type Node,
  nameOf,
  readChildren,
  unwrap,
} from './ast.ts'

/** What a name stands for. */
export interface Declaration {
  readonly kind: 'variable' | 'function' | 'class' | 'parameter' | 'import' | 'enum'
  readonly node: Node
  /** The value that a variable starts with. */
  readonly init: Node | null
  /** The way from the value to the name: `const { a: { b } } = init` is ['a', 'b']. */
  readonly path: readonly string[]
  readonly isConst: boolean
}

/** A name from another module: `default`, `*` for all of it, or an exported name. */
export interface ImportBinding {
  readonly from: string
  readonly name: string
}

export type ExportTarget = { readonly node: Node } | { readonly local: string } | ImportBinding

export interface Module {
  readonly path: string
  readonly text: string
  readonly program: Node
  readonly scopes: ReadonlyMap<Node, Map<string, Declaration>>
  readonly imports: ReadonlyMap<string, ImportBinding>
  readonly exports: ReadonlyMap<string, ExportTarget>
  /** Modules of which everything is exported again. */
  readonly starExports: readonly string[]
  lineOf(node: Node): number
}

export function parseModule(path: string, text: string): Module {
  if (isTooDeep(text)) throw new Error('The file is nested too deeply to be parsed.')
  const source = text.startsWith('#!') ? `//${text.slice(2)}` : text
  const parsed = parseSync(path.replace(/\.(?:cjs|js|mjs)$/, '.jsx'), source, { sourceType: 'unambiguous' })
  const program = parsed.program as unknown as Node
  const fatal = parsed.errors.find(({ severity }) => severity === 'Error')
  if (fatal !== undefined && (program.body as readonly Node[]).length === 0 && text.trim() !== '') {
    throw new Error(`The file cannot be parsed: ${fatal.message}`)
  }
  program.parent = null
  const scopes = new Map<Node, Map<string, Declaration>>([[program, new Map()]])
  const imports = new Map<string, ImportBinding>()
  setParents(program, scopes)
  collectImports(program, scopes, imports)
  const { exports, starExports } = collectExports(program)
  const starts = lineStarts(source)
  return { path, text, program, scopes, imports, exports, starExports, lineOf: (node) => lineAt(starts, node.start) }
}

/** The parser is native code and ends the process when its stack is used up: far below that, a file is not parsed. */
const MAX_NESTING = 1500

function isTooDeep(text: string): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    // ( [ { and ) ] }
    if (char === 40 || char === 91 || char === 123) depth++
    else if (char === 41 || char === 93 || char === 125) depth = Math.max(0, depth - 1)
    if (depth > MAX_NESTING) return true
  }
  return (text.match(/\belse\b/g)?.length ?? 0) > 3 * MAX_NESTING
}

function setParents(node: Node, scopes: Map<Node, Map<string, Declaration>>): void {
  node.children = readChildren(node)
  for (const child of node.children) {
    child.parent = node
    declare(child, scopes)
    setParents(child, scopes)
  }
}

function isScope(node: Node): boolean {
  return node.type === 'Program' || node.type === 'BlockStatement' || node.type.startsWith('For') || isFunction(node)
}

function add(
  node: Node,
  name: string | null,
  declaration: Declaration,
  scopes: Map<Node, Map<string, Declaration>>,
): void {
  if (name === null) return
  const scope = enclosing(node, declaration.node.parent?.kind === 'var' ? isVarScope : isScope)
  if (scope === null) return
  const names = scopes.get(scope) ?? new Map<string, Declaration>()
  scopes.set(scope, names)
  names.set(name, declaration)
}

function isVarScope(node: Node): boolean {
  return node.type === 'Program' || isFunction(node)
}

function declare(node: Node, scopes: Map<Node, Map<string, Declaration>>): void {
  if (node.type === 'VariableDeclarator') {
    const isConst = node.parent?.kind === 'const'
    const init = node.init ?? null
    for (const { name, path } of namesIn(node.id!))
      add(node, name, { kind: 'variable', node, init, path, isConst }, scopes)
  } else if (isFunction(node)) {
    if (node.type === 'FunctionDeclaration') {
      add(node, nameOf(node.id), { kind: 'function', node, init: null, path: [], isConst: true }, scopes)
    }
    const names = scopes.get(node) ?? new Map<string, Declaration>()
    scopes.set(node, names)
    for (const parameter of node.params ?? []) {
      for (const { name, path } of namesIn(parameter)) {
        names.set(name, { kind: 'parameter', node: parameter, init: null, path, isConst: true })
      }
    }
  } else if (isClass(node)) {
    add(node, nameOf(node.id), { kind: 'class', node, init: null, path: [], isConst: true }, scopes)
  } else if (node.type === 'TSEnumDeclaration') {
    add(node, nameOf(node.id), { kind: 'enum', node, init: null, path: [], isConst: true }, scopes)
  }
}

/** The names that a pattern declares, each with its way from the value. */
function namesIn(pattern: Node, path: readonly string[] = []): { name: string; path: readonly string[] }[] {
  switch (pattern.type) {
    case 'Identifier':
      return [{ name: pattern.name as string, path }]
    case 'AssignmentPattern':
      return namesIn(pattern.left!, path)
    case 'TSParameterProperty':
      return namesIn(pattern.parameter!, path)
    case 'RestElement':
      return namesIn(pattern.argument!, [...path, '?'])
    case 'ObjectPattern':
      return (pattern.properties ?? []).flatMap((property) =>
        property.type === 'Property'
          ? namesIn(property.value as Node, [...path, keyOf(property) ?? '?'])
          : namesIn(property, path),
      )
    case 'ArrayPattern':
      return (pattern.elements ?? []).flatMap((element, index) =>
        element === null ? [] : namesIn(element, [...path, String(index)]),
      )
    default:
      return []
  }
}

/** `require('x')`, also when awaited as `import('x')`, or wrapped as compilers do: the name of the module. */
export function requiredModule(written: Node): string | null {
  const node = unwrap(written)
  if (node.type === 'ImportExpression') return nameOf(node.source)
  if (node.type !== 'CallExpression') return null
  const callee = nameOf(node.callee)
  const [argument] = node.arguments ?? []
  if (argument === undefined) return null
  if (callee === 'require') return nameOf(argument)
  return callee?.startsWith('__import') === true ? requiredModule(argument) : null
}

function collectImports(
  program: Node,
  scopes: Map<Node, Map<string, Declaration>>,
  imports: Map<string, ImportBinding>,
): void {
  for (const { node, name, binding } of (program.body as readonly Node[]).flatMap(importsOfStatement)) {
    imports.set(name, binding)
    scopes.get(program)!.set(name, { kind: 'import', node, init: null, path: [], isConst: true })
  }
  for (const names of scopes.values()) {
    for (const [name, declaration] of names) {
      const binding = declaration.kind === 'variable' ? requireBinding(declaration) : null
      if (binding !== null && !imports.has(name)) imports.set(name, binding)
    }
  }
  for (const { left, right } of findAll(program, isPlainAssignment)) {
    const binding = requireBinding({ init: right!, path: [] })
    const name = left!.name as string
    if (binding !== null && !imports.has(name)) imports.set(name, binding)
  }
}

/** `cron = require('node-cron')`, for a name that is declared elsewhere, such as before a `try`. */
function isPlainAssignment({ type, left }: Node): boolean {
  return type === 'AssignmentExpression' && left?.type === 'Identifier'
}

function importsOfStatement(statement: Node): { node: Node; name: string; binding: ImportBinding }[] {
  if (statement.type === 'TSImportEqualsDeclaration') {
    const from = nameOf(statement.moduleReference?.expression as Node | undefined)
    const name = nameOf(statement.id)
    return from === null || name === null ? [] : [{ node: statement, name, binding: { from, name: '*' } }]
  }
  if (statement.type !== 'ImportDeclaration' || statement.importKind === 'type') return []
  const from = nameOf(statement.source) ?? ''
  return (statement.specifiers ?? []).flatMap((specifier) => {
    const name = nameOf(specifier.local)
    return name === null ? [] : [{ node: specifier, name, binding: { from, name: importedName(specifier) } }]
  })
}

function importedName(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  if (specifier.type === 'ImportNamespaceSpecifier') return '*'
  return nameOf(specifier.imported) ?? 'default'
}

function requireBinding({ init, path }: Pick<Declaration, 'init' | 'path'>): ImportBinding | null {
  if (init === null || path.length > 1) return null
  const node = unwrap(init)
  const from = requiredModule(node)
  if (from !== null) return { from, name: path[0] ?? '*' }
  // `require('x').Y` and `require('x')(options)`.
  if (node.type === 'MemberExpression' && path.length === 0) {
    const module = requiredModule(node.object!)
    return module === null ? null : { from: module, name: keyOf(node) ?? '?' }
  }
  if (node.type === 'CallExpression' && path.length === 0) {
    const module = requiredModule(node.callee!)
    return module === null ? null : { from: module, name: '()' }
  }
  return null
}

function collectExports(program: Node): { exports: Map<string, ExportTarget>; starExports: string[] } {
  const exports = new Map<string, ExportTarget>()
  const starExports: string[] = []
  for (const statement of program.body as readonly Node[]) {
    const from = nameOf(statement.source)
    if (statement.type === 'ExportDefaultDeclaration') exports.set('default', { node: statement.declaration! })
    else if (statement.type === 'ExportAllDeclaration') {
      if (statement.exported == null) starExports.push(from ?? '')
      else exports.set(nameOf(statement.exported) ?? '', { from: from ?? '', name: '*' })
    } else if (statement.type === 'ExportNamedDeclaration') addNamedExports(statement, from, exports)
  }
  for (const assignment of findAll(program, isExportAssignment)) addAssigned(assignment, exports)
  return { exports, starExports }
}

function addNamedExports(statement: Node, from: string | null, exports: Map<string, ExportTarget>): void {
  for (const specifier of statement.specifiers ?? []) {
    const local = nameOf(specifier.local) ?? ''
    exports.set(nameOf(specifier.exported) ?? '', from === null ? { local } : { from, name: local })
  }
  const declared = statement.declaration
  if (declared == null) return
  const names = declared.declarations?.flatMap(({ id }) => namesIn(id!).map(({ name }) => name)) ?? [
    nameOf(declared.id),
  ]
  for (const name of names) if (name !== null) exports.set(name, { local: name })
}

function isExportAssignment(node: Node): boolean {
  if (node.type !== 'AssignmentExpression' || node.left?.type !== 'MemberExpression') return false
  const { object } = node.left
  return nameOf(object) === 'exports' || isModuleExports(object!) || isModuleExports(node.left)
}

function isModuleExports(node: Node): boolean {
  return node.type === 'MemberExpression' && nameOf(node.object) === 'module' && keyOf(node) === 'exports'
}

function addAssigned({ left, right }: Node, exports: Map<string, ExportTarget>): void {
  const value = right!
  if (!isModuleExports(left!)) {
    exports.set(keyOf(left!) ?? '', { node: value })
    return
  }
  exports.set('default', { node: value })
  for (const property of value.type === 'ObjectExpression' ? (value.properties ?? []) : []) {
    const name = property.type === 'Property' ? keyOf(property) : null
    if (name !== null && isNode(property.value)) exports.set(name, { node: property.value })
  }
}

/** What a name stands for at a place in a module. */
export function lookup(module: Module, name: string, from: Node): Declaration | null {
  for (let at: Node | null = from; at !== null; at = at.parent) {
    const found = module.scopes.get(at)?.get(name)
    if (found !== undefined) return found
  }
  return null
}

/** The import that an identifier stands for, unless a nearer name hides it. */
export function importOf(module: Module, identifier: Node): ImportBinding | null {
  const name = nameOf(identifier)
  if (identifier.type !== 'Identifier' || name === null) return null
  const binding = module.imports.get(name)
  if (binding === undefined) return null
  const declared = lookup(module, name, identifier)
  return declared === null || declared.kind === 'import' || declared.kind === 'variable' ? binding : null
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low + 1
}
