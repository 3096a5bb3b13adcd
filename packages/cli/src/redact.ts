/** URLs as they may be shown: who and where, never with what. */

const HIDDEN = '***'
const SECRET_NAME = /pass|pwd|secret|token|key|auth|credential|signature|^sig$/i

/** The password and every query value that sounds like a secret become `***`. */
export function redactUrl(url: string): string {
  return redactText(url)
}

/**
 * The same for URLs anywhere in a text, such as the message of a driver. The errors and logs of a process that runs jobs go through this:
 * no pattern looks twice at a long stretch.
 */
export function redactText(text: string): string {
  return text
    .replace(/(?<=[a-z0-9+.-])(:\/\/[^\s/?#'"@:]*):[^\s'"]{0,4096}?@(?=[^\s'"@]*(?:[/?#\s'"]|$))/gi, `$1:${HIDDEN}@`)
    .replace(/([?&;])([^\s=&;#?'"]+)=([^\s&;#'"]*)/g, (whole, mark: string, name: string) =>
      SECRET_NAME.test(name) ? `${mark}${name}=${HIDDEN}` : whole,
    )
    .replace(/\b(password)=('[^']*'|[^\s&;'"]+)/gi, `$1=${HIDDEN}`)
}

/** The same for all texts in a record: jobs write URLs into their logs and errors, too. */
export function redactRecord<T>(value: T): T {
  if (typeof value === 'string') return redactText(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(redactRecord) as T
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, redactRecord(part)])) as T
}

/**
 * Whether a bare @, /, ? or # in the password makes this another URL than was meant: the host is looked for behind the first of
 * them, so that a driver asks for the rest of the password by name.
 */
export function isPasswordCut(url: string): boolean {
  const [, authority, path = '', query = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  if (authority === undefined) return false
  if (authority.includes('@')) return authority.indexOf('@') !== authority.lastIndexOf('@')
  const port = /^[^:[\]]*:(.*)$/.exec(authority)?.[1]
  if (port === undefined) return false
  return /^\d*$/.test(port) ? path.includes('@') : `${path}${query}`.includes('@')
}

/** What must not be shown of this URL, as written and as meant, longest first. */
export function secretsOf(url: string): string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:(.*)@[^@]*$/i.exec(url)?.[1]
  const values = [...url.matchAll(/[?&]([^=&#]+)=([^&#]*)/g)]
    .filter(([, name]) => SECRET_NAME.test(name!))
    .map(([, , value]) => value!)
  const written = [password, ...values].filter((secret) => secret !== undefined && secret !== '') as string[]
  const all = new Set(written.flatMap((secret) => [secret, decoded(secret)]))
  return [...all].sort((a, b) => b.length - a.length)
}

/** Without these secrets and without the password of any URL. Very short ones would take ordinary letters with them. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const bare = redactText(text)
  return secrets.filter((secret) => secret.length > 2).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), bare)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
