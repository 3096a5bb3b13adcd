import { OUTCOMES } from 'cronce'
import {
  ANYTHING,
  AT,
  about,
  BOOLEAN,
  choice,
  INTEGER,
  MS,
  NUMBER,
  object,
  orNull,
  partial,
  type Schema,
  TEXT,
  WHEN,
} from './schema.ts'

const GUARANTEE = choice('at-least-once', 'at-most-once', 'exactly-once')
const OVERLAP = choice('skip', 'queue', 'queue-all', 'allow', 'replace')
const MISSED = choice('skip', 'latest', 'all')
const DURATION: Schema = { type: ['string', 'integer'], description: 'Such as 5m, 1h30m, or milliseconds.' }

const CRON = {
  tz: TEXT,
  dst: choice('auto', 'wall', 'once', 'shift'),
  gap: choice('auto', 'after', 'skip', 'shift'),
  overlap: choice('auto', 'first', 'second', 'both'),
  days: choice('or', 'and', 'vixie'),
  dialect: choice('default', 'vixie', 'ocps', 'quartz', 'eventbridge', 'kubernetes'),
  wrap: BOOLEAN,
  seed: TEXT,
}

const EXCLUDED = choice('skip', 'next-working-day', 'previous-working-day', 'nearest')
const CLOSED_DAYS = about(TEXT, 'Weekdays, dates and ranges, such as SAT SUN 12-25 2026-04-03 2026-12-24/2027-01-01.')
const CALENDAR = partial({ name: TEXT, days: CLOSED_DAYS, excluded: EXCLUDED }, ['days'])

/** How schedules are defined: as people write it (`ScheduleFields`), and as it is kept (`Trigger`, `Policy`). */
export const DEFINITION_SCHEMAS: Readonly<Record<string, Schema>> = {
  Trigger: {
    oneOf: [
      partial({ kind: { const: 'cron' }, expression: TEXT, ...CRON, calendar: CALENDAR }, ['kind', 'expression']),
      object({ kind: { const: 'every' }, everyMs: INTEGER, anchor: AT }),
      object({ kind: { const: 'at' }, at: AT }),
    ],
  },
  Policy: object({
    guarantee: GUARANTEE,
    overlap: object({ kind: OVERLAP, limit: INTEGER }),
    misfire: object({ graceMs: MS, late: MISSED, limit: INTEGER, windowMs: MS }),
    retry: object({
      attempts: INTEGER,
      baseMs: MS,
      factor: NUMBER,
      capMs: MS,
      jitter: NUMBER,
      crashes: INTEGER,
      deadlineMs: orNull(MS),
    }),
    timeout: object({ runMs: orNull(MS), graceMs: MS }),
    jitter: object({ kind: choice('fixed', 'random'), ms: MS }),
    pauseAfter: orNull(INTEGER),
    retention: object({ keepMs: MS, keepMsBy: { type: 'object', additionalProperties: MS }, count: INTEGER }),
    limits: object({ job: orNull(INTEGER), group: orNull(object({ name: TEXT, limit: INTEGER })) }),
    unknownStep: choice('fail', 'rerun'),
  }),
}

/** The body of a PUT: the options of `schedules.put`. */
export const SCHEDULE_FIELDS: Readonly<Record<string, Schema>> = {
  job: about(TEXT, 'The job that it is for.'),
  cron: { anyOf: [TEXT, partial({ expression: TEXT, ...CRON, calendar: CALENDAR }, ['expression'])] },
  every: { anyOf: [DURATION, partial({ interval: DURATION, anchor: WHEN }, ['interval'])] },
  at: WHEN,
  tz: TEXT,
  dst: CRON.dst,
  dialect: CRON.dialect,
  days: CRON.days,
  seed: TEXT,
  calendar: { anyOf: [TEXT, { type: 'array', items: TEXT }, CALENDAR] },
  excluded: EXCLUDED,
  input: about(ANYTHING, 'JSON of at most 64 KB.'),
  start: WHEN,
  end: WHEN,
  limit: INTEGER,
  tenant: TEXT,
  on: about({ type: 'object', additionalProperties: TEXT }, 'One label with its value: only instances with it run it.'),
  guarantee: GUARANTEE,
  overlap: { anyOf: [OVERLAP, partial({ kind: OVERLAP, limit: INTEGER }, ['kind'])] },
  misfire: { anyOf: [MISSED, partial({ grace: DURATION, late: MISSED, limit: INTEGER, window: DURATION })] },
  retry: {
    anyOf: [
      INTEGER,
      partial({
        attempts: INTEGER,
        backoff: partial({ base: DURATION, factor: NUMBER, cap: DURATION, jitter: NUMBER }),
        crashes: INTEGER,
        deadline: DURATION,
      }),
    ],
  },
  timeout: { anyOf: [DURATION, partial({ run: DURATION, grace: DURATION })] },
  jitter: { anyOf: [DURATION, partial({ within: DURATION, kind: choice('fixed', 'random') }, ['within'])] },
  pauseAfter: INTEGER,
  retention: {
    anyOf: [
      DURATION,
      partial({
        keep: { anyOf: [DURATION, partial(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, DURATION])))] },
        count: INTEGER,
      }),
    ],
  },
  concurrency: INTEGER,
  group: object({ name: TEXT, limit: INTEGER }),
  unknownStep: choice('fail', 'rerun'),
}
