import { createHash } from 'node:crypto'
import type { Script } from '../../src/store/redis/link.ts'

export const KEY = 'cronce:{test}'

export function scriptOf(lua: string): Script {
  return { name: 'test', lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/** Answers what it was asked. */
export const ECHO = scriptOf('return ARGV[1]')
/** Answers how often it has been run. */
export const COUNT = scriptOf("return tostring(redis.call('INCR', KEYS[1]))")
