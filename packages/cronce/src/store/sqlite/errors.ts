import type { ErrorCode } from '../../errors.ts'
import { StoreError } from '../store-error.ts'

/** Primary result codes of SQLite, as in sqlite.org/rescode.html: the lower byte of the reported code. */
export const RESULT = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  mismatch: 20,
  notADatabase: 26,
} as const

/** The primary result code, or `null` if the error did not come from SQLite. */
export function resultOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

export function isBusy(error: unknown): boolean {
  const result = resultOf(error)
  return result === RESULT.busy || result === RESULT.locked
}

/** The error in words of cronce, with the error of SQLite as its cause. Other errors are unchanged. */
export function translate(error: unknown, file: string, notApplied: boolean): unknown {
  const result = resultOf(error)
  if (result === null) return error
  const [code, message, hint] = wordsFor(result, file, (error as Error).message)
  return new StoreError(code, message, { hint, cause: error, notApplied })
}

function wordsFor(
  result: number,
  file: string,
  text: string,
): readonly [code: ErrorCode, message: string, hint: string] {
  switch (result) {
    case RESULT.busy:
    case RESULT.locked:
      return [
        'STORE_BUSY',
        `Another process kept ${file} locked.`,
        'Look for a long write transaction on this file; keep transactions short.',
      ]
    case RESULT.readOnly:
      return [
        'STORE_READONLY',
        `${file} can't be written.`,
        'Let this process write the file and its folder, in which SQLite keeps two files beside it.',
      ]
    case RESULT.corrupt:
    case RESULT.notADatabase:
      return [
        'STORE_CORRUPT',
        `${file} is not a sound SQLite database: ${text}.`,
        'Keep the file, restore a backup, and open that with adopt.',
      ]
    case RESULT.full:
      return ['STORE_FULL', `There is no space left for ${file}.`, 'Free some space: the store goes on by itself.']
    case RESULT.cannotOpen:
      return [
        'STORE_UNREACHABLE',
        `${file} can't be opened.`,
        'Check that the folder exists and that this process may read and write it.',
      ]
    case RESULT.ioError:
      return [
        'STORE_UNREACHABLE',
        `The disk failed under ${file}: ${text}.`,
        "Look at the disk and at the kernel's messages.",
      ]
    case RESULT.tooBig:
    case RESULT.mismatch:
      return [
        'STORE_REFUSED',
        `SQLite refuses what it was sent for ${file}: ${text}.`,
        'Report this: it should not happen.',
      ]
    default:
      return ['STORE_FAILED', `SQLite refused a statement on ${file}: ${text}.`, 'Report this: it should not happen.']
  }
}
