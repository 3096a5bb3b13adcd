import type { QueryParameter, Route } from '../routes/route.ts'
import { version } from '../version.ts'
import { ref, type Schema } from './schema.ts'
import { SCHEMAS } from './schemas.ts'

/** The OpenAPI 3.1 document of a table of routes. */
export function documentOf(routes: readonly Route[]): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'cronce',
      version: version(),
      description:
        'Distributed cron: every scheduled fire runs once. Instants go out as epoch milliseconds and come in as those or as ISO texts. Names are percent-encoded in paths; `.` and `..` are written `=.` and `=..`. Changes want `content-type: application/json`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Where the server was given bearer tokens.' },
      },
    },
  }
}

function operationOf(route: Route): Readonly<Record<string, unknown>> {
  const { id, about, access, right, isOfAll, answer, status = 200, type = 'application/json' } = route
  const isGuarded = access !== 'open' && access !== 'own'
  const parameters = [
    ...[...route.path.matchAll(/:(\w+)/g)].map(([, name]) => pathParameter(name!)),
    ...Object.entries(route.query ?? {}).map(([name, parameter]) => queryParameter(name, parameter)),
    ...headersOf(route),
  ]
  const body = answer === null ? {} : { content: { [type]: { schema: answer } } }
  return {
    operationId: id,
    summary: about,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route) }),
    responses: {
      [status]: { description: 'Done.', ...body },
      ...(access === 'open'
        ? { 503: { description: 'Not ready.', content: jsonOf(ref('Health')) } }
        : { default: { description: 'Refused or failed.', content: jsonOf(ref('Error')) } }),
    },
    // An open route says that it needs none, rather than nothing.
    security: isGuarded ? [{ bearer: [] }] : [],
    'x-access': access,
    ...(right === undefined ? {} : { 'x-right': right }),
    ...(isOfAll === true ? { 'x-all': true } : {}),
  }
}

function bodyOf({ body = {}, required = [] }: Route): Readonly<Record<string, unknown>> {
  const schema = {
    type: 'object',
    properties: body,
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  }
  return { required: required.length > 0, content: jsonOf(schema) }
}

function jsonOf(schema: Schema): Readonly<Record<string, unknown>> {
  return { 'application/json': { schema } }
}

function pathParameter(name: string): Readonly<Record<string, unknown>> {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function queryParameter(name: string, parameter: QueryParameter): Readonly<Record<string, unknown>> {
  const { about, required = false } = parameter
  return { name, in: 'query', required, description: about, schema: querySchema(parameter) }
}

function querySchema({ kind, choices, min, max }: QueryParameter): Schema {
  switch (kind) {
    case 'text':
      return { type: 'string', ...(choices === undefined ? {} : { enum: choices }) }
    case 'instant':
      return { type: 'string', description: 'Epoch milliseconds, or an ISO text with Z or an offset.' }
    case 'integer':
      return {
        type: 'integer',
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
      }
    case 'boolean':
      return { type: 'boolean' }
  }
}

function headersOf({ method, access, type }: Route): readonly Readonly<Record<string, unknown>>[] {
  const text = { type: 'string' }
  const header = (name: string, description: string) => ({ name, in: 'header', description, schema: text })
  if (method === 'POST' && access !== 'own') {
    return [header('Idempotency-Key', 'The same request with the same key is done once.')]
  }
  if (method === 'PUT') {
    return [header('If-None-Match', '`*`: only create.'), header('If-Match', '`*`: only replace.')]
  }
  return type === 'text/event-stream' ? [header('Last-Event-ID', 'Go on behind this event.')] : []
}
