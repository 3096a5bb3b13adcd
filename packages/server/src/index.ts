/** The published entry `@cronce/server`. */
export { pathPart } from 'cronce/signature'
export {
  type Access,
  type AccessLevel,
  type BearerTokens,
  bearerAccess,
  type Decision,
  isLoopback,
  loopbackAccess,
  type Right,
} from './access.ts'
export { baseOf } from './base-path.ts'
export { createHandler, type Handler } from './create-handler.ts'
export { fastifyPlugin } from './node/fastify.ts'
export { koaMiddleware } from './node/koa.ts'
export { type Served, type ServeOptions, serve } from './node/serve.ts'
export { type NodeHandler, toNode } from './node/to-node.ts'
export type { ApiLogger, HandlerOptions } from './options.ts'
export type { Source } from './source.ts'
