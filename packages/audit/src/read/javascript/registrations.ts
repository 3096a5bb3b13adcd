import type { Dialect, Runner, Source } from '../../facts/schedule.ts'
import {
  enclosingFunction,
  findAll,
  isCall,
  isFunction,
  isNode,
  keyOf,
  type Node,
  nameOf,
  pathOf,
  propertyOf,
  unwrap,
} from './ast.ts'
import { evaluate } from './evaluate.ts'
import { importedMember } from './imported.ts'
import { lookup, type Module } from './module.ts'
import type { Modules } from './modules.ts'

/** One call or decorator that schedules something, before its parts are evaluated. */
export interface Registration {
  readonly node: Node
  readonly source: Source
  readonly runner: Runner
  readonly dialect: Dialect
  /** The expression, rule, date or interval. */
  readonly when: Node | null
  /** `ms`: `when` is a number of milliseconds. `human`: it may be an interval in words. */
  readonly unit: 'cron' | 'ms' | 'human'
  readonly handler: Node | null
  readonly options: Node | null
  readonly zone: Node | null
  readonly name: Node | null
  /** A source that never starts a run while the last one is running. */
  readonly isSerial: boolean
}

type Draft = Pick<Registration, 'source' | 'dialect'> & Partial<Registration>

function draft(node: Node, given: Draft): Registration {
  return {
    node,
    runner: 'process',
    when: null,
    unit: 'cron',
    handler: null,
    options: null,
    zone: null,
    name: null,
    isSerial: false,
    ...given,
  }
}

export function findRegistrations(modules: Modules, module: Module): Registration[] {
  return findAll(module.program, ({ type }) => type === 'CallExpression' || type === 'NewExpression').flatMap(
    (node) => {
      const binding = importedMember(module, node.callee!)
      const known = binding === null ? null : readCall(modules, module, node, packageOf(binding.from), binding.name)
      return known ?? readByShape(modules, module, node) ?? []
    },
  )
}

/** `@nestjs/schedule/dist` is a part of `@nestjs/schedule`. */
function packageOf(from: string): string {
  return /^(?:@[\w.-]+\/[\w.-]+|[\w.-]+)(?=\/)/.exec(from)?.[0] ?? from
}

function readCall(modules: Modules, module: Module, node: Node, from: string, name: string): Registration | null {
  const args = node.arguments ?? []
  const known = CALLS[from]
  if (known !== undefined) return known.names.includes(name) ? known.read(node, args) : null
  switch (from) {
    case 'cron':
      return kelektiv(modules, module, node, args, name)
    case '@nestjs/schedule':
      return nest(node, args, name)
    case 'bree':
      return node.type === 'NewExpression' ? bree(modules, module, node, args) : null
    case 'toad-scheduler':
      return node.type === 'NewExpression' ? toad(node, args, name) : null
    default:
      return null
  }
}

interface KnownCalls {
  readonly names: readonly string[]
  read(node: Node, args: readonly Node[]): Registration | null
}

/** Libraries whose calls say all by themselves. */
const CALLS: Readonly<Record<string, KnownCalls>> = {
  'node-cron': { names: ['schedule', 'createTask'], read: nodeCron },
  'node-schedule': { names: ['scheduleJob'], read: nodeSchedule },
  croner: { names: ['Cron', 'default'], read: croner },
  'https://deno.land/x/croner': { names: ['Cron', 'default'], read: croner },
  '@elysiajs/cron': {
    names: ['cron', 'default'],
    read: (node, args) => {
      const parts = fromOptions(args[0], ['pattern'], ['run'], ['timezone'])
      return draft(node, { source: 'croner', dialect: 'croner', ...parts })
    },
  },
}

function optionsAt(args: readonly Node[], index: number): Node | null {
  const found = args[index] === undefined ? null : unwrap(args[index])
  return found?.type === 'ObjectExpression' ? found : null
}

function fromOptions(
  written: Node | undefined,
  when: readonly string[],
  handler: readonly string[],
  zone: readonly string[],
): Partial<Registration> {
  const options = written === undefined ? null : unwrap(written)
  if (options?.type !== 'ObjectExpression') return { options: null }
  return {
    options,
    when: propertyOf(options, ...when),
    handler: propertyOf(options, ...handler),
    zone: propertyOf(options, ...zone),
    name: propertyOf(options, 'name'),
  }
}

function nodeCron(node: Node, args: readonly Node[]): Registration | null {
  if (args.length < 2) return null
  const options = optionsAt(args, 2)
  return draft(node, {
    source: 'node-cron',
    dialect: 'node-cron',
    when: args[0]!,
    handler: args[1]!,
    options,
    // Options that are not an object literal may state a zone.
    zone: options === null ? (args[2] ?? null) : zoneIn(options, 'timezone', 'timeZone'),
    name: options === null ? null : propertyOf(options, 'name'),
  })
}

/** The zone option; what is spread into the options may hold it. */
function zoneIn(options: Node, ...names: readonly string[]): Node | null {
  return (
    propertyOf(options, ...names) ?? (options.properties ?? []).find(({ type }) => type === 'SpreadElement') ?? null
  )
}

function kelektiv(
  modules: Modules,
  module: Module,
  node: Node,
  args: readonly Node[],
  name: string,
): Registration | null {
  const isJob =
    (node.type === 'NewExpression' && name === 'CronJob') ||
    (isCall(node) && (name === 'CronJob.from' || name === 'job'))
  const first = args[0]
  if (!isJob || first === undefined) return null
  const value = first.type === 'Identifier' ? evaluate(modules, module, first) : null
  const object = value?.kind === 'node' ? value.node : unwrap(first)
  if (object.type === 'ObjectExpression') {
    const parts = fromOptions(object, ['cronTime'], ['onTick'], ['timeZone', 'timezone', 'utcOffset'])
    return draft(node, { source: 'cron', dialect: 'cron', ...parts })
  }
  // An expression alone only computes times; what is not known may be an object with all parts.
  if (isOnlyAsked(node)) return null
  return draft(node, {
    source: 'cron',
    dialect: 'cron',
    when: first,
    handler: args[1] ?? null,
    zone: notEmpty(args[4]) ?? notEmpty(args[7]),
  })
}

/** `new CronJob(expression).nextDate()`, or a variable of which only dates are asked. */
function isOnlyAsked(node: Node): boolean {
  if (node.arguments?.length !== 1) return false
  const holder = node.parent?.type === 'VariableDeclarator' ? nameOf(node.parent.id) : null
  const scope = holder === null ? null : enclosingFunction(node)
  if (scope === null) return node.parent?.type === 'MemberExpression' && DATES.test(keyOf(node.parent) ?? '')
  const uses = findAll(scope, ({ type, object }) => type === 'MemberExpression' && nameOf(object) === holder)
  return uses.length > 0 && uses.every((use) => DATES.test(keyOf(use) ?? ''))
}

const DATES = /^(?:nextDates?|lastDate|cronTime)$/

function notEmpty(node: Node | undefined): Node | null {
  if (node === undefined || (node.type === 'Literal' && node.value === null)) return null
  return nameOf(node) === 'undefined' ? null : node
}

function nest(node: Node, args: readonly Node[], name: string): Registration | null {
  const decorated = node.parent?.type === 'Decorator' ? node.parent.parent : null
  const handler = decorated !== null && isNode(decorated.value) ? decorated.value : null
  if (name === 'Cron' && args[0] !== undefined) {
    const options = optionsAt(args, 1)
    const zone = options === null ? (args[1] ?? null) : zoneIn(options, 'timeZone', 'utcOffset')
    return draft(node, {
      source: 'nest',
      dialect: 'cron',
      when: args[0],
      handler,
      options,
      zone,
      name: options === null ? null : propertyOf(options, 'name'),
    })
  }
  if (name === 'Interval' && args[0] !== undefined) {
    return draft(node, { source: 'nest', dialect: 'cron', unit: 'ms', when: args.at(-1)!, handler })
  }
  return null
}

function nodeSchedule(node: Node, args: readonly Node[]): Registration | null {
  if (args.length < 2) return null
  const isNamed = args.length > 2 && !isFunction(unwrap(args[1]!))
  const [when, handler] = isNamed ? [args[1]!, args[2]!] : [args[0]!, args[1]!]
  return draft(node, {
    source: 'node-schedule',
    dialect: 'cron-parser',
    when,
    handler,
    name: isNamed ? args[0]! : null,
  })
}

function croner(node: Node, args: readonly Node[]): Registration | null {
  const rest = args.slice(1)
  const options = rest.map(unwrap).find(({ type }) => type === 'ObjectExpression') ?? null
  const others = rest.filter((each) => unwrap(each) !== options)
  // The function and the options may stand in either order.
  const handler = others.find((each) => isFunction(unwrap(each))) ?? others.at(-1) ?? scheduledLater(node)
  // Without a function the object only computes times.
  if (args[0] === undefined || handler === null) return null
  return draft(node, {
    source: 'croner',
    dialect: 'croner',
    when: args[0],
    handler,
    options,
    zone: options === null ? null : zoneIn(options, 'timezone', 'utcOffset'),
  })
}

/** `new Cron(expression).schedule(handler)`. */
function scheduledLater(node: Node): Node | null {
  const { parent } = node
  const call = parent?.type === 'MemberExpression' && keyOf(parent) === 'schedule' ? parent.parent : null
  return call !== null && call !== undefined && isCall(call) ? (call.arguments?.[0] ?? null) : null
}

function bree(modules: Modules, module: Module, node: Node, args: readonly Node[]): Registration | null {
  const value = args[0] === undefined ? null : evaluate(modules, module, args[0])
  const options = value?.kind === 'node' && value.node.type === 'ObjectExpression' ? value.node : null
  const jobs = options === null ? null : propertyOf(options, 'jobs')
  if (jobs?.type === 'ArrayExpression' && jobs.elements?.length === 0) return null
  const only = jobs?.type === 'ArrayExpression' && jobs.elements?.length === 1 ? jobs.elements[0] : null
  const job = only?.type === 'ObjectExpression' ? only : null
  const when = job === null ? null : propertyOf(job, 'cron', 'interval')
  const isInterval = job !== null && propertyOf(job, 'cron') === null
  return draft(node, {
    source: 'bree',
    dialect: 'cron-parser',
    when,
    unit: isInterval ? 'human' : 'cron',
    zone: node,
    isSerial: true,
  })
}

function toad(node: Node, args: readonly Node[], name: string): Registration | null {
  if (!/^(?:SimpleIntervalJob|LongIntervalJob|CronJob)$/.test(name) || args[0] === undefined) return null
  const when = name === 'CronJob' && args[0].type === 'ObjectExpression' ? propertyOf(args[0], 'cronExpression') : null
  const zone = args[0].type === 'ObjectExpression' ? propertyOf(args[0], 'timezone') : null
  return draft(node, {
    source: 'toad-scheduler',
    dialect: 'croner',
    when,
    handler: taskOf(args[1]),
    zone,
    isSerial: true,
  })
}

function taskOf(task: Node | undefined): Node | null {
  return task?.type === 'NewExpression' ? (task.arguments?.[1] ?? null) : null
}

/** Queues, whose object often comes from another module, and copies of libraries: known by at least two signs. */
function readByShape(modules: Modules, module: Module, node: Node): Registration | null {
  if (!isCall(node)) return null
  const path = pathOf(node.callee!)
  const args = node.arguments ?? []
  switch (path.at(-1)) {
    case 'upsertJobScheduler': {
      const options = optionsAt(args, 1)
      if (options === null) return null
      return draft(node, {
        source: 'bullmq',
        runner: 'queue',
        dialect: 'cron-parser',
        ...repeatOf(options),
        name: args[0] ?? null,
      })
    }
    case 'every':
      return isAgenda(modules, module, node) && args.length >= 2 ? agenda(node, args) : null
    case 'schedule':
      if (isFrom(module, node, 'pg-boss') && args.length >= 2) {
        return draft(node, {
          source: 'pg-boss',
          runner: 'queue',
          dialect: 'cron-parser',
          when: args[1]!,
          name: args[0]!,
          zone: node,
        })
      }
      return isVendoredNodeCron(module, node) ? nodeCron(node, args) : null
    default:
      return null
  }
}

/** `{ pattern, every, tz }` of Bull and BullMQ. */
export function repeatOf(options: Node): Partial<Registration> {
  const cron = propertyOf(options, 'pattern', 'cron')
  return {
    options,
    when: cron ?? propertyOf(options, 'every'),
    unit: cron === null ? 'ms' : 'cron',
    zone: zoneIn(options, 'tz'),
  }
}

function agenda(node: Node, args: readonly Node[]): Registration {
  const options = optionsAt(args, 3)
  const zone = options === null ? (args[3] ?? null) : zoneIn(options, 'timezone')
  return draft(node, {
    source: 'agenda',
    runner: 'queue',
    dialect: 'cron-parser',
    unit: 'human',
    when: args[0]!,
    name: args[1]!,
    options,
    zone,
  })
}

export function isAgenda(modules: Modules, module: Module, call: Node): boolean {
  const object = unwrap(unwrap(call.callee!).object ?? call)
  if (/^agenda$/i.test(pathOf(object).at(-1) ?? '')) return true
  const value = evaluate(modules, module, object)
  return (
    value.kind === 'node' &&
    value.node.type === 'NewExpression' &&
    importedMember(value.module, value.node.callee!)?.from.includes('agenda') === true
  )
}

function isFrom(module: Module, call: Node, from: string): boolean {
  const object = unwrap(unwrap(call.callee!).object ?? call)
  const declared = object.type === 'Identifier' ? lookup(module, object.name as string, object) : null
  const init = declared?.init == null ? null : unwrap(declared.init)
  return init?.type === 'NewExpression' && importedMember(module, init.callee!)?.from === from
}

function isVendoredNodeCron(module: Module, node: Node): boolean {
  const object = unwrap(node.callee!).object
  const binding = object === undefined ? null : importedMember(module, object)
  if (binding === null || !/(?:^|\/)node-?cron(?:\/|$)/i.test(binding.from)) return false
  const [expression, handler] = node.arguments ?? []
  return expression !== undefined && handler !== undefined && !isFunction(unwrap(expression))
}
