import { createHash, timingSafeEqual } from 'node:crypto'
import { CronceError } from 'cronce'

/** `read` sees everything and changes nothing; `operate` does all that the API offers. */
export type AccessLevel = 'none' | 'read' | 'operate'

/** Who may do what; with an author, that name is on record with what is changed, whatever the request says. */
export type Decision = AccessLevel | { readonly level: AccessLevel; readonly author: string }

/** Decides who may do what. It must not read the request's body. */
export type Access = (request: Request) => Decision | Promise<Decision>

export interface BearerTokens {
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
  if (operate.length + read.length === 0) {
    throw new CronceError('OPTION_INVALID', 'No token was given, so nobody could get in.', {
      hint: 'Set read or operate to a token: openssl rand -hex 32 makes one.',
    })
  }
  return (request): AccessLevel => {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    if (token === undefined) return 'none'
    const given = digest(token)
    // Both lists are always gone through: how long it takes tells nothing.
    const mayOperate = isAmong(given, operate)
    const mayRead = isAmong(given, read)
    return mayOperate ? 'operate' : mayRead ? 'read' : 'none'
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
 * Access for everybody on this machine, for servers that listen on a loopback address only. The name in `Host` must be one of
 * this machine, since a page of a stranger can make its own name mean 127.0.0.1 in somebody's browser; and what a proxy passes
 * on comes from somewhere else.
 */
export function loopbackAccess(level: 'read' | 'operate' = 'operate'): Access {
  return (request): AccessLevel => {
    if ([...request.headers.keys()].some((name) => PROXY_HEADERS.test(name))) return 'none'
    return isLoopback(request.headers.get('host') ?? new URL(request.url).host) ? level : 'none'
  }
}

const PROXY_HEADERS = /^(forwarded|via|x-forwarded-.*|x-real-ip)$/

/** Whether a host, with or without its port, is this machine alone. */
export function isLoopback(host: string): boolean {
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return /^(.+\.)?localhost\.?$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]'
}
