/** A node of the syntax tree (ESTree with TypeScript). Only the fields that the readers use, all of them optional. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  parent: Node | null
  /** All nodes directly below. Set with the parents, since reading them from the fields is slow. */
  children: readonly Node[]
  readonly name?: string | Node
  readonly value?: unknown
  readonly raw?: string
  readonly kind?: string
  readonly regex?: unknown
  readonly operator?: string
  readonly computed?: boolean
  readonly async?: boolean
  readonly generator?: boolean
  readonly static?: boolean
  readonly body?: Node | readonly Node[] | null
  readonly expression?: Node | boolean
  readonly callee?: Node
  readonly arguments?: readonly Node[]
  readonly object?: Node
  readonly property?: Node
  readonly key?: Node
  readonly id?: Node | null
  readonly init?: Node | null
  readonly params?: readonly Node[]
  readonly left?: Node
  readonly right?: Node
  readonly test?: Node | null
  readonly consequent?: Node | readonly Node[]
  readonly alternate?: Node | null
  readonly argument?: Node | null
  readonly elements?: readonly (Node | null)[]
  readonly properties?: readonly Node[]
  readonly quasis?: readonly Node[]
  readonly quasi?: Node
  readonly tag?: Node
  readonly expressions?: readonly Node[]
  readonly declarations?: readonly Node[]
  readonly declaration?: Node | null
  readonly specifiers?: readonly Node[]
  readonly source?: Node | null
  readonly local?: Node
  readonly imported?: Node
  readonly exported?: Node | null
  readonly importKind?: string
  readonly decorators?: readonly Node[]
  readonly block?: Node
  readonly handler?: Node | null
  readonly finalizer?: Node | null
  readonly param?: Node | null
  readonly parameter?: Node
  readonly members?: readonly Node[]
  readonly initializer?: Node | null
  readonly superClass?: Node | null
  readonly typeAnnotation?: Node | null
  readonly typeName?: Node
  readonly moduleReference?: Node
}

const NOT_CHILDREN = new Set(['parent', 'children', 'type', 'start', 'end', 'range', 'loc'])

/** Reads the nodes below a node from its fields. */
export function readChildren(node: Node): Node[] {
  const found: Node[] = []
  for (const key in node) {
    const value: unknown = node[key as keyof Node]
    if (value === null || typeof value !== 'object' || NOT_CHILDREN.has(key)) continue
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) found.push(item)
  }
  return found
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Visits a node and all below it. A visit that returns `false` leaves out what is below. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return
  for (const child of node.children) walk(child, visit)
}

export function findAll(node: Node, test: (node: Node) => boolean): Node[] {
  const found: Node[] = []
  walk(node, (each) => {
    if (test(each)) found.push(each)
  })
  return found
}

/** As `findAll`, without what nested functions hold. */
export function findInFunction(node: Node, test: (node: Node) => boolean): Node[] {
  const found: Node[] = []
  walk(node, (each) => {
    if (each !== node && isFunction(each)) return false
    if (test(each)) found.push(each)
    return true
  })
  return found
}

export function isFunction(node: Node): boolean {
  return (
    node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration'
  )
}

export function isClass(node: Node): boolean {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression'
}

export function isCall(node: Node): boolean {
  return node.type === 'CallExpression'
}

const WRAPPERS = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'ChainExpression',
])

/** Without parentheses, type assertions, `await` and the like. */
export function unwrap(node: Node): Node {
  if (WRAPPERS.has(node.type) && isNode(node.expression)) return unwrap(node.expression)
  if (node.type === 'AwaitExpression' && isNode(node.argument)) return unwrap(node.argument)
  return node
}

export function nameOf(node: Node | null | undefined): string | null {
  if (node == null) return null
  if (node.type === 'PrivateIdentifier' || node.type === 'Identifier') return node.name as string
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  return null
}

/** The name of a property of a member expression, object or class. */
export function keyOf(node: Node): string | null {
  const key = node.type === 'MemberExpression' ? node.property : node.key
  if (key === undefined) return null
  if (node.computed === true && key.type !== 'Literal') return null
  return nameOf(key)
}

/** `a.b.c` as words: ['a', 'b', 'c']. What is not a name is '?', and `this` is 'this'. */
export function pathOf(written: Node): string[] {
  const node = unwrap(written)
  if (node.type === 'MemberExpression') return [...pathOf(node.object!), keyOf(node) ?? '?']
  if (node.type === 'ThisExpression') return ['this']
  if (node.type === 'CallExpression' || node.type === 'NewExpression') return [...pathOf(node.callee!), '()']
  return [nameOf(node) ?? '?']
}

export function statementsOf(node: Node): readonly Node[] {
  return Array.isArray(node.body) ? (node.body as readonly Node[]) : []
}

export function bodyOf(node: Node): Node | null {
  return isNode(node.body) ? node.body : null
}

/** The value of a property of an object literal. */
export function propertyOf(object: Node, ...names: readonly string[]): Node | null {
  for (const property of object.properties ?? []) {
    const key = property.type === 'Property' ? keyOf(property) : null
    if (key !== null && names.includes(key)) return property.value as Node
  }
  return null
}

export function enclosing(node: Node, test: (node: Node) => boolean): Node | null {
  for (let at = node.parent; at !== null; at = at.parent) if (test(at)) return at
  return null
}

export function enclosingFunction(node: Node): Node | null {
  return enclosing(node, isFunction)
}

/** `acquireCronLock` and `acquire_cron_lock` as words: acquire, cron, lock. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
}
