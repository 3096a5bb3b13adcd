import { readFileSync } from 'node:fs'

/** Of this package. Read here, one folder below package.json: a bundle has all of its files in `dist`. */
export function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
