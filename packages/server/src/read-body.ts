import { refuse } from './answer.ts'

export interface Body {
  /** As it came. */
  readonly text: string
  /** What it says: an empty object if there is no body. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The JSON object in the body. What is too long is not read on. */
export async function readBody(request: Request, limit: number): Promise<Body> {
  demandJsonType(request)
  const text = await readText(request, limit)
  const value = text.trim() === '' ? {} : parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyInvalid('The body is not a JSON object.')
  }
  return { text, fields: value as Record<string, unknown> }
}

function demandJsonType(request: Request): void {
  const type = request.headers.get('content-type')
  if (type !== null && /^application\/json *(;|$)/i.test(type.trim())) return
  const shown = type === null ? 'missing' : JSON.stringify(type.slice(0, 60))
  throw refuse('BODY_TYPE_REFUSED', `The content type is ${shown}.`, 'Send content-type: application/json.')
}

/** Deliveries and call-backs are small, and an honest sender has the body ready. */
const UNPROVED_BYTES = 65_536
const UNPROVED_MS = 5_000

/**
 * A delivery or call-back with its body: read before anything is done for it, and not for long. A body that the host has read is
 * left as it is. `giveUp`: stop reading, and throw its reason.
 */
export async function withBody(request: Request, giveUp?: AbortSignal): Promise<Request> {
  if (request.body === null || request.bodyUsed) return request
  const body = await readBytes(request, UNPROVED_BYTES, { withinMs: UNPROVED_MS, giveUp })
  const { url, method, headers, signal } = request
  return new Request(url, { method, headers, signal, body })
}

async function readText(request: Request, limit: number): Promise<string> {
  if (request.bodyUsed) throw new Error('The body of the request was read before it got here, perhaps by access().')
  const bytes = await readBytes(request, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw bodyInvalid('The body is not UTF-8.')
  }
}

interface Patience {
  readonly withinMs?: number | undefined
  readonly giveUp?: AbortSignal | undefined
}

async function readBytes(
  request: Request,
  limit: number,
  { withinMs, giveUp }: Patience = {},
): Promise<Buffer<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) {
    // It is not read, and the answer says so.
    await request.body?.cancel().catch(() => {})
    throw tooLarge(limit)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  let stopped: unknown
  const stop = (reason: unknown): void => {
    stopped ??= reason
    // The read that is under way ends with this. A failure to cancel does not matter.
    reader?.cancel().catch(() => {})
  }
  const isLate = (): void => stop(bodyInvalid(`The body did not come within ${withinMs! / 1_000} s.`))
  const isGivenUp = (): void => stop(giveUp?.reason)
  const timer = withinMs === undefined ? undefined : setTimeout(isLate, withinMs)
  giveUp?.addEventListener('abort', isGivenUp)
  try {
    for (;;) {
      const chunk = await reader?.read().catch((cause) => {
        throw bodyInvalid(`The body broke off: ${cause instanceof Error ? cause.message : String(cause)}.`)
      })
      if (stopped !== undefined) throw stopped
      if (chunk === undefined || chunk.done) return Buffer.concat(chunks)
      size += chunk.value.byteLength
      if (size > limit) {
        await reader?.cancel().catch(() => {})
        throw tooLarge(limit)
      }
      chunks.push(chunk.value)
    }
  } finally {
    clearTimeout(timer)
    giveUp?.removeEventListener('abort', isGivenUp)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw bodyInvalid(
      `The body is not JSON: ${cause instanceof Error ? cause.message.slice(0, 200) : 'it cannot be parsed.'}`,
    )
  }
}

function bodyInvalid(message: string): Error {
  return refuse('BODY_INVALID', message, 'Send a JSON object.')
}

function tooLarge(limit: number): Error {
  return refuse('BODY_TOO_LARGE', `The body has more than ${limit} bytes.`, 'Store large data elsewhere.')
}
