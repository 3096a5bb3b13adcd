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
  if (value instanceof Date && !Number.isNaN(value.getTime())) return `new Date('${value.toISOString()}')`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[ … ]' : '{ … }'
  if (typeof value !== 'string' || value.length > NAME_LIMIT || isSecret(value)) return '…'
  return `'${value.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, ' ')}'`
}

/** URLs may hold a password, or a secret path. */
export function isSecret(value: string): boolean {
  return value.includes('://') || value.includes('@') || hideUrls(value) !== value
}

/** `retry.attempts`, `3` becomes `retry: { attempts: 3 }`. */
export function nest(path: string, sample: string): string {
  if (path === '') return sample
  const [last, ...outer] = path
    .split('.')
    .reverse()
    .map((name) => (/^\w+$/.test(name) ? name : `'${name}'`))
  return outer.reduce((inner, name) => `${name}: { ${inner} }`, `${last}: ${sample}`)
}

/** The text up to the host of the first URL in it: what follows, and a user before it, may be secrets. */
export function hideUrls(text: string): string {
  const scheme = /[a-z\d]{2}:\/{1,2}/i.exec(text)
  if (scheme === null && !BARE_URL.test(text)) return text
  const start = scheme === null ? 0 : scheme.index + scheme[0].length
  const rest = text.slice(start)
  // A password may contain any of the characters that end a host.
  const host = rest.includes('@') ? '' : /^[^/?#:\s]*/.exec(rest)![0]
  const more = rest === host ? '' : host === '' ? '…' : '/…'
  return `${text.slice(0, start)}${host}${more}`
}

/** `hc-ping.com/…` */
const BARE_URL = /^(?:[a-z\d-]+\.)+[a-z]{2,}\//i
