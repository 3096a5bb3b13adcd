import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a program of a guide prints for each slot that it runs. */
const LINE = /^[\w-]+ (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/gm
const LOOK_MS = 50
const END_MS = 30_000
const PROCESSES = 2
/** Else each process would read all of the library anew. */
const COMPILED = join(import.meta.dirname, '../../../../node_modules/.cache/cronce-processes')

/** Two processes of one program, as two replicas would be. */
export class Fleet {
  readonly #children: readonly ChildProcess[]
  readonly #ended: readonly Promise<unknown>[]
  #output = ''

  constructor(program: string, home: string, environment: Readonly<Record<string, string>>) {
    const file = join(home, 'jobs.ts')
    writeFileSync(file, program)
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment }
    this.#children = Array.from({ length: PROCESSES }, () =>
      spawn(process.execPath, [file], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    this.#ended = this.#children.map((child) => once(child, 'close'))
    for (const { stdout, stderr } of this.#children) {
      for (const stream of [stdout, stderr]) {
        stream!.setEncoding('utf8').on('data', (text: string) => {
          this.#output += text
        })
      }
    }
  }

  /** Due times of all runs, in order, with repetitions. */
  get slots(): readonly number[] {
    return [...this.#output.matchAll(LINE)].map(([, slot]) => Date.parse(slot!)).sort((a, b) => a - b)
  }

  get pids(): readonly number[] {
    return this.#children.map(({ pid }) => pid!)
  }

  get output(): string {
    return this.#output
  }

  async until(isEnough: (slots: readonly number[]) => boolean, timeoutMs: number): Promise<void> {
    const giveUpAt = performance.now() + timeoutMs
    while (!isEnough(this.slots)) {
      if (this.#children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
        throw new Error(`a process ended by itself:\n${this.#output}`)
      if (performance.now() > giveUpAt) throw new Error(`not enough in time:\n${this.#output}`)
      await sleep(LOOK_MS)
    }
  }

  /** As a deploy does it. Answers by which signals they ended. */
  async stop(): Promise<readonly (string | null)[]> {
    for (const child of this.#children) child.kill('SIGTERM')
    const tooLong = setTimeout(() => this.kill(), END_MS)
    await Promise.all(this.#ended)
    clearTimeout(tooLong)
    return this.#children.map(({ signalCode }) => signalCode)
  }

  kill(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}
