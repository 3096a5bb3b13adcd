import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServerError } from './errors.ts'
import type { Command } from './messages.ts'
import { isFree, pickFreePorts } from './ports.ts'
import { type Supervised, supervise } from './supervise.ts'
import { waitUntil } from './wait.ts'

const READY_LIMIT_MS = 60_000
const PORT_TRIES = 5

/** What the definition of a server kind must provide. */
export interface ServerPlan {
  readonly name: string
  /** The first port is the one clients use. */
  readonly portCount: number
  /** Ends the server when its data may go: the quickest way that leaves no process. */
  readonly endSignal: NodeJS.Signals
  /** Ends the server when its data is needed again: the orderly way. */
  readonly restartSignal: NodeJS.Signals
  /** Once, in the fresh directory. */
  prepare(home: Supervised): Promise<void>
  /** Before every launch. */
  command(ports: readonly number[], directory: string): Promise<Command>
  /** Whether this very server answers: another may have taken the port before it. */
  isReady(ports: readonly number[], directory: string): Promise<boolean>
  url(port: number): string
}

/** A private server on loopback. It ends with `stop()`, and at the latest with the process that started it. */
export class Server {
  readonly url: string
  readonly port: number
  /** Deleted by `stop()`. Holds `server.log`. */
  readonly directory: string
  readonly #plan: ServerPlan
  readonly #home: Supervised
  readonly #ports: readonly number[]
  #pid: number
  #stopping: Promise<void> | undefined

  constructor(plan: ServerPlan, home: Supervised, started: { ports: readonly number[]; pid: number }) {
    this.#plan = plan
    this.#home = home
    this.#ports = started.ports
    this.#pid = started.pid
    this.port = started.ports[0]!
    this.url = plan.url(this.port)
    this.directory = home.directory
  }

  /** The server's main process: the current one, or the last one while it is down. */
  get pid(): number {
    return this.#pid
  }

  /** SIGKILL to the server and all its children. The data stays, as a crash leaves it, for `restart()`. */
  kill(): Promise<void> {
    return this.#home.halt('SIGKILL')
  }

  /** End it by this signal. The data stays for `restart()`. */
  halt(signal = this.#plan.restartSignal): Promise<void> {
    return this.#home.halt(signal)
  }

  /** The same port and data, after an orderly end if it still runs. Ready when this returns. */
  async restart(): Promise<void> {
    await this.halt()
    // The address is already in the hands of clients, so here a taken port is waited for, not replaced.
    for (let tries = 1; tries <= PORT_TRIES; tries += 1) {
      await waitUntil(() => areFree(this.#ports), READY_LIMIT_MS / PORT_TRIES)
      const pid = await launch(this.#plan, this.#home, this.#ports)
      if (pid === undefined) continue
      this.#pid = pid
      return
    }
    throw unready(this.#plan, this.#home, `port ${this.port} was taken while it was down`)
  }

  /** End the server and remove its directory. Harmless when called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#home.end()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Starts a server on the ports of `pickPorts`. A port lost to another process is replaced by the next pick. */
export async function startServer(plan: ServerPlan, pickPorts = pickFreePorts): Promise<Server> {
  const home = await supervise(plan.name, plan.endSignal)
  try {
    await plan.prepare(home)
    for (let tries = 1; tries <= PORT_TRIES; tries += 1) {
      const ports = await pickPorts(plan.portCount)
      const pid = await launch(plan, home, ports)
      if (pid !== undefined) return new Server(plan, home, { ports, pid })
    }
    throw unready(plan, home, `${PORT_TRIES} ports in a row were taken by others`)
  } catch (error) {
    await home.end()
    throw error
  }
}

/** The process id of a server that is ready, or `undefined` if someone else has one of its ports. */
async function launch(plan: ServerPlan, home: Supervised, ports: readonly number[]): Promise<number | undefined> {
  const pid = await home.launch(await plan.command(ports, home.directory))
  let isReady = false
  await waitUntil(async () => {
    isReady = await plan.isReady(ports, home.directory)
    return isReady || !home.isRunning(pid)
  }, READY_LIMIT_MS)
  if (isReady) return pid
  if (home.isRunning(pid)) throw unready(plan, home, `it did not answer within ${READY_LIMIT_MS} ms`)
  if (await areFree(ports)) throw unready(plan, home, 'its process ended')
  return undefined
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  return (await Promise.all(ports.map(isFree))).every(Boolean)
}

/** The server's own last words are in the message: its log is about to be removed. */
export function unready(plan: Pick<ServerPlan, 'name'>, home: Supervised, because: string): ServerError {
  const message = `The ${plan.name} server did not start: ${because}. Its log ends:\n${logTail(home.directory)}`
  return new ServerError('SERVER_UNREADY', message)
}

function logTail(directory: string): string {
  try {
    return readFileSync(join(directory, 'server.log'), 'utf8').trimEnd().split('\n').slice(-20).join('\n')
  } catch {
    return '(no log: the server was stopped meanwhile)'
  }
}
