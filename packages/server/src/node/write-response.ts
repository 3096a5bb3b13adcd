import type { IncomingMessage, ServerResponse } from 'node:http'

/** Sends a Response, piece by piece, no faster than the other side reads. */
export async function writeResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const reader = response.body?.getReader()
  try {
    if (outgoing.destroyed) return
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (incoming.method !== 'HEAD' && reader !== undefined) await pump(reader, outgoing)
    outgoing.end()
  } finally {
    // Cancels the source of the body, since the client wants no more of it; after its end that has no effect.
    await reader?.cancel().catch(() => {})
  }
}

async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  outgoing.once('close', close)
  for (;;) {
    const piece = await Promise.race([reader.read(), closed])
    if (piece === undefined || piece.done || outgoing.destroyed) return
    if (!outgoing.write(piece.value)) await Promise.race([drained(outgoing), closed])
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => outgoing.once('drain', resolve))
}
