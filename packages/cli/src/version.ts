import { readFileSync } from 'node:fs'

/** Resolved here, one folder below it: a bundle has all of its files in `dist`. */
export const PACKAGE_FOLDER = new URL('..', import.meta.url)

/** Of this package, and so of all of them: they have one version. */
export function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'))
  return manifest.version
}
