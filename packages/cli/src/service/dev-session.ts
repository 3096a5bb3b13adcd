import { type ChildProcess, fork } from 'node:child_process'
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

/** Keeps one process running the jobs, and starts another one when a file has changed: never two at a time. */
export function devSession({ program, argv, files, say, onStarted }: DevParts): DevSession {
  let child: ChildProcess | null = null
  let closed = false
  let isRestartWanted = true
  let working: Promise<void> | null = null
  const watching: FileWatch = watchFiles((file) => restart(`${file} has changed.`))
  watching.add(files)

  const begin = (): void => {
    const started = fork(program, argv, {
      // Signals of the terminal are for us alone: its own come from here.
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, CRONCE_DEV_CHILD: String(process.pid) },
    })
    child = started
    watching.widen(false)
    started.on('message', (message) => {
      if (!isFromChild(message)) return
      if (message.kind === 'loaded') watching.add(message.files)
      else onStarted(message.schedules)
    })
    started.once('exit', () => {
      if (child !== started) return
      child = null
      if (closed || isRestartWanted) return
      // Something may be missing that is not there yet.
      watching.widen(true)
      say('Waiting for a change.')
    })
  }

  const end = async (): Promise<void> => {
    const ending = child
    if (ending === null) return
    child = null
    const ended = once(ending, 'exit')
    if (ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill('SIGTERM')
    const waited = new AbortController()
    const late = sleep(KILL_MS, true, { signal: waited.signal }).catch(() => false)
    if ((await Promise.race([ended.then(() => false), late])) === true) ending.kill('SIGKILL')
    waited.abort()
    await ended
  }

  const work = async (): Promise<void> => {
    while (isRestartWanted && !closed) {
      await end()
      isRestartWanted = false
      if (!closed) begin()
    }
  }

  const restart = (why: string): void => {
    if (closed) return
    if (why !== '') say(why)
    isRestartWanted = true
    // Whatever changes meanwhile is seen by the one that is started last.
    working ??= work().finally(() => {
      working = null
    })
  }

  restart('')
  return {
    restart,
    fire(schedule) {
      const message: ToChild = { kind: 'fire', schedule }
      if (child?.connected) child.send(message)
      else say('Nothing runs now.')
    },
    async close() {
      closed = true
      watching.close()
      await working
      await end()
    },
  }
}

/** Whether this process is the one that runs the jobs. */
export function isDevChild({ env }: Io): boolean {
  const { CRONCE_DEV_CHILD } = env
  return CRONCE_DEV_CHILD === String(process.ppid) && process.send !== undefined
}
