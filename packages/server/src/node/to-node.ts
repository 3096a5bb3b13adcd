import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerError, refuse, toResponse } from '../answer.ts'
import type { Handler } from '../create-handler.ts'
import { type Mount, toRequest } from './to-request.ts'
import { writeResponse } from './write-response.ts'

/** For node:http, Express, Connect and Nest: `next` is called for what is not below the handler's base path. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

/** Adapts the handler to `node:http`, Express and the like. */
export function toNode(handler: Handler): NodeHandler {
  return (incoming, outgoing, next) => {
    const mount = mountOf(incoming)
    if (next !== undefined && !isBelow(handler, mount)) next()
    // Never rejects.
    else void respond(handler, mount, incoming, outgoing)
  }
}

/** Express keeps the URL as it came, and says what it has stripped. */
function mountOf(incoming: IncomingMessage & { readonly originalUrl?: string; readonly baseUrl?: string }): Mount {
  const { url = '/', originalUrl = url, baseUrl = '' } = incoming
  return { url: originalUrl, base: baseUrl }
}

/** A host that strips the base has said by that that it is meant for us. */
export function isBelow({ basePath }: Handler, { url, base }: Mount): boolean {
  if (basePath === '' || base !== '') return true
  const [path] = url.split('?', 1)
  return path === basePath || path!.startsWith(`${basePath}/`)
}

/** Resolves when all was sent, or the client is gone. */
export async function respond(
  handler: Handler,
  mount: Mount,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const abort = new AbortController()
  outgoing.once('close', () => abort.abort())
  try {
    await writeResponse(await answer(handler, mount, incoming, abort.signal), incoming, outgoing)
  } catch {
    // The client is gone, or the host has answered.
    outgoing.destroy()
  }
}

/** What no Request can say never gets to the handler. */
async function answer(
  handler: Handler,
  mount: Mount,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<Response> {
  let request: Request
  try {
    request = toRequest(incoming, mount, signal)
  } catch (error) {
    const known = error instanceof Error && 'code' in error && 'headers' in error
    const refusal = known
      ? error
      : refuse('REQUEST_INVALID', 'The request is malformed.', 'Send a request that follows RFC 9110.')
    return toResponse(answerError(refusal, { error: () => {} }))
  }
  return handler(request)
}
