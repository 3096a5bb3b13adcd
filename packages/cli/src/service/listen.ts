import { randomBytes } from 'node:crypto'
import { type Access, bearerAccess, createHandler, isLoopback, serve } from '@cronce/server'
import type { Cronce } from 'cronce'
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

/**
 * Who may use the API: programs with a token. On loopback one is made if none is configured, since a proxy or a port-forward makes a
 * loopback address reachable from elsewhere.
 */
export function protectionFor({ host }: Address, configured: unknown, { env }: Io): Protection {
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
    const token = randomBytes(TOKEN_BYTES).toString('hex')
    return { access: bearerAccess({ operate: token }), token }
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

export interface ListenOptions {
  readonly address: Address
  readonly protection: Protection
  /** Whether this instance takes runs: until then, and while it drains, `/readyz` says no. */
  readonly ready: () => boolean
  readonly log: Log
}

export async function listen(app: Cronce, { address, protection, ready, log }: ListenOptions): Promise<Listener> {
  const { access, token } = protection
  const handler = createHandler(app, {
    access,
    ready,
    logger: { error: (message: string) => log.tell('error', message) },
  })
  const { url, close } = await serve(handler, address)
  return { url, token, close }
}
