import { answerJson } from '../answer.ts'
import { ANYTHING, ref } from '../openapi/schema.ts'
import { type Route, route } from './route.ts'

const OK = { status: 'ok' }
const UNAVAILABLE = { status: 'unavailable' }

/** For the platform that keeps the process running: open to all, and without details. */
export const PROBE_ROUTES: readonly Route[] = [
  probe('/healthz', 'getHealth', 'The process runs.', async () => true),
  probe('/livez', 'getLiveness', 'The process runs; never fails because the store is away.', async () => true),
  probe('/readyz', 'getReadiness', 'The store answers, and the instance of this process is live.', ({ isReady }) =>
    isReady(),
  ),
  route({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenApi',
    about: 'This document.',
    access: 'read',
    answer: ANYTHING,
    handle: async ({ document, base }) => answerJson({ ...document, servers: [{ url: base === '' ? '/' : base }] }),
  }),
]

function probe(path: string, id: string, about: string, ask: (call: Asking) => Promise<boolean>): Route {
  return route({
    method: 'GET',
    path,
    id,
    about,
    access: 'open',
    answer: ref('Health'),
    handle: async (call) => ((await ask(call)) ? answerJson(OK) : answerJson(UNAVAILABLE, 503)),
  })
}

interface Asking {
  readonly isReady: () => Promise<boolean>
}
