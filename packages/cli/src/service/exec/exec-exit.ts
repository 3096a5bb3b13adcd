import { constants } from 'node:os'
import { EXIT } from '../../exit-code.ts'
import { Interrupted } from '../../interrupt.ts'
import type { OwnRun } from './exec-command.ts'

/** As `timeout` of coreutils has it. */
const TIMED_OUT = 124
/** As shells have it. */
const NOT_EXECUTABLE = 126
const NOT_THERE = 127
const BY_SIGNAL = 128

/** The exit code for a command that was run here, and what is to be said of it: it has said the rest itself. */
export function exitOf({ end, refused, aborted }: OwnRun): { readonly code: number; readonly words: string | null } {
  if (end === null) {
    const { code } = (refused?.cause ?? {}) as { readonly code?: unknown }
    return {
      code: code === 'ENOENT' ? NOT_THERE : NOT_EXECUTABLE,
      words: refused?.message ?? 'The command was not run.',
    }
  }
  switch (aborted) {
    case 'RUN_TIMEOUT':
      return { code: TIMED_OUT, words: 'The command was ended: it took longer than --timeout.' }
    case 'LEASE_LOST':
    case 'RUN_FENCED':
      return {
        code: EXIT.unreachable,
        words: 'The command was ended: the store could not be reached any more, so that another host may run it.',
      }
    case 'RUN_CANCELLED':
      return { code: codeOf(end), words: 'The command was ended: somebody cancelled it.' }
    default:
      return { code: codeOf(end), words: null }
  }
}

function codeOf({ exitCode, signal }: NonNullable<OwnRun['end']>): number {
  return exitCode ?? BY_SIGNAL + (signal === null ? 0 : constants.signals[signal])
}

/** Which signal interrupted us, and is to be passed on. */
export function signalOf(reason: unknown): 'SIGINT' | 'SIGTERM' {
  return reason instanceof Interrupted && reason.exitCode === EXIT.interrupted ? 'SIGINT' : 'SIGTERM'
}
