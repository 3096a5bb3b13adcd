import { CronceError } from '../errors.ts'

/** The path of such a URL is a secret, so errors do not repeat it. */
export function readPingUrl(path: string, url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return String(url)
  throw new CronceError('OPTION_INVALID', `The option ${path} must be a URL that begins with https:// or http://.`, {
    hint: `Write ${path.split('.')[0]}: { url: 'https://hc-ping.com/…' }.`,
  })
}
