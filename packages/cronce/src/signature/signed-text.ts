/** The headers that a signature covers: whatever cronce says about the request. */
export function isCovered(name: string): boolean {
  return (name.startsWith('cronce-') && name !== SIGNATURE_HEADER) || name === 'idempotency-key'
}

export const SIGNATURE_HEADER = 'cronce-signature'

/**
 * What is hashed: the time, every covered header by name, an empty line, the body as it is sent. Headers can't contain a line
 * break, so no two requests have the same text.
 */
export function signedText(
  timestamp: number,
  headers: ReadonlyMap<string, string>,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const lines = [...headers]
    .filter(([name]) => isCovered(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value}\n`)
  const head = new TextEncoder().encode(`${timestamp}\n${lines.join('')}\n`)
  const text = new Uint8Array(head.length + body.length)
  text.set(head)
  text.set(body, head.length)
  return text
}

/** Web Crypto, so that the receiving side may be anything that runs JavaScript. */
export function importKey(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}
