import { CONTENT_TYPE } from 'cronce/internal'
import { type Answer, refuse } from '../answer.ts'
import type { ServerMetrics } from '../metrics/server-metrics.ts'
import { TEXT } from '../openapi/schema.ts'
import { type Call, type Route, route } from './route.ts'

/** For Prometheus and what reads its format. */
export const METRICS_ROUTES: readonly Route[] = [
  metricsRoute('/metrics', 'getMetrics', 'What this process has counted. Scrape every process.', 'process'),
  metricsRoute(
    '/metrics/fleet',
    'getFleetMetrics',
    'What the store knows about all processes. Scrape it in one place. Answers are shared for ten seconds.',
    'fleet',
  ),
]

function metricsRoute(path: string, id: string, about: string, scope: keyof ServerMetrics): Route {
  return route({
    method: 'GET',
    path,
    id,
    about,
    access: 'metrics',
    answer: TEXT,
    type: 'text/plain',
    handle: async ({ metrics }) => answerText(await demandMetrics(metrics)[scope]()),
  })
}

function demandMetrics(metrics: Call['metrics']): ServerMetrics {
  if (metrics !== null) return metrics
  throw refuse('ROUTE_UNKNOWN', 'There are no metrics here.', 'Leave out metrics: false of createHandler.')
}

function answerText(text: string): Answer {
  return { status: 200, text, headers: { 'content-type': CONTENT_TYPE } }
}
