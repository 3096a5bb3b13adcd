import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The URL of a file that is named relative to the calling file. */
export function solvePath(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href
  if (path.startsWith('file://')) return path
  const [, ...lines] = (new Error().stack ?? '').split('\n')
  const own = ownFolder(import.meta.url)
  const caller = lines.find((line) => !own.some((folder) => line.includes(folder)))
  const [, place] = /((?:file:\/\/)?(?:\/|[a-zA-Z]:[\\/]).+?):\d+:\d+\)?$/.exec(caller ?? '') ?? []
  if (place === undefined) throw new Error(`Could not locate task file ${path}`)
  const file = place.startsWith('file://') ? fileURLToPath(place) : place
  return pathToFileURL(resolve(dirname(file), path)).href
}

/** As stack traces write it. Unknown in a CommonJS bundle, which has no `import.meta.url`. */
function ownFolder(self: string | undefined): readonly string[] {
  if (self === undefined) return []
  const here = new URL('.', self)
  return [here.href, fileURLToPath(here)]
}
