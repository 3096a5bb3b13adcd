import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'
import { StoreError } from '../store-error.ts'
import { CallLost } from './call-lost.ts'
import { ERROR, ZooKeeperError } from './messages.ts'

/** What went wrong in our words. `mayHaveWritten`: a write was under way, so a lost answer leaves its outcome unknown. */
export function translate(error: unknown, name: string, mayHaveWritten: boolean): CronceError {
  if (error instanceof CronceError) return error
  const [code, message, hint] = wordsFor(error, name)
  const isRefused = error instanceof ZooKeeperError || (error instanceof CallLost && error.progress === 'connecting')
  return new StoreError(code, message, { hint, cause: error, notApplied: isRefused || !mayHaveWritten })
}

type Words = readonly [code: ErrorCode, message: string, hint: string]

const REPORT = 'Report this: it should not happen.'

function wordsFor(error: unknown, name: string): Words {
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof CallLost) return lostWords(error, name, text)
  if (!(error instanceof ZooKeeperError)) return ['STORE_FAILED', `${name} failed: ${text}.`, REPORT]
  switch (error.code) {
    case ERROR.noAuth:
    case ERROR.authFailed:
    case ERROR.invalidAcl:
      return [
        'STORE_FORBIDDEN',
        `${name} refused: ${text}.`,
        'Check user and password: only the user that created the nodes may use them.',
      ]
    case ERROR.unimplemented:
    case ERROR.badArguments:
      return ['STORE_UNSUPPORTED', `${name} does not know a request: ${text}.`, 'Use ZooKeeper 3.6 or later.']
    case ERROR.sessionExpired:
    case ERROR.sessionMoved:
      return ['STORE_LOST', `The session with ${name} has ended.`, 'Try again: the next call makes a new one.']
    default:
      return ['STORE_FAILED', `${name} refused a request: ${text}.`, REPORT]
  }
}

function lostWords({ progress }: CallLost, name: string, text: string): Words {
  if (progress === 'connecting') {
    return ['STORE_UNREACHABLE', `${name} can't be reached: ${text}.`, 'Check that ZooKeeper runs, and its servers.']
  }
  if (/^no answer/.test(text)) {
    return ['STORE_SILENT', `${name} gave ${text}.`, 'Check that the ensemble has a leader and is not overloaded.']
  }
  return ['STORE_LOST', `The connection to ${name} was lost: ${text}.`, 'Try again: the next call makes a new one.']
}

export function tooLarge(name: string, bytes: number): StoreError {
  return new StoreError('STORE_REFUSED', `A write of ${bytes} bytes is too large for ${name}.`, {
    hint: 'ZooKeeper takes 1 MB at a time: keep inputs, results and the number of open fires of a schedule smaller.',
  })
}

export function busy(name: string): StoreError {
  return new StoreError('STORE_BUSY', `Other writes to ${name} came before this one for too long.`, {
    hint: 'Try again.',
  })
}
