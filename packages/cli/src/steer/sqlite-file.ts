import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CronceOptions } from 'cronce'
import { CronceError } from 'cronce/cron'

/** The file of a SQLite URL; `null` if it is none. Where the process is, as the library reads it. */
export function sqliteFile(url: string): string | null {
  const file = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?]+)/.exec(url)?.[1]
  return file === undefined ? null : resolve(file)
}

/** Commands that read or operate do not create a store: opening would create the file, and find it empty. */
export function demandFile(store: NonNullable<CronceOptions['store']>): void {
  // What is not a name of a file is refused by the library, which says why.
  if (typeof store !== 'string' || /^sqlite:(:memory:|sqlite:|file:)/.test(store)) return
  const file = sqliteFile(store)
  if (file === null || existsSync(file)) return
  throw new CronceError('STORE_UNREACHABLE', `There is no file ${file}.`, {
    hint: 'Check --store and CRONCE_STORE; the first instance that starts makes it.',
  })
}
