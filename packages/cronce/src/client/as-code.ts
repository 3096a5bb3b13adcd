/** The longest name that is looked up. */
export const NAME_LIMIT = 64

/** Lower case and without `_` and `-`: `time_zone`, `timeZone` and `timezone` are one name. */
export function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '')
}

/** A number in a unit: `'30s'`. What is not a number stays as it was written. */
export function inUnit(value: unknown, unit: 'ms' | 's' | 'm' | 'h' | 'd'): string {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
  return isNumber ? `'${value}${unit}'` : typeof value === 'string' ? asCode(value) : `'5${unit}'`
}

/** A value as one would write it; `…` for what is not a single word, or may be a secret. */
export function asCode(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string' || value.length > NAME_LIMIT || isSecret(value)) return '…'
  return `'${value.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, ' ')}'`
}

/** URLs may hold a password. */
export function isSecret(value: string): boolean {
  return value.includes('://') || value.includes('@')
}
