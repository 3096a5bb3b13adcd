import { readFileSync } from 'node:fs'
import type { LibraryName } from './library.ts'

/** Read from the file and not by import: some packages do not export their package.json. */
export function versionOf(library: LibraryName): string {
  const file = new URL(`../../node_modules/${library}/package.json`, import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  return version
}
