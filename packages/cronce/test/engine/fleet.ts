import { type Cronce, cronce } from '../../src/app/cronce.ts'
import type { CronceOptions } from '../../src/app/options.ts'
import { surround } from '../../src/app/surroundings.ts'
import { parseDuration } from '../../src/duration.ts'
import type { EngineSettings, SyncPoint } from '../../src/engine/parts.ts'
import type { CronceEvent, EventOf, EventType } from '../../src/model/event.ts'
import { isPromise } from '../../src/model/is-promise.ts'
import type { Run } from '../../src/run/run.ts'
import { copyData } from '../../src/store/memory/data.ts'
import { type MemorySource, memory } from '../../src/store/memory/memory.ts'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { createLink, type Fault, type Link, type StoreCall } from '../virtual/link.ts'
import { type ClockFaults, createProcess, never, type Process } from '../virtual/process.ts'
import { createWorld, seededRandom, type World } from '../virtual/world.ts'
import { checkPromises } from './check-promises.ts'

export type Tx = MemoryTransaction
export type App = Cronce<Tx>

/**
 * Several instances on one store, in one virtual time, each with its own clock, randomness and connection. Every other one, the first
 * included, has no middleware: its handlers may end without a promise.
 */
export interface Fleet {
  readonly world: World
  readonly source: MemorySource
  /** A client of the store whose connection never fails. It runs no jobs. */
  readonly operator: App
  /** Instances made so far, including those that have ended. */
  readonly members: readonly Member[]
  /** The events that the instances emitted, in order. */
  readonly told: readonly Told[]
  /** Every call of a handler in the namespace `default`, in order. */
  readonly handled: readonly Handled[]
  /** An instance that has joined. */
  add(declare: Declare, options?: MemberOptions): Promise<Member>
  /** One that has not: a function of a cloud, or a crontab. */
  make(declare: Declare, options?: MemberOptions): Member
  addMany(count: number, declare: Declare, options?: MemberOptions): Promise<Member[]>
  /** What the store's clock shows. */
  now(): number
  /** Set the store's clock. */
  stepStore(ms: number): void
  advance(duration: string | number): Promise<void>
  /** The store fails for all members, until the returned function is called. */
  outage(fault: Fault | ((call: StoreCall) => Fault | null)): () => void
  /** Keep this moment. The returned function takes the store back to it, as a failover to a replica that lags behind would. */
  keep(): () => void
  events<Type extends EventType>(type: Type, of?: Member): EventOf<Type>[]
  /** Check the promises on all that is on record, and end all instances as if by kill -9. */
  end(): void
}

export type Declare = (app: App, member: Member) => unknown

export interface MemberOptions extends ClockFaults, Omit<CronceOptions<Tx>, 'store'> {
  readonly name?: string
  readonly settings?: Partial<EngineSettings>
  readonly zoneData?: string
  /** Another machine from the same snapshot as this member: it has the same identity and the same randomness. */
  readonly cloneOf?: Member
}

export interface Member extends Process {
  readonly name: string
  readonly app: App
  readonly link: Link
  /** Peers take the process for dead, although it lives. It is not notified. */
  isSessionLost: boolean
  /** Do this when the engine gets there, this often: hold it (a promise), or crash it. */
  at(point: SyncPoint, happen: () => Promise<void> | void, times?: number): void
}

export interface Told {
  readonly at: number
  readonly member: Member
  readonly event: CronceEvent
}

export interface Handled {
  readonly member: Member
  readonly instance: string
  readonly schedule: string
  readonly dueAt: number
  readonly nonce: string
  readonly kind: Run['fire']['kind']
  readonly attempt: number
  readonly token: bigint
  readonly signal: AbortSignal
  /** By the store's clock. */
  readonly startedAt: number
  endedAt: number | null
  how: 'runs' | 'returned' | 'threw'
}

export interface FleetOptions {
  readonly seed?: number
  /** The store notices processes that have ended, and members claim ahead. */
  readonly probes?: boolean
  /** The store may go back in time. */
  readonly losesWrites?: boolean
  /** Without a listener: `told` stays empty, and only required events are made. */
  readonly isQuiet?: boolean
  /** Between sending and applying, and between applying and the answer, for all calls. */
  readonly latency?: (random: () => number) => { readonly requestMs: number; readonly answerMs: number }
}

/** 2027-01-01T00:00:00Z, a Friday. */
export const NEW_YEAR = Date.UTC(2027, 0, 1)

const OPENING = { namespace: 'default', adopt: false, production: false, warn: () => {} }

export async function createFleet({
  seed = 1,
  probes = false,
  losesWrites = false,
  isQuiet = false,
  latency,
}: FleetOptions = {}): Promise<Fleet> {
  const world = createWorld()
  let stepped = 0
  const storeNow = (): number => NEW_YEAR + Math.floor(world.now()) + stepped
  const source = memory({ clock: { wall: storeNow }, losesWrites })
  const inner = await source.open(OPENING)
  const members: Member[] = []
  const told: Told[] = []
  const handled: Handled[] = []
  const operatorIds = seededRandom(seed - 1)
  const around = { production: false, environment: {}, program: undefined, zoneData: '2027a' }
  const operatorSource: StoreSource<Tx> = { name: 'memory', open: async () => inner }
  const operator = cronce<Tx>({
    logger: false,
    store: surround(operatorSource, { ...around, random: operatorIds, newId: idsFrom('op', operatorIds) }),
  })

  /** Its process has crashed, or its session was lost. */
  const isGone = (instance: string): boolean => {
    const member = members.find(({ name }) => instance.startsWith(`${name}.`))
    return member !== undefined && (member.state === 'crashed' || member.isSessionLost)
  }
  const make = (declare: Declare, options: MemberOptions): Member => {
    const number = members.length + 1
    const { cloneOf, skewMs, rate, settings = {}, zoneData = '2027a', ...others } = options
    const { name = cloneOf?.name ?? `m${number}`, ...appOptions } = others
    const born = cloneOf === undefined ? number : members.indexOf(cloneOf) + 1
    const random = seededRandom(seed * 1_000 + born)
    const process = createProcess(world, NEW_YEAR, { skewMs, rate })
    const link = createLink(world, process)
    if (probes) link.probe = (instances) => instances.filter(isGone)
    if (latency !== undefined) link.disturb(() => ({ kind: 'slow', ...latency(random) }))
    const points = new Map<SyncPoint, { happen: () => Promise<void> | void; left: number }>()
    // Answers at once where nothing is wanted: then a run whose handler is plain makes no promise.
    const sync = (point: SyncPoint): Promise<void> | void => {
      const wanted = points.get(point)
      const happening = wanted !== undefined && wanted.left-- > 0 ? wanted.happen() : undefined
      return happening === undefined ? hold(process) : happening.then(() => hold(process))
    }
    const open = async ({ namespace }: { readonly namespace: string }) =>
      link.store(await source.open({ ...OPENING, namespace }))
    const own: StoreSource<Tx> = { name: 'memory', open }
    const app = cronce<Tx>({
      logger: false,
      signals: false,
      app: 'shop',
      deployment: 'v1',
      ...appOptions,
      store: surround(own, {
        ...around,
        ...{ clock: process.clock, random, newId: idsFrom(name, random), zoneData, settings, sync },
      }),
    })
    const member: Member = Object.assign(process as Member, {
      ...{ name, app, link, isSessionLost: false },
      at: (point: SyncPoint, happen: () => Promise<void> | void, times = 1) =>
        void points.set(point, { happen, left: times }),
    })
    if (!isQuiet) app.on('*', (event) => told.push({ at: storeNow(), member, event }))
    const { namespace = OPENING.namespace } = appOptions
    const record = (run: Run<unknown, Tx>, call: () => unknown): unknown => {
      if (namespace !== OPENING.namespace) return call()
      const entry = handledBy(member, run, storeNow())
      handled.push(entry)
      return onEnd(call, (how) => Object.assign(entry, { how, endedAt: storeNow() }))
    }
    if (number % 2 === 1) recordHandlers(app, record)
    else app.use(async (run, next) => record(run, next))
    members.push(member)
    declare(app, member)
    return member
  }

  const fleet: Fleet = {
    ...{ world, source, operator, members, told, handled },
    make: (declare, options = {}) => make(declare, options),
    async add(declare, options = {}) {
      const member = make(declare, options)
      await world.until(member.app.start())
      return member
    },
    async addMany(count, declare, options = {}) {
      const added: Member[] = []
      for (let index = 0; index < count; index++) added.push(await fleet.add(declare, options))
      return added
    },
    now: storeNow,
    stepStore(ms) {
      stepped += ms
    },
    async advance(duration) {
      const ms = parseDuration(duration)
      if (ms === null) throw new Error(`${duration} is not a duration.`)
      await world.advance(ms)
    },
    outage(fault) {
      const ends = members.map(({ link }) => link.disturb(typeof fault === 'function' ? fault : () => fault))
      return () => {
        for (const end of ends) end()
      }
    },
    keep() {
      const data = copyData(source.data)
      return () => source.restore({ ...copyData(data), epoch: source.data.epoch + 1 })
    },
    events: (type, of) =>
      told
        .filter(({ member, event }) => event.type === type && (of === undefined || member === of))
        .map(({ event }) => event as EventOf<typeof type>),
    end() {
      for (const member of members) member.crash()
      checkPromises(fleet)
    },
  }
  return fleet
}

function handledBy(member: Member, run: Run<unknown, Tx>, startedAt: number): Handled {
  const { fire, attempt, token, signal, instance } = run
  const { schedule, dueAt, nonce, kind } = fire
  return {
    ...{ member, instance, schedule, dueAt, nonce, kind, attempt, token, signal, startedAt },
    ...{ endedAt: null, how: 'runs' },
  }
}

/** A crash or a pause that happened right here. */
function hold(process: Process): Promise<void> | void {
  if (process.state === 'crashed') return never()
  if (process.state === 'paused') return process.delivered()
}

/** Without middleware, so that what is not asynchronous stays so. */
function recordHandlers(app: App, record: (run: Run<unknown, Tx>, call: () => unknown) => unknown): void {
  const declare = app.job as (name: unknown, options: unknown, handler: unknown) => App
  const job = (name: unknown, options: unknown, handler: unknown): App =>
    declare(name, options, isHandler(handler) ? recorded(handler) : handler)
  const recorded = (handler: (run: Run<unknown, Tx>) => unknown) => {
    const { waits } = handler as { readonly waits?: boolean }
    return Object.assign((run: Run<unknown, Tx>) => record(run, () => handler(run)), { waits })
  }
  Object.assign(app, { job })
}

function isHandler(handler: unknown): handler is (run: Run<unknown, Tx>) => unknown {
  return typeof handler === 'function'
}

/** Calls, reports the outcome, and returns the same. */
function onEnd(call: () => unknown, tell: (how: 'returned' | 'threw') => void): unknown {
  let value: unknown
  try {
    value = call()
  } catch (error) {
    tell('threw')
    throw error
  }
  if (!isPromise(value)) {
    tell('returned')
    return value
  }
  return value.then(
    (returned) => {
      tell('returned')
      return returned
    },
    (error: unknown) => {
      tell('threw')
      throw error
    },
  )
}

function idsFrom(name: string, random: () => number): () => string {
  let count = 0
  return () => `${name}.${++count}.${Math.floor(random() * 2 ** 32).toString(36)}`
}
