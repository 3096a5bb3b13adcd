import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunLease } from '../../engine/parts.ts'
import { type LeaseDeadline, tellDeadlines } from '../lease-deadline.ts'
import { ownProgram } from '../own-program.ts'
import { forceAfterMs } from './grace.ts'
import { notStarted } from './not-started.ts'
import { MARK, newMark, ProcessTree } from './process-tree.ts'
import type { FromSupervisor, SupervisedCommand, SupervisedEnd, ToSupervisor } from './supervisor-messages.ts'

export interface CommandSpec {
  readonly file: string
  readonly args: readonly string[]
  /** Absolute. @default the scheduler's */
  readonly cwd?: string | undefined
  /** All of it: nothing is added but a mark, by which what the command starts is found. */
  readonly env: Readonly<Record<string, string>>
  /** What it can read from its standard input; without it, nothing. Means nothing with inherited streams. */
  readonly stdin?: string | undefined
  /** `NAME=value`, which only processes of the same fire have in their environment: those of earlier runs are waited for. */
  readonly after?: string | undefined
  /** Likewise, which only processes of the same schedule have: those are waited for whose scheduler is dead. */
  readonly afterOrphans?: string | undefined
}

export interface SuperviseOptions {
  /** Ends the command and all that came of it: SIGTERM, and SIGKILL to what is left after the grace. */
  readonly signal: AbortSignal
  readonly graceMs: number
  /** It must be gone before others may take over, also if this process can do nothing: it is paused, or its event loop blocked. */
  readonly lease?: RunLease | null | undefined
  /** Who gets what it writes; `'inherit'`: it shares the streams of this process, its input too. */
  readonly output: 'inherit' | ((stream: 'stdout' | 'stderr', chunk: Buffer) => void)
  /** Told once it runs. `send` signals its group. */
  readonly onStarted?: ((command: { readonly pid: number; send(signal: NodeJS.Signals): void }) => void) | undefined
  /** Of what the command writes to its file descriptor 3, and can read there. */
  readonly onChannel?: ((channel: Duplex) => void) | undefined
}

export interface CommandEnd extends SupervisedEnd {
  /** The supervisor was killed, and so the command was. */
  readonly isSupervisorLost: boolean
}

/** Among the supervisor's streams. */
const CHANNEL = 4

/** For a supervisor that does not end what it was told to end. */
const PATIENCE_MS = 2_000
/** For streams that a process keeps open that could not be found. */
const CLOSE_MS = 5_000
const KILL_ROUNDS = 100

/**
 * Run a command that does not outlive this process: see supervisor-main.ts. Resolves when all of it has ended; throws
 * COMMAND_NOT_STARTED, or the reason of a signal that was aborted before.
 */
export async function superviseCommand(spec: CommandSpec, options: SuperviseOptions): Promise<CommandEnd> {
  options.signal.throwIfAborted()
  const command = toSupervised(spec, options)
  const supervisor = startSupervisor(spec, options)
  // First of all: one that could not be started has nothing else to tell, and its error must not go unheard.
  const ends = endsOf(supervisor)
  const told = listen(supervisor, options)
  let lastResort: NodeJS.Timeout | undefined
  const end = (): void => {
    const graceMs = forceAfterMs(options.signal.reason, options.graceMs)
    send(supervisor, { kind: 'end', graceMs })
    lastResort = setTimeout(() => supervisor.kill('SIGKILL'), graceMs + PATIENCE_MS)
  }
  options.signal.addEventListener('abort', end, { once: true })
  const tellLease = (deadline: LeaseDeadline): void => send(supervisor, { kind: 'lease', deadline })
  // Before the command: what starts late must know.
  const unwatch = options.lease ? tellDeadlines(options.lease, tellLease) : () => {}
  try {
    send(supervisor, { kind: 'start', command })
    supervisor.stdin?.on('error', () => {}).end(spec.stdin)
    await ends.exited
  } catch (cause) {
    // The supervisor is what could not be: there is no such Node any more, or no process to spare.
    throw notStarted(process.execPath, cause)
  } finally {
    options.signal.removeEventListener('abort', end)
    unwatch()
    clearTimeout(lastResort)
  }
  await within(CLOSE_MS, ends.disconnected)
  const { started, last } = told
  const rest = last === null ? await endByForce(new ProcessTree(started, command.mark, { isWatched: false })) : 0
  if (!(await within(CLOSE_MS, ends.closed))) for (const stream of supervisor.stdio) stream?.destroy()
  if (last === null) return { ...LOST, remaining: rest }
  if (last.kind === 'refused') throw notStarted(spec.file, last)
  // A process that was paused notices it here first, or by its own timers.
  if (last.isLeaseLost) options.lease?.lost()
  const { kind: _, ...ended } = last
  return { ...ended, isSupervisorLost: false }
}

function toSupervised(spec: CommandSpec, { graceMs, onChannel }: SuperviseOptions): SupervisedCommand {
  const mark = newMark()
  return {
    file: spec.file,
    args: spec.args,
    cwd: spec.cwd ?? process.cwd(),
    env: { ...spec.env, [MARK]: mark },
    mark,
    after: spec.after ?? null,
    afterOrphans: spec.afterOrphans ?? null,
    channel: onChannel !== undefined,
    graceMs,
  }
}

function startSupervisor(spec: CommandSpec, { output, onChannel }: SuperviseOptions): ChildProcess {
  // Options for Node are meant for the command, if it is one of Node's.
  const { NODE_OPTIONS: _, ...env } = process.env
  const stdin = spec.stdin === undefined ? 'ignore' : 'pipe'
  const streams =
    output === 'inherit' ? (['inherit', 'inherit', 'inherit'] as const) : ([stdin, 'pipe', 'pipe'] as const)
  const stdio: StdioOptions = [...streams, 'ipc', ...(onChannel === undefined ? [] : (['pipe'] as const))]
  // In a session of its own: what is typed at the scheduler's terminal is for the scheduler.
  const detached = process.platform !== 'win32'
  const supervisor = ownProgram('supervisor-main', import.meta.url)
  return spawn(process.execPath, ['--no-warnings', supervisor], { stdio, env, detached, windowsHide: true })
}

interface Told {
  started: number | null
  last: Extract<FromSupervisor, { kind: 'refused' | 'ended' }> | null
}

function listen(supervisor: ChildProcess, options: SuperviseOptions): Told {
  const told: Told = { started: null, last: null }
  const { output, onStarted, onChannel } = options
  supervisor.on('message', (message: FromSupervisor) => {
    if (message.kind !== 'started') {
      told.last = message
      return
    }
    told.started = message.pid
    onStarted?.({ pid: message.pid, send: (signal) => send(supervisor, { kind: 'signal', signal }) })
  })
  if (output !== 'inherit') {
    supervisor.stdout?.on('data', (chunk: Buffer) => output('stdout', chunk))
    supervisor.stderr?.on('data', (chunk: Buffer) => output('stderr', chunk))
  }
  // Without a descriptor to spare there are no streams at all, whatever the types say.
  const channel = (supervisor.stdio as ChildProcess['stdio'] | undefined)?.[CHANNEL]
  if (channel) onChannel?.(channel as Duplex)
  return told
}

interface Ends {
  readonly exited: Promise<void>
  /** All that it had to tell has arrived. */
  readonly disconnected: Promise<void>
  /** All that was written has been read. */
  readonly closed: Promise<void>
}

function endsOf(supervisor: ChildProcess): Ends {
  const exited = new Promise<void>((resolve, reject) => {
    supervisor.once('exit', () => resolve())
    supervisor.on('error', (error) => {
      // Otherwise a signal or a message did not arrive; the end is reported separately.
      if (supervisor.pid === undefined) reject(error)
    })
  })
  const disconnected = new Promise<void>((resolve) => supervisor.once('disconnect', resolve))
  const closed = new Promise<void>((resolve) => supervisor.once('close', () => resolve()))
  return { exited, disconnected, closed }
}

/** Whether it came within this time. */
async function within(ms: number, coming: Promise<void>): Promise<boolean> {
  const waited = new AbortController()
  const late = sleep(ms, false, { signal: waited.signal }).catch(() => false)
  const isThere = await Promise.race([coming.then(() => true), late])
  waited.abort()
  return isThere
}

/** One that has just ended can't be told anything, and need not. */
function send(supervisor: ChildProcess, message: ToSupervisor): void {
  if (supervisor.connected) supervisor.send(message, () => {})
}

const LOST = { exitCode: null, signal: 'SIGKILL', leftBehind: 0, isLeaseLost: false, isSupervisorLost: true } as const

/** What the supervisor was killed over. How many are left. */
async function endByForce(tree: ProcessTree): Promise<number> {
  let count = tree.signal('SIGKILL')
  for (let round = 0; count > 0 && round < KILL_ROUNDS; round++) {
    await sleep(20)
    count = tree.signal('SIGKILL')
  }
  return count
}
