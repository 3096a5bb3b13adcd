/** A task as users write it, for tests: its input selects what it does. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../../src/index.ts'

export interface TaskInput {
  readonly does: keyof typeof DEEDS
  readonly file?: string
}

const DEEDS = {
  look: ({ fire, attempt, token, instance, previous, idempotencyKey }: Run) => ({
    fire,
    attempt,
    token: `${typeof token} ${token}`,
    instance,
    previous,
    keys: [idempotencyKey(), idempotencyKey('step')],
  }),
  tell(run: Run) {
    run.log('plainly')
    run.log.debug('in detail')
    run.log.error('alas')
    console.log('to stdout')
    console.error('to stderr')
    run.progress(0.25, 'begun')
    run.progress(0.75, 'soon')
  },
  chatter() {
    for (let line = 1; line <= 2_000; line++) console.log(`${line} ${'x'.repeat(20)}`)
  },
  chatterAndExit() {
    DEEDS.chatter()
    process.exit(3)
  },
  throw() {
    const details = { code: 'PAPER_OUT', retryable: false, hint: 'Add paper.' }
    throw Object.assign(new RangeError('out of paper'), details)
  },
  exit: () => process.exit(7),
  exitWell: () => process.exit(0),
  async crash() {
    setTimeout(() => {
      throw new Error('uncaught on purpose')
    })
    await sleep(60_000)
  },
  async reject() {
    void Promise.reject(new Error('nor this'))
    await sleep(60_000)
  },
  fill() {
    const all: number[][] = []
    for (;;) all.push(new Array<number>(1_000).fill(Math.random()))
  },
  rest: () => sleep(13_000),
  forget: () => new Promise(() => {}),
  loop() {
    process.stdout.write(`pid ${process.pid}\n`)
    // A blocking wait that receives no messages, without busy looping.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  },
  async obey(run: Run) {
    run.log('waiting')
    await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
    const { name, code, message } = run.signal.reason as { name: string; code: string; message: string }
    run.log(`${name} ${code}: ${message}`)
    throw run.signal.reason
  },
  async dawdle(run: Run) {
    process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
  },
  async once(run: Run) {
    const { file = '' } = run.fire.input as TaskInput
    const step = run.once('charge', async () => {
      appendFileSync(file, `charged by ${run.attempt}\n`)
      return { receipt: 17 }
    })
    const receipt = await step
    if (run.attempt === 1) throw new Error('after the charge')
    return receipt
  },
  failStep: (run: Run) =>
    run.once('charge', () => {
      if (run.attempt === 1) throw new TypeError('refused')
      return 'charged'
    }),
  nestStep: (run: Run) => run.once('charge', () => run.once('charge', () => 1)),
  dieInStep: (run: Run) => run.once('charge', () => process.exit(9)),
  keepTooMuch: (run: Run) => run.once('charge', () => 'x'.repeat(70_000)),
  transact: (run: Run) => run.transaction(() => 1),
  async linger() {
    setInterval(() => {}, 1_000)
    return 'and returns'
  },
  circle() {
    const ring: { self?: unknown } = {}
    ring.self = ring
    return ring
  },
} satisfies Record<string, (run: Run) => unknown>

// biome-ignore lint/style/noDefaultExport: that is what a task is.
export default (run: Run) => DEEDS[(run.fire.input as TaskInput).does](run)
