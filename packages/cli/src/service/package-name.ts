import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDERS_UP = 20

/** The name in the nearest package.json from a folder upwards: two services rarely share one. */
export function packageName(from: string): string | undefined {
  let folder = from
  for (let up = 0; up < FOLDERS_UP; up++) {
    const name = nameIn(join(folder, 'package.json'))
    if (name !== undefined) return name
    if (dirname(folder) === folder) return undefined
    folder = dirname(folder)
  }
  return undefined
}

function nameIn(file: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}
