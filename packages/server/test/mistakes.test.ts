import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiOf } from './kit.ts'

/** Mistakes of clients of the HTTP API: each is refused with a fix that a client can send. */

const S = '/api/v1/schedules'

const CASES: readonly (readonly [request: string, body: object | undefined, code: string, fix: string])[] = [
  ['GET /api/v1/fires?outcome=fail', undefined, 'OPTION_INVALID', 'Write outcome=failed.'],
  [
    'GET /api/v1/fires?outcome=xyz',
    undefined,
    'OPTION_INVALID',
    'Write outcome=succeeded|failed|skipped|missed|abandoned|cancelled|open.',
  ],
  [`GET ${S}?limit=5000`, undefined, 'OPTION_INVALID', 'Write limit=1000.'],
  [`GET ${S}?limit=0`, undefined, 'OPTION_INVALID', 'Write limit=1.'],
  [`PUT ${S}/x`, { job: 'j', timezone: 'Europe/Paris' }, 'OPTION_UNKNOWN', 'Write "tz": "Europe/Paris".'],
  [`PUT ${S}/x`, { job: 'j', every: '5m', enabled: false }, 'OPTION_UNKNOWN', 'POST /api/v1/schedules/NAME/pause'],
  [
    `PUT ${S}/x`,
    { job: 'j', every: '5m', timeout: '30' },
    'OPTION_INVALID',
    'Add the unit: "timeout": "30s" or "30ms".',
  ],
  [`PUT ${S}/x`, { every: '5m' }, 'OPTION_INVALID', 'Send {"job": …} in the body.'],
  [
    `PUT ${S}/x`,
    { job: 'j', cron: ['a', 'b'] },
    'OPTION_INVALID',
    'PUT /api/v1/schedules/evening with { "job": "report"',
  ],
  [`POST ${S}/s/trigger`, { data: 'x' }, 'OPTION_UNKNOWN', 'Write "input": "x".'],
  [`POST ${S}/s/pause`, { until: 'tomorrow' }, 'OPTION_INVALID', 'such as "until": "2027-01-01T00:00:00Z".'],
  [
    `PUT ${S}/x`,
    { job: 'j', at: '01/12/2026' },
    'OPTION_INVALID',
    'Write "at": "2026-12-01T00:00:00Z", or "2026-01-12T00:00:00Z" if the month comes first.',
  ],
  [`PUT ${S}/x`, { job: 'j', cron: 'daily at 3am' }, 'OPTION_INVALID', 'Write "cron": "0 3 * * *".'],
  [`POST ${S}`, { name: 'x' }, 'METHOD_REFUSED', 'To create one, use PUT /api/v1/schedules/NAME.'],
  [`DELETE ${S}`, undefined, 'METHOD_REFUSED', 'Use GET, HEAD.'],
  ['GET /api/v1/schedule', undefined, 'ROUTE_UNKNOWN', 'Did you mean /api/v1/schedules?'],
  ['GET /schedules', undefined, 'ROUTE_UNKNOWN', 'Did you mean /api/v1/schedules?'],
  ['GET /api/schedules/s', undefined, 'ROUTE_UNKNOWN', 'Did you mean /api/v1/schedules/s?'],
  [`POST ${S}/s/triger`, {}, 'ROUTE_UNKNOWN', 'Did you mean /api/v1/schedules/s/trigger?'],
  [`GET ${S}/team/billing/eu`, undefined, 'ROUTE_UNKNOWN', `${S}/team%2Fbilling%2Feu`],
  ['GET /metrics/cpu/load', undefined, 'ROUTE_UNKNOWN', 'GET /openapi.json lists all paths.'],
]

test(`each of ${CASES.length} mistakes over HTTP is reported with a code and a fix without JavaScript`, async (context) => {
  const { app, ask } = apiOf(context)
  await app.schedules.create('s', { job: 'j', every: '1h' })
  for (const [request, body, code, fix] of CASES) {
    const [method, path] = request.split(' ') as [string, string]
    const { error } = (await ask(method, path, body === undefined ? {} : { body })).body
    const what = `${request} ${JSON.stringify(body)}\n${JSON.stringify(error)}`
    assert.equal(error.code, code, what)
    assert.ok(error.hint.includes(fix), what)
    assert.doesNotMatch(`${error.message} ${error.hint}`, /a Date|app\.|create\(|=>/, what)
  }
})
