import { CronceError } from '../errors.ts'

/** A request whose body has been read, or can be: of `fetch`, of `node:http`, or headers and a body. */
export type RawBody = string | Uint8Array | ArrayBuffer | null | undefined

/** All bytes as they came. Reads on no further than `maxBytes`. */
export async function readBody(source: unknown, maxBytes: number): Promise<Uint8Array> {
  const { body, bodyUsed } = source as { readonly body?: unknown; readonly bodyUsed?: unknown }
  if (bodyUsed === true) throw notRaw('it was read before')
  if (isAsyncIterable(body)) return collect(body, maxBytes)
  if (body === undefined && isAsyncIterable(source)) return collect(source, maxBytes)
  const bytes = toBytes(body)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

function toBytes(body: unknown): Uint8Array {
  if (body === null || body === undefined) return new Uint8Array()
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw notRaw(`it is ${typeof body === 'object' ? 'an object' : `a ${typeof body}`}`)
}

async function collect(chunks: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  // Leaving the loop early also cancels the stream.
  for await (const chunk of chunks) {
    const part = toBytes(chunk)
    length += part.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function tooLarge(maxBytes: number): CronceError {
  return new CronceError('BODY_TOO_LARGE', `The body has more than ${maxBytes} bytes.`, {
    hint: 'Send less: large data belongs elsewhere, and its key into the body.',
  })
}

function notRaw(what: string): CronceError {
  return new CronceError(
    'BODY_NOT_RAW',
    `A signature is over the bytes that came, but of the body only this is left: ${what}.`,
    {
      hint: "Hand in the raw body, with Express by express.raw({ type: '*/*' }) before any parser.",
    },
  )
}
