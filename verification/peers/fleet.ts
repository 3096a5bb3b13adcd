/** Three processes of one system, each behind a proxy and with a clock of its own, restarted when they end, as by a supervisor. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FakeClock, prepareClock } from '../chaos/clock/clock.ts'
import { startProxy, type TcpProxy } from '../chaos/proxy.ts'
import { DESCRIPTIONS, type Line, type Order, type ServerKind, type System } from './order.ts'

export interface Process {
  readonly clock: FakeClock | null
  readonly proxy: TcpProxy | null
  signal(signal: NodeJS.Signals): void
}

export interface PeerFleet {
  readonly system: System
  readonly processes: readonly Process[]
  /** How often a process that had been ready ended although no fault had killed it. */
  readonly exits: () => number
  ready(): Promise<void>
  lines(): readonly Line[]
  end(): Promise<void>
}

export interface FleetOptions {
  readonly system: System
  readonly folder: string
  readonly servers: Readonly<Record<ServerKind, { readonly port: number; readonly url: string }>>
  readonly order: Pick<Order, 'schedules' | 'workMs' | 'origin'>
}

export const PROCESSES = 3
const RESTART_MS = 1_000
const READY_MS = 180_000
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/cronce-peers')

export async function startPeers({ system, folder, servers, order }: FleetOptions): Promise<PeerFleet> {
  const own = join(folder, system)
  mkdirSync(own, { recursive: true })
  const output = openSync(join(own, 'output.log'), 'a')
  const ledger = join(own, 'ledger.jsonl')
  openSync(ledger, 'a')
  let isEnding = false
  let exits = 0

  const startPlace = async (index: number) => {
    const kind = DESCRIPTIONS[system].server
    const proxy = kind === null ? null : await startProxy({ host: '127.0.0.1', port: servers[kind].port })
    const home = join(own, String(index))
    mkdirSync(home, { recursive: true })
    const prepared = await prepareClock(home)
    const clock = 'reason' in prepared ? null : prepared
    const url = kind === null || proxy === null ? '' : urlBy(servers[kind].url, proxy.port)
    let starts = 0
    let isReady = false
    let wasKilled = false
    let child: ChildProcess
    const start = (): void => {
      const told: Order = { ...order, system, url, ledger, node: `${system}.${index}.${++starts}` }
      isReady = false
      wasKilled = false
      child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(told)], {
        env: { ...process.env, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED, ...clock?.environment },
        stdio: ['ignore', output, output, 'ipc'],
      })
      child.on('message', () => {
        isReady = true
      })
      child.once('exit', async () => {
        if (isEnding) return
        if (isReady && !wasKilled) exits++
        await sleep(RESTART_MS)
        if (!isEnding) start()
      })
    }
    start()
    return {
      ...{ clock, proxy },
      isReady: () => isReady,
      signal(signal: NodeJS.Signals) {
        wasKilled ||= signal === 'SIGKILL'
        child.kill(signal)
      },
      async end() {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
        child.kill('SIGKILL')
        await ended
        await proxy?.close()
        clock?.close()
      },
    }
  }

  const places = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => startPlace(index)))
  return {
    system,
    processes: places,
    exits: () => exits,
    async ready() {
      const end = performance.now() + READY_MS
      while (!places.every((place) => place.isReady())) {
        if (performance.now() > end) throw new Error(`${system} was not ready within ${READY_MS / 1_000} s.`)
        await sleep(100)
      }
    },
    // A process that is killed while it writes leaves half a line.
    lines: () => readFileSync(ledger, 'utf8').split('\n').flatMap(lineOf),
    async end() {
      isEnding = true
      await Promise.all(places.map((place) => place.end()))
    },
  }
}

function lineOf(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line]
  } catch {
    return []
  }
}

function urlBy(base: string, port: number): string {
  const url = new URL(base)
  url.port = String(port)
  return url.href
}
