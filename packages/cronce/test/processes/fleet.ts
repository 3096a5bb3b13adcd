import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { type Connection, connect } from '../../src/app/connect.ts'
import type { CronceEvent, EventOf, EventType } from '../../src/model/event.ts'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'
import { gateFiles, type Line, type Order, readWitnesses, STORE } from './order.ts'

/** Real processes on one store, and what is known about them from outside. All of it goes with the test. */
export interface Processes {
  readonly folder: string
  start(order: Omit<Order, 'folder'>): Member
  /** What the handlers of all processes wrote down. */
  witnesses(): Line[]
  /** Let everything end that holds, or what holds in this process. */
  openGate(member?: Member): void
}

/** On one file. */
export interface Fleet extends Processes {
  readonly file: string
  readonly client: Connection<DatabaseSync>
  /**
   * Stop a process with SIGSTOP, but not while it writes: it would hold SQLite's one write lock, and all others would wait
   * until it goes on or is killed.
   */
  pause(member: Member): void
}

export interface Member {
  readonly name: string
  readonly pid: number
  readonly events: readonly CronceEvent[]
  /** Its log lines, if its order asks for them. */
  readonly stderr: () => string
  /** Its id, once `app.start()` has returned. */
  readonly started: Promise<string>
  /** The first matching event of this type, also if it was emitted already. */
  event<Type extends EventType>(type: Type, fits?: (event: EventOf<Type>) => boolean): Promise<EventOf<Type>>
  signal(signal: NodeJS.Signals): void
  /** With `kill -9`. */
  kill(): Promise<void>
  /** Resolves to how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

/** Far beyond any delay of a busy machine: a wait that takes this long has failed. */
const DEADLINE_MS = 180_000
const LOOK_MS = 20
/** Most of the time a child takes to start is spent on compiling what the one before it has compiled. */
const COMPILED = join(import.meta.dirname, '../../../../node_modules/.cache/cronce-processes')

export async function startFleet(context: TestContext): Promise<Fleet> {
  let client: Connection<DatabaseSync> | undefined
  const processes = await startProcesses(context, async () => client?.close())
  const file = join(processes.folder, STORE)
  client = await connect<DatabaseSync>({ store: sqlite(file), logger: false })
  return { ...processes, file, client, pause: (member) => pauseBetweenWrites(member, file) }
}

/** `close`: what to do when all of them have ended. */
export async function startProcesses(context: TestContext, close: () => Promise<void>): Promise<Processes> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-processes-'))
  const members: Member[] = []
  context.after(async () => {
    await Promise.all(members.map((member) => member.kill()))
    await close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    folder,
    start(order) {
      const member = startMember({ ...order, folder })
      members.push(member)
      return member
    },
    witnesses: () => readWitnesses(folder),
    openGate(member) {
      const [all, own] = gateFiles(folder, member?.name ?? '')
      writeFileSync(member === undefined ? all : own, '')
    },
  }
}

/** Without a client: the first to open the file is a child. */
export function startMember(order: Order): Member {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED }
  const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)], {
    env,
    silent: order.logs === true,
  })
  let logged = ''
  child.stderr?.on('data', (text) => {
    logged += text
  })
  const events: CronceEvent[] = []
  const { promise: started, resolve } = Promise.withResolvers<string>()
  child.on('message', (message: CronceEvent | { type: 'started'; instance: string }) => {
    if (message.type === 'started') resolve(message.instance)
    else events.push(message)
  })
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const { name } = order
  return {
    name,
    pid: child.pid!,
    events,
    stderr: () => logged,
    started,
    ended,
    event: (type, fits = () => true) =>
      until(
        `${name} tells ${type}`,
        () => events.find((event) => event.type === type && fits(event as never)) as never,
      ),
    signal: (signal) => void child.kill(signal),
    kill: () => kill(child, ended),
  }
}

/** Longer than any write of a process that is not stopped. */
const WRITE_MS = 250
const PAUSES = 50

function pauseBetweenWrites(member: Member, file: string): void {
  const db = new DatabaseSync(file, { timeout: WRITE_MS })
  try {
    for (let tries = 0; tries < PAUSES; tries++) {
      member.signal('SIGSTOP')
      if (canWrite(db)) return
      member.signal('SIGCONT')
    }
  } finally {
    db.close()
  }
  assert.fail(`${member.name} could not be paused between two writes`)
}

function canWrite(db: DatabaseSync): boolean {
  try {
    db.exec('begin immediate; rollback')
    return true
  } catch {
    return false
  }
}

async function kill(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

/** What `look` finds, once it finds something. */
export async function until<Found>(
  what: string,
  look: () => Found | null | undefined | false | Promise<Found | null | undefined | false>,
): Promise<Found> {
  const end = performance.now() + DEADLINE_MS
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > end) assert.fail(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
