import type { ApsJob, ApsScheduler, JobStore } from '../../facts/apscheduler.ts'
import type { Fact } from '../../facts/fact.ts'
import type { Schedule, When, Zone } from '../../facts/schedule.ts'
import { cronTrigger, intervalTrigger } from './cron-trigger.ts'
import { guardOf } from './guard.ts'
import { handlerOf } from './handler.ts'
import { lastName, type PythonCall, type PythonModule, resolved } from './module.ts'
import type { Node } from './parser.ts'
import { type SchedulerObject, schedulersOf } from './scheduler-objects.ts'
import { evaluate, isFalse } from './value.ts'

/** Keywords of `add_job` that are not for its trigger. */
const OF_THE_JOB = new Set([
  'func',
  'trigger',
  'args',
  'kwargs',
  'id',
  'name',
  'misfire_grace_time',
  'coalesce',
  'max_instances',
  'next_run_time',
  'jobstore',
  'executor',
  'replace_existing',
  'conflict_policy',
  'job_executor',
  'max_running_jobs',
  'paused',
  'metadata',
  'func_or_task_id',
  'max_jitter',
])
/** A decorator of django-apscheduler that is given the scheduler. */
const DECORATOR = 'django_apscheduler.jobstores.register_job'
const REGISTRATIONS = /^(.+)\.(add_job|scheduled_job|add_schedule|task)$/

/** Schedulers of other modules are found through `elsewhere`: a dotted name to the schedulers of that module. */
export type Elsewhere = (dotted: string) => readonly SchedulerObject[]

export function apschedulerFacts(module: PythonModule, elsewhere: Elsewhere): readonly Fact[] {
  const own = schedulersOf(module)
  const jobs = module.calls.flatMap((call) => {
    const scheduler = schedulerOf(module, call, own, elsewhere)
    return scheduler === null ? [] : [{ call, scheduler }]
  })
  return [
    ...own.filter(({ line }) => line > 0).map((scheduler) => schedulerFact(module, scheduler)),
    ...jobs
      .filter(({ call }) => call.callee.endsWith('.add_job'))
      .map(({ call, scheduler }) => jobFact(module, call, scheduler)),
    ...jobs.map(({ call, scheduler }) => scheduleFact(module, call, scheduler)),
  ]
}

const UNKNOWN_SCHEDULER: SchedulerObject = {
  name: '',
  line: 0,
  stores: new Map(),
  isStoreKnown: false,
  persistent: [],
  sqlite: [],
  coalesceOff: [],
  zone: { kind: 'none' },
  isSingle: false,
  statesDefaults: false,
}

/** The scheduler on which a job is registered, `null` if the call is none of APScheduler. */
function schedulerOf(
  module: PythonModule,
  call: PythonCall,
  own: readonly SchedulerObject[],
  elsewhere: Elsewhere,
): SchedulerObject | null {
  const [, owner, method] = REGISTRATIONS.exec(call.callee) ?? []
  const receiver = resolved(module, call.callee) === DECORATOR ? call.positional[0]?.text : owner
  if (receiver === undefined) return null
  const name = lastName(receiver)
  const here = own.find((scheduler) => scheduler.name === name)
  if (here !== undefined) return here
  const imported = resolved(module, receiver)
  const there = elsewhere(imported).find((scheduler) => scheduler.name === lastName(imported))
  if (there !== undefined) return there
  return likelyScheduler(module, call, own, name, method === 'task')
}

/** By the imports of the module, or by the look of the call. */
function likelyScheduler(
  module: PythonModule,
  call: PythonCall,
  own: readonly SchedulerObject[],
  name: string,
  isTask: boolean,
): SchedulerObject | null {
  const usesLibrary = [...module.imports.values()].some((dotted) => /^(?:flask_|django_)?apscheduler\b/.test(dotted))
  if (isTask) return usesLibrary && own.length > 0 && /sched/i.test(name) ? own[0]! : null
  if (usesLibrary) return own.length === 1 ? own[0]! : UNKNOWN_SCHEDULER
  return /sched/i.test(name) && looksLikeRegistration(call) ? UNKNOWN_SCHEDULER : null
}

/** Without an import of the library, the trigger has to be one of its triggers. */
function looksLikeRegistration(call: PythonCall): boolean {
  const trigger = call.keywords.get('trigger') ?? call.positional[call.callee.endsWith('.scheduled_job') ? 0 : 1]
  return trigger !== undefined && /^(?:['"](?:cron|interval|date)['"]|\w*Trigger\()/.test(trigger.text)
}

function schedulerFact({ path }: PythonModule, scheduler: SchedulerObject): ApsScheduler {
  const places = (lines: readonly number[]) => lines.map((line) => ({ path, line }))
  return {
    kind: 'aps-scheduler',
    place: { path, line: scheduler.line },
    name: scheduler.name,
    persistent: places(scheduler.persistent),
    sqlite: places(scheduler.sqlite),
    coalesceOff: places(scheduler.coalesceOff),
    isSingle: scheduler.isSingle,
    hasDefaults: !scheduler.statesDefaults,
  }
}

function jobFact(module: PythonModule, call: PythonCall, scheduler: SchedulerObject): ApsJob {
  const { path } = module
  const coalesce = call.keywords.get('coalesce')
  const id = evaluate(module, call.keywords.get('id'))
  const isOff = coalesce !== undefined && isFalse(evaluate(module, coalesce))
  return {
    kind: 'aps-job',
    place: { path, line: call.line },
    id: id.kind === 'text' ? id.text : null,
    statesReplaceExisting: call.hasSplat || call.keywords.has('replace_existing'),
    store: storeOf(module, call, scheduler),
    isAddedAtStart: isAddedAtStart(module, call) && whenOf(module, call).kind !== 'once',
    statesMisfire: call.hasSplat || scheduler.statesDefaults || MISFIRE.some((key) => call.keywords.has(key)),
    coalesceOff: isOff ? { path, line: coalesce.startPosition.row + 1 } : null,
  }
}

const MISFIRE = ['misfire_grace_time', 'coalesce', 'max_instances']

function storeOf(module: PythonModule, call: PythonCall, scheduler: SchedulerObject): JobStore {
  const node = call.keywords.get('jobstore')
  const alias = node === undefined ? { kind: 'text' as const, text: 'default' } : evaluate(module, node)
  if (alias.kind !== 'text') return scheduler.persistent.length > 0 ? 'persistent' : 'unknown'
  return scheduler.stores.get(alias.text) ?? (scheduler.isStoreKnown ? 'memory' : 'unknown')
}

const MAX_CALLS = 2000

/**
 * Not in a request or per row (its id, arguments or date come from parameters), not after a look whether it is there.
 */
function isAddedAtStart(module: PythonModule, call: PythonCall): boolean {
  const around = call.scope.function
  if (around === null) return true
  if (around.decorators.some((text) => /\.(?:route|get|post|put|patch|delete|command|event|websocket)\(/.test(text)))
    return false
  const used = ['id', 'args', 'kwargs', 'run_date', 'trigger', 'name'].flatMap(
    (key) => call.keywords.get(key)?.text ?? [],
  )
  if (around.parameters.some((name) => used.some((text) => new RegExp(`\\b${name}\\b`).test(text)))) return false
  const calls = module.callsByFunction.get(around.node.id) ?? []
  // Every call is looked at for every job: a function with very many is generated code.
  if (calls.length > MAX_CALLS) return true
  const before = calls.filter(({ line }) => line <= call.line)
  return !before.some(({ callee }) => /\.(?:get_jobs?|remove_job|remove_all_jobs|delete_job)$/.test(callee))
}

function scheduleFact(module: PythonModule, call: PythonCall, scheduler: SchedulerObject): Schedule {
  const id = evaluate(module, call.keywords.get('id'))
  const max = evaluate(module, call.keywords.get('max_instances'))
  const func = call.decorated?.name ?? (call.keywords.get('func') ?? call.positional[0])?.text ?? ''
  const handler = handlerOf(module, func)
  return {
    kind: 'schedule',
    place: { path: module.path, line: call.line },
    source: 'apscheduler',
    runner: 'process',
    name: id.kind === 'text' ? id.text : null,
    when: whenOf(module, call),
    zone: zoneOf(module, call, scheduler),
    zoneGroup: `${module.path}:${scheduler.name}`,
    guard: guardOf(module, call.scope, call.line, func),
    handler,
    overlap: max.kind === 'number' && max.number > 1 ? 'possible' : 'prevented',
    isDynamic: !isAddedAtStart(module, call),
  }
}

interface Trigger {
  readonly kind: 'cron' | 'interval' | 'date' | 'crontab' | 'none' | 'unknown'
  readonly given: ReadonlyMap<string, Node>
  readonly first: Node | undefined
  readonly others: ReadonlySet<string>
  readonly hasSplat: boolean
}

const NOTHING_ELSE: ReadonlySet<string> = new Set()

function triggerOf(module: PythonModule, call: PythonCall): Trigger {
  const isDecorator = /\.(?:scheduled_job|task)$/.test(call.callee) && resolved(module, call.callee) !== DECORATOR
  const node = call.keywords.get('trigger') ?? call.positional[isDecorator ? 0 : 1]
  const onCall = { given: call.keywords, first: undefined, others: OF_THE_JOB, hasSplat: call.hasSplat }
  if (node === undefined) return { ...onCall, kind: call.hasSplat ? 'unknown' : 'none' }
  const value = evaluate(module, node)
  if (value.kind === 'text') {
    const kind = value.text === 'cron' || value.text === 'interval' || value.text === 'date' ? value.text : 'unknown'
    return { ...onCall, kind }
  }
  if (value.kind !== 'call') return { ...onCall, kind: 'unknown' }
  const of = module.callsById.get(value.node.id)
  const kinds: Readonly<Record<string, Trigger['kind']>> = {
    CronTrigger: 'cron',
    IntervalTrigger: 'interval',
    DateTrigger: 'date',
    from_crontab: 'crontab',
  }
  const kind = kinds[lastName(value.callee)] ?? 'unknown'
  if (of === undefined) return { ...onCall, kind: 'unknown' }
  return { kind, given: of.keywords, first: of.positional[0], others: NOTHING_ELSE, hasSplat: of.hasSplat }
}

function whenOf(module: PythonModule, call: PythonCall): When {
  const { kind, given, first, others, hasSplat } = triggerOf(module, call)
  if (kind === 'date' || kind === 'none') return { kind: 'once' }
  if (kind === 'crontab') {
    const expression = evaluate(module, first)
    if (expression.kind === 'text') return { kind: 'cron', expression: expression.text, dialect: 'apscheduler' }
    return { kind: 'unknown', text: first?.text.slice(0, 100) ?? '' }
  }
  const isHidden = hasSplat || (first !== undefined && others === NOTHING_ELSE)
  if (kind === 'unknown' || isHidden) return { kind: 'unknown', text: kind }
  return kind === 'cron' ? cronTrigger(module, given, others) : intervalTrigger(module, given, others)
}

function zoneOf(module: PythonModule, call: PythonCall, scheduler: SchedulerObject): Zone {
  const { given } = triggerOf(module, call)
  const node = given.get('timezone') ?? call.keywords.get('timezone')
  if (node === undefined) return scheduler.zone
  const value = evaluate(module, node)
  return value.kind === 'text' ? { kind: 'stated', name: value.text } : { kind: 'computed' }
}
