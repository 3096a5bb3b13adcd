import { findAll, isCall, keyOf, type Node, nameOf, pathOf, propertyOf, wordsOf } from './ast.ts'

/** An operation that only one of several instances can win. */
export interface Primitive {
  readonly text: string
  /** `lock`: taken by name. `claim`: rows are taken one by one. `queue`: a queue drops the second job. */
  readonly shape: 'lock' | 'claim' | 'queue'
}

const LOCKING_SQL =
  /pg_(?:try_)?advisory_(?:xact_)?lock|\bGET_LOCK\s*\(|sp_getapplock|\bSKIP\s+LOCKED\b|insert\s+into\s+["`[]?\w*(?:lock|lease|leader)\w*/i
const CLAIM_SQL =
  /\bupdate\b[\s\S]*\bset\b[\s\S]*\bwhere\b[\s\S]*\b(?:status|state|claimed|locked|picked|processing)\w*[\s\S]*\breturning\b/i
const STATUS = new Set(
  'status state locked lockedat lockedby claimed claimedat claimedby processing processed picked pickedat lockeduntil'.split(
    ' ',
  ),
)

/** Texts that stand in a call itself, also as tagged template or inside a template with holes. */
export function textsIn(node: Node): string[] {
  return findAll(node, ({ type }) => type === 'Literal' || type === 'TemplateElement').flatMap(({ type, value }) => {
    if (type === 'TemplateElement') return [(value as { cooked?: string }).cooked ?? '']
    return typeof value === 'string' ? [value] : []
  })
}

export function primitiveOf(node: Node): Primitive | null {
  if (node.type === 'TaggedTemplateExpression') return sqlPrimitive(textsIn(node.quasi!).join(' '))
  if (node.type === 'NewExpression') {
    return pathOf(node.callee!).at(-1) === 'Redlock' ? { text: 'Redlock', shape: 'lock' } : null
  }
  if (!isCall(node)) return null
  const path = pathOf(node.callee!)
  const callArguments = node.arguments ?? []
  return (
    storePrimitive(path, callArguments) ??
    queuePrimitive(path, callArguments) ??
    sqlPrimitive(callArguments.flatMap((each) => ownTexts(each)).join(' '))
  )
}

const LOCK_WORDS = new Set(['lock', 'lease', 'claim'])

/** Methods of clients and mappers that decide atomically. */
function storePrimitive(path: readonly string[], callArguments: readonly Node[]): Primitive | null {
  const first = nameOf(callArguments[0])
  switch (path.at(-1)!.toLowerCase()) {
    case 'setnx':
      return { text: path.join('.'), shape: 'lock' }
    case 'set':
      return hasFlag(callArguments, 'nx') ? { text: `${path.join('.')} with NX`, shape: 'lock' } : null
    case 'rpc':
      return wordsOf(first ?? '').some((word) => LOCK_WORDS.has(word)) ? { text: `rpc ${first}`, shape: 'lock' } : null
    case 'findoneandupdate': {
      const isAtomic = isClaim(callArguments[0], callArguments[1])
      return isAtomic ? { text: 'findOneAndUpdate with a condition on the state', shape: 'claim' } : null
    }
    default:
      return skipsLocked(path.at(-1)!, first) ? { text: 'SKIP LOCKED', shape: 'claim' } : null
  }
}

/** `skipLocked()` of Knex, `setLock('pessimistic_partial_write')` and `setOnLocked('skip_locked')` of TypeORM. */
function skipsLocked(method: string, first: string | null): boolean {
  if (method === 'skipLocked') return true
  return /^set(?:On)?Lock(?:ed)?$/.test(method) && /skip_locked|partial_write/.test(first ?? '')
}

function ownTexts(node: Node): string[] {
  return ['Literal', 'TemplateLiteral', 'TaggedTemplateExpression'].includes(node.type) ? textsIn(node) : []
}

function sqlPrimitive(sql: string): Primitive | null {
  const found = LOCKING_SQL.exec(sql)
  if (found !== null) return { text: found[0], shape: /skip/i.test(found[0]) ? 'claim' : 'lock' }
  return CLAIM_SQL.test(sql) ? { text: 'UPDATE … WHERE … RETURNING', shape: 'claim' } : null
}

/** `'NX'` as an argument of its own, or `{ nx: true }`. */
export function hasFlag(callArguments: readonly Node[], ...flags: readonly string[]): boolean {
  return callArguments.some((each) => {
    const text = nameOf(each.type === 'Literal' ? each : null)?.toLowerCase()
    if (text !== undefined && flags.includes(text)) return true
    if (each.type !== 'ObjectExpression') return false
    return (each.properties ?? []).some((property) => {
      const key = (property.type === 'Property' ? keyOf(property) : null)?.toLowerCase()
      if (key === 'condition') return flags.includes(nameOf(property.value as Node)?.toLowerCase() ?? '')
      return key !== undefined && flags.includes(key)
    })
  })
}

/** A filter on the state of a row, and an update that changes that state: the second instance finds nothing. */
function isClaim(filter: Node | undefined, update: Node | undefined): boolean {
  if (filter?.type !== 'ObjectExpression' || update === undefined) return false
  const states = keysBelow(filter).filter((key) => STATUS.has(key.toLowerCase()))
  return states.length > 0 && keysBelow(update).some((key) => STATUS.has(key.toLowerCase()))
}

function keysBelow(node: Node): string[] {
  return findAll(node, ({ type }) => type === 'Property').flatMap((property) => keyOf(property) ?? [])
}

function queuePrimitive(path: readonly string[], callArguments: readonly Node[]): Primitive | null {
  if (!['add', 'send', 'enqueue', 'addjob', 'enqueue_job', 'addbulk'].includes(path.at(-1)!.toLowerCase())) return null
  for (const each of callArguments) {
    if (each.type !== 'ObjectExpression') continue
    const id = propertyOf(each, 'jobId', 'singletonKey', 'jobKey', 'deduplication', 'deduplicationId')
    // An id that differs in each process removes no duplicate.
    if (id !== null && !/Date\.now|random|uuid|nanoid/i.test(textOfCalls(id))) {
      return { text: `${path.join('.')} with a stable job id`, shape: 'queue' }
    }
  }
  return null
}

function textOfCalls(node: Node): string {
  return findAll(node, isCall)
    .map(({ callee }) => pathOf(callee!).join('.'))
    .join(' ')
}
