import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDERS_UP = 20

/** The name in the nearest package.json from a folder upwards that has one: two services rarely share one. */
export function packageName(from: string): string | undefined {
  return nearest(from, ({ name }) => (typeof name === 'string' && name !== '' ? name : undefined))
}

/** Whether the nearest package.json says that its modules are CommonJS. Without a `type`, Node.js looks at the module itself. */
export function isCommonJs(from: string): boolean {
  return nearest(from, ({ type }) => type === 'commonjs') === true
}

/** What the nearest package.json from a folder upwards says that answers the question. */
function nearest<Answer>(
  from: string,
  read: (content: Record<string, unknown>) => Answer | undefined,
): Answer | undefined {
  let folder = from
  for (let up = 0; up < FOLDERS_UP; up++) {
    const content = contentOf(join(folder, 'package.json'))
    const answer = content === undefined ? undefined : read(content)
    if (answer !== undefined) return answer
    if (dirname(folder) === folder) return undefined
    folder = dirname(folder)
  }
  return undefined
}

function contentOf(file: string): Record<string, unknown> | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
