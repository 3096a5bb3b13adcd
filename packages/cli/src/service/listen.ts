import { randomBytes } from 'node:crypto'
import { type Access, bearerAccess, createHandler, type Handler, isLoopback, type Source, serve } from '@cronce/server'
import { CronceError } from 'cronce/cron'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'
import type { Log } from './log.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Listener {
  readonly url: string
  /** What was made for this start, where no token was configured. */
  readonly token: string | null
  /** Where the dashboard is, with the token that opens it; `null`: it is not served. */
  readonly dashboard: string | null
  close(): Promise<void>
}

/** `127.0.0.1:7070`, `[::1]:7070`, `:7070` for all addresses, or `7070` for this machine alone. */
export function readAddress(text: string): Address {
  const [, bracketed, plain, digits = ''] = /^(?:(?:\[([^\]]+)\]|([^:[\]\s]*)):)?(\d{1,5})$/.exec(text) ?? []
  const port = digits === '' ? Number.NaN : Number(digits)
  if (!(port >= 0 && port <= 65_535)) {
    throw new UsageError(`--listen cannot be "${text}".`, 'Write HOST:PORT, such as 127.0.0.1:7070 or [::1]:7070.')
  }
  const host = bracketed ?? plain
  return { host: host === undefined ? '127.0.0.1' : host === '' ? '0.0.0.0' : host, port }
}

export interface Protection {
  readonly access: Access
  readonly token: string | null
}

/** How to present the dashboard. */
export interface DashboardSettings {
  /** The badge in its header. */
  readonly environment?: string | undefined
  /** The file of a SARIF report that it shows. */
  readonly audit?: string | undefined
}

/**
 * Who may use the API: programs with a token. On loopback one is made if none is configured, since a proxy or a port-forward makes a
 * loopback address reachable from elsewhere.
 */
export function protectionFor(
  { host }: Address,
  configured: unknown,
  { env }: Pick<Io, 'env'>,
  level: 'read' | 'operate' = 'operate',
): Protection {
  if (typeof configured === 'function') return { access: configured as Access, token: null }
  if (configured !== undefined) {
    throw new CronceError('CONFIG_INVALID', 'The option access of the configuration is not a function.', {
      hint: 'Write access: (request) => none, read or operate; or set CRONCE_READ_TOKEN and CRONCE_OPERATE_TOKEN.',
    })
  }
  const { CRONCE_METRICS_TOKEN: metrics, CRONCE_READ_TOKEN: read, CRONCE_OPERATE_TOKEN: operate } = env
  if (metrics || read || operate) {
    const tokens = { metrics: metrics || undefined, read: read || undefined, operate: operate || undefined }
    return { access: bearerAccess(tokens), token: null }
  }
  if (isLoopback(host.includes(':') ? `[${host}]` : host)) {
    const { CRONCE_DEV_TOKEN: ofDev } = env
    const token = ofDev || newToken()
    return { access: bearerAccess({ [level]: token }), token }
  }
  throw new CronceError(
    'LISTEN_UNPROTECTED',
    `Without a token, every client that can reach ${host} could operate the jobs.`,
    {
      hint: 'Set CRONCE_OPERATE_TOKEN (and CRONCE_READ_TOKEN), or access in the configuration; or listen on 127.0.0.1.',
    },
  )
}

const TOKEN_BYTES = 24

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex')
}

export interface ListenOptions {
  readonly address: Address
  readonly protection: Protection
  /** Whether this instance takes runs: until then, and while it drains, `/readyz` says no. */
  readonly ready: () => boolean
  readonly log: Pick<Log, 'tell'>
  /** `null`: the API alone. */
  readonly dashboard: DashboardSettings | null
  /** Take any free port if this one is taken. @default false */
  readonly otherwiseAny?: boolean | undefined
}

export async function listen(app: Source, options: ListenOptions): Promise<Listener> {
  const { token } = options.protection
  const handler = await makeHandler(app, options)
  const { url, close } = await serveAt(handler, options)
  // What is behind the # stays in the browser: no server and no log sees it.
  const dashboard = `${url}/${token === null ? '' : `#token=${token}`}`
  return { url, token, dashboard: options.dashboard === null ? null : dashboard, close }
}

async function makeHandler(source: Source, { protection, ready, log, dashboard }: ListenOptions): Promise<Handler> {
  const logger = { error: (message: string) => log.tell('error', message) }
  const options = { access: protection.access, ready, logger }
  if (dashboard === null) return createHandler(source, options)
  const { createDashboard } = await import('@cronce/dashboard')
  return createDashboard(source, { ...options, environment: dashboard.environment, audit: dashboard.audit })
}

async function serveAt(handler: Handler, { address, otherwiseAny = false }: ListenOptions): ReturnType<typeof serve> {
  try {
    return await serve(handler, address)
  } catch (error) {
    const isTaken = error instanceof CronceError && error.code === 'ADDRESS_IN_USE'
    if (!isTaken || !otherwiseAny) throw error
    return serve(handler, { ...address, port: 0 })
  }
}
