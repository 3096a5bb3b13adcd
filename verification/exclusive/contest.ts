import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Server, startEtcd, startPostgres, startRedis, startZooKeeper } from '../../scripts/servers/index.ts'
import { type History, now } from './history.ts'
import type { Command, Message, Order, StoreAt, StoreKind } from './order.ts'
import { readLines } from './order.ts'
import { Resource } from './resource.ts'

/** What is done to the processes and the store, each when its share of the work is done; to a holder in the middle of its section. */
export type Fault = 'kill-holder' | 'kill-leader' | 'pause-holder' | 'pause-leader' | 'block-leader' | 'restart-store'

export interface ContestOptions {
  readonly store: StoreKind
  readonly processes: number
  /** By each process. */
  readonly increments: number
  readonly keys: number
  readonly faults: readonly Fault[]
  /** The number of processes that are killed while they execute the work of a key. */
  readonly killedDoers?: number
  readonly leaseMs?: number
  /** Processes do not agree what time it is. Not on SQLite, whose clock is theirs. */
  readonly skewMs?: number
  /**
   * Whether the resource rejects older tokens. If not, the leader cannot be identified, and all processes are killed
   * when they are done. @default true
   */
  readonly guarded?: boolean
  /** For the processes. */
  readonly environment?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
  /** Called from time to time. */
  readonly onProgress?: (done: number, of: number) => void
}

export interface ContestResult {
  readonly history: History
  readonly faults: readonly string[]
  readonly seconds: number
}

interface Racer {
  readonly place: number
  readonly name: string
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  kept: number
  isFinished: boolean
  isStopped: boolean
}

const LEASE_MS = 2_000
const DEADLINE_MS = 600_000
const LOOK_MS = 25
/** In leases: the others must notice, too. */
const BEYOND = 2
/** Longer than any write of a process that is not stopped. */
const WRITE_MS = 250
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/cronce-processes')

/** Real processes on a real store: each wants the same lock many times, stands for the same election, and calls the same keys. */
export async function runContest(options: ContestOptions): Promise<ContestResult> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-exclusive-'))
  const server = await startServer(options.store)
  const contest = new Contest(options, folder, server)
  try {
    return await contest.run()
  } finally {
    await contest.end()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function startServer(store: StoreKind): Promise<Server> | null {
  if (store === 'sqlite') return null
  if (store === 'etcd') return startEtcd()
  if (store === 'zookeeper') return startZooKeeper()
  // A few connections for each process, of which there may be fifty.
  const settings = { max_connections: '400' }
  return store === 'postgres' ? startPostgres({ settings }) : startRedis({ appendonly: true })
}

function keysOf({ keys }: ContestOptions): string[] {
  return Array.from({ length: keys }, (_, number) => `key-${number}`)
}

class Contest {
  readonly #options: ContestOptions
  readonly #folder: string
  readonly #server: Server | null
  readonly #store: StoreAt
  readonly #resource: Resource
  readonly #racers: Racer[] = []
  readonly #killedAt = new Map<string, number>()
  readonly #stops: { readonly process: string; readonly at: number }[] = []
  readonly #faults: string[] = []
  /** Faults that go on by themselves. */
  readonly #underWay: Promise<void>[] = []
  /** What to do to the next one that is in its section. */
  #ambush: ((racer: Racer) => void) | null = null
  #doings = 0
  readonly #giveUpAt: number
  #starts = 0

  constructor(options: ContestOptions, folder: string, server: Server | null) {
    this.#options = options
    this.#folder = folder
    this.#resource = new Resource(options.guarded ?? true)
    this.#server = server
    this.#store = { kind: options.store, at: server?.url ?? join(folder, 'store.db') }
    this.#giveUpAt = now() + (options.deadlineMs ?? DEADLINE_MS)
  }

  async run(): Promise<ContestResult> {
    const begunAt = now()
    const { processes, increments, faults } = this.#options
    for (let place = 0; place < processes; place++) this.#racers.push(this.#start(place, increments))
    const total = processes * increments
    for (const [index, fault] of faults.entries()) {
      const enough = ((index + 1) * total) / (faults.length + 2)
      await this.#until('more is done', () => this.#kept() >= enough)
      await this.#do(fault)
    }
    await this.#until('all is done', () => this.#racers.every(({ isFinished }) => isFinished))
    await Promise.all(this.#underWay)
    if (this.#options.guarded ?? true) await this.#stopInTurn()
    const lines = readLines(this.#folder)
    const { accesses } = this.#resource
    const survivors = this.#racers.map(({ name }) => name)
    const keys = keysOf(this.#options)
    return {
      history: { lines, accesses, killedAt: this.#killedAt, stops: this.#stops, survivors, keys },
      faults: this.#faults,
      seconds: (now() - begunAt) / 1_000,
    }
  }

  async end(): Promise<void> {
    for (const { child } of this.#racers) child.kill('SIGKILL')
    await Promise.all(this.#racers.map(({ ended }) => ended))
  }

  #start(place: number, increments: number): Racer {
    const { leaseMs = LEASE_MS, skewMs = 0, environment = {} } = this.#options
    const name = `p${++this.#starts}`
    const order: Order = {
      ...{ name, folder: this.#folder, store: this.#store, lease: leaseMs, increments },
      keys: keysOf(this.#options),
      skewMs: skewMs * ((place % 3) - 1),
    }
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment }
    const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)], { env })
    const ended = once(child, 'exit')
    const racer: Racer = { place, name, child, ended, kept: 0, isFinished: false, isStopped: false }
    child.on('message', (message: Message) => this.#hear(racer, message))
    return racer
  }

  #hear(racer: Racer, message: Message): void {
    const { name } = racer
    if (message.type === 'present') this.#resource.present(name, message.term)
    else if (message.type === 'finished') racer.isFinished = true
    else if (message.type === 'kept') racer.kept++
    else if (message.type === 'doing') this.#meetDoer(racer)
    else if (message.question.kind === 'write') {
      const { token, value } = message.question
      this.#send(racer, { type: 'answer', id: message.id, value: this.#resource.write(name, token, value) })
    } else {
      const value = this.#resource.read(name, message.question.token)
      if (value !== null) this.#meetHolder(racer)
      this.#send(racer, { type: 'answer', id: message.id, value })
    }
  }

  #meetHolder(racer: Racer): void {
    const ambush = this.#ambush
    this.#ambush = null
    ambush?.(racer)
  }

  #meetDoer(racer: Racer): void {
    const { killedDoers = 0 } = this.#options
    // The first of each process that comes along, while there are keys left.
    if (this.#doings >= killedDoers || this.#killedAt.has(racer.name)) return
    this.#doings++
    this.#underWay.push(this.#kill(racer))
  }

  #send({ child }: Racer, command: Command): void {
    if (child.connected) child.send(command, () => {})
  }

  #kept(): number {
    return this.#racers.reduce((sum, { kept }) => sum + kept, 0)
  }

  async #do(fault: Fault): Promise<void> {
    if (fault === 'restart-store') {
      await this.#server?.restart()
      this.#faults.push(fault)
      return
    }
    const [how, whom] = fault.split('-') as ['kill' | 'pause' | 'block', 'holder' | 'leader']
    const begin = (racer: Racer): void => {
      if (how === 'kill') this.#underWay.push(this.#kill(racer))
      else if (how === 'block') this.#underWay.push(this.#block(racer))
      else this.#underWay.push(this.#pause(racer, whom === 'holder' ? 'read' : 'term'))
    }
    if (whom === 'holder') this.#ambush = begin
    else begin(await this.#until('there is a leader', () => this.#leader()))
    await this.#until('it is struck', () => this.#ambush === null)
    this.#faults.push(fault)
  }

  #leader(): Racer | undefined {
    const name = this.#resource.last('term')
    return this.#racers.find((racer) => racer.name === name && !racer.isStopped && !this.#killedAt.has(racer.name))
  }

  async #kill(racer: Racer): Promise<void> {
    this.#killedAt.set(racer.name, now())
    racer.child.kill('SIGKILL')
    await racer.ended
    const next = this.#start(racer.place, Math.max(0, this.#options.increments - racer.kept))
    next.kept = racer.kept
    this.#racers[racer.place] = next
  }

  /**
   * Lasts beyond the lease, until another process has taken over, or none is left that wants to. Not while the process
   * holds SQLite's write lock, which would block all others.
   */
  async #pause(racer: Racer, had: 'read' | 'term'): Promise<void> {
    racer.isStopped = true
    this.#stops.push({ process: racer.name, at: now() })
    do racer.child.kill('SIGSTOP')
    while (!this.#isFree() && racer.child.kill('SIGCONT') && (await sleep(1, true)))
    const others = (): Racer[] => this.#racers.filter((other) => other !== racer && !other.isStopped)
    const isAlone = (): boolean => had === 'read' && others().every(({ isFinished }) => isFinished)
    await this.#until(`${racer.name} is replaced`, () => this.#resource.last(had) !== racer.name || isAlone())
    racer.child.kill('SIGCONT')
    racer.isStopped = false
  }

  #isFree(): boolean {
    if (this.#store.kind !== 'sqlite') return true
    const db = new DatabaseSync(this.#store.at, { timeout: WRITE_MS })
    try {
      db.exec('begin immediate; rollback')
      return true
    } catch {
      return false
    } finally {
      db.close()
    }
  }

  async #block(racer: Racer): Promise<void> {
    const ms = (this.#options.leaseMs ?? LEASE_MS) * BEYOND
    this.#stops.push({ process: racer.name, at: now() })
    this.#send(racer, { type: 'block', ms })
    racer.isStopped = true
    await sleep(ms)
    racer.isStopped = false
  }

  /** One leader after another, so that each of them hands over to the remaining ones. */
  async #stopInTurn(): Promise<void> {
    const left = new Set(this.#racers)
    while (left.size > 0) {
      const leader = await this.#until('there is a leader', () => {
        const found = this.#leader()
        return found !== undefined && left.has(found) && found
      })
      left.delete(leader)
      this.#send(leader, { type: 'stop' })
      await this.#until(`${leader.name} has stopped`, () => leader.child.exitCode !== null)
    }
  }

  async #until<Found>(what: string, look: () => Found | undefined | false): Promise<Found> {
    for (let round = 0; ; round++) {
      const found = look()
      if (found !== undefined && found !== false) return found
      if (now() > this.#giveUpAt) {
        const kept = this.#racers.map(({ name, kept, isFinished }) => `${name} ${kept}${isFinished ? ' finished' : ''}`)
        throw new Error(`Waited in vain until ${what}; ${kept.join(', ')}; faults: ${this.#faults.join(', ')}.`)
      }
      const { onProgress, processes, increments } = this.#options
      if (round % 200 === 0) onProgress?.(this.#kept(), processes * increments)
      await sleep(LOOK_MS)
    }
  }
}
