import { CronceError } from '../errors.ts'

/** The path of such a URL is a secret, so errors do not repeat it. */
export function readPingUrl(path: string, url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  // fetch refuses a URL with a user or password.
  const isPlain = parsed?.username === '' && parsed.password === ''
  if (parsed !== null && isPlain && /^https?:$/.test(parsed.protocol)) return String(url)
  const rule = 'a URL that begins with https:// or http://, without user and password'
  throw new CronceError('OPTION_INVALID', `The option ${path} must be ${rule}.`, {
    hint: `Write ${path.split('.')[0]}: { url: 'https://hc-ping.com/…' }.`,
  })
}
