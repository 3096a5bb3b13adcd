import { readFileSync } from 'node:fs'

/** Of this package, and so of all of them: they have one version. */
export function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
