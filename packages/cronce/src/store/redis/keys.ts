import { bucketOf } from '../../model/bucket.ts'
import { StoreError } from '../store-error.ts'

// Names of keys and members. `lua/keys.lua` lists every key.

/** The key that all others of the namespace begin with: the part in braces decides where a key lives in a Redis Cluster. */
export function namespaceKey(prefix: string, namespace: string): string {
  return `${prefix}:{${encodeName(namespace).replace(/[{}]/g, (brace) => (brace === '{' ? '%7B' : '%7D'))}}`
}

/**
 * A key that never exists. While a slot of a Cluster moves, its keys are on two servers. A script that names one key starts on the
 * server that has it, and fails at the first key that is missing. A script that names two, one of which is missing, is refused first.
 */
export function neverKey(namespace: string): string {
  return `${namespace}:never`
}

/** The channel on which one process wakes the others. */
export function wakeChannel(namespace: string): string {
  return `${namespace}:wake`
}

/** The channel that an instance listens to for as long as its process lives. */
export function aliveChannel(namespace: string, instance: string): string {
  return `${namespace}:alive:${encodeName(instance)}`
}

/** Without control characters, which separate names. Unpaired surrogates are escaped: UTF-8 would make all of them the same character. */
export function encodeName(name: string): string {
  if (!SPECIAL.test(name) && name.isWellFormed()) return name
  return [...name].map(encodeCharacter).join('')
}

const SPECIAL = /[\p{Cc}%]/u

function encodeCharacter(character: string): string {
  if (!SPECIAL.test(character) && character.isWellFormed()) return character
  return `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function decodeName(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** A schedule as scripts know it: its bucket in two hexadecimal digits, of which the first is its shard, and its name. */
export function memberOf(schedule: string): string {
  return HEX[bucketOf(schedule)]! + encodeName(schedule)
}

const HEX = Array.from({ length: 256 }, (_, bucket) => bucket.toString(16).padStart(2, '0'))

export function scheduleOf(member: string): string {
  return decodeName(member.slice(2))
}

/** A fire within its schedule. */
export function fireName({ dueAt, nonce }: { readonly dueAt: number; readonly nonce: string }): string {
  return nonce === '' ? `${whole(dueAt)}:` : `${whole(dueAt)}:${encodeName(nonce)}`
}

export function readFireName(text: string): { readonly dueAt: number; readonly nonce: string } {
  const colon = text.indexOf(':')
  return { dueAt: Number(text.slice(0, colon)), nonce: decodeName(text.slice(colon + 1)) }
}

/** A value that is not an integer would stop a script half-way, and lists would miss what other changes of its batch wrote. */
export function whole(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  throw new StoreError('STORE_FAILED', `A change has a time or number that is not a safe integer: ${value}.`, {
    hint: 'Report this: it should not happen.',
  })
}

const COUNTER_BITS = 44n
const COUNTER = (1n << COUNTER_BITS) - 1n
const COUNTERS = 2 ** 44

/** A fencing token as `epoch.counter`, which takes half the bytes. Any other text is encoded like a name, without spaces. */
export function packToken(token: string): string {
  const small = Number(token)
  const isSmall = Number.isSafeInteger(small) && small > 0 && String(small) === token
  if (isSmall) return `${Math.floor(small / COUNTERS)}.${small % COUNTERS}`
  if (!/^[1-9]\d{0,18}$/.test(token)) return `=${encodeName(token).replaceAll(' ', '%0020')}`
  const number = BigInt(token)
  return `${number >> COUNTER_BITS}.${number & COUNTER}`
}

export function readToken(text: string): string {
  if (text[0] === '=') return decodeName(text.slice(1))
  const [epoch, counter] = text.split('.') as [string, string]
  return String((BigInt(epoch) << COUNTER_BITS) | BigInt(counter))
}

/** Empty: there is none. */
export function instantOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
