import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '../create-handler.ts'
import { respond } from './to-node.ts'

/** As much of Fastify as is needed. */
interface FastifyLike {
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void): unknown
}

interface FastifyRequestLike {
  readonly raw: IncomingMessage
}

interface FastifyReplyLike {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** `await fastify.register(fastifyPlugin(handler), { prefix: '/ops/cronce' })` */
export function fastifyPlugin(
  handler: Handler,
): (instance: FastifyLike, options: unknown, done: (error?: Error) => void) => void {
  return (instance, _options, done) => {
    // Within the plugin only: bodies are left for us to read, and to refuse.
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    const answer = ({ raw }: FastifyRequestLike, reply: FastifyReplyLike): void => {
      reply.hijack()
      // Never rejects.
      void respond(handler, { url: raw.url ?? '/', base: instance.prefix }, raw, reply.raw)
    }
    instance.all('/', answer)
    instance.all('/*', answer)
    done()
  }
}
