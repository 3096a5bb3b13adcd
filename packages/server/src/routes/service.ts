import type { Cronce } from 'cronce'
import { callbackProof, fireProof } from 'cronce/internal'
import { answerJson, refuse } from '../answer.ts'
import { openStream } from '../events/stream.ts'
import { ref, TEXT } from '../openapi/schema.ts'
import { appOf, type Source } from '../source.ts'
import { type Call, type Route, route } from './route.ts'

/** Events, and what other programs deliver with a proof of their own. */
export const SERVICE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/events',
    id: 'streamEvents',
    about:
      'Runs that start and end, and fires that end without a run, anywhere in the fleet, as server-sent events: `ready` or `reset` first, then `run.started`, `run.ended`, `fire.ended`; `reset` means that something was left out. `Last-Event-ID` goes on where a stream broke off.',
    access: 'read',
    query: {
      schedule: { kind: 'text', about: 'About this schedule.' },
      job: { kind: 'text', about: 'About this job.' },
    },
    answer: TEXT,
    type: 'text/event-stream',
    handle: streamEvents,
  }),
  route({
    method: 'POST',
    path: '/api/v1/fires',
    id: 'receiveFire',
    about:
      'A delivery of an external scheduler, authenticated by its own token or signature: at least once in, one fire out.',
    access: 'own',
    proof: ({ request, options }) => fireProof(request.headers, options.fires),
    idempotency: 'durable',
    answer: ref('Received'),
    handle: async ({ source, request, options }) => demandApp(source).handleFire(request, options.fires),
  }),
  route({
    method: 'POST',
    path: '/api/v1/callbacks/:schedule/:token',
    id: 'receiveCallback',
    about: 'How the work of a parked run ended, signed by the endpoint that did it.',
    access: 'own',
    proof: ({ request }) => callbackProof(request.headers),
    idempotency: 'durable',
    answer: ref('Completed'),
    handle: async ({ source, request, options, parts }) => {
      const run = { schedule: parts('schedule'), token: parts('token') }
      return demandApp(source).handleCallback(request, { ...options.callbacks, ...run })
    },
  }),
]

async function streamEvents({ events, request, query, principal, seal, options, asker: { rights, isVisible } }: Call) {
  // The body of a HEAD is neither read nor closed.
  if (request.method === 'HEAD') return answerJson({})
  const { schedule, job } = query as { schedule?: string; job?: string }
  const lastEventId = request.headers.get('last-event-id')
  const { redact } = options
  const shown = { isVisible, seal: isVisible === null ? null : seal, hasPayloads: rights.has('seeInput'), redact }
  return openStream(events, { lastEventId, schedule, job, principal, signal: request.signal, ...shown })
}

/** What is delivered from outside is for an app: it knows by itself whom to believe. */
function demandApp(source: Source): Cronce {
  const app = appOf(source)
  if (app !== null) return app
  const hint = 'Make the handler of an app, not of a connection.'
  throw refuse('DELIVERIES_UNSUPPORTED', 'Nothing is received here.', hint)
}
