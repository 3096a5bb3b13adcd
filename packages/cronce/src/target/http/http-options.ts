import {
  invalid,
  isRecord,
  optionConflict,
  optionInvalid,
  readChoice,
  readDuration,
  readFields,
  readInteger,
  show,
  YEAR_MS,
} from '../../client/read-option.ts'
import type { Duration } from '../../client/schedule-options.ts'
import { CronceError } from '../../errors.ts'
import type { Json } from '../../model/json.ts'
import { readSecrets, type Secret } from '../../signature/secrets.ts'
import { type Exceptions, readExceptions } from './address.ts'

/** A job that is done by an endpoint. Answers of 2xx are success; 408, 425, 429, 5xx and network errors are worth another run. */
export interface HttpOptions {
  readonly url: string | URL
  /** @default 'POST' */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A text as it is, anything else as JSON, `null` for none. @default which run it is, and the input, as JSON */
  readonly body?: Json | undefined
  /** Signs every request. Several, while one replaces another. @default none */
  readonly secret?: Secret | undefined
  /** The same, by the names of environment variables. */
  readonly secretEnv?: string | readonly string[] | undefined
  /** Private addresses that may be called: hosts, hosts with a port, networks; `true` for all. @default none */
  readonly allowPrivate?: boolean | readonly string[] | undefined
  /** How many to follow, 0 to 5. @default 0 */
  readonly redirects?: number | undefined
  /** For work that takes longer than a request: after an answer of 202 the endpoint says later how it ended. */
  readonly callback?: HttpCallback | undefined
  /** How much of an answer is read, in bytes, up to 1 MB. @default 65,536 */
  readonly maxResponse?: number | undefined
}

/** Lets an endpoint answer later, by a call-back. */
export interface HttpCallback {
  /** Where this side answers POST /callbacks/…, as the endpoint can reach it. */
  readonly url: string
  /** How long it may take. */
  readonly within: Duration
}

export interface ResolvedHttp {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** `undefined`: the envelope. */
  readonly body: Json | undefined
  readonly secrets: readonly string[] | null
  readonly exceptions: Exceptions
  readonly redirects: number
  readonly callback: { readonly url: string; readonly withinMs: number } | null
  readonly maxResponse: number
}

const NAMES = [
  'url',
  'method',
  'headers',
  'body',
  'secret',
  'secretEnv',
  'allowPrivate',
  'redirects',
  'callback',
  'maxResponse',
] as const satisfies readonly (keyof HttpOptions)[]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const SAMPLE = "{ url: 'https://example.com/jobs/report' }"
const MAX_RESPONSE = 1_048_576

export function readHttpOptions(options: unknown, environment: NodeJS.ProcessEnv): ResolvedHttp {
  const given = readFields('http', options, NAMES, SAMPLE)
  const url = readUrl('http.url', given.url)
  const method = readChoice('http.method', given.method ?? 'POST', METHODS)
  if ((method === 'GET' || method === 'HEAD') && given.body !== undefined && given.body !== null) {
    throw optionConflict(`A ${method} has no body.`, 'Leave out http.body, or write http: { method: "POST" }.')
  }
  const secrets = readSigning(given.secret, given.secretEnv, environment)
  const callback = readCallback(given.callback)
  if (callback !== null && secrets === null) {
    throw optionConflict(
      'The option http.callback needs a secret: without one, any sender could say how a run ended.',
      "Write http: { secretEnv: 'SECRET' }, too.",
    )
  }
  return {
    url: withoutCredentials(url),
    method,
    headers: { ...readHeaders(given.headers ?? {}), ...basicAuth(url) },
    body: given.body as Json | undefined,
    secrets,
    exceptions: readAllowed(given.allowPrivate ?? false),
    redirects: readInteger('http.redirects', given.redirects ?? 0, { min: 0, max: 5 }),
    callback,
    maxResponse: readInteger('http.maxResponse', given.maxResponse ?? 65_536, { min: 1, max: MAX_RESPONSE }),
  }
}

function readUrl(path: string, value: unknown): URL {
  const text = value instanceof URL ? value.href : value
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  // What stands in a URL may be secret: it is not repeated.
  const found =
    url === null ? (typeof text === 'string' ? 'a text that is not a URL' : show(text)) : `of ${url.protocol}`
  throw new CronceError('OPTION_INVALID', `The option ${path} can't be ${found}: expected a URL of http or https.`, {
    hint: `Write http: ${SAMPLE}.`,
  })
}

function withoutCredentials(url: URL): URL {
  const plain = new URL(url)
  plain.username = ''
  plain.password = ''
  plain.hash = ''
  return plain
}

function basicAuth({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decoded(username)}:${decoded(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Neither it nor what says so, which may repeat it.
    throw new CronceError('OPTION_INVALID', 'The user or password in the option http.url is not encoded.', {
      hint: 'Write %25 for %, or encode both by encodeURIComponent.',
    })
  }
}

/** Ours, and those that belong to the connection. */
const RESERVED =
  /^(cronce-.*|idempotency-key|user-agent|host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/

function readHeaders(value: unknown): Record<string, string> {
  if (!isRecord(value)) throw invalid('http.headers', value, 'an object', "{ authorization: 'Bearer …' }")
  const headers: Record<string, string> = {}
  for (const [written, content] of Object.entries(value)) {
    const name = written.toLowerCase()
    const path = `http.headers.${written.slice(0, 60)}`
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      throw optionInvalid('http.headers', written, 'names of headers', "Write http: { headers: { accept: '*/*' } }.")
    }
    if (RESERVED.test(name)) {
      throw new CronceError(
        'OPTION_INVALID',
        `The header ${name} is not yours to set: cronce or the connection does.`,
        {
          hint: 'Leave it out, or choose another name.',
        },
      )
    }
    // Values are secrets more often than not: what is wrong is said, not shown.
    if (typeof content !== 'string' || !/^[\t\x20-\x7e]*$/.test(content)) {
      const found =
        typeof content === 'string' ? 'have line breaks or other than ASCII characters' : `be ${show(content)}`
      throw new CronceError('OPTION_INVALID', `The option ${path} can't ${found}.`, {
        hint: 'Write one line of ASCII; encode anything else, for instance by encodeURIComponent.',
      })
    }
    headers[name] = content.trim()
  }
  return headers
}

function readSigning(secret: unknown, secretEnv: unknown, environment: NodeJS.ProcessEnv): readonly string[] | null {
  if (secret !== undefined && secretEnv !== undefined) {
    throw optionConflict('The options http.secret and http.secretEnv are both given.', 'Leave out one.')
  }
  if (secret !== undefined) return readSecrets(secret)
  if (secretEnv === undefined) return null
  const names: readonly unknown[] = Array.isArray(secretEnv) ? secretEnv : [secretEnv]
  return readSecrets(
    names.map((name) => {
      if (typeof name !== 'string' || name === '') {
        throw invalid('http.secretEnv', name, 'the name of an environment variable', "'SECRET'")
      }
      const found = environment[name]
      if (found !== undefined && found !== '') return found
      throw new CronceError('SECRET_INVALID', `The environment variable ${show(name)} of http.secretEnv is not set.`, {
        hint: `Set it, for instance by: export ${name}=$(openssl rand -hex 32)`,
      })
    }),
  )
}

function readAllowed(value: unknown): Exceptions {
  const sample = "['10.0.0.0/8', 'jobs.internal', '127.0.0.1:3000']"
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string')
  if (typeof value !== 'boolean' && !isList) throw invalid('http.allowPrivate', value, 'true, false or a list', sample)
  const read = readExceptions(value as boolean | readonly string[])
  if ('wrong' in read) throw invalid('http.allowPrivate', read.wrong, 'hosts, hosts with a port, networks', sample)
  return read
}

function readCallback(value: unknown): ResolvedHttp['callback'] {
  if (value === undefined) return null
  const sample = "{ url: 'https://cron.example.com', within: '2h' }"
  const { url, within } = readFields('http.callback', value, ['url', 'within'], sample)
  const { href, search, hash } = readUrl('http.callback.url', url)
  if (search !== '' || hash !== '') {
    throw invalid('http.callback.url', 'one with a query', 'a URL to which a path can be added', sample)
  }
  return {
    url: href.replace(/\/+$/, ''),
    withinMs: readDuration('http.callback.within', within, { min: 1_000, max: YEAR_MS }),
  }
}
