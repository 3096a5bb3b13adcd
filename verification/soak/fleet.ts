import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProxy, type TcpProxy } from '../chaos/proxy.ts'
import type { PreparedStore } from '../chaos/stores/store.ts'
import type { Command, Order, Report, Sample } from './order.ts'

/** A place for a process, which is started again when it ends. */
export interface Place {
  readonly name: string
  readonly proxy: TcpProxy | null
  readonly isReady: boolean
  /** How often its process ended although nothing had ended it. */
  readonly exits: number
  signal(signal: NodeJS.Signals): void
  send(command: Command): void
  /** `null`: it does not answer now, since a fault has hold of it. */
  sample(at: number): Promise<Sample | null>
  end(): Promise<void>
}

export interface PlaceOptions {
  readonly name: string
  readonly folder: string
  readonly store: PreparedStore
  readonly order: Pick<Order, 'schedules' | 'everyMs' | 'leaseMs'>
}

const RESTART_MS = 500
const ANSWER_MS = 8_000
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/cronce-soak')

export async function startPlace({ name, folder, store, order }: PlaceOptions): Promise<Place> {
  const { network, module } = store
  const proxy = network === null ? null : await startProxy(network)
  const url = network === null || proxy === null ? store.url : network.urlBy(proxy.port)
  const output = openSync(join(folder, `${name}.log`), 'a')
  const answers = new Map<number, (sample: Sample | null) => void>()
  const times = new Map<number, number>()
  let [questions, exits] = [0, 0]
  let [isReady, isEnding, isMeant] = [false, false, false]
  let child: ChildProcess

  const start = (): void => {
    isReady = false
    isMeant = false
    const told: Order = { ...order, node: name, module, url }
    child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(told)], {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
      execArgv: ['--expose-gc'],
      stdio: ['ignore', output, output, 'ipc'],
    })
    child.on('message', (report: Report) => {
      if (report.type === 'ready') {
        isReady = true
        return
      }
      const at = times.get(report.question)!
      answers.get(report.question)?.({ ...report.own, at, connections: proxy?.connections ?? null })
    })
    child.once('exit', async () => {
      if (isReady && !isMeant && !isEnding) exits++
      isReady = false
      await sleep(RESTART_MS)
      if (!isEnding) start()
    })
  }
  start()

  return {
    ...{ name, proxy },
    get isReady() {
      return isReady
    },
    get exits() {
      return exits
    },
    signal(signal) {
      isMeant ||= signal === 'SIGKILL' || signal === 'SIGTERM'
      child.kill(signal)
    },
    send: (command) => void (child.connected && child.send(command, () => {})),
    async sample(at) {
      if (!isReady) return null
      const question = ++questions
      times.set(question, at)
      const answered = new Promise<Sample | null>((resolve) => answers.set(question, resolve))
      child.send({ type: 'sample', question } satisfies Command, () => {})
      const timeout = new AbortController()
      const late = sleep(ANSWER_MS, null, { signal: timeout.signal }).catch(() => null)
      const sample = await Promise.race([answered, late])
      timeout.abort()
      answers.delete(question)
      times.delete(question)
      return sample
    },
    async end() {
      isEnding = true
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      await proxy?.close()
    },
  }
}
