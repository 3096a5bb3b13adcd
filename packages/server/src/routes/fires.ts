import type { Authored, FireRef, RunListOptions, RunView, StepResolution } from 'cronce'
import { answerJson } from '../answer.ts'
import { boundedPage } from '../bounded-page.ts'
import { ANYTHING, ref } from '../openapi/schema.ts'
import { items, page } from '../openapi/schemas.ts'
import { readInstant } from '../read-fields.ts'
import { AUTHORED, FORCE, NONCE, OUTCOME, PAGE } from './parameters.ts'
import { type Call, type Route, route } from './route.ts'

const FIRE = '/api/v1/fires/:schedule/:dueAt'
const RUN = '/api/v1/runs/:schedule/:token'

export const FIRE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/fires',
    id: 'listFires',
    about: 'Fires, the latest due first.',
    access: 'read',
    query: {
      schedule: { kind: 'text', about: 'Of this schedule.' },
      job: { kind: 'text', about: 'Of this job.' },
      outcome: OUTCOME,
      from: { kind: 'instant', about: 'Due from this instant on.' },
      to: { kind: 'instant', about: 'Due before this instant.' },
      order: { kind: 'text', about: 'Which comes first.', choices: ['latest', 'earliest'] },
      ...NONCE,
      ...PAGE,
    },
    answer: page('Fire'),
    handle: async ({ source, query }) => boundedPage(query, (options) => source.fires.list(options)),
  }),
  route({
    method: 'GET',
    path: FIRE,
    id: 'getFire',
    about: 'One fire, or the range that its instant is in.',
    access: 'read',
    query: NONCE,
    answer: ref('Fire'),
    handle: async (call) => answerJson(await call.source.fires.get(fireOf(call))),
  }),
  route({
    method: 'POST',
    path: `${FIRE}/retry`,
    id: 'retryFire',
    about: 'Run a fire that has ended once more; one that succeeded needs force.',
    access: 'operate',
    right: 'run',
    query: NONCE,
    body: { ...FORCE, ...AUTHORED },
    answer: ref('Fire'),
    handle: async (call) => answerJson(await call.source.fires.retry(fireOf(call), call.body)),
  }),
  route({
    method: 'POST',
    path: `${FIRE}/cancel`,
    id: 'cancelFire',
    about: 'End a fire that waits, or ask its run to end.',
    access: 'operate',
    right: 'run',
    query: NONCE,
    body: AUTHORED,
    answer: ref('Fire'),
    handle: async (call) => answerJson(await call.source.fires.cancel(fireOf(call), call.body)),
  }),
  route({
    method: 'GET',
    path: `${FIRE}/steps`,
    id: 'listSteps',
    about: 'The durable steps of a fire, as they were begun.',
    access: 'read',
    query: NONCE,
    answer: items('Step'),
    handle: async (call) => answerJson({ items: await call.source.steps.list(fireOf(call)) }),
  }),
  route({
    method: 'POST',
    path: `${FIRE}/steps/:step`,
    id: 'resolveStep',
    about: 'Say how a step ended whose run died in the middle of it: with a result, or (failed) not at all.',
    access: 'operate',
    right: 'run',
    query: NONCE,
    body: { result: ANYTHING, failed: { const: true }, ...AUTHORED },
    answer: items('Step'),
    handle: async (call) => {
      const fire = fireOf(call)
      const { author, note, origin, ...resolution } = call.body as Authored
      const by = { author, note, origin }
      await call.source.steps.resolve(fire, call.parts('step'), resolution as unknown as StepResolution, by)
      return answerJson({ items: await call.source.steps.list(fire) })
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/runs',
    id: 'listRuns',
    about: 'Runs without their logs, by the due time of their fire, the latest first.',
    access: 'read',
    query: {
      schedule: { kind: 'text', about: 'Of this schedule.' },
      job: { kind: 'text', about: 'Of this job.' },
      instance: { kind: 'text', about: 'On this instance.' },
      outcome: OUTCOME,
      dueAt: { kind: 'instant', about: 'Of the fire of the schedule that is due then.' },
      from: { kind: 'instant', about: 'Of fires due from this instant on.' },
      to: { kind: 'instant', about: 'Of fires due before this instant.' },
      lateBy: {
        kind: 'integer',
        about:
          'Started at least this number of milliseconds after it could. A page has those of `limit` runs, which may be none.',
        min: 0,
      },
      ...NONCE,
      ...PAGE,
    },
    answer: page('RunSummary'),
    handle: async ({ source, query }) => {
      const { dueAt, nonce, lateBy = 0, ...filter } = query as RunQuery
      const isOfFire = dueAt !== undefined || nonce !== undefined
      const fire = { schedule: filter.schedule, dueAt, nonce } as FireRef
      const isLate = ({ latenessMs }: RunView): boolean => lateBy === 0 || latenessMs >= lateBy
      return boundedPage(
        isOfFire ? { ...filter, fire } : filter,
        (options) => source.runs.list(options),
        summarize,
        isLate,
      )
    },
  }),
  route({
    method: 'GET',
    path: RUN,
    id: 'getRun',
    about: 'One run with its log.',
    access: 'read',
    answer: ref('Run'),
    handle: async ({ source, parts }) => answerJson(await source.runs.get(parts('schedule'), parts('token'))),
  }),
  route({
    method: 'GET',
    path: `${RUN}/log`,
    id: 'getLog',
    about: 'The log of a run, or what of it is new, and how far the run is.',
    access: 'read',
    query: { after: { kind: 'integer', about: '`next` of the answer before: only what came later.', min: 0 } },
    answer: ref('Log'),
    handle: async ({ source, parts, query }) => {
      const { after = 0 } = query as { after?: number }
      const { log, logCut, endedAt, progress } = await source.runs.get(parts('schedule'), parts('token'))
      return answerJson({ items: log.slice(after), next: log.length, cut: logCut, open: endedAt === null, progress })
    },
  }),
  route({
    method: 'POST',
    path: `${RUN}/cancel`,
    id: 'cancelRun',
    about: 'Ask a run to end.',
    access: 'operate',
    right: 'run',
    body: AUTHORED,
    answer: ref('Run'),
    handle: async ({ source, parts, body }) =>
      answerJson(await source.runs.cancel(parts('schedule'), parts('token'), body)),
  }),
]

interface RunQuery extends RunListOptions {
  readonly lateBy?: number
  readonly dueAt?: number
  readonly nonce?: string
}

function fireOf({ parts, query }: Call): FireRef {
  const { nonce } = query as { nonce?: string }
  return { schedule: parts('schedule'), dueAt: readInstant('dueAt', parts('dueAt')), nonce }
}

function summarize({ log: _, logCut: __, ...summary }: RunView): Omit<RunView, 'log' | 'logCut'> {
  return summary
}
