import { createHash } from 'node:crypto'
import { KEYS_LUA } from '../keys.ts'
import type { Script } from '../link.ts'
import { MOMENT_LUA } from './moment.ts'

/** A script with what all of them begin with. */
export function script(name: string, ...parts: readonly string[]): Script {
  const lua = [`-- cronce ${name}`, KEYS_LUA, MOMENT_LUA, ...parts].join('\n')
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex') }
}
