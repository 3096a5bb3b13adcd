/**
 * Owns one server process and its directory, in a process of its own. The channel to the test process is
 * the lifeline: when it closes, because the test stopped the server or because the test was killed, the
 * server goes and its directory with it. There is no other way out, so the clean-up is never untested.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './account.ts'
import type { Answer, Command, FromSupervisor, Request, ToSupervisor } from './messages.ts'
import { descendantsOf, livingProcesses } from './process-table.ts'
import { releaseSharedMemory } from './shared-memory.ts'
import { settlesWithin, waitUntil } from './wait.ts'

/** Longer than the five seconds after which a postmaster kills the children that ignore it. */
const GRACE_MS = 10_000
const KILL_LIMIT_MS = 10_000
const RUN_LIMIT_MS = 120_000

interface Running {
  readonly process: ChildProcess
  readonly exit: Promise<number | null>
  readonly endSignal: NodeJS.Signals
}

let home: { readonly directory: string; readonly request: Request & { verb: 'open' } } | undefined
let running: Running | undefined
let ending: Promise<void> | undefined

process.on('message', (message: ToSupervisor) => void answer(message))
process.once('disconnect', () => void end())
// Someone tidying up by hand: take the server along instead of orphaning it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end())
if (!process.connected) void end()

async function answer({ id, request }: ToSupervisor): Promise<void> {
  try {
    if (ending !== undefined) throw new Error('The supervisor is ending.')
    tell({ type: 'answer', id, value: await obey(request) })
  } catch (error) {
    tell({ type: 'refusal', id, reason: String(error) })
  }
}

async function obey(request: Request): Promise<Answer> {
  switch (request.verb) {
    case 'open':
      return open(request)
    case 'run':
      return run(request.command)
    case 'launch':
      return launch(request.command)
    case 'halt':
      await halt(request.signal)
      return null
  }
}

function open(request: Request & { verb: 'open' }): string {
  const directory = mkdtempSync(join(temporaryFolder(request.account), `cronce-${request.name}-`))
  home = { directory, request }
  if (request.account !== undefined) chownSync(directory, request.account.uid, request.account.gid)
  return directory
}

async function run(command: Command): Promise<number | null> {
  // Half-made data needs no graceful shutdown.
  const { exit } = start(command, 'SIGKILL')
  if (await settlesWithin(exit, RUN_LIMIT_MS)) return exit
  await halt('SIGKILL')
  throw new Error(`${command.file} did not end within ${RUN_LIMIT_MS} ms.`)
}

function launch(command: Command): number {
  if (home === undefined) throw new Error('Nothing is open.')
  const { process: server } = start(command, home.request.endSignal)
  if (server.pid === undefined) throw new Error(`${command.file} could not be started.`)
  return server.pid
}

function start(command: Command, endSignal: NodeJS.Signals): Running {
  if (home === undefined) throw new Error('Nothing is open.')
  if (running !== undefined) throw new Error('The server is running already.')
  const { directory, request } = home
  const { PATH } = process.env
  const log = openSync(join(directory, 'server.log'), 'a')
  const child = spawn(command.file, command.args, {
    cwd: directory,
    // Only what a server needs: the developer's PGPORT or ETCD_NAME must not reach it.
    env: { PATH, HOME: directory, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', log, log],
    // A process group of its own: what the server does to its group must not hit us.
    detached: true,
    ...request.account,
  })
  closeSync(log)
  const exit = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
    child.once('error', () => resolve(null))
  }).finally(() => {
    running = undefined
    if (child.pid !== undefined) tell({ type: 'exit', pid: child.pid })
  })
  running = { process: child, exit, endSignal }
  return running
}

async function halt(signal: NodeJS.Signals): Promise<void> {
  // While `running` is set the child is not reaped yet, so its process id cannot be someone else's.
  if (running === undefined) return
  const { process: child, exit } = running
  if (child.pid === undefined) return
  if (signal !== 'SIGKILL') {
    child.kill(signal)
    if (await settlesWithin(exit, GRACE_MS)) return
  }
  // Frozen first: a stopped process starts no more children and reaps none, so the list is complete and
  // every id on it stays valid. PostgreSQL's backends leave its process group; only the list reaches them.
  child.kill('SIGSTOP')
  const family = [child.pid, ...descendantsOf(child.pid)]
  for (const pid of family) killIfThere(pid)
  await settlesWithin(exit, KILL_LIMIT_MS)
  const gone = await waitUntil(() => family.every((pid) => !livingProcesses().has(pid)), KILL_LIMIT_MS)
  if (!gone) throw new Error(`Processes ${family.join(', ')} outlived SIGKILL.`)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // A grandchild whose own parent was not frozen may have ended in between.
  }
}

function end(): Promise<void> {
  ending ??= cleanUp().then(
    () => process.exit(0),
    () => process.exit(1),
  )
  return ending
}

async function cleanUp(): Promise<void> {
  try {
    if (running !== undefined) await halt(running.endSignal)
  } finally {
    if (home !== undefined) {
      releaseSharedMemory(home.directory)
      rmSync(home.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    }
  }
}

function tell(message: FromSupervisor): void {
  // The callback swallows the error of a test process that died while we spoke: `disconnect` follows.
  if (process.connected) process.send?.(message, () => {})
}
