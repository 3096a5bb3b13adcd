import type { MemoryData } from './data.ts'
import { compareText } from './sorted.ts'

/**
 * 128 bits as hex, equal for equal data whatever the order of its maps and properties, on every machine. For telling states
 * apart, not for secrets.
 */
export function hashData(data: MemoryData): string {
  return hash128(canonical(data))
}

/** JSON with sorted keys. As in JSON, a property that is undefined is not there. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value instanceof Map) return `<${members([...value])}>`
  if (typeof value === 'object' && value !== null) return `{${members(Object.entries(value))}}`
  return JSON.stringify(value) ?? 'null'
}

function members(entries: readonly (readonly [string, unknown])[]): string {
  return entries
    .filter(([, item]) => item !== undefined)
    .sort(([one], [other]) => compareText(one, other))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
    .join()
}

/** Four lanes of FNV-like mixing, each with a multiplier of its own, stirred together at the end. */
function hash128(text: string): string {
  let a = 0x3c6ef372
  let b = 0xdaa66d2b
  let c = 0x78dde6e4
  let d = 0xa54ff53a
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    a = b ^ Math.imul(a ^ unit, 0x23ba9c4d)
    b = c ^ Math.imul(b ^ unit, 0xac5ce4c7)
    c = d ^ Math.imul(c ^ unit, 0x38495ab5)
    d = a ^ Math.imul(d ^ unit, 0xb9b34a6d)
  }
  const lanes = [a ^ b ^ c ^ d ^ text.length, b ^ mix(a), c ^ mix(b), d ^ mix(c)]
  return lanes.map((lane) => mix(lane).toString(16).padStart(8, '0')).join('')
}

function mix(lane: number): number {
  let hash = Math.imul(lane ^ (lane >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
