import type { JobStore } from '../../facts/apscheduler.ts'
import type { Zone } from '../../facts/schedule.ts'
import { hasLock } from './guard.ts'
import { lastName, type PythonCall, type PythonModule, resolved } from './module.ts'
import { type Entry, entryOf, evaluate, isFalse, type Value } from './value.ts'

/** A scheduler of APScheduler, put together from its constructor, `configure`, `add_jobstore` and settings of Flask. */
export interface SchedulerObject {
  readonly name: string
  readonly line: number
  readonly stores: ReadonlyMap<string, JobStore>
  /** Every store that it has is in `stores`. */
  readonly isStoreKnown: boolean
  readonly persistent: readonly number[]
  readonly sqlite: readonly number[]
  readonly coalesceOff: readonly number[]
  readonly zone: Zone
  readonly isSingle: boolean
  readonly statesDefaults: boolean
}

const CLASS = /^(?:apscheduler\..*|)\b(?:Background|Blocking|AsyncIO|Async|Gevent|Tornado|Twisted|Qt|Base)Scheduler$/
const PREFIX = 'apscheduler.'

export function schedulersOf(module: PythonModule): readonly SchedulerObject[] {
  const constructors = module.calls.filter((call) => isConstructor(module, call))
  const made = constructors.map((call) => objectOf(module, call))
  const objects = [...made, ...givenObjects(module, made)]
  const settings = flaskSettings(module)
  if (settings === null) return objects
  return objects.length === 0 ? [settings] : objects.map((object) => merged(object, settings))
}

/** Schedulers of other modules to which this one adds a store. Who starts them is not known here. */
function givenObjects(module: PythonModule, made: readonly SchedulerObject[]): readonly SchedulerObject[] {
  if (!/\bapscheduler\b/.test(module.text)) return []
  return module.calls.flatMap((call) => {
    const name = /(?:^|\.)(\w+)\.add_jobstore$/.exec(call.callee)?.[1]
    if (name === undefined || made.some((object) => object.name === name)) return []
    return [{ ...objectFrom(name, call.line, [addedStore(module, call)], [], true), isSingle: true }]
  })
}

function isConstructor(module: PythonModule, call: PythonCall): boolean {
  const name = resolved(module, call.callee)
  if (/^flask_apscheduler\.(?:.*\.)?APScheduler$/.test(name)) return true
  return CLASS.test(name) && (name.startsWith('apscheduler.') || /\bapscheduler\b/.test(module.text.slice(0, 5000)))
}

function objectOf(module: PythonModule, call: PythonCall): SchedulerObject {
  const name = call.target ?? ''
  const entries = configurationOf(module, call)
  const configured = module.calls.filter(({ callee }) => isOn(callee, name, 'configure') || isOn(callee, name, 'init'))
  const all = [...entries, ...configured.flatMap((other) => configurationOf(module, other))]
  const added = module.calls.filter(({ callee }) => isOn(callee, name, 'add_jobstore'))
  const stores = [...storesOf(module, all), ...added.map((other) => addedStore(module, other))]
  const isOpen = call.hasSplat || call.positional.some((node) => /^(?:unknown|call)$/.test(evaluate(module, node).kind))
  return {
    ...objectFrom(name, call.line, stores, all, isOpen),
    isSingle: isSingle(module, call, name),
  }
}

function isOn(callee: string, name: string, method: string): boolean {
  return name !== '' && (callee === `${name}.${method}` || callee.endsWith(`.${name}.${method}`))
}

function objectFrom(
  name: string,
  line: number,
  stores: readonly Store[],
  entries: readonly Entry[],
  isOpen: boolean,
): Omit<SchedulerObject, 'isSingle'> {
  const defaults = entries.find(({ key }) => key === 'job_defaults')?.value
  const dotted = entries.filter(({ key }) => key.startsWith('job_defaults.'))
  const coalesce = [
    ...(defaults === undefined ? [] : [entryOf(defaults, 'coalesce')].filter((entry) => entry !== undefined)),
    ...dotted.filter(({ key }) => key === 'job_defaults.coalesce'),
  ]
  const stated = new Map<string, JobStore>()
  for (const { alias, store } of stores) stated.set(alias, store)
  const lines = (wanted: (store: Store) => boolean) => [...new Set(stores.filter(wanted).map((store) => store.line))]
  return {
    name,
    line,
    stores: stated,
    isStoreKnown: !isOpen && !stores.some(({ store }) => store === 'unknown'),
    persistent: lines(({ store }) => store === 'persistent'),
    sqlite: lines(({ isSqlite }) => isSqlite),
    coalesceOff: coalesce.filter(({ value }) => isFalse(value)).map((entry) => entry.line),
    zone: zoneOf(entries.find(({ key }) => key === 'timezone')),
    statesDefaults: defaults !== undefined || dotted.length > 0,
  }
}

function zoneOf(entry: Entry | undefined): Zone {
  if (entry === undefined || entry.value.kind === 'none') return { kind: 'none' }
  if (entry.value.kind === 'text') return { kind: 'stated', name: entry.value.text }
  return { kind: 'computed' }
}

/** Keywords, and the keys of dictionaries: `{'apscheduler.job_defaults.coalesce': 'false'}`. */
function configurationOf(module: PythonModule, call: PythonCall): readonly Entry[] {
  const dictionaries = call.positional.flatMap((node) => {
    const value = evaluate(module, node)
    return value.kind === 'dict' ? value.entries : []
  })
  const keywords = [...call.keywords].map(([key, node]) => ({
    key,
    value: evaluate(module, node),
    line: node.startPosition.row + 1,
  }))
  return [...dictionaries, ...keywords].map((entry) =>
    entry.key.startsWith(PREFIX) ? { ...entry, key: entry.key.slice(PREFIX.length) } : entry,
  )
}

interface Store {
  readonly alias: string
  readonly store: JobStore
  readonly isSqlite: boolean
  readonly line: number
}

function storesOf(module: PythonModule, entries: readonly Entry[]): readonly Store[] {
  return entries.flatMap(({ key, value, line }) => {
    if (key.startsWith('jobstores.')) return [storeFrom(module, key.slice('jobstores.'.length), value, line)]
    if (key !== 'jobstores') return []
    if (value.kind !== 'dict') return [{ alias: 'default', store: 'unknown' as const, isSqlite: false, line }]
    return value.entries.map((entry) => storeFrom(module, entry.key, entry.value, entry.line))
  })
}

function addedStore(module: PythonModule, call: PythonCall): Store {
  const [first, second] = call.positional
  const alias = evaluate(module, call.keywords.get('alias') ?? second)
  const value = evaluate(module, first)
  const url = evaluate(module, call.keywords.get('url'))
  const name = alias.kind === 'text' ? alias.text : 'default'
  const store = storeFrom(module, name, value, call.line)
  if (value.kind === 'text')
    return { ...store, store: kindOf(value.text), isSqlite: isSqlite(module, url), line: call.line }
  return { ...store, line: call.line }
}

/** A store as an object, or as a dictionary with its type. */
function storeFrom(module: PythonModule, alias: string, value: Value, line: number): Store {
  if (value.kind === 'dict') {
    const type = entryOf(value, 'type')?.value ?? entryOf(value, 'class')?.value
    const url = entryOf(value, 'url')
    const at = url !== undefined && isSqlite(module, url.value) ? url.line : line
    return { alias, store: type?.kind === 'text' ? kindOf(type.text) : 'unknown', isSqlite: at === url?.line, line: at }
  }
  if (value.kind !== 'call') return { alias, store: 'unknown', isSqlite: false, line }
  const call = module.callsById.get(value.node.id)
  const url = call?.keywords.get('url') ?? call?.keywords.get('engine') ?? call?.positional[0]
  const store = kindOf(lastName(value.callee))
  const isFile = store === 'persistent' && isSqlite(module, evaluate(module, url))
  return { alias, store, isSqlite: isFile, line: isFile ? value.line : line }
}

function kindOf(type: string): JobStore {
  if (/memory/i.test(type)) return 'memory'
  return /sqlalchemy|redis|mongo|rethinkdb|zookeeper|etcd|django/i.test(type) ? 'persistent' : 'unknown'
}

const SQLITE_TEXT = /^f?["']sqlite(?:\+\w+)?:(?!.*:memory:)/

/** Also a text with holes, and the url of `create_engine`. */
function isSqlite(module: PythonModule, value: Value): boolean {
  if (value.kind === 'unknown') return SQLITE_TEXT.test(value.text)
  if (value.kind === 'call') {
    // `url.replace('sqlite+aiosqlite', 'sqlite')` says what the result is.
    const isReplaced = value.callee.endsWith('.replace')
    const url = module.callsById.get(value.node.id)?.positional[isReplaced ? 1 : 0]
    if (isReplaced) return /^["']sqlite/.test(url?.text ?? '')
    const isEngine = /(?:^|\.)create_engine$/.test(value.callee)
    return isEngine ? isSqlite(module, evaluate(module, url)) : SQLITE_TEXT.test(value.callee)
  }
  return value.kind === 'text' && /^sqlite(?:\+\w+)?:/.test(value.text) && !/:memory:|^sqlite:\/\/$/.test(value.text)
}

/** Flask-APScheduler reads its configuration from the application's. */
function flaskSettings(module: PythonModule): SchedulerObject | null {
  const names = ['JOBSTORES', 'JOB_DEFAULTS', 'TIMEZONE', 'EXECUTORS', 'API_ENABLED']
  const entries = names.flatMap((name) =>
    (module.constants.get(`SCHEDULER_${name}`) ?? []).map((node) => ({
      key: name.toLowerCase(),
      value: evaluate(module, node),
      line: node.startPosition.row + 1,
    })),
  )
  if (entries.length === 0) return null
  const line = entries[0]!.line
  return { ...objectFrom('', line, storesOf(module, entries), entries, false), isSingle: false }
}

function merged(object: SchedulerObject, settings: SchedulerObject): SchedulerObject {
  return {
    ...object,
    stores: new Map([...object.stores, ...settings.stores]),
    isStoreKnown: object.isStoreKnown && settings.isStoreKnown,
    persistent: [...object.persistent, ...settings.persistent],
    sqlite: [...object.sqlite, ...settings.sqlite],
    coalesceOff: [...object.coalesceOff, ...settings.coalesceOff],
    zone: object.zone.kind === 'none' ? settings.zone : object.zone,
    statesDefaults: object.statesDefaults || settings.statesDefaults,
  }
}

/** Only a process of its own starts it, or a lock keeps a second one away. */
function isSingle(module: PythonModule, call: PythonCall, name: string): boolean {
  if (/(?:^|\/)management\/commands\//.test(module.path) || hasLock(module.text)) return true
  if (isMainOnly(module, call, new Set())) return true
  if (call.scope.function !== null) return false
  const starts = module.calls.filter(({ callee }) => isOn(callee, name, 'start'))
  return starts.length > 0 && starts.every((start) => isMainOnly(module, start, new Set()))
}

/** Whether every path to this call in the module begins in `if __name__ == '__main__'`. */
function isMainOnly(module: PythonModule, { scope }: PythonCall, seen: Set<string>): boolean {
  if (scope.isMain) return true
  const name = scope.function?.name === '__init__' ? scope.className : scope.function?.name
  if (name === undefined || name === null || seen.has(name)) return false
  seen.add(name)
  const callers = module.calls.filter(({ callee, positional }) => {
    const isRun = /^(?:asyncio\.run|.*run_until_complete)$/.test(callee)
    return lastName(callee) === name || (isRun && (positional[0]?.text ?? '').startsWith(`${name}(`))
  })
  return callers.length > 0 && callers.every((caller) => isMainOnly(module, caller, seen))
}
