import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const HERE = new URL('.', import.meta.url)
const OWN = [HERE.href, fileURLToPath(HERE)]

/** The URL of a file that is named relative to the file of whoever calls. */
export function solvePath(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href
  if (path.startsWith('file://')) return path
  const [, ...lines] = (new Error().stack ?? '').split('\n')
  const caller = lines.find((line) => !OWN.some((own) => line.includes(own)))
  const [, place] = /((?:file:\/\/)?(?:\/|[a-zA-Z]:[\\/]).+?):\d+:\d+\)?$/.exec(caller ?? '') ?? []
  if (place === undefined) throw new Error(`Could not locate task file ${path}`)
  const file = place.startsWith('file://') ? fileURLToPath(place) : place
  return pathToFileURL(resolve(dirname(file), path)).href
}
