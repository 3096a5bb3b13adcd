import { createHandler, type Handler, type HandlerOptions, type Source } from '@cronce/server'
import { type Environment, readEnvironment } from './page.ts'
import { createPages } from './pages.ts'

/** Options of `createDashboard()`: those of the HTTP API, and how the page presents itself. */
export interface DashboardOptions extends HandlerOptions {
  /** A badge in the header, such as `production`, so that two dashboards are not mistaken for each other. @default none */
  readonly environment?: string | Environment | undefined
}

/**
 * The dashboard and the HTTP API that it uses, as one function from `Request` to `Response`. The page and its scripts contain no data, so
 * they are open to all; everything else is subject to `access`.
 */
export function createDashboard(source: Source, options: DashboardOptions = {}): Handler {
  const { environment, ...rest } = options
  const api = createHandler(source, rest)
  const pages = createPages({
    basePath: api.basePath,
    isClosed: rest.access === undefined,
    environment: readEnvironment(environment),
  })
  const handle = async (request: Request): Promise<Response> => pages(request) ?? api(request)
  const handler = Object.assign(handle, { basePath: api.basePath, close: () => api.close() })
  return Object.defineProperty(handler, 'listening', { get: () => api.listening }) as Handler
}
