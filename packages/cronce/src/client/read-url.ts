import { CronceError } from '../errors.ts'
import { show } from './read-option.ts'

/** An address to call. The path of such a URL is often a secret, and fetch refuses one with a user or password. */
export function readHttpUrl(path: string, value: unknown, hint: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href
  throw secretInvalid(
    path,
    value,
    'a URL that begins with https:// or http://, without user and password',
    value === undefined ? `Check the variable that it comes from. ${hint}` : hint,
  )
}

/** The value may be a secret: a text is repeated only up to the host of a URL. */
export function secretInvalid(path: string, value: unknown, expected: string, hint: string): CronceError {
  const isOther = typeof value === 'string' && !value.includes('://')
  const shown = !isOther ? show(value) : value === '' ? 'an empty text' : 'a text that is not a URL'
  return new CronceError('OPTION_INVALID', `The option ${path} can't be ${shown}: expected ${expected}.`, { hint })
}
