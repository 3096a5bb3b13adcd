import { CronceError } from '../../errors.ts'
import type { Host } from './host.ts'

/** How it ended, if not with an answer. */
export interface Exit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly uncaught: Error | null
}

/** The task's answer; else why there is none. */
export function outcomeOf({ answer }: Host, signal: AbortSignal, file: string, exit: Exit): unknown {
  if (answer?.kind === 'returned') return answer.value
  if (answer?.kind === 'threw') throw answer.error
  // It ended because it was told to, or by force.
  signal.throwIfAborted()
  throw targetExited(file, exit)
}

function withStop(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

function targetExited(file: string, { exitCode, signal, uncaught }: Exit): CronceError {
  const how =
    uncaught !== null
      ? withStop(`ended by an uncaught error: ${uncaught.name}: ${uncaught.message}`)
      : exitCode === null
        ? `was ended by ${signal}.`
        : `exited with ${exitCode} before its handler had ended.`
  const error = new CronceError('TARGET_EXITED', `${file} ${how}`, {
    hint:
      exitCode === 0
        ? 'Return from the handler instead of calling process.exit, and await what it begins.'
        : "Look at what it wrote, in the run's log; memory is bounded by memoryMb.",
    ...(uncaught === null ? {} : { cause: uncaught }),
  })
  return Object.assign(error, { exitCode, signal })
}
