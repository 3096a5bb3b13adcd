import type { Node } from './parser.ts'

export interface PythonFunction {
  readonly name: string
  readonly node: Node
  readonly className: string | null
  readonly isAsync: boolean
  readonly decorators: readonly string[]
  readonly parameters: readonly string[]
}

/** Where a statement stands. */
export interface Scope {
  readonly function: PythonFunction | null
  readonly className: string | null
  /** Inside `if __name__ == '__main__'`. */
  readonly isMain: boolean
  /** Conditions of the `if` statements around it. */
  readonly conditions: readonly Node[]
}

export interface PythonCall {
  readonly node: Node
  readonly line: number
  /** As written, without blanks: `self.scheduler.add_job`. */
  readonly callee: string
  readonly positional: readonly Node[]
  readonly keywords: ReadonlyMap<string, Node>
  /** `*args` or `**kwargs` hide arguments. */
  readonly hasSplat: boolean
  readonly scope: Scope
  /** The function that this call decorates. */
  readonly decorated: PythonFunction | null
  /** The name that its result is bound to: `scheduler` in `self.scheduler = BackgroundScheduler()`. */
  readonly target: string | null
}

export interface PythonModule {
  readonly path: string
  readonly root: Node
  /** Local name to dotted name: `BackgroundScheduler` to `apscheduler.schedulers.background.BackgroundScheduler`. */
  readonly imports: ReadonlyMap<string, string>
  readonly calls: readonly PythonCall[]
  /** Calls by the id of their node. */
  readonly callsById: ReadonlyMap<number, PythonCall>
  /** Calls by the id of the function around them; 0 is the module itself. */
  readonly callsByFunction: ReadonlyMap<number, readonly PythonCall[]>
  readonly text: string
  readonly functions: ReadonlyMap<string, PythonFunction>
  /** Values by the last part of the name that they are assigned to. */
  readonly constants: ReadonlyMap<string, readonly Node[]>
}

const TOP: Scope = { function: null, className: null, isMain: false, conditions: [] }

interface Building {
  readonly imports: Map<string, string>
  readonly calls: PythonCall[]
  readonly functions: Map<string, PythonFunction>
  readonly constants: Map<string, Node[]>
}

/** Walks the tree once, without recursion: any depth of nesting can be read. */
export function moduleOf(path: string, root: Node): PythonModule {
  const building: Building = { imports: new Map(), calls: [], functions: new Map(), constants: new Map() }
  const stack: { readonly node: Node; readonly scope: Scope; readonly owner: Owner }[] = [
    { node: root, scope: TOP, owner: NO_OWNER },
  ]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { scope, owner } = visit(top.node, top.scope, top.owner, building)
    const inner = top.node.namedChildren
    for (let index = inner.length - 1; index >= 0; index--) {
      const next = inner[index]!
      stack.push({ node: next, scope: scopeOfChild(top.node, next, scope), owner: ownerOfChild(top.node, next, owner) })
    }
  }
  const { calls } = building
  return {
    path,
    root,
    text: root.text,
    callsById: new Map(calls.map((call) => [call.node.id, call])),
    callsByFunction: Map.groupBy(calls, ({ scope }) => scope.function?.node.id ?? 0),
    ...building,
  }
}

/** What the result of an expression is used for. */
interface Owner {
  readonly target: string | null
  readonly decorated: PythonFunction | null
}

const NO_OWNER: Owner = { target: null, decorated: null }

function visit(node: Node, scope: Scope, owner: Owner, building: Building): { scope: Scope; owner: Owner } {
  switch (node.type) {
    case 'import_statement':
    case 'import_from_statement':
      readImport(node, building.imports)
      return { scope, owner: NO_OWNER }
    case 'class_definition':
      return { scope: { ...scope, className: nameOf(node) }, owner: NO_OWNER }
    case 'function_definition': {
      const found = functionOf(node, scope)
      building.functions.set(found.name, found)
      return { scope: { ...scope, function: found }, owner: NO_OWNER }
    }
    case 'decorated_definition': {
      const definition = node.childForFieldName('definition')
      const decorated = definition?.type === 'function_definition' ? functionOf(definition, scope) : null
      return { scope, owner: { target: null, decorated } }
    }
    case 'assignment':
      return { scope, owner: readAssignment(node, building.constants) }
    case 'call':
      building.calls.push(callOf(node, scope, owner))
      return { scope, owner: NO_OWNER }
    default:
      return { scope, owner }
  }
}

function scopeOfChild(node: Node, next: Node, scope: Scope): Scope {
  const isBranch = node.type === 'if_statement' || node.type === 'elif_clause'
  const condition = isBranch ? node.childForFieldName('condition') : null
  if (condition === null || !node.childForFieldName('consequence')?.equals(next)) return scope
  const isMain = /^__name__\s*==\s*['"]__main__['"]$/.test(condition.text)
  return {
    ...scope,
    isMain: scope.isMain || isMain,
    conditions: isMain ? scope.conditions : [...scope.conditions, condition],
  }
}

/** Only the value of an assignment and the call of a decorator have an owner. */
function ownerOfChild(node: Node, next: Node, owner: Owner): Owner {
  if (node.type === 'assignment') return node.childForFieldName('right')?.equals(next) ? owner : NO_OWNER
  if (node.type === 'decorated_definition') return next.type === 'decorator' ? owner : NO_OWNER
  return node.type === 'decorator' || node.type === 'parenthesized_expression' || node.type === 'await'
    ? owner
    : NO_OWNER
}

function readImport(node: Node, imports: Map<string, string>): void {
  const module = node.childForFieldName('module_name')
  for (const name of node.childrenForFieldName('name')) {
    if (name === null) continue
    const isAliased = name.type === 'aliased_import'
    const dotted = (isAliased ? name.childForFieldName('name') : name)?.text ?? ''
    const local = isAliased ? (name.childForFieldName('alias')?.text ?? dotted) : dotted
    const from = module === null ? '' : /\.$/.test(module.text) ? module.text : `${module.text}.`
    if (module === null && !isAliased) imports.set(dotted.split('.')[0]!, dotted.split('.')[0]!)
    else imports.set(local, `${from}${dotted}`)
  }
}

function readAssignment(node: Node, constants: Map<string, Node[]>): Owner {
  const left = node.childForFieldName('left')
  const right = node.childForFieldName('right')
  const isName = left?.type === 'identifier' || left?.type === 'attribute' || left?.type === 'subscript'
  if (left === null || right === null || !isName) return NO_OWNER
  const target = lastName(left.text)
  constants.set(target, [...(constants.get(target) ?? []), right])
  return { target, decorated: null }
}

/** `self.scheduler` is `scheduler`; `app.config["JOBS"]` is `JOBS`. */
export function lastName(dotted: string): string {
  return /\[['"](\w+)['"]\]$/.exec(dotted)?.[1] ?? dotted.slice(dotted.lastIndexOf('.') + 1)
}

function callOf(node: Node, scope: Scope, { target, decorated }: Owner): PythonCall {
  const positional: Node[] = []
  const keywords = new Map<string, Node>()
  let hasSplat = false
  for (const argument of node.childForFieldName('arguments')?.namedChildren ?? []) {
    if (argument.type === 'keyword_argument') {
      const value = argument.childForFieldName('value')
      if (value !== null) keywords.set(argument.childForFieldName('name')?.text ?? '', value)
    } else if (argument.type.endsWith('_splat')) hasSplat = true
    else if (argument.type !== 'comment') positional.push(argument)
  }
  const callee = (node.childForFieldName('function')?.text ?? '').slice(0, 1000).replace(/[\s\\]+/g, '')
  return { node, line: node.startPosition.row + 1, callee, positional, keywords, hasSplat, scope, decorated, target }
}

function functionOf(node: Node, scope: Scope): PythonFunction {
  const around = node.parent?.type === 'decorated_definition' ? node.parent : null
  const decorators = around?.namedChildren.filter(({ type }) => type === 'decorator') ?? []
  return {
    name: nameOf(node),
    node,
    className: scope.className,
    isAsync: node.children.some((child) => child?.type === 'async'),
    decorators: decorators.map(({ text }) => text.slice(0, 200)),
    parameters: (node.childForFieldName('parameters')?.namedChildren ?? [])
      .map(({ text }) => /^\**(\w+)/.exec(text)?.[1] ?? '')
      .filter((name) => name !== '' && name !== 'self' && name !== 'cls'),
  }
}

function nameOf(node: Node): string {
  return node.childForFieldName('name')?.text ?? ''
}

/** The name after imports: `sched.BackgroundScheduler` becomes `apscheduler.schedulers.background.BackgroundScheduler`. */
export function resolved(module: PythonModule, dotted: string): string {
  const [first = '', ...rest] = dotted.split('.')
  const imported = module.imports.get(first)
  return imported === undefined ? dotted : [imported, ...rest].join('.')
}
