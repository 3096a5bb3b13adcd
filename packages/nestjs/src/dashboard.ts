/** The entry `@cronce/nestjs/dashboard`: apart, since not every application has the packages of the dashboard. */

import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { fastifyPlugin, toNode } from '@cronce/server'
import type { Type } from '@nestjs/common'
import { Cronce, CronceLifecycle } from './index.ts'

/** As much of an application of Nest as is needed. */
interface NestLike {
  get<Provider>(token: Type<Provider> | (abstract new () => Provider)): Provider
  use(path: string, handler: ReturnType<typeof toNode>): unknown
  getHttpAdapter(): { getType(): string; getInstance(): unknown }
}

interface FastifyLike {
  register(plugin: ReturnType<typeof fastifyPlugin>, options: { readonly prefix: string }): PromiseLike<unknown>
}

/**
 * Mounts the dashboard below a path, on Express or Fastify. Call it before `listen()`. A global prefix is not added to the path.
 *
 * @example
 * await mountDashboard(nest, '/ops/cronce', { access: bearerAccess({ operate: process.env.OPERATE_TOKEN }) })
 */
export async function mountDashboard(nest: NestLike, path: string, options: DashboardOptions): Promise<void> {
  const handler = createDashboard(nest.get(Cronce), options)
  nest.get(CronceLifecycle).onStop(() => handler.close())
  const http = nest.getHttpAdapter()
  if (http.getType() === 'fastify')
    await (http.getInstance() as FastifyLike).register(fastifyPlugin(handler), { prefix: path })
  else nest.use(path, toNode(handler))
}
