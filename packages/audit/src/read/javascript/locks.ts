import type { LockFlaw } from '../../facts/lock.ts'
import {
  enclosing,
  findAll,
  isCall,
  isClass,
  isFunction,
  isNode,
  keyOf,
  type Node,
  nameOf,
  pathOf,
  unwrap,
  wordsOf,
} from './ast.ts'
import { partsOf } from './conditions.ts'
import { evaluate } from './evaluate.ts'
import { asksStore, memoryOf } from './find-guard.ts'
import { callsIn, type FunctionRef, functionsOf, nameOfFunction } from './functions.ts'
import { isAcquireCall, isLockCall, isReleaseCall, isScheduleLockName } from './lock-names.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'
import { hasFlag, primitiveOf, textsIn } from './primitives.ts'

type Flaw = LockFlaw['flaw']

/** Weaknesses of the locks that a module declares for schedules, and of those that its handlers use. */
export function lockFlawsIn(modules: Modules, module: Module, handlers: readonly FunctionRef[]): LockFlaw[] {
  const candidates = [...namedFunctions(module), ...handlers.flatMap((ref) => lockFunctions(modules, ref))]
  const seen = new Set<Node>()
  const flaws = candidates.flatMap((ref) => {
    if (seen.has(ref.node)) return []
    seen.add(ref.node)
    return flawsOf(modules, ref)
  })
  return [...flaws, ...pooledLocks(modules, module)]
}

/** Functions of a module that is named like a lock of schedules, or that are named so themselves. */
function namedFunctions(module: Module): FunctionRef[] {
  const file = module.path
    .split('/')
    .at(-1)!
    .replace(/\.\w+$/, '')
  const isLockFile = isScheduleLockName(file)
  return findAll(module.program, isFunction).flatMap((node) => {
    const name = nameOfFunction(node)
    const holder = enclosing(node, isClass)
    const isNamed = isLockFile || [name, nameOf(holder?.id)].some((each) => each != null && isScheduleLockName(each))
    return isNamed && (name !== null || isFunction(node.parent ?? node)) ? [{ node, module }] : []
  })
}

/** A handler that takes a lock itself, and the lock functions that it calls, to depth 3. */
function lockFunctions(modules: Modules, handler: FunctionRef): FunctionRef[] {
  const found: FunctionRef[] = []
  const seen = new Set<Node>()
  const visit = (ref: FunctionRef, depth: number, isLock: boolean): void => {
    if (seen.has(ref.node) || depth === 0) return
    seen.add(ref.node)
    const calls = callsIn(ref.node)
    const takesLock = calls.some((call) => isLockCall(pathOf(call.callee!)) || primitiveOf(call)?.shape === 'lock')
    if (isLock || takesLock) found.push(ref)
    for (const call of calls) {
      const path = pathOf(call.callee!)
      const isNamed = isLockCall(path) || isReleaseCall(path)
      if (isNamed || isLock)
        for (const callee of functionsOf(modules, ref.module, call.callee!)) visit(callee, depth - 1, isNamed)
    }
  }
  visit(handler, 3, false)
  return found
}

function flawsOf(modules: Modules, ref: FunctionRef): LockFlaw[] {
  const { module } = ref
  const flaw = (node: Node, kind: Flaw, text: string): LockFlaw => ({
    kind: 'lock-flaw',
    place: { path: module.path, line: module.lineOf(node) },
    flaw: kind,
    text,
  })
  const memory = memoryFlaw(modules, ref)
  if (memory?.flaw === 'in-memory') return [memory]
  return [
    ...(memory === null ? [] : [memory]),
    ...unsafeWrites(modules, ref).map(({ node, kind, text }) => flaw(node, kind, text)),
    ...unownedDeletes(ref).map((node) => flaw(node, 'released-without-owner', 'DELETE')),
    ...freedAtEnd(modules, ref).map((node) => flaw(node, 'freed-at-end', nameOfFunction(ref.node) ?? 'the handler')),
    ...failsOpen(ref).map((node) => flaw(node, 'fails-open', nameOfFunction(ref.node) ?? 'the lock')),
  ]
}

/** Calls of a function itself, without those of nested named functions, in the order of the text. */
function ownCalls({ node }: FunctionRef): Node[] {
  const calls = callsIn(node).filter((call) => {
    const around = enclosing(call, (each) => isFunction(each) && (each === node || nameOfFunction(each) !== null))
    return around === node
  })
  return calls.sort((a, b) => a.start - b.start)
}

const OWNER =
  /owner|token|holder|lockedby|ownedby|instance|nonce|identifier|pid|host|uuid|secret|acquiredby|server|worker|nodeid|runner|value/i
const READS = new Set(['get', 'exists', 'findone', 'findunique', 'findfirst', 'findbypk', 'findbyid', 'hget'])
const STORE_WRITES = new Set([
  'set',
  'setex',
  'psetex',
  'create',
  'save',
  'updateone',
  'update',
  'upsert',
  'insertone',
  'insert',
  'hset',
  'put',
])
const DELETES = new Set(['del', 'unlink', 'deleteone', 'delete', 'deletemany', 'destroy', 'remove', 'findoneanddelete'])
const RENEWALS = new Set(['expire', 'pexpire', 'expireat', 'pexpireat'])

function methodOf(call: Node): string {
  return pathOf(call.callee!).at(-1)!.toLowerCase()
}

function isMemory(modules: Modules, module: Module, call: Node): boolean {
  const callee = unwrap(call.callee!)
  const value = callee.type === 'MemberExpression' ? evaluate(modules, module, callee.object!) : null
  return (
    value?.kind === 'node' &&
    value.node.type === 'NewExpression' &&
    /^(?:Weak)?(?:Map|Set)$/.test(nameOf(value.node.callee) ?? '')
  )
}

function unsafeWrites(modules: Modules, ref: FunctionRef): LockStep[] {
  const { module } = ref
  const calls = ownCalls(ref).filter(
    (call) => unwrap(call.callee!).type === 'MemberExpression' && !isMemory(modules, module, call),
  )
  const text = module.text.slice(ref.node.start, ref.node.end)
  const isAtomic = /11000|P2002|23505|duplicate key|unique constraint|Transaction\(|\bmulti\(|\bwatch\(/i.test(text)
  let read: Node | null = null
  return calls.flatMap((call) => {
    if (READS.has(methodOf(call))) {
      if (isLockStore(call)) read = call
      return []
    }
    const step =
      takenForEver(call, calls) ??
      afterRead(read, call, isAtomic) ??
      freedByName(modules, ref, call, calls) ??
      clearedByName(call, calls)
    return step === null ? [] : [step]
  })
}

interface LockStep {
  readonly node: Node
  readonly kind: Flaw
  readonly text: string
}

function takenForEver(call: Node, calls: readonly Node[]): LockStep | null {
  const method = methodOf(call)
  const args = call.arguments ?? []
  if (method !== 'setnx' && !(method === 'set' && hasFlag(args, 'nx'))) return null
  const isExpiring = hasFlag(args, 'ex', 'px', 'exat', 'pxat', 'expiration') || args.length > 4
  if (isExpiring || args.some(isOpaque) || calls.some((each) => RENEWALS.has(methodOf(each)))) return null
  return { node: call, kind: 'no-expiry', text: pathOf(call.callee!).join('.') }
}

/** A write or a renewal that relies on what was read before it. */
function afterRead(read: Node | null, call: Node, isAtomic: boolean): LockStep | null {
  const method = methodOf(call)
  if (read === null || !sameStore(read, call) || hasFlag(call.arguments ?? [], 'nx')) return null
  if (RENEWALS.has(method)) {
    return { node: call, kind: 'renewed-without-owner', text: `${methodOf(read)}, compare, ${method}` }
  }
  if (!STORE_WRITES.has(method) || !isLockStore(call) || isAtomic) return null
  return { node: call, kind: 'check-then-set', text: `${methodOf(read)} then ${method}` }
}

function freedByName(modules: Modules, ref: FunctionRef, call: Node, calls: readonly Node[]): LockStep | null {
  if (!DELETES.has(methodOf(call)) || !isLockStore(call) || !isRelease(ref, calls)) return null
  if (hasOwner(modules, ref.module, call.arguments ?? []) || hasSecondFilter(call)) return null
  return { node: call, kind: 'released-without-owner', text: pathOf(call.callee!).join('.') }
}

/** `delete().eq('key', key).eq('fence', fence)`, `delete(locks).where(and(eq(…), eq(…)))`: more than the name is asked. */
function hasSecondFilter(call: Node): boolean {
  let top = call
  while (top.parent?.type === 'MemberExpression' && top.parent.parent != null && isCall(top.parent.parent))
    top = top.parent.parent
  const filters = findAll(top, isCall).filter(({ callee, start, end }) =>
    end > call.end || start > call.end
      ? /^(?:eq|match|lt|lte|gt|gte|is|andWhere)$/.test(pathOf(callee!).at(-1)!)
      : false,
  )
  return filters.length > 1
}

const UPDATES = new Set(['update', 'updatemany', 'updateone', 'findoneandupdate'])

/** `updateMany({ where: { name }, data: { lockedAt: null } })` after the lock was taken: a release that asks for no owner. */
function clearedByName(call: Node, calls: readonly Node[]): LockStep | null {
  if (!UPDATES.has(methodOf(call)) || !isLockStore(call)) return null
  if (!calls.some((each) => each.start < call.start && UPDATES.has(methodOf(each)) && isLockStore(each))) return null
  const fields = findAll(call, ({ type }) => type === 'Property')
  const isCleared = fields.some(({ key, value }) => {
    return /^(?:is)?lock/i.test(pathOf(key!).at(-1)!) && isNode(value) && value.type === 'Literal' && !value.value
  })
  if (!isCleared || fields.some((field) => OWNER.test(keyOf(field) ?? '') && keyOf(field) !== 'isLocked')) return null
  const isAsked = fields.some((field) => ['OR', 'AND', '$or', 'lt', 'lte', '$lt', '$lte'].includes(keyOf(field) ?? ''))
  return isAsked ? null : { node: call, kind: 'released-without-owner', text: pathOf(call.callee!).join('.') }
}

const DELETE_SQL = /\b(?:delete\s+from|update)\s+["`[]?\w*(?:lock|lease|leader)\w*[\s\S]*?\bwhere\b([\s\S]*)/i

/** What a lock is freed by beside its name: a second column, a time, or who took it. */
const SECOND_CONDITION = /<|>|locked_?by|\bby\b|\band\s+[\w."`]+\s*=(?!\s*(?:true|false|['"]))/i

/** SQL that frees a lock by its name alone, in a function that is named after that. */
function unownedDeletes({ node }: FunctionRef): Node[] {
  const name = nameOfFunction(node)
  if (name === null || !/release|unlock|free/i.test(name)) return []
  return findAll(node, ({ type }) => type === 'TemplateLiteral' || type === 'Literal').filter((text) => {
    const condition = DELETE_SQL.exec(primitiveText(text))?.[1]
    return condition !== undefined && !OWNER.test(condition) && !SECOND_CONDITION.test(condition)
  })
}

/** An argument that may hold options which are not written here. */
function isOpaque(node: Node): boolean {
  return node.type === 'SpreadElement' || (node.type === 'Identifier' && /opt/i.test(node.name as string))
}

function sameStore(a: Node, b: Node): boolean {
  return pathOf(a.callee!).slice(0, -1).join('.') === pathOf(b.callee!).slice(0, -1).join('.')
}

const STORE_WORDS = new Set(
  'redis client cache kv ioredis valkey lock locks lease leases mutex collection model cron leader store connection db prisma'.split(
    ' ',
  ),
)

function isLockStore(call: Node): boolean {
  return pathOf(call.callee!)
    .slice(0, -1)
    .some((name) => wordsOf(name).some((word) => STORE_WORDS.has(word)))
}

function hasOwner(modules: Modules, module: Module, args: readonly Node[]): boolean {
  return args.some((argument) => {
    const value = evaluate(modules, module, argument)
    const node = value.kind === 'node' ? value.node : argument
    if (node.type !== 'ObjectExpression') return false
    return findAll(node, ({ type }) => type === 'Property').some((property) => OWNER.test(keyOf(property) ?? ''))
  })
}

/** Whether a delete frees a lock: the function is named so, or it has taken the lock before. */
function isRelease({ node }: FunctionRef, calls: readonly Node[]): boolean {
  const name = nameOfFunction(node)
  if (name !== null && /release|unlock|free/i.test(name)) return true
  return calls.some((call) => primitiveOf(call)?.shape === 'lock' || isLockCall(pathOf(call.callee!)))
}

const SLOT = new Set(
  'date day slot hour minute period bucket today week month iso timestamp now fire fired scheduled tick window time'.split(
    ' ',
  ),
)

/** Calls that free a lock after the work, where the lock is named after the job alone. */
function freedAtEnd(modules: Modules, ref: FunctionRef): Node[] {
  const calls = ownCalls(ref)
    .concat(nestedCalls(ref))
    .sort((a, b) => a.start - b.start)
  if (isTriggeredByRequests(modules, ref.module)) return []
  const taken = calls.find((call) => {
    const path = pathOf(call.callee!)
    return isLockCall(path) || isAcquireCall(path) || primitiveOf(call)?.shape === 'lock'
  })
  if (taken === undefined || isReleaseCall(pathOf(taken.callee!))) return []
  if (hasSlot(ref.module, taken) || isMemoryLock(modules, ref.module, taken)) return []
  const free = calls.find((call) => call.start > taken.start && isFreeing(call))
  if (free === undefined) return []
  const between = calls.filter(
    (call) => call.start > taken.end && call.end < free.start && !/console|log/i.test(pathOf(call.callee!).join('.')),
  )
  return between.length > 0 ? [free] : []
}

/** One trigger calls a route once per fire, so a slower clock cannot take its lock again. */
function isTriggeredByRequests(modules: Modules, module: Module): boolean {
  const importers = modules.importers(module.path)
  if (importers.length > 0)
    return importers.every((path) => /(?:^|\/)(?:api|pages|app)\/|route\.[cm]?[jt]sx?$/.test(path))
  return /vercel|serverless|from ['"](?:@\/|next\/)/i.test(module.text)
}

/** `withLock = (name, ttl, fn) => async () => { … }`: the work is in the function that is returned. */
function nestedCalls({ node }: FunctionRef): Node[] {
  const body = isNode(node.body) ? node.body : null
  return body !== null && isFunction(body) ? callsIn(body) : []
}

function isFreeing(call: Node): boolean {
  const path = pathOf(call.callee!)
  if (isReleaseCall(path)) return true
  if (primitiveText(call).includes('pg_advisory_unlock')) return true
  return (
    ['del', 'unlink', 'deleteone'].includes(path.at(-1)!.toLowerCase()) &&
    enclosing(call, ({ type }) => type === 'TryStatement')?.finalizer != null
  )
}

function primitiveText(call: Node): string {
  return textsIn(call).join(' ')
}

function hasSlot(module: Module, call: Node): boolean {
  const isPrimitive = primitiveOf(call) !== null
  return (call.arguments ?? []).slice(0, isPrimitive ? 1 : 2).some((argument) => {
    if (isFunction(argument) || OWNER.test(nameOf(argument) ?? '')) return false
    return partsOf(module, argument).some((part) =>
      findAll(part, ({ type }) => type === 'Identifier').some((each) =>
        wordsOf(each.name as string).some((word) => SLOT.has(word)),
      ),
    )
  })
}

function isMemoryLock(modules: Modules, module: Module, call: Node): boolean {
  if (primitiveOf(call) !== null) return false
  const refs = functionsOf(modules, module, call.callee!)
  if (refs.length > 0) return !refs.some((ref) => asksStore(modules, ref))
  const root = pathOf(call.callee!)[0]!
  const declared = lookup(module, root, call)
  const from = module.imports.get(root)?.from ?? module.imports.get(nameOf(declared?.init?.callee) ?? '')?.from ?? ''
  return /mutex|async-lock|p-limit|await-lock|async-sema/.test(from)
}

function memoryFlaw(modules: Modules, ref: FunctionRef): LockFlaw | null {
  const name = nameOfFunction(ref.node)
  if (name === null || !isLockCall([name])) return null
  const place = memoryOf(modules, ref)
  if (place === null) return null
  if (!asksStore(modules, ref)) return { kind: 'lock-flaw', place, flaw: 'in-memory', text: name }
  const line = ref.module.text.split('\n')[place.line - 1] ?? ''
  const isLocks = place.path === ref.module.path && /lock|lease|mutex|running|held|inflight/i.test(line.split('=')[0]!)
  return isLocks ? { kind: 'lock-flaw', place, flaw: 'memory-fallback', text: name } : null
}

/** `catch { return true }` and `if (!redis) return true` in a function that takes a lock. */
function failsOpen({ node }: FunctionRef): Node[] {
  const name = nameOfFunction(node)
  if (name === null || !isLockCall([name])) return []
  return findAll(node, ({ type }) => type === 'ReturnStatement').filter((statement) => {
    if (statement.argument?.type !== 'Literal' || statement.argument.value !== true) return false
    if (statement.parent?.parent?.type === 'CatchClause') return true
    const test = enclosing(statement, ({ type }) => type === 'IfStatement')?.test
    return test?.type === 'UnaryExpression' && /redis|client|db|pool/i.test(pathOf(test.argument!).join('.'))
  })
}

const SESSION_LOCK = /\bpg_(?:try_)?advisory_lock(?:_shared)?\b/
const POOLS = new Set('pool pools prisma sequelize knex datasource drizzle entitymanager manager'.split(' '))

/** Session locks that are taken through a pool or an ORM. */
function pooledLocks(modules: Modules, module: Module): LockFlaw[] {
  if (!SESSION_LOCK.test(module.text)) return []
  return findAll(
    module.program,
    ({ type }) => type === 'CallExpression' || type === 'TaggedTemplateExpression',
  ).flatMap((node) => {
    const own = node.type === 'TaggedTemplateExpression' ? [node.quasi!] : (node.arguments ?? [])
    if (!own.some((each) => !isFunction(each) && SESSION_LOCK.test(primitiveText(each)))) return []
    const callee = unwrap((node.tag ?? node.callee)!)
    if (callee.type !== 'MemberExpression' || !isPool(modules, module, unwrap(callee.object!))) return []
    const text = pathOf(callee).join('.')
    return [
      { kind: 'lock-flaw', place: { path: module.path, line: module.lineOf(node) }, flaw: 'pooled-session', text },
    ]
  })
}

function isPool(modules: Modules, module: Module, object: Node): boolean {
  const value = evaluate(modules, module, object)
  if (value.kind === 'node' && value.node.type === 'NewExpression') {
    const made = pathOf(value.node.callee!).at(-1)!
    return /Pool|Prisma|Sequelize|DataSource/.test(made)
  }
  const name = pathOf(object).at(-1)!
  const declared = object.type === 'Identifier' ? lookup(module, name, object) : null
  // What is handed in by a transaction or connected on its own is one connection.
  if (declared?.kind === 'parameter') return false
  if (declared?.init != null && isCall(unwrap(declared.init)))
    return /^knex$/i.test(pathOf(unwrap(declared.init).callee!).at(-1)!)
  const last = name.toLowerCase()
  return POOLS.has(last) || wordsOf(name).some((word) => word === 'pool' || word === 'prisma') || last === 'datasource'
}
