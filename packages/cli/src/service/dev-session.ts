import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../io.ts'
import { isFromChild, type ToChild } from './dev-messages.ts'
import { type FileWatch, watchFiles } from './watch-files.ts'

export interface DevSession {
  /** End the process that runs the jobs, and start another one. */
  restart(why: string): void
  fire(schedule: string): void
  /** End for good. Resolves when nothing is left. */
  close(): Promise<void>
}

export interface DevParts {
  /** The program and its arguments, as this process was started. */
  readonly program: string
  readonly argv: readonly string[]
  /** To be watched whether they are loaded or not. */
  readonly files: readonly string[]
  readonly say: (text: string) => void
  readonly onStarted: (schedules: readonly string[]) => void
}

/** More than the drain and what a run gets after it. */
const KILL_MS = 15_000

export function devSession(parts: DevParts): DevSession {
  return new ChildSession(parts)
}

/** Keeps one child process running the jobs, and replaces it when a file has changed: there are never two at a time. */
class ChildSession implements DevSession {
  readonly #parts: DevParts
  readonly #watching: FileWatch
  /** Opens the dashboard of every process that is started. */
  readonly #token = randomBytes(24).toString('hex')
  #child: ChildProcess | null = null
  #isClosed = false
  #isRestartWanted = true
  #working: Promise<void> | null = null

  constructor(parts: DevParts) {
    this.#parts = parts
    this.#watching = watchFiles((file) => this.restart(`${file} has changed.`))
    this.#watching.add(parts.files)
    this.restart('')
  }

  restart(why: string): void {
    if (this.#isClosed) return
    if (why !== '') this.#parts.say(why)
    this.#isRestartWanted = true
    // A change during the work is seen by the process that is started last.
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  fire(schedule: string): void {
    const message: ToChild = { kind: 'fire', schedule }
    if (this.#child?.connected) this.#child.send(message)
    else this.#parts.say('Nothing runs now.')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#watching.close()
    await this.#working
    await this.#end()
  }

  async #work(): Promise<void> {
    while (this.#isRestartWanted && !this.#isClosed) {
      await this.#end()
      this.#isRestartWanted = false
      if (!this.#isClosed) this.#begin()
    }
  }

  #begin(): void {
    const { program, argv, onStarted } = this.#parts
    const started = fork(program, argv, {
      // The terminal must not signal the child: this process decides when to end it.
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, CRONCE_DEV_CHILD: String(process.pid), CRONCE_DEV_TOKEN: this.#token },
    })
    this.#child = started
    this.#watching.widen(false)
    started.on('message', (message) => {
      if (!isFromChild(message)) return
      if (message.kind === 'loaded') this.#watching.add(message.files)
      else onStarted(message.schedules)
    })
    started.once('exit', () => this.#onExit(started))
  }

  #onExit(ended: ChildProcess): void {
    if (this.#child !== ended) return
    this.#child = null
    if (this.#isClosed || this.#isRestartWanted) return
    // The child may have failed because a file is missing that the user is about to create.
    this.#watching.widen(true)
    this.#parts.say('Waiting for a change.')
  }

  async #end(): Promise<void> {
    const ending = this.#child
    if (ending === null) return
    this.#child = null
    const ended = once(ending, 'exit')
    if (ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill('SIGTERM')
    const waited = new AbortController()
    const late = sleep(KILL_MS, true, { signal: waited.signal }).catch(() => false)
    if ((await Promise.race([ended.then(() => false), late])) === true) ending.kill('SIGKILL')
    waited.abort()
    await ended
  }
}

/** Whether this process is the one that runs the jobs. */
export function isDevChild({ env }: Io): boolean {
  const { CRONCE_DEV_CHILD } = env
  return CRONCE_DEV_CHILD === String(process.ppid) && process.send !== undefined
}
