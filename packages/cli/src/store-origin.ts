import { CronceError } from 'cronce/cron'
import type { Io } from './io.ts'

/** Where the command found the URL of its store, if the user did not write it on the command line. */
const origins = new WeakMap<Io, string>()

export function noteOrigin(io: Io, origin: string): void {
  origins.set(io, origin)
}

/** An error about a store says where its URL is from: a forgotten variable may name another database than is meant. */
export function withOrigin(error: CronceError, io: Io): CronceError {
  const origin = origins.get(io)
  if (origin === undefined || !error.code.startsWith('STORE_') || error.message.includes(origin)) return error
  const message = `${error.message}${error.message.endsWith('.') ? '' : '.'} The store is from ${origin}.`
  return new CronceError(error.code, message, { hint: error.hint, cause: error })
}
