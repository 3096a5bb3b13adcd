import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '../create-handler.ts'
import { isBelow, respond } from './to-node.ts'
import type { Mount } from './to-request.ts'

/** As much of a context of Koa as is needed. */
interface KoaContextLike {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly originalUrl: string
  respond?: boolean | undefined
}

/** `koa.use(koaMiddleware(handler))`: what is not below the handler's base path is left to the others. */
export function koaMiddleware(
  handler: Handler,
): (context: KoaContextLike, next: () => Promise<unknown>) => Promise<void> {
  return async (context, next) => {
    const mount = mountOf(context)
    if (!isBelow(handler, mount)) {
      await next()
      return
    }
    context.respond = false
    await respond(handler, mount, context.req, context.res)
  }
}

/** What mounts handlers in Koa strips the URL and keeps the one that came. */
function mountOf({ req: { url = '/' }, originalUrl }: KoaContextLike): Mount {
  const base = originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : ''
  return { url: originalUrl, base }
}
