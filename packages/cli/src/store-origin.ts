import { CronceError } from 'cronce/cron'
import type { Io } from './io.ts'

/** Where the command found the URL of its store, if the user did not write it on the command line. */
const origins = new WeakMap<Io, string>()

export function noteOrigin(io: Io, origin: string): void {
  origins.set(io, origin)
}

/** ` The store is from DATABASE_URL.`, or nothing if the user named it on the command line. */
export function originWords(io: Io): string {
  const origin = origins.get(io)
  return origin === undefined ? '' : ` The store is from ${origin}.`
}

/** An error about a store says where its URL is from: a forgotten variable may name another database than is meant. */
export function withOrigin(error: CronceError, io: Io): CronceError {
  const words = originWords(io)
  if (words === '' || !error.code.startsWith('STORE_') || error.message.includes(words)) return error
  const message = `${error.message}${error.message.endsWith('.') ? '' : '.'}${words}`
  return new CronceError(error.code, message, { hint: error.hint, cause: error })
}
