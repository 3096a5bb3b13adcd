/**
 * The program between the scheduler and a command. It starts the command in a session of its own. When the channel to the
 * scheduler closes, however that died, or when the scheduler has told nothing of its lease for too long, since it is paused, it
 * ends the command and all that came of it. It ends when those have.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { type LeaseDeadline, msLeft } from '../lease-deadline.ts'
import { SHORT_GRACE_MS } from './grace.ts'
import { type Earlier, isAnyThere, ProcessTree } from './process-tree.ts'
import type { FromSupervisor, SupervisedCommand, SupervisedEnd, ToSupervisor } from './supervisor-messages.ts'

/** Longer than any earlier run has left once its scheduler is dead. */
const WAIT_FOR_EARLIER_MS = 10_000
const KILL_AGAIN_MS = 50
const KILL_ROUNDS = 200
/** Timers stand still while the machine is suspended: how soon afterwards the time is checked. */
const LOOK_MS = 1_000

let tree: ProcessTree | null = null
let graceMs = SHORT_GRACE_MS
let isEnding = false
let killAt = Number.POSITIVE_INFINITY
let killTimer: NodeJS.Timeout | undefined
let deadline: LeaseDeadline | null = null
let isLeaseLost = false
let leaseTimer: NodeJS.Timeout | undefined

process.on('message', (message: ToSupervisor) => {
  switch (message.kind) {
    case 'start':
      void start(message.command)
      break
    case 'end':
      end(message.graceMs)
      break
    case 'signal':
      tree?.signalGroup(message.signal)
      break
    case 'lease':
      deadline = message.deadline
      watchLease()
      break
  }
})
process.on('disconnect', orphaned)
// Signals to end the command go to the scheduler or to the command. The supervisor must outlive both.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
if (!process.connected) orphaned()

function orphaned(): void {
  if (tree === null) process.exit(1)
  end(Math.min(graceMs, SHORT_GRACE_MS))
}

/** After a pause of this very process, news that came meanwhile are read before the look is taken for granted. */
function watchLease(): void {
  clearTimeout(leaseTimer)
  if (deadline === null || isLeaseLost) return
  const leftMs = msLeft(deadline)
  if (leftMs > 0) leaseTimer = setTimeout(watchLease, Math.min(leftMs, LOOK_MS))
  else setImmediate(endUnlessTrusted)
}

function endUnlessTrusted(): void {
  if (deadline === null || isLeaseLost) return
  const leftMs = msLeft(deadline)
  if (leftMs > 0) return
  isLeaseLost = true
  end(Math.max(0, Math.min(graceMs, leftMs + deadline.spareMs)))
}

async function start(command: SupervisedCommand): Promise<void> {
  graceMs = command.graceMs
  await waitUntilGone(command)
  if (deadline !== null && msLeft(deadline) <= 0) await immediate()
  endUnlessTrusted()
  if (isEnding)
    return tell({ kind: 'ended', exitCode: null, signal: 'SIGTERM', leftBehind: 0, remaining: 0, isLeaseLost })
  try {
    demandFolder(command.cwd)
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ['inherit', 'inherit', 'inherit', ...(command.channel ? [4] : [])],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    watch(child, command)
  } catch (error) {
    refuse(error)
  }
}

/** The scheduler of an earlier run may have died a moment ago, and its command be about to end. */
async function waitUntilGone(earlier: Earlier): Promise<void> {
  const giveUpAt = performance.now() + WAIT_FOR_EARLIER_MS
  while (!isEnding && performance.now() < giveUpAt && isAnyThere(earlier)) await sleep(KILL_AGAIN_MS)
}

function watch(child: ChildProcess, command: SupervisedCommand): void {
  child.on('error', (error) => {
    if (child.pid === undefined) refuse(error)
  })
  if (child.pid === undefined) return
  const watched = new ProcessTree(child.pid, command.mark, { isWatched: true })
  tree = watched
  child.on('exit', (exitCode, signal) => void endRest(watched, { exitCode, signal }))
  send({ kind: 'started', pid: child.pid })
  if (!process.connected) orphaned()
}

function end(withinMs: number): void {
  const isFirst = !isEnding
  isEnding = true
  killAt = Math.min(killAt, performance.now() + withinMs)
  if (tree === null) return
  if (isFirst && withinMs > 0) tree.signal('SIGTERM')
  clearTimeout(killTimer)
  killTimer = setTimeout(kill, killAt - performance.now())
}

/** Again and again: what is born between the look and the signal is found by the next look. */
function kill(): void {
  tree?.signal('SIGKILL')
  killTimer = setTimeout(kill, KILL_AGAIN_MS)
}

/** The command has ended; what it has left behind must. */
async function endRest(rest: ProcessTree, ended: Pick<SupervisedEnd, 'exitCode' | 'signal'>): Promise<void> {
  rest.leaderEnded()
  const wasEnding = isEnding
  let remaining = rest.count()
  const leftBehind = wasEnding ? 0 : remaining
  if (remaining > 0 && !wasEnding) end(Math.min(graceMs, SHORT_GRACE_MS))
  while (remaining > 0 && performance.now() < killAt) remaining = await lookAgain(rest)
  clearTimeout(killTimer)
  for (let round = 0; remaining > 0 && round < KILL_ROUNDS; round++) {
    rest.signal('SIGKILL')
    remaining = await lookAgain(rest)
  }
  tell({ kind: 'ended', ...ended, leftBehind, remaining, isLeaseLost })
}

/** On a machine of many processes a look takes long: rest for longer than that. */
async function lookAgain(rest: ProcessTree): Promise<number> {
  const begunAt = performance.now()
  const count = rest.count()
  if (count > 0) await sleep(Math.max(20, (performance.now() - begunAt) * 4))
  return count
}

/** Else it looks as if the command were missing. */
function demandFolder(cwd: string): void {
  const found = statSync(cwd, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  const message = found === undefined ? `there is no folder ${cwd}` : `${cwd} is not a folder`
  throw Object.assign(new Error(message), { code: 'ENOTDIR' })
}

function refuse(error: unknown): void {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  tell({ kind: 'refused', code: typeof code === 'string' ? code : null, message: String(message) })
}

/** The last word. */
function tell(message: Extract<FromSupervisor, { kind: 'refused' | 'ended' }>): void {
  clearTimeout(killTimer)
  clearTimeout(leaseTimer)
  if (process.connected) process.send?.(message, undefined, undefined, () => process.exit(0))
  else process.exit(0)
}

function send(message: FromSupervisor): void {
  // Without a callback a channel that has just closed would be an error event.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
