import { createHash } from 'node:crypto'
import type { Script } from './link.ts'

/** A script, with the parts that it begins with. */
export function script(name: string, parts: readonly string[], body: string): Script {
  const lua = [`-- cronce ${name}`, ...parts, body].join('\n')
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex') }
}
