import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type FireView } from 'cronce'

const ROOT = join(import.meta.dirname, '../..')
/** Calls what a module exports, once, and prints what it answers: what a platform does with a function. */
const HOST = join(import.meta.dirname, 'function-host.ts')

/** A process of a platform that handles deliveries, and what it printed. */
export class FunctionProcess {
  readonly #child: ChildProcess
  readonly closed: Promise<number | null>
  #output = ''

  constructor(file: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [file, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    }
    this.closed = new Promise((resolve) => this.#child.once('close', resolve))
  }

  get output(): string {
    return this.#output
  }

  /** Resolves when it has printed this. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this.#output)
        if (found === null) return
        this.#child.stdout!.off('data', look)
        resolve(found)
      }
      this.#child.stdout!.on('data', look)
      void this.closed.then(() => reject(new Error(`It ended before it printed ${pattern}:\n${this.#output}`)))
      look()
    })
  }

  kill(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return this.closed
  }

  /** What the function answered. */
  async answer(): Promise<Answer> {
    await this.closed
    const text = /^answer (.*)$/m.exec(this.#output)?.[1]
    assert.ok(text !== undefined, this.#output)
    return JSON.parse(text)
  }
}

export interface Answer {
  readonly status: number
  readonly created?: boolean
  readonly fire?: { readonly state: string; readonly attempt: number } | null
}

export interface Scratch {
  readonly env: Readonly<Record<string, string>>
  /** A delivery to a fresh process that imports this example. */
  call(example: string, delivery: object): FunctionProcess
  fires(): Promise<readonly FireView[]>
}

export function scratchFor(context: TestContext): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-function-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const STORE = `sqlite:${join(folder, 'functions.db')}`
  return {
    env: { STORE },
    call: (example, delivery) =>
      new FunctionProcess(HOST, [join(ROOT, 'examples/serverless', example), JSON.stringify(delivery)], {
        ...{ STORE, CRON_SECRET: SECRET },
      }),
    async fires() {
      const client = await connect({ store: STORE })
      const { items } = await client.fires.list({ schedule: 'report' })
      await client.close()
      return items
    },
  }
}

export const SECRET = 'a-secret-of-this-test-alone'

/**
 * Of several deliveries of one time, the process of the first one is killed in the middle of the run. One of the others runs the fire
 * again, and the answer to a later delivery says how it ended.
 */
export async function proveFunction({ call, fires }: Scratch, example: string, delivery: object): Promise<void> {
  const first = call(example, delivery)
  await first.printed(/^began \d+, attempt 1$/m)
  await first.kill('SIGKILL')
  const answers = await Promise.all([call(example, delivery), call(example, delivery)].map((one) => one.answer()))
  const states = answers.map(({ fire }) => fire?.state)
  // `open`: the other process runs it.
  assert.ok(
    states.includes('succeeded') && states.every((state) => state === 'succeeded' || state === 'open'),
    `${states}`,
  )
  // And one that comes much later.
  const late = call(example, delivery)
  assert.equal((await late.answer()).created, false)
  assert.doesNotMatch(late.output, /^began/m)
  const [fire, ...others] = await fires()
  assert.deepEqual([others.length, fire!.state, fire!.attempt], [0, 'succeeded', 2])
}
