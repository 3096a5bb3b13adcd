import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '../../src/app/connect.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { collect } from '../processes/fleet.ts'
import type { Line, Message, Order } from './coordinator-order.ts'

/** Processes with tasks of the real node-cron, on one store. All of it goes with the test. */
export interface CoordinatedFleet {
  readonly client: Connection
  start(order: Omit<Order, 'store' | 'witness'> & { readonly skewMs?: number }): Promise<Process>
  /** What tasks of all processes wrote down, in order. */
  lines(): Line[]
}

export interface Process {
  readonly messages: readonly Message[]
  kill(): Promise<void>
}

const WORKER = fileURLToPath(new URL('./coordinator-worker.ts', import.meta.url))
const SHIFT = new URL('./coordinator-shift-date.ts', import.meta.url).href
const COMPILED = join(import.meta.dirname, '../../../../node_modules/.cache/cronce-processes')

/** `store`: its URL; without, a file. */
export async function startCoordinatedFleet(
  context: TestContext,
  store?: { readonly url: string; readonly source: StoreSource<never> },
): Promise<CoordinatedFleet> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-node-cron-'))
  const witness = join(folder, 'witness')
  const url = store?.url ?? `sqlite:${join(folder, 'store.db')}`
  const client = await connect({ store: (store?.source as StoreSource | undefined) ?? url, logger: false })
  const processes: Process[] = []
  context.after(async () => {
    await Promise.all(processes.map((one) => one.kill()))
    await client.close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    client,
    async start({ skewMs = 0, ...order }) {
      const env = {
        ...process.env,
        NODE_COMPILE_CACHE: COMPILED,
        CRONCE_TEST_SKEW_MS: String(skewMs),
        CRONCE_TEST_ORDER: JSON.stringify({ ...order, store: url, witness } satisfies Order),
      }
      const child = fork(WORKER, { env, execArgv: ['--import', SHIFT] })
      const messages: Message[] = []
      const ended = once(child, 'exit')
      const started = Promise.withResolvers<void>()
      child.on('message', (message: Message) => {
        messages.push(message)
        if (message.type === 'ready') started.resolve()
      })
      void ended.then(([code, signal]) => started.reject(new Error(`${order.name} ended: ${code ?? signal}`)))
      started.promise.catch(() => {})
      const one = { messages, kill: () => kill(child, ended) }
      processes.push(one)
      await started.promise
      return one
    },
    lines: () => (existsSync(witness) ? readLines(witness) : []),
  }
}

function readLines(witness: string): Line[] {
  // The last one may be half written.
  const whole = readFileSync(witness, 'utf8').split('\n').slice(0, -1)
  return whole.map((line) => JSON.parse(line) as Line)
}

async function kill(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

/** All that is on record about a task, the oldest first. */
export async function recordsOf({ client }: CoordinatedFleet, task: string) {
  const fires = await collect(client.fires.all({ schedule: `node-cron:${task}` }))
  return fires.toSorted((a, b) => a.dueAt - b.dueAt)
}
