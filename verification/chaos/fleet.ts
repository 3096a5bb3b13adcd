import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Time } from '../../packages/checker/src/history.ts'
import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { FakeClock } from './clock/clock.ts'
import type { ChaosJob } from './jobs.ts'
import type { Ambush, Command, Order, Report } from './order.ts'
import type { TcpProxy } from './proxy.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

/** A place for a process: when the process in it ends, another one is started there, as a supervisor would. */
export interface Slot {
  readonly name: string
  readonly node: string
  readonly pid: number
  /** The proxy between this process and the store; `null`: the store has no network. */
  readonly proxy: TcpProxy | null
  /** Of its processes; `null`: the host's. */
  readonly clock: FakeClock | null
  /** The process has started and has not been asked to end. */
  readonly isReady: boolean
  readonly isOver: boolean
  /** How often its processes reported a fault from inside. */
  readonly strikes: number
  /** A fault has hold of it: others leave it alone. */
  isTaken: boolean
  send(command: Command): void
  signal(signal: NodeJS.Signals): void
  /** The process is stopped by a signal, or has ended. */
  isStopped(): boolean
  ended(): Promise<void>
}

export interface Fleet {
  readonly slots: readonly Slot[]
  /** The release that processes are started with from now on. */
  release: number
  /** That this process was started with. */
  releaseOf: (node: string) => number
  /** How long until a process that ended is replaced. */
  restartMs: () => number
  /** A process that was started in this place then may fail to start now, through no fault of its own. */
  mayFail: (place: string, startedAt: number) => boolean
  /** Processes that ended without being asked to. */
  readonly surprises: readonly Surprise[]
  /** Ready, all of them. */
  ready(): Promise<void>
  /** All processes have flushed their notes about earlier events. */
  heard(): Promise<void>
  /** Stops all processes. */
  freeze(): Promise<void>
  /** With `kill -9`. */
  end(): Promise<void>
}

export interface Surprise {
  readonly node: string
  readonly startedAt: Time
  readonly endedAt: Time
  /** It had become ready. One that never did may have found the store too slow. */
  readonly wasReady: boolean
  readonly words: string
}

export interface FleetOptions {
  readonly folder: string
  readonly slots: readonly Pick<Slot, 'name' | 'proxy' | 'clock'>[]
  readonly module: string
  /** Of the store, by way of a process's own proxy. */
  readonly urlBy: (proxy: TcpProxy | null) => string
  readonly leaseMs: number
  readonly starvedMs: number
  readonly random: Random
  readonly environment: NodeJS.ProcessEnv
  /** For the loader of a mutant. */
  readonly nodeOptions: readonly string[]
  readonly ambush?: (slot: string) => Ambush | null
  /** What each release declares. */
  readonly jobsOf: (release: number) => readonly ChaosJob[]
  readonly onEvent: (event: CronceEvent, node: string) => void
}

/** Most of the time that a process takes to start is spent on compiling what the one before it has compiled. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/cronce-chaos')
const LOOK_MS = 20

interface Place extends Slot {
  node: string
  isReady: boolean
  isOver: boolean
  strikes: number
  startedAt: number
  isAsked: boolean
  hasLooked: boolean
  child: ChildProcess
}

export function createFleet(recorder: Recorder, options: FleetOptions): Fleet {
  const surprises: Surprise[] = []
  let isEnding = false
  let starts = 0
  const releases = new Map<string, number>()
  const output = openSync(join(options.folder, 'output.log'), 'a')

  const start = (place: Place): void => {
    const number = ++starts
    place.node = `${place.name}.${number}`
    releases.set(place.node, fleet.release)
    const order: Order = {
      node: place.node,
      witness: join(options.folder, `${place.node}.witness`),
      origin: String(recorder.origin),
      seed: Math.floor(options.random.next() * 2 ** 32),
      store: { module: options.module, url: options.urlBy(place.proxy) },
      leaseMs: options.leaseMs,
      starvedMs: options.starvedMs,
      deployment: `release-${fleet.release}`,
      jobs: options.jobsOf(fleet.release),
      ambush: options.ambush?.(place.node) ?? null,
    }
    place.isReady = false
    place.isAsked = false
    place.isOver = false
    place.startedAt = recorder.now()
    recorder.add({ kind: 'node', at: place.startedAt, node: place.node, what: 'started', jobs: [] })
    recorder.log(`${place.node} starts with release ${fleet.release}`)
    place.child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)], {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...place.clock?.environment, ...options.environment },
      execArgv: [...options.nodeOptions],
      stdio: ['ignore', output, output, 'ipc'],
    })
    follow(place, place.child, place.node)
  }

  const follow = (place: Place, child: ChildProcess, node: string): void => {
    child.on('message', (report: Report) => {
      if (report.type === 'ready') place.isReady = true
      else if (report.type === 'looked') place.hasLooked = true
      else if (report.type === 'struck') place.strikes++
      else if (report.type === 'event') options.onEvent(report.event, node)
      else {
        const accepted = recorder.present(report.run, node)
        child.send({ type: 'answered', question: report.question, accepted } satisfies Command, () => {})
      }
    })
    child.on('exit', (code, signal) => {
      recorder.add({ kind: 'node', at: recorder.now(), node, what: 'ended', jobs: [] })
      recorder.log(`${node} ended with ${signal ?? code}`)
      const isExpected =
        place.isAsked || signal === 'SIGKILL' || (!place.isReady && fleet.mayFail(place.name, place.startedAt))
      if (!isExpected && !isEnding) {
        const { startedAt, isReady: wasReady } = place
        const words = `${node} ended by itself with ${signal ?? code}`
        surprises.push({ node, startedAt, endedAt: recorder.now(), wasReady, words })
      }
      place.isReady = false
      place.isOver = true
      if (!isEnding) setTimeout(() => void (isEnding || start(place)), fleet.restartMs())
    })
  }

  const fleet: Fleet = {
    slots: [],
    release: 0,
    releaseOf: (node) => releases.get(node)!,
    restartMs: () => 0,
    mayFail: () => false,
    surprises,
    async ready() {
      while (!fleet.slots.every(({ isReady }) => isReady)) await sleep(LOOK_MS)
    },
    async heard() {
      for (const place of places) place.hasLooked = false
      for (;;) {
        const silent = places.filter(({ hasLooked, isReady }) => isReady && !hasLooked)
        if (silent.length === 0) return
        // Another process may run in this slot now, and a process that was told too late not to stop itself waits for a
        // signal.
        for (const place of silent) {
          if (place.isStopped()) place.signal('SIGCONT')
          place.send({ type: 'look' })
        }
        await sleep(LOOK_MS * 5)
      }
    },
    async freeze() {
      isEnding = true
      for (const place of places) place.signal('SIGSTOP')
      while (!places.every((place) => place.isStopped())) await sleep(1)
    },
    async end() {
      isEnding = true
      const alive = places.filter(({ isOver }) => !isOver)
      const ended = alive.map(({ child }) => once(child, 'exit'))
      for (const place of alive) place.signal('SIGKILL')
      await Promise.all(ended)
    },
  }
  const places = options.slots.map((slot) => createPlace(slot, recorder))
  Object.assign(fleet, { slots: places })
  for (const place of places) start(place)
  return fleet
}

function createPlace(slot: FleetOptions['slots'][number], recorder: Recorder): Place {
  const place: Place = {
    ...slot,
    node: '',
    isReady: false,
    isOver: true,
    strikes: 0,
    startedAt: 0,
    isAsked: false,
    isTaken: false,
    hasLooked: false,
    child: undefined as unknown as ChildProcess,
    get pid() {
      return place.child.pid ?? 0
    },
    send(command) {
      if (place.child.connected) place.child.send(command, () => {})
    },
    signal(signal) {
      if (signal === 'SIGTERM' && !place.isAsked && !place.isOver) {
        place.isAsked = true
        place.isReady = false
        recorder.add({ kind: 'node', at: recorder.now(), node: place.node, what: 'stopping', jobs: [] })
      }
      // Through the child handle: the operating system may have reused the process id.
      place.child.kill(signal)
    },
    isStopped: () => place.isOver || stateOf(place.pid) === 'T',
    async ended() {
      const { node } = place
      while (!place.isOver && place.node === node) await sleep(LOOK_MS)
    },
  }
  return place
}

/** One letter of the kernel's: R, S, T … */
function stateOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2)[0]
  } catch {
    return undefined
  }
}
