import type { FileTree } from '../discover/tree.ts'
import { packageOf } from '../join/packages.ts'
import {
  enclosing,
  findAll,
  isCall,
  isFunction,
  isNode,
  keyOf,
  type Node,
  pathOf,
  propertyOf,
  statementsOf,
  unwrap,
} from '../read/javascript/ast.ts'
import type { Module } from '../read/javascript/module.ts'
import { modulesOf } from '../read/javascript/modules.ts'
import { findRegistrations, type Registration } from '../read/javascript/registrations.ts'
import { routeIn } from '../read/javascript/routes.ts'
import { lineOfCall } from '../read/javascript/schedules.ts'
import type { Broken, Edit, Repair } from './repair.ts'

/** A property more, in the style of the object. */
function addProperty(text: string, object: Node, property: string): Edit {
  const last = object.properties?.at(-1)
  if (last === undefined) return { start: object.start, end: object.end, text: `{ ${property} }` }
  const isMultiline = text.slice(last.end, object.end).includes('\n')
  const line = text.slice(text.lastIndexOf('\n', last.start) + 1, last.start)
  const lead = isMultiline ? `\n${/^\s*/.exec(line)![0]}` : ' '
  return { start: last.end, end: last.end, text: `,${lead}${property}` }
}

function moduleOf({ tree, path }: Broken): Module | null {
  return modulesOf(tree).get(path)
}

function registrationAt(broken: Broken, module: Module): Registration | null {
  const here = findRegistrations(modulesOf(broken.tree), module).filter(
    ({ node }) => lineOfCall(module, node) === broken.finding.place.line,
  )
  return here.length === 1 ? here[0]! : null
}

interface Options {
  /** What the library calls it. */
  readonly property: string
  /** The first major version that has it. */
  readonly since: number
}

/** Adds an option to a registration: to its options, or as options of its own behind the last argument that is there. */
function addOption(options: Readonly<Partial<Record<Registration['source'], Options>>>): Repair {
  return (broken) => {
    const module = moduleOf(broken)
    const registration = module === null ? null : registrationAt(broken, module)
    const option = registration === null ? undefined : options[registration.source]
    if (registration === null || option === undefined || isTooOld(broken.tree, broken.path, registration, option))
      return null
    if (registration.options !== null) return [addProperty(broken.text, registration.options, option.property)]
    const given = registration.node.arguments ?? []
    const counts: Partial<Record<Registration['source'], number>> = { 'node-cron': 2, nest: 1, croner: 2 }
    if (given.length !== counts[registration.source]) return null
    const at = given.at(-1)!.end
    return [{ start: at, end: at, text: `, { ${option.property} }` }]
  }
}

const PACKAGES: Readonly<Partial<Record<Registration['source'], string>>> = { nest: '@nestjs/schedule' }

function isTooOld(tree: FileTree, path: string, { source }: Registration, { since }: Options): boolean {
  const major = packageOf(tree, path).majorOf(PACKAGES[source] ?? source)
  return major !== null && major < since
}

/** The function that is created inside the handler becomes the handler. */
const unwrapHandler: Repair = (broken) => {
  const module = moduleOf(broken)
  if (module === null) return null
  for (const inner of findAll(module.program, isFunction)) {
    const outer = enclosing(inner, isFunction)
    if (module.lineOf(inner) !== broken.finding.place.line || outer === null || (outer.params ?? []).length > 0)
      continue
    const body = isNode(outer.body) ? outer.body : null
    const only = body === null ? null : body.type === 'BlockStatement' ? statementsOf(body) : [body]
    const isOnly = only?.length === 1 && unwrap((only[0]!.expression as Node | undefined) ?? only[0]!) === inner
    if (isOnly) return [{ start: outer.start, end: outer.end, text: broken.text.slice(inner.start, inner.end) }]
  }
  return null
}

/** `await` in an async function, `return` before the last statement of another. */
const waitForCall: Repair = (broken) => {
  const module = moduleOf(broken)
  if (module === null) return null
  const found = findAll(module.program, ({ type, expression }) => {
    return type === 'ExpressionStatement' && isNode(expression) && isCall(expression)
  }).find(({ expression }) => module.lineOf(expression as Node) === broken.finding.place.line)
  const around = found === undefined ? null : enclosing(found, isFunction)
  if (found === undefined || around === null) return null
  const at = (found.expression as Node).start
  if (around.async === true) return [{ start: at, end: at, text: 'await ' }]
  const body = isNode(around.body) ? statementsOf(around.body) : []
  return body.at(-1) === found && broken.text.slice(found.start, at) === ''
    ? [{ start: at, end: at, text: 'return ' }]
    : null
}

/** `add(name, data, { repeat, …options })` of BullMQ becomes `upsertJobScheduler(name, repeat, { name, data, opts })`. */
const upsertScheduler: Repair = (broken) => {
  const module = moduleOf(broken)
  if (module === null || !isBullMq(broken, module)) return null
  const { text } = broken
  const call = findAll(module.program, isCall).find((node) => {
    const callee = unwrap(node.callee!)
    return pathOf(callee).at(-1) === 'add' && module.lineOf(callee.property ?? callee) === broken.finding.place.line
  })
  const [name, data, options] = call?.arguments ?? []
  if (call === undefined || name?.type !== 'Literal' || data === undefined || options?.type !== 'ObjectExpression')
    return null
  const repeat = propertyOf(options, 'repeat')
  if (repeat?.type !== 'ObjectExpression' || propertyOf(options, 'jobId') !== null) return null
  const slice = (node: Node): string => text.slice(node.start, node.end)
  const rest = (options.properties ?? []).filter((each) => keyOf(each) !== 'repeat').map(slice)
  const written = slice(repeat).replace(/\bcron(?=\s*:)/, 'pattern')
  const opts = rest.length === 0 ? '' : `, opts: { ${rest.join(', ')} }`
  const callee = unwrap(call.callee!)
  return [
    { start: callee.property!.start, end: callee.property!.end, text: 'upsertJobScheduler' },
    { start: data.start, end: options.end, text: `${written}, { name: ${slice(name)}, data: ${slice(data)}${opts} }` },
  ]
}

function isBullMq({ tree, path }: Broken, module: Module): boolean {
  return (
    [...module.imports.values()].some(({ from }) => from === 'bullmq') ||
    packageOf(tree, path).majorOf('bullmq') !== null
  )
}

/** A request is rejected when the secret is not set: `!process.env.X ||` before the comparison that rejects. */
const requireSecret: Repair = (broken) => {
  const module = moduleOf(broken)
  const weakness = module === null ? null : (routeIn(modulesOf(broken.tree), module)?.weakness ?? null)
  if (module === null || weakness === null || weakness.kind === 'literal') return null
  const comparison = findAll(module.program, isComparison).find(
    (node) => module.lineOf(node) === broken.finding.place.line,
  )
  if (comparison === undefined) return null
  return weakness.kind === 'optional'
    ? rejectWithout(broken.text, comparison)
    : askFirst(broken.text, comparison, `process.env.${weakness.name}`)
}

function isComparison({ type, operator }: Node): boolean {
  return type === 'BinaryExpression' && /^[!=]==?$/.test(operator ?? '')
}

/** `if (secret && header !== secret)` becomes `if (!secret || header !== secret)`. */
function rejectWithout(text: string, comparison: Node): readonly Edit[] | null {
  const pair = comparison.parent
  const isWhole = pair?.type === 'LogicalExpression' && pair.operator === '&&' && pair.parent?.type === 'IfStatement'
  if (!isWhole || pair.right !== comparison) return null
  const left = pair.left!
  if (left.type !== 'Identifier' && left.type !== 'MemberExpression') return null
  const written = `!${text.slice(left.start, left.end)} || ${text.slice(comparison.start, comparison.end)}`
  return [{ start: pair.start, end: pair.end, text: written }]
}

function askFirst(text: string, comparison: Node, secret: string): readonly Edit[] {
  const written = text.slice(comparison.start, comparison.end)
  const checked = comparison.operator!.startsWith('!') ? `!${secret} || ${written}` : `!!${secret} && ${written}`
  const isAlone = comparison.parent?.type === 'IfStatement' || comparison.parent?.type === 'VariableDeclarator'
  return [{ start: comparison.start, end: comparison.end, text: isAlone ? checked : `(${checked})` }]
}

export const JAVASCRIPT_REPAIRS: Readonly<Record<string, Repair>> = {
  OVL001: addOption({
    'node-cron': { property: 'noOverlap: true', since: 4 },
    nest: { property: 'waitForCompletion: true', since: 5 },
    cron: { property: 'waitForCompletion: true', since: 4 },
    croner: { property: 'protect: true', since: 5 },
  }),
  DST002: addOption({
    'node-cron': { property: "timezone: 'UTC'", since: 2 },
    nest: { property: "timeZone: 'UTC'", since: 0 },
    cron: { property: "timeZone: 'UTC'", since: 0 },
    croner: { property: "timezone: 'UTC'", since: 0 },
  }),
  OVL003: waitForCall,
  HND001: unwrapHandler,
  FLT007: upsertScheduler,
  SLS004: requireSecret,
}
