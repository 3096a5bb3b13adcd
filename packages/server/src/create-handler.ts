import { Hono } from 'hono'
import { rightsOf } from './access.ts'
import { type Answer, answerError, refuse, toResponse, withOurHeaders } from './answer.ts'
import { Arrivals } from './arrivals.ts'
import { baseOf, guessBase, pathBelow, rawPath } from './base-path.ts'
import { counted } from './counted.ts'
import { EventHub } from './events/hub.ts'
import { hasRedacted, hidePayloads, REDACTED, redactPayloads } from './hide-payloads.ts'
import { fingerprint, KeptAnswers, readKey, scopedKey } from './kept-answers.ts'
import { mayCall } from './may-call.ts'
import { serverMetrics } from './metrics/server-metrics.ts'
import { nearestRoute } from './nearest-route.ts'
import { documentOf } from './openapi/document.ts'
import { type HandlerOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { CLIENT_HEADER, corsHeaders, demandOwnOrigin, isPreflight, PREFLIGHT_HEADERS } from './origin.ts'
import { overviewOf } from './overview.ts'
import { demandKnownConditions } from './preconditions.ts'
import { readiness } from './probes.ts'
import { readBody } from './read-body.ts'
import { readFields, readParameters } from './read-fields.ts'
import { readInTime } from './read-in-time.ts'
import { readParts, readQuery } from './read-path.ts'
import { ROUTES } from './routes/all.ts'
import type { Asker, Call, Route } from './routes/route.ts'
import { Seal } from './seal.ts'
import { shared } from './shared.ts'
import type { Source } from './source.ts'
import { demandVisible, visibleSource } from './visible-source.ts'

/** The HTTP API as one function, for every server that knows Request and Response. */
export interface Handler {
  (request: Request): Promise<Response>
  readonly basePath: string
  /** Streams of events that are open. */
  readonly listening: number
  /** End the streams of events. Everything else goes on. */
  close(): void
}

const OVERVIEW_MS = 1_000
const EVENTS = { ring: 5_000, lingerMs: 30_000, heartbeatMs: 15_000, beatsMost: 40, retryMs: 5_000 } as const

/** The HTTP API of an app or a connection, as one function from `Request` to `Response`. */
export function createHandler(source: Source, options: HandlerOptions = {}): Handler {
  const resolved = resolveOptions(options)
  const { logger, allowedOrigins } = resolved
  const onError = (error: unknown): void => logger.error(`The feed of events broke: ${String(error)}`)
  const { streams, streamsPerPrincipal } = resolved
  const events = new EventHub(source, { ...EVENTS, streams, streamsPerPrincipal, onError })
  const serve = serveRoutes({
    source,
    options: resolved,
    events,
    isReady: readiness(source, resolved.ready),
    metrics: resolved.metrics === false ? null : serverMetrics(source, resolved.metrics),
    overview: shared(OVERVIEW_MS, () => overviewOf(source)),
    document: documentOf(ROUTES),
    seal: new Seal(resolved.cursorSecret),
  })
  const handle = async (request: Request): Promise<Response> => {
    try {
      if (isPreflight(request, allowedOrigins)) {
        const headers = { ...PREFLIGHT_HEADERS, ...corsHeaders(request, allowedOrigins) }
        return toResponse({ status: 204, text: null, headers })
      }
      const response = await serve(request)
      for (const [name, value] of Object.entries(corsHeaders(request, allowedOrigins)))
        response.headers.set(name, value)
      return response
    } catch (error) {
      return toResponse(answerError(error, logger))
    }
  }
  const handler = Object.assign(handle, { basePath: resolved.basePath, close: () => events.close() })
  return Object.defineProperty(handler, 'listening', { get: () => events.listening }) as Handler
}

/** What is the same for every request. */
type Surroundings = Pick<
  Call,
  'source' | 'options' | 'events' | 'isReady' | 'metrics' | 'overview' | 'document' | 'seal'
>

function serveRoutes(around: Surroundings): (request: Request) => Promise<Response> {
  const { options } = around
  const pathOf = (request: Request): string =>
    pathBelow([baseOf(request) ?? '', options.basePath], rawPath(request.url))
  const answers = new KeptAnswers()
  const work = places(options.concurrency)
  const arrivals = new Arrivals(options.concurrency)
  // By the path as it was written: a slash within a name is percent-encoded, and must not become one.
  const hono = new Hono({ getPath: pathOf })
  for (const route of ROUTES) {
    hono.on(route.method, route.path, async ({ req }) => {
      const path = pathOf(req.raw)
      const proof = route.proof?.({ request: req.raw, options }) ?? 'none'
      const request = proof === 'unproved' ? await arrivals.receive(req.raw) : req.raw
      const full = rawPath(request.url)
      const base = full.endsWith(path) ? full.slice(0, full.length - path.length) : ''
      if (route.access === 'open') return run(route, { ...around, ...NOTHING_GIVEN, request, base }, path, answers)
      const answering = work.take(async () => {
        const asker = await demandAccess(route, request, options)
        const seen = seenBy(around, asker)
        const call = { ...around, ...NOTHING_GIVEN, ...seen, request, base, asker, principal: asker.principal }
        return run(route, call, path, answers)
      })
      return readInTime(route, options.readTimeout, answering)
    })
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method)
    hono.all(path, ({ req }) => {
      throw methodUnknown(req.method, methods, path)
    })
  }
  hono.notFound(({ req }) => {
    throw routeUnknown(rawPath(req.raw.url), pathOf(req.raw))
  })
  hono.onError((error) => toResponse(answerError(error, options.logger)))
  return async (request) => hono.fetch(request)
}

const UNKNOWN: Asker = { level: 'none', author: undefined, principal: '', rights: new Set(), isVisible: null }
const NOTHING_GIVEN = { parts: () => '', query: {}, body: {}, key: null, principal: '', asker: UNKNOWN } as const

/** What a caller who does not see all schedules is given instead. */
function seenBy({ source, seal }: Surroundings, { isVisible }: Asker): Partial<Pick<Call, 'source' | 'overview'>> {
  if (isVisible === null) return {}
  const seen = visibleSource(source, isVisible, seal)
  return { source: seen, overview: () => overviewOf(seen, source.instances) }
}

async function run(route: Route, call: Call, path: string, answers: KeptAnswers): Promise<Response> {
  const { request, options } = call
  const parts = readParts(route.path, path)
  // A probe answers whatever a prober appends; a route with a proof of its own also judges what it is given.
  if (route.access === 'open' || route.access === 'own') return send(await route.handle({ ...call, parts }))
  demandVisibleIn(route, parts, call.asker)
  // Metrics are no JSON, and contain no payloads.
  const reply = (answer: Answer | Response): Response => send(route.access === 'metrics' ? answer : shown(answer, call))
  demandKnownConditions(route, request)
  const given = readParameters(route, readQuery(request.url))
  const query = withOperator(route.query, given, request, call.asker.author)
  if (route.body === undefined) return reply(await route.handle({ ...call, parts, query }))
  const { text, fields } = await readBody(request, options.bodyLimit)
  const body = withOperator(route.body, readFields(route, fields), request, call.asker.author)
  demandWhole(body, options)
  const key = route.method === 'POST' ? readKey(request) : null
  const full = { ...call, parts, query, body, key }
  if (key === null || route.idempotency === 'durable') return reply(await route.handle(full))
  const same = fingerprint(route.method, path, JSON.stringify(given), text)
  return reply(
    await answers.once(scopedKey(call.principal, key), same, async () => {
      try {
        return (await route.handle(full)) as Answer
      } catch (error) {
        return answerError(error, options.logger)
      }
    }),
  )
}

/** Before anything is answered, also what is kept for an idempotency key: a hidden schedule in the path does not exist. */
function demandVisibleIn({ path }: Route, parts: Call['parts'], { isVisible }: Asker): void {
  const [, part] = /^\/api\/v1\/(?:schedules|fires|runs)\/:(\w+)/.exec(path) ?? []
  if (isVisible !== null && part !== undefined) demandVisible(parts(part), isVisible)
}

/** What of the payloads the caller may see. A stream does this by itself, event by event. */
function shown(answer: Answer | Response, { asker, options }: Call): Answer | Response {
  if (answer instanceof Response || answer.text === null) return answer
  const isHidden = !asker.rights.has('seeInput')
  return { ...answer, text: isHidden ? hidePayloads(answer.text) : redactPayloads(answer.text, options.redact) }
}

/** A definition that was read with redacted values and is sent back would erase the real ones. */
function demandWhole({ input, result }: Call['body'], { redact }: ResolvedOptions): void {
  if (redact.size === 0 || !hasRedacted([input, result])) return
  const hint = 'Send the real value in its place.'
  throw refuse(
    'INPUT_INVALID',
    `The value ${JSON.stringify(REDACTED)} is what this server shows instead of a real one.`,
    hint,
  )
}

function send(answer: Answer | Response): Response {
  return answer instanceof Response ? withOurHeaders(answer) : toResponse(answer)
}

/** For commands that name their author: who is known to ask, and where the operator log says that it came from. */
function withOperator(
  known: object | undefined,
  fields: Call['body'],
  { headers }: Request,
  author: string | undefined,
): Call['body'] {
  if (known === undefined || !Object.hasOwn(known, 'author')) return fields
  const origin = headers.get(CLIENT_HEADER) === 'dashboard' ? 'dashboard' : 'api'
  return author === undefined ? { ...fields, origin } : { ...fields, author, origin }
}

/** Throws, or says who asks as far as that is known. */
async function demandAccess(route: Route, request: Request, options: ResolvedOptions): Promise<Asker> {
  if (route.access === 'own') return UNKNOWN
  if (options.access === null) {
    const hint = 'Give createHandler an access function, such as bearerAccess({ operate: token }).'
    throw refuse('ACCESS_CLOSED', 'This API is closed: it has no access function.', hint)
  }
  const decision = await options.access(request)
  const { level, author, principal, rights, visible } =
    typeof decision === 'object' && decision !== null ? decision : { level: decision }
  if (level !== 'metrics' && level !== 'read' && level !== 'operate') {
    const hint = 'Send authorization: Bearer TOKEN, or the credentials that this server requires.'
    throw refuse('ACCESS_DENIED', 'You have no access here.', hint, { 'www-authenticate': 'Bearer' })
  }
  if (route.access !== 'metrics' && level === 'metrics') {
    throw refuse('ACCESS_METRICS_ONLY', 'You may see the metrics only.', 'Use a token that may read.')
  }
  const asker = {
    level,
    author,
    principal: principal ?? (author === undefined ? '' : `author ${author}`),
    rights: rightsOf(level, rights),
    isVisible: readVisible(visible),
  }
  if (!mayCall(route, asker)) throw rightMissing(route, asker)
  demandOwnOrigin(request, options.allowedOrigins, route.type === 'text/event-stream')
  return asker
}

function readVisible(given: unknown): Asker['isVisible'] {
  if (given === undefined) return null
  // Something else than true, such as a promise, shows nothing.
  if (typeof given === 'function') return (schedule) => given(schedule) === true
  throw new Error('access returned a value for visible that is not a function.')
}

function rightMissing({ right }: Route, { level, rights, isVisible }: Asker): Error {
  const isReader = level === 'read' && [...rights].every((one) => one === 'seeInput')
  if (isReader && isVisible === null) {
    return refuse('ACCESS_READ_ONLY', 'This caller may read, but not change anything.', 'Use a token that may operate.')
  }
  const message =
    right === undefined
      ? 'This concerns schedules that you may not see or change.'
      : `You do not have the right ${right}.`
  return refuse('ACCESS_RIGHT_MISSING', message, 'Ask those who run this server for it.')
}

/** Requests at a time; more are refused. */
function places(most: number): { take<Value>(use: () => Promise<Value>): Promise<Value> } {
  let taken = 0
  return {
    async take(use) {
      if (taken >= most)
        throw refuse(
          'OVERLOADED',
          `${counted(taken, 'request is', 'requests are')} being worked on.`,
          'Try again in a moment.',
        )
      taken++
      try {
        return await use()
      } finally {
        taken--
      }
    },
  }
}

function methodUnknown(method: string, methods: readonly string[], path: string): Error {
  const allow = methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ')
  const isCreate = method === 'POST' && ROUTES.some((route) => route.method === 'PUT' && route.path === `${path}/:name`)
  const hint = isCreate ? `To create one, use PUT ${path}/NAME.` : `Use ${allow}.`
  return refuse('METHOD_REFUSED', `There is no ${method} here.`, hint, { allow })
}

/** `below`: the path without the base that the handler is mounted at. */
function routeUnknown(path: string, below: string): Error {
  const base = guessBase(path)
  const hint =
    base === null
      ? (nearestRoute(below, ROUTES) ?? 'GET /openapi.json lists all paths.')
      : `If the handler is mounted at ${base}, give it basePath: '${base}'.`
  return refuse('ROUTE_UNKNOWN', `There is nothing at ${JSON.stringify(path.slice(0, 200))}.`, hint)
}
