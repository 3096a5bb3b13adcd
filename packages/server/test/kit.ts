import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Cronce, type CronceOptions, cronce, type StoreSource } from 'cronce'
import { createHandler, type Handler, type HandlerOptions } from '../src/index.ts'
import type { Schema } from '../src/openapi/schema.ts'
import { SCHEMAS } from '../src/openapi/schemas.ts'
import { ROUTES } from '../src/routes/all.ts'
import type { Route } from '../src/routes/route.ts'

export interface Asked {
  readonly status: number
  /** The parsed JSON, another text, or `null`. */
  readonly body: ReturnType<typeof JSON.parse>
  readonly headers: Headers
}

export interface AskOptions {
  readonly body?: unknown
  /** Sent as it is. */
  readonly text?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks a handler in this process, and compares its answer with the OpenAPI document. */
export async function ask(
  handler: (request: Request) => Promise<Response>,
  method: string,
  path: string,
  { body: given, text, headers = {} }: AskOptions = {},
): Promise<Asked> {
  const sent = text ?? (given === undefined ? undefined : JSON.stringify(given))
  const isChange = method === 'POST' || method === 'PUT'
  const response = await handler(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...(isChange ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    }),
  )
  const answer = await response.text()
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const body = answer === '' ? null : isJson ? JSON.parse(answer) : answer
  const asked = { status: response.status, body, headers: response.headers }
  if (method !== 'HEAD') demandSchema(method, path, asked)
  return asked
}

/** As strict as possible: a field that the document does not have is found, too. */
const ajv = new Ajv2020({ strict: false, allErrors: true, allowUnionTypes: true })
ajv.addSchema({ $id: 'api', components: { schemas: closed(SCHEMAS) } })

const validators = new Map<string, ValidateFunction>()

function demandSchema(method: string, path: string, { status, body }: Asked): void {
  const route = routeAt(method, path)
  const isProbe = route?.access === 'open'
  const isDone = isProbe || status < 400
  if (route?.answer === null && isDone) {
    assert.equal(body, null)
    return
  }
  const schema = isDone ? closed(route!.answer) : { $ref: '#/components/schemas/Error' }
  const text = JSON.stringify(schema).replaceAll('#/components', 'api#/components')
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  assert.ok(validate(body), `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(body)}`)
  if (isDone && !isProbe && route?.access !== 'own') assert.equal(status, route!.status ?? 200)
}

function routeAt(method: string, path: string): Route | undefined {
  const [bare] = path.split('?')
  return ROUTES.find((route) => {
    const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`)
    return route.method === method && pattern.test(bare!)
  })
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner: Schema = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  const isObject = inner.type === 'object' && inner.properties !== undefined
  return isObject ? { ...inner, additionalProperties: false } : inner
}

export interface Api {
  readonly app: Cronce
  readonly handler: Handler
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Asked>
}

/** On a busy machine everything may take long. */
export const PATIENT = { readTimeout: 600_000 } as const

/** An app that is stopped when the test is over, and its API, open to all callers. */
export function apiOf(
  context: Pick<TestContext, 'after'>,
  options: HandlerOptions = {},
  store: CronceOptions['store'] | StoreSource = 'memory:',
): Api {
  const app = cronce({ store, signals: false, logger: false, drain: '1s', app: 'shop', deployment: 'v1' })
  const handler = createHandler(app, { ...PATIENT, access: () => 'operate', logger: false, ...options })
  context.after(async () => {
    handler.close()
    await app.stop()
  })
  return { app, handler, ask: (method, path, more) => ask(handler, method, path, more) }
}

/** Looks until it is so, for two minutes at most. */
export async function eventually<Value>(look: () => Promise<Value | null | undefined | false>): Promise<Value> {
  for (let tries = 0; tries < 2_400; tries++) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('It did not come to that.')
}

export function codeOf({ status, body }: Asked): string {
  return `${status} ${body?.error?.code ?? ''}`.trim()
}
