import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Message, Order } from './order.ts'
import { witnessPath } from './witness.ts'
import { ORDER_VARIABLE } from './worker.ts'

export const SLOTS = ['A', 'B', 'C'] as const
export type Slot = (typeof SLOTS)[number]
export type Status = 'starting' | 'live' | 'killed -9' | 'paused' | 'leaving' | 'gone'

/** What is shown of one place for a process; the process in it may change. */
export interface Place {
  readonly slot: Slot
  pid: number
  status: Status
  /** All ids that processes in this place have had, the last one first. */
  readonly instances: string[]
  runs: number
  /** By token and schedule. */
  readonly running: Map<string, Running>
}

export interface Running {
  readonly schedule: string
  readonly dueAt: number
  readonly attempt: number
  readonly since: number
}

export interface Fleet {
  readonly places: readonly Place[]
  start(slot: Slot, more?: Partial<Order>): void
  signal(place: Place, signal: NodeJS.Signals): void
  /** Asks all processes to leave, and waits. Processes that do not leave are killed. */
  leave(): Promise<void>
  /** At once, without waiting: for the end of this process. */
  killAll(): void
  /** Which place an instance is in. */
  placeOf(instance: string): Place | undefined
}

const LEAVE_MS = 15_000

export function createFleet(
  folder: string,
  order: Omit<Order, 'slot' | 'witness'>,
  onMessage: (message: Message, place: Place) => void,
): Fleet {
  const children = new Map<Slot, ChildProcess>()
  const places = SLOTS.map(
    (slot): Place => ({ slot, pid: 0, status: 'starting', instances: [], runs: 0, running: new Map() }),
  )
  let starts = 0
  // A process that is started again gets what the last one got.
  let latest = order

  const start: Fleet['start'] = (slot, more) => {
    const place = places.find((one) => one.slot === slot)!
    latest = { ...latest, ...more }
    const own: Order = { ...latest, slot, witness: witnessPath(folder, `${++starts}-${slot}`) }
    const child = fork(process.argv[1]!, ['demo'], {
      // The terminal must not signal it: the story decides when it ends.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, [ORDER_VARIABLE]: JSON.stringify(own) },
    })
    children.set(slot, child)
    place.pid = child.pid ?? 0
    place.status = 'starting'
    place.running.clear()
    child.on('message', (message: Message) => {
      // Messages that were under way when the process was killed are outdated.
      if (children.get(slot) !== child || place.status === 'killed -9') return
      follow(place, message)
      onMessage(message, place)
    })
    child.on('exit', () => {
      if (children.get(slot) === child && place.status !== 'killed -9') place.status = 'gone'
    })
  }

  return {
    places,
    start,
    signal(place, signal) {
      // Through the child handle: the operating system may have reused the process id.
      children.get(place.slot)?.kill(signal)
    },
    async leave() {
      await Promise.all(
        [...children.values()].map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return
          const ended = once(child, 'exit')
          child.kill('SIGTERM')
          const timer = setTimeout(() => child.kill('SIGKILL'), LEAVE_MS)
          await ended
          clearTimeout(timer)
        }),
      )
    },
    killAll() {
      for (const child of children.values()) child.kill('SIGKILL')
    },
    placeOf: (instance) => places.find(({ instances }) => instances.includes(instance)),
  }
}

function follow(place: Place, message: Message): void {
  switch (message.type) {
    case 'instance.joined':
      place.instances.unshift(message.instance)
      place.status = 'live'
      break
    case 'instance.draining':
      place.status = 'leaving'
      break
    case 'run.started': {
      const { schedule, dueAt, token, attempt } = message
      place.runs++
      place.running.set(`${token} ${schedule}`, { schedule, dueAt, attempt, since: performance.now() })
      break
    }
    case 'run.ended':
    case 'run.fenced':
      place.running.delete(`${message.token} ${message.schedule}`)
      break
  }
}
