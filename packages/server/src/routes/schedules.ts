import { isDeepStrictEqual } from 'node:util'
import type { BackfillOptions, FireView, NewSchedule, Schedules, TriggerNowOptions } from 'cronce'
import { answerJson, NOTHING, refuse } from '../answer.ts'
import { boundedPage } from '../bounded-page.ts'
import { upcoming } from '../forecast.ts'
import { keyReused, scopedKey } from '../kept-answers.ts'
import { SCHEDULE_FIELDS } from '../openapi/definition-schemas.ts'
import { ANYTHING, about, BOOLEAN, choice, ref, TEXT, WHEN } from '../openapi/schema.ts'
import { page } from '../openapi/schemas.ts'
import { Steps } from '../steps.ts'
import { AUTHORED, AUTHORED_QUERY, FORCE, PAGE } from './parameters.ts'
import { type Call, type Route, route } from './route.ts'

const PATH = '/api/v1/schedules/:name'
const MISSED = choice('skip', 'latest', 'all')
const NEXT_DEFAULT = 10
const NEXT_MOST = 1_000

export const SCHEDULE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/schedules',
    id: 'listSchedules',
    about: 'Schedules by name, ascending.',
    access: 'read',
    query: {
      job: { kind: 'text', about: 'Of this job.' },
      state: { kind: 'text', about: 'In this state.', choices: ['active', 'paused', 'retired', 'finished'] },
      prefix: { kind: 'text', about: 'Names that begin with this.' },
      tenant: { kind: 'text', about: 'Of this tenant.' },
      app: { kind: 'text', about: 'Declared in the code of this app.' },
      internal: {
        kind: 'boolean',
        about:
          'Also those that cronce keeps for itself, whose names begin with `cronce:`. Without it, only if `job` or `prefix` begins with that.',
      },
      ...PAGE,
    },
    answer: page('Schedule'),
    handle: async ({ source, query }) => boundedPage(query, (options) => source.schedules.list(options)),
  }),
  route({
    method: 'GET',
    path: PATH,
    id: 'getSchedule',
    about: 'One schedule.',
    access: 'read',
    answer: ref('Schedule'),
    handle: async ({ source, parts }) => answerJson(await source.schedules.get(parts('name'))),
  }),
  route({
    method: 'PUT',
    path: PATH,
    id: 'putSchedule',
    about:
      'Create it, or replace its definition; its pause, its counters and its open fires stay. `If-None-Match: *`: only create; `If-Match: *`: only replace.',
    access: 'operate',
    right: 'edit',
    query: AUTHORED_QUERY,
    body: SCHEDULE_FIELDS,
    required: ['job'],
    answer: ref('WrittenSchedule'),
    handle: async ({ source, parts, query, body, request }) => {
      const write = writeOf(source.schedules, request)
      return answerJson(await write(parts('name'), body as unknown as NewSchedule, query))
    },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    id: 'removeSchedule',
    about: 'Remove it; its records stay for their time.',
    access: 'operate',
    right: 'edit',
    query: { force: { kind: 'boolean', about: 'Also while it runs, or code declares it.' }, ...AUTHORED_QUERY },
    answer: null,
    status: 204,
    handle: async ({ source, parts, query }) => {
      await source.schedules.remove(parts('name'), query)
      return NOTHING
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/next`,
    id: 'listNext',
    about: 'Its next instants, as its definition and its pause have them.',
    access: 'read',
    query: {
      count: { kind: 'integer', about: 'How many.', min: 1, max: NEXT_MOST },
      from: { kind: 'instant', about: 'Not before this instant.' },
    },
    answer: ref('Next'),
    handle: async ({ source, parts, query }) => {
      const schedule = await source.schedules.get(parts('name'))
      const { count = NEXT_DEFAULT, from = Number.NEGATIVE_INFINITY } = query as { count?: number; from?: number }
      const steps = new Steps()
      const items: number[] = []
      const ahead = { from, to: Number.POSITIVE_INFINITY, most: count }
      for await (const instant of upcoming(schedule, ahead, steps)) items.push(instant)
      return answerJson({ schedule: schedule.name, items, cut: steps.isSpent })
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/trigger`,
    id: 'triggerSchedule',
    about: 'Run it now, besides its instants. An idempotency key is kept in the store, as the dedupe key of the fire.',
    access: 'operate',
    right: 'run',
    idempotency: 'durable',
    body: {
      input: about(ANYTHING, 'Instead of its own.'),
      dedupe: about(TEXT, 'At most one fire per key, as long as its record is kept.'),
      overlap: about(choice('honour', 'ignore'), 'Ignore: start whatever else is active.'),
      ...AUTHORED,
    },
    answer: ref('Triggered'),
    handle: trigger,
  }),
  route({
    method: 'POST',
    path: `${PATH}/pause`,
    id: 'pauseSchedule',
    about: 'Pause it: what is due by now is still run.',
    access: 'operate',
    right: 'pause',
    body: { until: WHEN, missed: MISSED, ...AUTHORED },
    answer: ref('Schedule'),
    handle: async ({ source, parts, body }) => answerJson(await source.schedules.pause(parts('name'), body)),
  }),
  route({
    method: 'POST',
    path: `${PATH}/resume`,
    id: 'resumeSchedule',
    about: 'Resume it.',
    access: 'operate',
    right: 'pause',
    body: { missed: MISSED, ...AUTHORED },
    answer: ref('Schedule'),
    handle: async ({ source, parts, body }) => answerJson(await source.schedules.resume(parts('name'), body)),
  }),
  route({
    method: 'POST',
    path: `${PATH}/skip-next`,
    id: 'skipNext',
    about: 'Skip its next instant, which must be the one that is named.',
    access: 'operate',
    right: 'pause',
    body: { dueAt: WHEN, ...AUTHORED },
    required: ['dueAt'],
    answer: ref('Schedule'),
    handle: async ({ source, parts, body }) => {
      const options = body as unknown as Parameters<Schedules['skipNext']>[1]
      return answerJson(await source.schedules.skipNext(parts('name'), options))
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/backfill`,
    id: 'backfillSchedule',
    about: 'Run what was missed or skipped between two instants, both included. Never repeats what was run.',
    access: 'operate',
    right: 'backfill',
    body: { from: WHEN, to: WHEN, dryRun: BOOLEAN, ...FORCE, ...AUTHORED },
    required: ['from', 'to'],
    answer: ref('Backfilled'),
    handle: async ({ source, parts, body }) =>
      answerJson(await source.schedules.backfill(parts('name'), body as unknown as BackfillOptions)),
  }),
  route({
    method: 'POST',
    path: `${PATH}/deliver`,
    id: 'deliverFire',
    about: 'An external scheduler says that this instant is due: however often it does, there is one fire.',
    access: 'operate',
    right: 'run',
    idempotency: 'durable',
    body: { dueAt: WHEN },
    required: ['dueAt'],
    answer: ref('Delivered'),
    handle: async ({ source, parts, body }) => {
      const options = body as unknown as Parameters<Schedules['deliver']>[1]
      return answerJson(await source.schedules.deliver(parts('name'), options))
    },
  }),
]

function writeOf(schedules: Schedules, { headers }: Request): Schedules['put'] {
  const isNew = headers.has('if-none-match')
  const isOld = headers.has('if-match')
  if (isNew && isOld) {
    throw refuse('OPTION_CONFLICT', 'If-Match and If-None-Match exclude each other.', 'Send one of them, or none.')
  }
  return isNew ? schedules.create : isOld ? schedules.replace : schedules.put
}

async function trigger({ source, parts, body, key, principal }: Call) {
  const options = body as TriggerNowOptions
  if (key !== null && options.dedupe !== undefined && options.dedupe !== key) {
    throw refuse('OPTION_CONFLICT', 'The idempotency key is the dedupe key, and another one was given.', 'Send one.')
  }
  const dedupe = options.dedupe ?? (key === null ? undefined : scopedKey(principal, key))
  const answer = await source.schedules.trigger(parts('name'), { ...options, dedupe })
  if (key !== null && !answer.created && !isAskedFor(answer.fire, options)) throw keyReused(key)
  return answerJson(answer)
}

/** The store knows the first request by its fire, which does not say what it did about overlap. */
function isAskedFor({ input, asked, round }: FireView, wanted: TriggerNowOptions): boolean {
  // As a store gives it back: without a sign before zero.
  const wantedInput = JSON.parse(JSON.stringify(wanted.input ?? null))
  if (!isDeepStrictEqual(wantedInput, input)) return false
  // The record of a fire that was retried says who retried it.
  if (round > 1) return true
  return (wanted.author ?? null) === (asked?.author ?? null) && (wanted.note ?? null) === (asked?.note ?? null)
}
