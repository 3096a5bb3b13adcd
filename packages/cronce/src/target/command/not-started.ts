import { CronceError } from '../../errors.ts'

/** Errors that a retry can't cure: an operator has to change something. */
const LASTING: readonly unknown[] = [
  'ENOENT',
  'EACCES',
  'EPERM',
  'ENOTDIR',
  'ENOEXEC',
  'ELOOP',
  'ENAMETOOLONG',
  'E2BIG',
]

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be executed',
  ENOEXEC: 'it is not a program',
  E2BIG: 'its arguments and its environment are too large',
  EAGAIN: 'the system has no process to spare',
  EMFILE: 'this process has no file descriptor to spare',
  ENFILE: 'the system has no file descriptor to spare',
}

export function notStarted(file: string, cause: unknown): CronceError {
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  const reason = typeof code === 'string' ? REASONS[code] : undefined
  const isLasting = LASTING.includes(code)
  const error = new CronceError(
    'COMMAND_NOT_STARTED',
    `The command ${JSON.stringify(file)} could not be started: ${reason ?? String(message).replace(/\.$/, '')}.`,
    {
      hint: isLasting
        ? "Check the command's path, its rights, and cwd; shell syntax needs shell: true."
        : "Look at the machine's limits, then run it again.",
      cause,
    },
  )
  return isLasting ? Object.assign(error, { retryable: false }) : error
}
