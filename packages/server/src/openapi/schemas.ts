import { ACTIONS, ORIGINS, OUTCOMES, REASONS, RULES, START_CAUSES } from 'cronce'
import { RIGHTS } from '../access.ts'
import { DEFINITION_SCHEMAS } from './definition-schemas.ts'
import {
  ANYTHING,
  AT,
  about,
  array,
  BOOLEAN,
  choice,
  INTEGER,
  MS,
  NUMBER,
  object,
  orNull,
  partial,
  ref,
  type Schema,
  TEXT,
} from './schema.ts'

const OUTCOME = choice(...OUTCOMES)
const REASON = choice(...Object.values(REASONS).flat())
const KIND = choice('scheduled', 'backfill', 'manual')
const MISSED = choice('skip', 'latest', 'all')

const FIRE_COUNTS = { open: INTEGER, ...Object.fromEntries(OUTCOMES.map((outcome) => [outcome, INTEGER])) }

const PROGRESS: Schema = orNull(object({ fraction: NUMBER, message: orNull(TEXT), at: AT }))

/** Everything that the API sends, by name. The types of the client say the same, and the tests hold every answer against these. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...DEFINITION_SCHEMAS,
  Outcome: OUTCOME,
  Reason: REASON,
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: about(TEXT, 'For programs: never changes its meaning.'),
          message: about(TEXT, 'One sentence of what happened.'),
          hint: about(orNull(TEXT), 'What to do about it.'),
          id: about(TEXT, 'Of a fault of the server: what to look for in its log.'),
          notApplied: about(BOOLEAN, 'Of a store that failed: nothing was written.'),
        },
        required: ['code', 'message', 'hint'],
      },
    },
    required: ['error'],
  },
  Health: object({ status: choice('ok', 'unavailable') }),
  Schedule: object(scheduleFields()),
  WrittenSchedule: object({ ...scheduleFields(), warnings: array(TEXT) }),
  OpenFire: object({
    dueAt: AT,
    nonce: TEXT,
    kind: KIND,
    state: choice('waiting', 'running', 'cancelling', 'parked'),
    readyAt: AT,
    attempt: INTEGER,
    token: orNull(TEXT),
    instance: orNull(TEXT),
    startedAt: orNull(AT),
    parkedUntilAt: orNull(AT),
  }),
  Fire: object({
    schedule: TEXT,
    dueAt: AT,
    nonce: about(TEXT, 'Empty, or the dedupe key or id of a manual fire.'),
    job: TEXT,
    kind: KIND,
    state: choice('open', ...OUTCOMES),
    reason: orNull(REASON),
    detail: orNull(TEXT),
    round: INTEGER,
    attempt: INTEGER,
    plannedAt: AT,
    readyAt: AT,
    endedAt: orNull(AT),
    expiresAt: orNull(AT),
    input: ANYTHING,
    asked: about(orNull(object({ author: orNull(TEXT), note: orNull(TEXT) })), 'Who wanted it, and why.'),
    range: about(orNull(object({ untilAt: AT, count: INTEGER })), 'It stands for `count` due times that ended alike.'),
  }),
  RunSummary: object(runFields()),
  Run: object({ ...runFields(), log: array(ref('LogLine')), logCut: BOOLEAN }),
  LogLine: object({ at: AT, level: choice('debug', 'info', 'warn', 'error'), message: TEXT }),
  Log: object({
    items: array(ref('LogLine')),
    next: about(INTEGER, 'The `after` of what comes later.'),
    cut: about(BOOLEAN, 'The log was longer than what is kept of it.'),
    open: about(BOOLEAN, 'The run has not ended: there may be more.'),
    progress: PROGRESS,
  }),
  Step: object({
    schedule: TEXT,
    dueAt: AT,
    nonce: TEXT,
    step: TEXT,
    state: choice('begun', 'done', 'failed'),
    token: TEXT,
    result: ANYTHING,
    begunAt: AT,
    endedAt: orNull(AT),
  }),
  Activity: object({
    id: TEXT,
    at: AT,
    action: choice(...ACTIONS),
    origin: about(choice(...ORIGINS), 'Where the action came from.'),
    author: orNull(TEXT),
    note: orNull(TEXT),
    subject: object({ type: choice('schedule', 'instance', 'app', 'alert', 'store'), name: TEXT }),
    changed: about({ type: 'object' }, 'What it changed: depends on the action.'),
    expiresAt: AT,
  }),
  Instance: object({
    id: TEXT,
    app: TEXT,
    deployment: TEXT,
    jobs: array(TEXT),
    host: TEXT,
    labels: { type: 'object', additionalProperties: TEXT },
    pid: INTEGER,
    version: TEXT,
    zoneData: TEXT,
    state: choice('live', 'draining', 'silent', 'left', 'dead'),
    startedAt: AT,
    endedAt: about(orNull(AT), 'When it left or was declared dead. Null: neither.'),
    renewedAt: AT,
    clockOffsetMs: MS,
    running: INTEGER,
    concurrency: INTEGER,
    drain: BOOLEAN,
  }),
  Deployments: object({
    app: TEXT,
    active: orNull(TEXT),
    activated: orNull(TEXT),
    deployments: array(
      object({
        ...{ id: TEXT, explicit: BOOLEAN, number: INTEGER, declares: array(TEXT), firstReadyAt: AT, readyAt: AT },
        ...{ goneAt: orNull(AT), onProbation: BOOLEAN, lost: BOOLEAN },
      }),
    ),
    refused: array(
      object({
        ...{ schedule: TEXT, deployment: TEXT, instance: TEXT, host: TEXT, pid: INTEGER },
        ...{ code: TEXT, message: TEXT, at: AT },
      }),
    ),
  }),
  Alert: object({
    app: TEXT,
    rule: choice(...RULES),
    severity: choice('warning', 'critical'),
    state: choice('firing', 'resolved', 'muted'),
    firstAt: AT,
    lastAt: about(AT, 'When its state or its subjects last changed.'),
    subjects: about(array(object({ name: TEXT, text: TEXT, sinceAt: AT })), 'The first of them, at most 20.'),
    count: about(INTEGER, 'Of all subjects.'),
  }),
  Mute: object({ app: TEXT, subject: TEXT, untilAt: orNull(AT), note: orNull(TEXT), author: orNull(TEXT) }),
  Unmuted: object({ unmuted: about(BOOLEAN, 'False: it was not muted.') }),
  UnsentAlert: object({
    app: TEXT,
    id: TEXT,
    kind: choice('firing', 'update', 'repeat', 'resolved', 'test'),
    at: AT,
    rule: choice(...RULES, 'test'),
  }),
  Store: object({
    name: TEXT,
    epoch: INTEGER,
    transactions: BOOLEAN,
    probes: BOOLEAN,
    losesWrites: BOOLEAN,
    now: AT,
    latencyMs: MS,
    offsetMs: MS,
  }),
  Triggered: object({ fire: ref('Fire'), created: BOOLEAN }),
  Delivered: object({
    fire: about(orNull(ref('Fire')), 'Null: the schedule comes to this instant by itself.'),
    created: BOOLEAN,
    readyAt: AT,
  }),
  Received: object({
    schedule: TEXT,
    dueAt: AT,
    fire: about(orNull(ref('Fire')), 'Null: the schedule comes to this instant by itself.'),
    created: BOOLEAN,
    readyAt: about(AT, 'When it may start: the instant, with its jitter.'),
  }),
  Completed: object({ run: ref('Run') }),
  Backfilled: object({
    id: about(orNull(TEXT), 'Null after a dry run.'),
    preview: object({ instants: INTEGER, toRun: INTEGER, alreadyRun: INTEGER, more: BOOLEAN }),
  }),
  Next: object({
    schedule: TEXT,
    items: array(AT),
    cut: about(BOOLEAN, 'They are so far ahead, in a schedule that counts its fires, that not all were computed.'),
  }),
  Forecast: object({
    from: AT,
    to: AT,
    items: array(object({ schedule: TEXT, job: TEXT, dueAt: AT })),
    cut: about(BOOLEAN, 'There are more instants, or more schedules, than were looked at.'),
  }),
  Access: object({
    level: choice('read', 'operate'),
    author: about(orNull(TEXT), 'On record with every change; null: what the request says.'),
    version: about(TEXT, 'Of the server.'),
    rights: about(array(choice(...RIGHTS)), 'What the caller may do with the schedules that it sees.'),
    partial: about(BOOLEAN, 'The caller sees some schedules only.'),
    operations: about(array(TEXT), 'The operationId of everything that the caller may do.'),
  }),
  Audit: object({
    report: about(ANYTHING, 'A SARIF log. Null: the server was given none, or it cannot be read.'),
    writtenAt: about(orNull(AT), 'When the file was written.'),
    problem: about(orNull(TEXT), 'Why it cannot be read.'),
  }),
  Strip: object({
    schedule: TEXT,
    usualMs: about(orNull(MS), 'The median duration of the runs that succeeded.'),
    fires: array(
      object({
        ...{ dueAt: AT, nonce: TEXT, state: choice('open', ...OUTCOMES), reason: orNull(REASON), attempt: INTEGER },
        durationMs: about(orNull(MS), 'Of its last run.'),
        latenessMs: orNull(MS),
        count: about(INTEGER, 'The due times that it stands for.'),
      }),
    ),
  }),
  Buckets: object({
    ...{ schedule: TEXT, from: AT, to: AT },
    readFrom: about(AT, 'Later than from if there were too many fires to read all of them.'),
    items: array(
      object({
        at: AT,
        worst: about(orNull(choice('open', ...OUTCOMES)), 'Null: nothing was due.'),
        counts: object(FIRE_COUNTS),
      }),
    ),
    cut: about(BOOLEAN, 'Fires before readFrom were not read.'),
  }),
  HourCount: object({ hour: about(AT, 'When the hour began, in UTC.'), outcome: OUTCOME, count: INTEGER }),
  Calendar: object({
    from: AT,
    to: AT,
    hours: about(array(object({ at: AT, count: INTEGER })), 'Hours without a fire are left out.'),
    crowds: about(
      array(object({ dueAt: AT, count: INTEGER, schedules: about(array(TEXT), 'The first ten of them.') })),
      'The moments at which the most fires are due together.',
    ),
    cut: about(BOOLEAN, 'There are more due times, or more schedules, than were looked at.'),
  }),
  Overview: object({
    now: AT,
    from: about(AT, 'Fires and runs are counted since.'),
    schedules: object({ active: INTEGER, paused: INTEGER, retired: INTEGER, finished: INTEGER, cut: BOOLEAN }),
    fires: object({ ...FIRE_COUNTS, cut: BOOLEAN }),
    slots: about(array(object({ at: AT, ...FIRE_COUNTS })), 'Fires by half hour, the earliest first.'),
    runs: object({
      count: INTEGER,
      latenessP95Ms: orNull(MS),
      durationP50Ms: orNull(MS),
      durationP95Ms: orNull(MS),
      cut: BOOLEAN,
    }),
    instances: object({ live: INTEGER, draining: INTEGER, silent: INTEGER, running: INTEGER }),
    store: ref('Store'),
    next: array(object({ schedule: TEXT, job: TEXT, dueAt: AT })),
    attention: array(
      object({
        kind: choice('failing', 'no-instance', 'overdue', 'instance-silent', 'clock', 'deployments'),
        about: about(TEXT, 'The name of the schedule, instance or app.'),
        message: TEXT,
      }),
    ),
  }),
}

function scheduleFields(): Readonly<Record<string, Schema>> {
  return {
    name: TEXT,
    job: TEXT,
    state: choice('active', 'paused', 'retired', 'finished'),
    trigger: about(orNull(ref('Trigger')), 'Null: fires only when triggered.'),
    input: ANYTHING,
    policy: ref('Policy'),
    startAt: orNull(AT),
    endAt: orNull(AT),
    limit: orNull(INTEGER),
    fired: INTEGER,
    tenant: orNull(TEXT),
    on: about(
      orNull({ type: 'object', additionalProperties: array(TEXT) }),
      'Labels that an instance must have to run it.',
    ),
    app: about(orNull(TEXT), 'The app whose code declares it; null: it was made by a client.'),
    revision: INTEGER,
    createdAt: AT,
    updatedAt: AT,
    retiredAt: orNull(AT),
    retirements: array(
      partial(
        {
          ...{ from: AT, to: orNull(AT), cause: choice('dropped', 'absent', 'renamed') },
          ...{ deployment: TEXT, number: INTEGER },
          renamedTo: about(TEXT, 'The name that the job had in this stretch.'),
          turn: about(INTEGER, 'How often the job had changed its name when it got this one.'),
        },
        ['from', 'to', 'cause', 'deployment', 'number'],
      ),
    ),
    pause: orNull(object({ at: AT, untilAt: orNull(AT), note: orNull(TEXT), author: orNull(TEXT), missed: MISSED })),
    nextAt: about(orNull(AT), 'While it is paused, this may be inside the pause: see listNext.'),
    skipped: about(array(AT), 'Instants to come that an operator skipped.'),
    last: object({ dueAt: orNull(AT), succeededDueAt: orNull(AT), succeededAt: orNull(AT) }),
    failedInRow: INTEGER,
    open: array(ref('OpenFire')),
    backfills: array(object({ id: TEXT, fromAt: AT, toAt: AT, askedAt: AT, author: orNull(TEXT), note: orNull(TEXT) })),
  }
}

function runFields(): Readonly<Record<string, Schema>> {
  return {
    schedule: TEXT,
    dueAt: AT,
    nonce: TEXT,
    token: about(TEXT, 'A decimal number: it may be larger than what JavaScript counts exactly.'),
    job: TEXT,
    round: INTEGER,
    attempt: INTEGER,
    instance: about(TEXT, 'Empty while its work goes on elsewhere.'),
    state: choice('running', 'cancelling', 'parked', ...OUTCOMES),
    reason: orNull(REASON),
    detail: orNull(TEXT),
    startedAt: AT,
    latenessMs: MS,
    cause: about(orNull(choice(...START_CAUSES)), 'Why it started later than its grace; null: it did not.'),
    endedAt: orNull(AT),
    durationMs: orNull(MS),
    cancel: orNull(object({ at: AT, reason: TEXT, detail: orNull(TEXT) })),
    error: orNull(object({ name: TEXT, message: TEXT, code: orNull(TEXT), stack: orNull(TEXT) })),
    result: ANYTHING,
    progress: PROGRESS,
  }
}

export function page(name: string): Schema {
  const next = about(orNull(TEXT), 'The `after` of the following page; null: that was all.')
  return object({ items: array(ref(name)), next })
}

export function items(name: string): Schema {
  return object({ items: array(ref(name)) })
}
