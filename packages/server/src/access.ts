import { createHash, timingSafeEqual } from 'node:crypto'
import { CronceError } from 'cronce'
import { connectionOf } from './connection.ts'

/** `metrics` sees the metrics alone; `read` sees everything and changes nothing; `operate` does all that the API offers. */
export type AccessLevel = 'none' | 'metrics' | 'read' | 'operate'

/** What a level consists of, as far as schedules are concerned; `seeInput` covers inputs and results. */
export const RIGHTS = ['seeInput', 'run', 'pause', 'backfill', 'edit'] as const
/** A single right of a caller. */
export type Right = (typeof RIGHTS)[number]

/** What a request may do. */
export type Decision =
  | AccessLevel
  | {
      readonly level: AccessLevel
      /** Grants or withdraws single rights. @default `read` has seeInput; `operate` has all rights */
      readonly rights?: Readonly<Partial<Record<Right, boolean>>> | undefined
      /** Which schedules exist for this caller, by name. @default all of them */
      readonly visible?: ((schedule: string) => boolean) | undefined
      /** On record with what is changed, whatever the request says. */
      readonly author?: string | undefined
      /** Whose idempotency keys and streams of events these are. @default the author */
      readonly principal?: string | undefined
    }

/** The rights that a decision comes to. Throws on a name that does not exist: it may have been meant to withdraw something. */
export function rightsOf(level: AccessLevel, given: Readonly<Record<string, unknown>> = {}): ReadonlySet<Right> {
  for (const name of Object.keys(given)) {
    if (RIGHTS.some((right) => right === name)) continue
    throw new Error(`access returned the right ${JSON.stringify(name)}. The rights are ${RIGHTS.join(', ')}.`)
  }
  const isDefault = (right: Right): boolean => level === 'operate' || (level === 'read' && right === 'seeInput')
  const isGranted = (right: Right): boolean => (given[right] === undefined ? isDefault(right) : given[right] === true)
  return new Set(level === 'read' || level === 'operate' ? RIGHTS.filter(isGranted) : [])
}

/** Decides who may do what. It must not read the request's body. */
export type Access = (request: Request) => Decision | Promise<Decision>

/** Tokens that the API accepts, and what each may do. */
export interface BearerTokens {
  /** Tokens for `/metrics` and `/metrics/fleet` only, for Prometheus. */
  readonly metrics?: string | readonly string[] | undefined
  /** Tokens that may look. */
  readonly read?: string | readonly string[] | undefined
  /** Tokens that may do everything. */
  readonly operate?: string | readonly string[] | undefined
}

/** Shorter ones can be guessed. */
const TOKEN_MIN = 16

/** Access by `Authorization: Bearer TOKEN`. Compares in constant time. */
export function bearerAccess(tokens: BearerTokens): Access {
  const operate = readTokens('operate', tokens.operate)
  const read = readTokens('read', tokens.read)
  const metrics = readTokens('metrics', tokens.metrics)
  if (operate.length + read.length + metrics.length === 0) {
    throw new CronceError('OPTION_INVALID', 'No token was given, so every request would be refused.', {
      hint: 'Set read, operate or metrics to a token: openssl rand -hex 32 makes one.',
    })
  }
  return (request): Decision => {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    if (token === undefined) return 'none'
    const given = digest(token)
    // All lists are always gone through: how long it takes tells nothing.
    const mayOperate = isAmong(given, operate)
    const mayRead = isAmong(given, read)
    const maySeeMetrics = isAmong(given, metrics)
    const level = mayOperate ? 'operate' : mayRead ? 'read' : maySeeMetrics ? 'metrics' : 'none'
    return { level, principal: `token ${given.toString('base64url')}` }
  }
}

function readTokens(name: string, given: string | readonly string[] | undefined): readonly Buffer[] {
  const tokens = given === undefined ? [] : typeof given === 'string' ? [given] : given
  for (const token of tokens) {
    if (typeof token === 'string' && token.length >= TOKEN_MIN && /^\S+$/.test(token)) continue
    throw new CronceError('OPTION_INVALID', `A token of ${name} has fewer than ${TOKEN_MIN} characters, or a space.`, {
      hint: 'Make one with openssl rand -hex 32.',
    })
  }
  return tokens.map(digest)
}

/** Of equal length, as the comparison wants them. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function isAmong(given: Buffer, tokens: readonly Buffer[]): boolean {
  let found = false
  for (const token of tokens) if (timingSafeEqual(given, token)) found = true
  return found
}

/**
 * Access for every program on this machine, for servers that listen on a loopback address only. A proxy and a port-forward connect
 * from this machine, too, so everything that only they send is refused. Some send nothing of the kind (a plain `proxy_pass` of nginx
 * 1.29.7 or later, a forward of bytes to the same port) and cannot be distinguished: where there may be one, use `bearerAccess`.
 */
export function loopbackAccess(level: 'read' | 'operate' = 'operate'): Access {
  return (request): AccessLevel => (isDirect(request) ? level : 'none')
}

const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded(-.*)?|x-original-.*|x-envoy-.*|x-amzn-.*|x-real-ip|x-proxy.*|proxy-.*|max-forwards|cdn-loop|(.*-)?(client|connecting|remote)-(ip|addr))$/

function isDirect(request: Request): boolean {
  const { headers } = request
  if ([...headers.keys()].some((name) => PROXY_HEADERS.test(name))) return false
  const host = headers.get('host') ?? new URL(request.url).host
  return (
    isLoopback(host) && isOwnPage(headers.get('origin')) && isOwnPage(headers.get('referer')) && isNear(request, host)
  )
}

/** A page elsewhere: a proxy has passed on what a browser asked, or the browser asks for another site. */
function isOwnPage(url: string | null): boolean {
  return url === null || (URL.canParse(url) && isLoopback(new URL(url).host))
}

/** `Host` names the port that was connected to. Some proxies speak HTTP/1.0 by default; clients do not. */
function isNear(request: Request, host: string): boolean {
  const connection = connectionOf(request)
  if (connection === undefined) return true
  const { address, port, httpVersion } = connection
  const named = Number(new URL(`http://${host}`).port || 80)
  return httpVersion !== '1.0' && (port === undefined || port === named) && isLoopbackAddress(address)
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address)
}

/** Whether a host, with or without its port, is this machine alone. */
export function isLoopback(host: string): boolean {
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return /^(.+\.)?localhost\.?$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]'
}
