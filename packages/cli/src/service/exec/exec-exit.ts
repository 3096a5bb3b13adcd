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
  if (end === null && aborted === null) {
    const { code } = (refused?.cause ?? {}) as { readonly code?: unknown }
    return {
      code: code === 'ENOENT' ? NOT_THERE : NOT_EXECUTABLE,
      words: refused?.message ?? 'The command was not run.',
    }
  }
  const what = end === null ? 'The command was not started' : 'The command was ended'
  switch (aborted) {
    case 'RUN_TIMEOUT':
      return { code: TIMED_OUT, words: `${what}: it took longer than --timeout.` }
    case 'LEASE_LOST':
      return {
        code: EXIT.unreachable,
        words: `${what}: the store could not be reached any more, so that another host may run it.`,
      }
    case 'RUN_FENCED':
      return {
        code: EXIT.unreachable,
        words: `${what}: this host has lost it: another host took it over, or its schedule was removed.`,
      }
    case 'RUN_CANCELLED':
      return { code: codeOf(end), words: `${what}: an operator cancelled it.` }
    default:
      return { code: codeOf(end), words: end === null ? `${what}.` : null }
  }
}

/** What was kept from starting counts as ended by the signal that it would have got. */
function codeOf(end: OwnRun['end']): number {
  const { exitCode, signal } = end ?? { exitCode: null, signal: 'SIGTERM' as const }
  return exitCode ?? BY_SIGNAL + (signal === null ? 0 : constants.signals[signal])
}

/** Which signal interrupted us, and is to be passed on. */
export function signalOf(reason: unknown): 'SIGINT' | 'SIGTERM' {
  return reason instanceof Interrupted && reason.exitCode === EXIT.interrupted ? 'SIGINT' : 'SIGTERM'
}
