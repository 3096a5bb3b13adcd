import { resolve } from 'node:path'

/** The file of a SQLite URL; `null` if it is none. Where the process is, as the library reads it. */
export function sqliteFile(url: string): string | null {
  const file = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?]+)/.exec(url)?.[1]
  return file === undefined ? null : resolve(file)
}
