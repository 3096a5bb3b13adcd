import { type Guard, NO_GUARD } from '../../facts/schedule.ts'
import { handlerFunction } from './handler.ts'
import type { PythonFunction, PythonModule, Scope } from './module.ts'
import type { Node } from './parser.ts'

/** Locks that other machines respect. */
const SHARED =
  /\bnx\s*=\s*True|\.setnx\(|(?:redis|redis_client|cache|conn|r|client|rdb)\w*\.lock\(|\bRedlock\b|\bpg_(?:try_)?advisory_(?:xact_)?lock\b|\bGET_LOCK\(|skip_locked\s*=\s*True|FOR UPDATE SKIP LOCKED|\bcache\.add\(|\bcache_lock\(|\bis_leader\b|\b_job_id\s*=/i
/** Locks of one machine. */
const LOCAL =
  /\bfcntl\.(?:flock|lockf)\(|\bFileLock\(|\bportalocker\b|\bInterProcessLock\(|\.bind\(\s*\(\s*['"](?:127\.0\.0\.1|localhost|)['"]|\bmsvcrt\.locking\(/

export function hasLock(text: string): boolean {
  return SHARED.test(text) || LOCAL.test(text)
}

/** What keeps other instances from running the same fire: in the handler, or around the registration. */
export function guardOf(module: PythonModule, scope: Scope, line: number, handler: string): Guard {
  const place = { path: module.path, line }
  const called = handlerFunction(module, handler)
  const body = called === undefined ? '' : bodyOf(called)
  const shared =
    SHARED.exec(body) ?? called?.decorators.map((text) => LOCK_DECORATOR.exec(text)).find((match) => match !== null)
  if (shared) return { kind: 'shared', text: shared[0], place }
  if (called !== undefined && LOCAL.test(body)) return { kind: 'designated', text: 'a lock of this machine', place }
  const around = scope.function === null ? '' : bodyOf(scope.function)
  const registration = SHARED.exec(around)
  if (registration !== null) return { kind: 'shared', text: registration[0], place }
  const local = LOCAL.exec(scope.function === null ? module.text : around)
  if (local !== null) return { kind: 'designated', text: local[0], place }
  const role = [...scope.conditions, ...earlyReturns(scope, line)].find((condition) => isRole(condition))
  return role === undefined ? NO_GUARD : { kind: 'designated', text: role.text.slice(0, 80), place }
}

/** Longer functions are not searched: a file may register thousands of jobs in one. */
const MAX_BODY = 20_000

function bodyOf({ node }: PythonFunction): string {
  return node.endIndex - node.startIndex > MAX_BODY ? '' : node.text
}

const LOCK_DECORATOR =
  /\b(?:with_\w*lock|single_instance|\w*lock(?:ed)?|only_one|run_once|synchronized|distributed\w*)\b(?=\(|$)/i

const known = new WeakMap<PythonFunction, readonly Node[]>()

/** Conditions of `if …: return` in the same function, before the line. */
function earlyReturns(scope: Scope, line: number): readonly Node[] {
  if (scope.function === null) return []
  const conditions = known.get(scope.function) ?? returnConditions(scope.function)
  known.set(scope.function, conditions)
  return conditions.filter((condition) => condition.startPosition.row + 1 < line)
}

function returnConditions({ node }: PythonFunction): readonly Node[] {
  return (node.childForFieldName('body')?.namedChildren ?? []).flatMap((statement) => {
    const condition = statement.type === 'if_statement' ? statement.childForFieldName('condition') : null
    const body = condition === null ? null : statement.childForFieldName('consequence')
    const returns = body?.namedChildren.some(({ type }) => type === 'return_statement') === true
    return condition !== null && returns ? [condition] : []
  })
}

/** A variable of the environment that chooses the instance. Modes, and flags that are on by default, choose none. */
function isRole({ text }: Node): boolean {
  const read =
    /(?:getenv|environ\.get)\(\s*['"](\w+)['"]\s*(?:,\s*([^)]*))?\)|environ\[\s*['"](\w+)['"]\s*\]|['"](\w+)['"]\s+in\s+os\.environ/.exec(
      text,
    )
  if (read === null) return false
  const name = read[1] ?? read[3] ?? read[4] ?? ''
  if (/WERKZEUG|DEBUG|TEST|^(?:\w+_)?ENV(?:IRONMENT)?$|RELOAD|DISABLE|SKIP|^NO_/i.test(name)) return false
  const byDefault = (read[2] ?? '').replace(/['"\s]/g, '')
  return !/^(?:true|1|yes|on)$/i.test(byDefault)
}
