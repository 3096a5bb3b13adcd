import { CronceError } from '../errors.ts'

const UNCHANGED = 'Nothing was changed: try again when the store answers.'
const CHANGED = 'The change was made: look at it when the store answers.'
const UNKNOWN =
  'Look whether the change was made before you try again: the answer was lost, and the change perhaps was not.'

/** A read: when it fails, nothing has changed. */
export async function readStore<Value>(operation: string, call: () => Promise<Value>): Promise<Value> {
  try {
    return await call()
  } catch (cause) {
    throw storeFailed(operation, cause, true)
  }
}

/** A write: if it fails, its outcome is unknown unless the store says that nothing was written. */
export async function writeStore<Value>(operation: string, call: () => Promise<Value>): Promise<Value> {
  try {
    return await call()
  } catch (cause) {
    throw storeFailed(operation, cause, isNotApplied(cause))
  }
}

/** To show what was written: when that fails, the change has been made all the same. */
export async function readBack<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof CronceError) || cause.code !== 'STORE_FAILED') throw cause
    const error = new CronceError('STORE_FAILED', cause.message, { hint: CHANGED, cause })
    throw Object.assign(error, { notApplied: false })
  }
}

function storeFailed(operation: string, cause: unknown, notApplied: boolean): CronceError {
  // What a store refuses in our own words (it is closed, it can't do transactions) it says best itself.
  if (cause instanceof CronceError && isNotApplied(cause)) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `The store failed to ${operation}: ${why.slice(0, 500)}`
  const error = new CronceError('STORE_FAILED', message, { hint: notApplied ? UNCHANGED : UNKNOWN, cause })
  return Object.assign(error, { notApplied })
}

function isNotApplied(cause: unknown): boolean {
  return typeof cause === 'object' && cause !== null && 'notApplied' in cause && cause.notApplied === true
}
