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
    throw bodyInvalid('The body is no JSON object.')
  }
  return { text, fields: value as Record<string, unknown> }
}

function demandJsonType(request: Request): void {
  const type = request.headers.get('content-type')
  if (type !== null && /^application\/json *(;|$)/i.test(type.trim())) return
  const shown = type === null ? 'missing' : JSON.stringify(type.slice(0, 60))
  throw refuse('BODY_TYPE_REFUSED', `The content type is ${shown}.`, 'Send content-type: application/json.')
}

async function readText(request: Request, limit: number): Promise<string> {
  if (request.bodyUsed) throw new Error('The body of the request was read before it got here, perhaps by access().')
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) {
    // Nobody reads it: whoever sends it is told so.
    await request.body?.cancel().catch(() => {})
    throw tooLarge(limit)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const chunk = await reader?.read().catch((cause) => {
      throw bodyInvalid(`The body broke off: ${cause instanceof Error ? cause.message : String(cause)}.`)
    })
    if (chunk === undefined || chunk.done) break
    size += chunk.value.byteLength
    if (size > limit) {
      await reader?.cancel().catch(() => {})
      throw tooLarge(limit)
    }
    chunks.push(chunk.value)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw bodyInvalid('The body is not UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw bodyInvalid(`The body is not JSON: ${cause instanceof Error ? cause.message.slice(0, 200) : ''}`)
  }
}

function bodyInvalid(message: string): Error {
  return refuse('BODY_INVALID', message, 'Send a JSON object.')
}

function tooLarge(limit: number): Error {
  return refuse('BODY_TOO_LARGE', `The body has more than ${limit} bytes.`, 'Store large data elsewhere.')
}
