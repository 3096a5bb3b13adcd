import { answerJson, refuse } from '../answer.ts'
import { bucketsOf } from '../buckets.ts'
import { calendarOf } from '../calendar.ts'
import { ref } from '../openapi/schema.ts'
import { items } from '../openapi/schemas.ts'
import { stripsOf } from '../strips.ts'
import { type Call, type Route, route } from './route.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CALENDAR_DAYS = 14
const CALENDAR_DAYS_MOST = 31
const CALENDAR_SCHEDULES = 1_000
const STRIP_NAMES_MOST = 50
const STRIP_DEFAULT = 60
const STRIP_MOST = 120
const BUCKETS_DEFAULT = 90
const BUCKETS_MOST = 400
const BUCKETS_DAYS_MOST = 366
const COUNTS_DAYS_MOST = 100

/** What pictures are drawn from: much data in few bytes, and bounded. */
export const SUMMARY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/strips',
    id: 'listStrips',
    about: 'The latest fires of several schedules with the duration of their last run, the latest first.',
    access: 'read',
    query: {
      names: { kind: 'text', about: 'A JSON array of 1 to 50 names of schedules.', required: true },
      limit: { kind: 'integer', about: 'Fires of each schedule.', min: 1, max: STRIP_MOST },
    },
    answer: items('Strip'),
    handle: async ({ source, query }) => {
      const { names, limit = STRIP_DEFAULT } = query as { names: string; limit?: number }
      return answerJson({ items: await stripsOf(source, readNames(names), limit) })
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/schedules/:name/buckets',
    id: 'listBuckets',
    about:
      'The fires of a schedule in a stretch of time, in buckets of equal length: how many ended how, and the worst of them.',
    access: 'read',
    query: {
      from: { kind: 'instant', about: 'Included.', required: true },
      to: { kind: 'instant', about: 'Not included; a year later at most.', required: true },
      buckets: { kind: 'integer', about: 'How many.', min: 1, max: BUCKETS_MOST },
    },
    answer: ref('Buckets'),
    handle: async ({ source, parts, query }) => {
      const { from, to, buckets = BUCKETS_DEFAULT } = query as { from: number; to: number; buckets?: number }
      demandStretch(from, to, BUCKETS_DAYS_MOST)
      return answerJson(await bucketsOf(source, { schedule: parts('name'), from, to, buckets }))
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/counts',
    id: 'countFires',
    about:
      'How many fires ended how, by the hour in which they were due: for a hundred days, also if their records are gone.',
    access: 'read',
    isOfAll: true,
    query: {
      from: { kind: 'instant', about: 'The hour that begins then, or the first one after it.', required: true },
      to: { kind: 'instant', about: 'Hours that begin before this.', required: true },
    },
    answer: items('HourCount'),
    handle: async ({ source, query }) => {
      const { from, to } = query as { from: number; to: number }
      demandStretch(from, to, COUNTS_DAYS_MOST)
      return answerJson({ items: await source.fires.count({ from, to }) })
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/calendar',
    id: 'getCalendar',
    about: 'How many fires will be due in each hour, and the moments at which most of them start together.',
    access: 'read',
    query: {
      from: { kind: 'instant', about: 'Included; the current hour if it is left out.' },
      to: { kind: 'instant', about: 'Not included; 14 days later if it is left out, 31 at most.' },
    },
    answer: ref('Calendar'),
    handle: calendarFor,
  }),
]

function readNames(text: string): readonly string[] {
  const names = parseList(text)
  const isList = names.every((name) => typeof name === 'string')
  if (isList && names.length >= 1 && names.length <= STRIP_NAMES_MOST) return [...new Set(names)]
  throw refuse(
    'OPTION_INVALID',
    'The parameter names must be a JSON array of 1 to 50 names.',
    'Write names=["billing","report"].',
  )
}

/** Empty if it is not a list. */
function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}

function demandStretch(from: number, to: number, days: number): void {
  if (to > from && to - from <= days * DAY_MS) return
  const message = `The stretch must end after it begins, ${days} days later at most.`
  throw refuse('OPTION_INVALID', message, 'Change from or to.')
}

async function calendarFor({ source, query }: Call) {
  const { from: givenFrom, to: givenTo } = query as { from?: number; to?: number }
  const from = givenFrom ?? Math.floor((await source.store.check()).now / HOUR_MS) * HOUR_MS
  const to = givenTo ?? from + CALENDAR_DAYS * DAY_MS
  demandStretch(from, to, CALENDAR_DAYS_MOST)
  const { items: schedules, next } = await source.schedules.list({ state: 'active', limit: CALENDAR_SCHEDULES })
  const calendar = await calendarOf(schedules, from, to)
  return answerJson({ from, to, ...calendar, cut: calendar.cut || next !== null })
}
