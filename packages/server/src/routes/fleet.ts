import { answerJson, NOTHING, refuse } from '../answer.ts'
import { boundedPage } from '../bounded-page.ts'
import { forecast } from '../forecast.ts'
import { ref } from '../openapi/schema.ts'
import { items, page } from '../openapi/schemas.ts'
import { Steps } from '../steps.ts'
import { AUTHORED, PAGE } from './parameters.ts'
import { type Call, type Route, route } from './route.ts'

const DAY_MS = 86_400_000
/** The longest look ahead, and among how many schedules. */
const FORECAST_MS = 366 * DAY_MS
const FORECAST_SCHEDULES = 1_000

export const FLEET_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/instances',
    id: 'listInstances',
    about:
      'All instances that are live or still hold runs, and the latest 200 of those that left or died within a day.',
    access: 'read',
    answer: items('Instance'),
    handle: async ({ source }) => answerJson({ items: await source.instances.list() }),
  }),
  drainRoute('drain', 'Ask an instance to take nothing new.'),
  drainRoute('undrain', 'Take that back.'),
  route({
    method: 'GET',
    path: '/api/v1/apps/:app/deployments',
    id: 'getDeployments',
    about: 'The deployments of an app, and whose declarations count.',
    access: 'read',
    answer: ref('Deployments'),
    handle: async ({ source, parts }) => answerJson(await source.deployments.get(parts('app'))),
  }),
  route({
    method: 'POST',
    path: '/api/v1/apps/:app/deployments/:deployment/activate',
    id: 'activateDeployment',
    about: "Make this deployment's declarations count, as after a rollback, until a newer one comes.",
    access: 'operate',
    body: AUTHORED,
    answer: ref('Deployments'),
    handle: async ({ source, parts, body }) =>
      answerJson(await source.deployments.activate(parts('app'), parts('deployment'), body)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/activity',
    id: 'listActivity',
    about: 'The operator log: who did what, when, from where and why. The latest first.',
    access: 'read',
    query: {
      schedule: { kind: 'text', about: 'Actions on this schedule.' },
      from: { kind: 'instant', about: 'From this instant on.' },
      to: { kind: 'instant', about: 'Before this instant.' },
      ...PAGE,
    },
    answer: page('Activity'),
    handle: async ({ source, query }) => boundedPage(query, (options) => source.activity.list(options)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/store',
    id: 'getStore',
    about: 'What the store is and how far away.',
    access: 'read',
    answer: ref('Store'),
    handle: async ({ source }) => answerJson(await source.store.check()),
  }),
  route({
    method: 'GET',
    path: '/api/v1/overview',
    id: 'getOverview',
    about: 'Figures of the last 24 hours and what needs attention. Counts stop at a bound, and say so.',
    access: 'read',
    answer: ref('Overview'),
    handle: async ({ overview }) => answerJson(await overview()),
  }),
  route({
    method: 'GET',
    path: '/api/v1/forecast',
    id: 'getForecast',
    about: 'What will be due in a stretch of time, over all schedules or some.',
    access: 'read',
    query: {
      from: { kind: 'instant', about: 'Included; now if it is left out.' },
      to: { kind: 'instant', about: 'Not included; a day later if it is left out, a year at most.' },
      job: { kind: 'text', about: 'Of this job.' },
      prefix: { kind: 'text', about: 'Schedules whose names begin with this.' },
      tenant: { kind: 'text', about: 'Of this tenant.' },
      app: { kind: 'text', about: 'Declared in the code of this app.' },
      limit: { kind: 'integer', about: 'Instants in all.', min: 1, max: 1_000 },
    },
    answer: ref('Forecast'),
    handle: forecastFor,
  }),
]

function drainRoute(verb: 'drain' | 'undrain', about: string): Route {
  return route({
    method: 'POST',
    path: `/api/v1/instances/:id/${verb}`,
    id: `${verb}Instance`,
    about,
    access: 'operate',
    body: AUTHORED,
    answer: null,
    status: 204,
    handle: async ({ source, parts, body }) => {
      await source.instances.drain(parts('id'), verb === 'drain', body)
      return NOTHING
    },
  })
}

interface ForecastQuery {
  readonly from?: number
  readonly to?: number
  readonly limit?: number
}

async function forecastFor({ source, query }: Call) {
  const { from: givenFrom, to: givenTo, limit = 100, ...filter } = query as ForecastQuery
  const from = givenFrom ?? (await source.store.check()).now
  const to = givenTo ?? from + DAY_MS
  if (to <= from || to - from > FORECAST_MS) {
    throw refuse('OPTION_INVALID', 'The range must end after it starts, a year later at most.', 'Change from or to.')
  }
  const { items: schedules, next } = await source.schedules.list({ ...filter, limit: FORECAST_SCHEDULES })
  const found = await forecast(schedules, { from, to, most: limit }, new Steps())
  return answerJson({ from, to, items: found.items, cut: found.cut || next !== null })
}
