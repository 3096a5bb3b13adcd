import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { type Host, systemHost } from '../../src/store/sqlite/host.ts'
import { type SqliteOptions, sqliteOn } from '../../src/store/sqlite/sqlite.ts'
import type { OpenOptions, Store } from '../../src/store/store.ts'

const cleanups = new WeakMap<TestContext, (() => unknown)[]>()

/** To be done when the test is over, the last one first: hooks of the runner come in the order of their making. */
export function afterwards(context: TestContext, cleanup: () => unknown): void {
  const known = cleanups.get(context)
  if (known !== undefined) {
    known.push(cleanup)
    return
  }
  const own = [cleanup]
  cleanups.set(context, own)
  context.after(async () => {
    for (const next of own.reverse()) await next()
  })
}

/** A folder that goes with the test. */
export async function tempFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-sqlite-'))
  afterwards(context, () => rm(folder, { recursive: true, force: true }))
  return folder
}

export interface Opening extends Partial<OpenOptions> {
  readonly host?: Partial<Host>
  readonly options?: Omit<SqliteOptions, 'file'>
}

export function openStore(file: string, { host, options, ...given }: Opening = {}): Promise<Store<DatabaseSync>> {
  const source = sqliteOn({ file, ...options }, { ...systemHost(), ...host })
  return source.open({ namespace: 'default', adopt: false, production: false, warn: () => {}, ...given })
}

/** Opened, and closed with the test. */
export async function openFor(context: TestContext, file: string, opening?: Opening): Promise<Store<DatabaseSync>> {
  const store = await openStore(file, opening)
  afterwards(context, () => store.close())
  return store
}

/** What a child process does; see `sqlite-worker.ts`. */
export interface Order {
  readonly task: 'create' | 'claim' | 'hold' | 'idle' | 'write'
  readonly file: string
  readonly name: string
}

export interface Worker {
  readonly process: ChildProcess
  /** All its messages so far. */
  readonly told: unknown[]
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>
  next(): Promise<unknown>
  kill(): Promise<void>
}

/** Another process on the same file; killed with the test at the latest. */
export function startWorker(context: TestContext, order: Order): Worker {
  const child = fork(join(import.meta.dirname, 'sqlite-worker.ts'), [JSON.stringify(order)])
  const told: unknown[] = []
  child.on('message', (message) => told.push(message))
  const ended = once(child, 'exit').then(() => {})
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  afterwards(context, kill)
  const next = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended.then(() => [null])])
    return message
  }
  return { process: child, told, ended, next, kill }
}
