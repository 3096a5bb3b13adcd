import { watchParent } from './watch-parent.ts'

/** A terminal that hangs up ends what runs in it as SIGTERM does. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** Of one Ctrl-C a process gets two signals: one from the terminal, and one that npx or `timeout` passes on. */
const SAME_MS = 500

/** The signal of `Io`: handlers are installed when it is first read. */
export function interruptSignal(): () => AbortSignal {
  let controller: AbortController | null = null
  let isCopyPast = false
  return () => {
    if (controller === null) {
      const made = new AbortController()
      controller = made
      for (const [name, code] of Object.entries(SIGNALS)) {
        process.on(name, () => {
          if (made.signal.aborted) {
            if (isCopyPast) process.exit(code)
            return
          }
          // After a blocked event loop, the timer comes first, then signals that have arrived meanwhile, then the immediate.
          setTimeout(() => setImmediate(() => (isCopyPast = true)), SAME_MS).unref()
          made.abort(new Interrupted(`Interrupted by ${name}.`, code))
        })
      }
      watchParent(process, () => made.abort(new Interrupted('npm has ended.', SIGNALS.SIGTERM)))
    }
    return controller.signal
  }
}

/** Why `Io.signal` was aborted, and the exit code that says so. */
export class Interrupted extends Error {
  override readonly name = 'AbortError'
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}
