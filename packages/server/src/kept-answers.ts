import { createHash } from 'node:crypto'
import { type Answer, refuse } from './answer.ts'

const ENTRIES = 10_000
const BYTES = 64 * 1024 * 1024
const KEEP_MS = 24 * 3_600_000
/** What an entry takes besides its text. */
const OVERHEAD = 300

interface Entry {
  readonly request: string
  readonly answer: Promise<Answer>
  readonly at: number
  size: number
}

/**
 * First answers by idempotency key, in this process: who asks again, because an answer was lost, gets the same one and nothing
 * is done again; who asks meanwhile waits for it. Only what was done is kept: a refusal has changed nothing, and may not be the
 * answer next time.
 */
export class KeptAnswers {
  readonly #entries = new Map<string, Entry>()
  readonly #now: () => number
  #bytes = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  async once(key: string, request: string, work: () => Promise<Answer>): Promise<Answer> {
    this.#forgetOld()
    const known = this.#entries.get(key)
    if (known !== undefined) {
      if (known.request !== request) throw keyReused(key)
      const answer = await known.answer
      return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
    }
    const entry: Entry = { request, answer: work(), at: this.#now(), size: OVERHEAD }
    this.#entries.set(key, entry)
    this.#bytes += entry.size
    try {
      const answer = await entry.answer
      if (answer.status < 200 || answer.status > 299) this.#forget(key, entry)
      else this.#grow(key, entry, answer.text?.length ?? 0)
      return answer
    } catch (error) {
      this.#forget(key, entry)
      throw error
    }
  }

  #grow(key: string, entry: Entry, size: number): void {
    // It may have had to go before it was answered.
    if (this.#entries.get(key) !== entry) return
    entry.size += size
    this.#bytes += size
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.size
  }

  /** A Map gives back what was put into it first, first. */
  #forgetOld(): void {
    const since = this.#now() - KEEP_MS
    for (const [key, entry] of this.#entries) {
      const isTooMuch = this.#entries.size >= ENTRIES || this.#bytes > BYTES
      if (entry.at > since && !isTooMuch) return
      this.#forget(key, entry)
    }
  }
}

/** What makes two requests the same. */
export function fingerprint(method: string, path: string, query: string, body: string): string {
  return createHash('sha256').update([method, path, query, body].join('\n')).digest('base64')
}

/** The key of a request, or `null`. The same characters as in a dedupe key, since it may become one. */
export function readKey(request: Request): string | null {
  const key = request.headers.get('idempotency-key')
  if (key === null) return null
  if (/^[\x21-\x7e]([\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(key)) return key
  const hint = 'Use a random text of 1 to 200 ASCII characters, such as a UUID.'
  throw refuse('IDEMPOTENCY_KEY_INVALID', 'The idempotency key is empty, too long, or has odd characters.', hint)
}

/** The key as one of its principal, so that two people may use the same one. Without a principal, keys are shared. */
export function scopedKey(principal: string, key: string): string {
  if (principal === '') return key
  return `key-${createHash('sha256')
    .update(JSON.stringify([principal, key]))
    .digest('base64url')}`
}

export function keyReused(key: string): Error {
  const message = `The idempotency key ${JSON.stringify(key)} was used for another request.`
  return refuse('IDEMPOTENCY_KEY_REUSED', message, 'Use a new key for every request, and an old one only to repeat it.')
}
