import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { Definition, OpenFire, OpenRun, ScheduleState } from '../../model/schedule.ts'

// Records as JSON lists. Memory is what a Redis server has least of, and the names of fields would be more than half of it.

/** Leads every list. What has a higher one was written by a newer version, and is left alone. */
export const FORMAT = 1

/** A field that was added to the model and not here does not compile. */
type Nothing = Readonly<Record<string, never>>

/** Without its key, which is its name in the store. */
export function writeFire(record: FireRecord): string {
  const { schedule: _schedule, dueAt: _dueAt, nonce: _nonce, ...kept } = record
  const {
    job,
    tenant,
    kind,
    round,
    plannedAt,
    readyAt,
    attempt,
    input,
    ending,
    endedAt,
    number,
    expiresAt,
    range,
    ...rest
  } = kept
  rest satisfies Nothing
  return JSON.stringify([
    FORMAT,
    job,
    tenant,
    kind,
    round,
    plannedAt,
    readyAt,
    attempt,
    input,
    ending,
    endedAt,
    number,
    expiresAt,
    range,
  ])
}

export function readFire({ schedule, dueAt, nonce }: FireKey, text: string): FireRecord {
  const [, job, tenant, kind, round, plannedAt, readyAt, attempt, input, ending, endedAt, number, expiresAt, range] =
    JSON.parse(text) as FireList
  return {
    schedule,
    dueAt,
    nonce,
    job,
    tenant,
    kind,
    round,
    plannedAt,
    readyAt,
    attempt,
    input,
    ending,
    endedAt,
    number,
    expiresAt,
    range,
  }
}

type FireList = [
  format: number,
  job: FireRecord['job'],
  tenant: FireRecord['tenant'],
  kind: FireRecord['kind'],
  round: number,
  plannedAt: number,
  readyAt: number,
  attempt: number,
  input: FireRecord['input'],
  ending: FireRecord['ending'],
  endedAt: FireRecord['endedAt'],
  number: FireRecord['number'],
  expiresAt: FireRecord['expiresAt'],
  range: FireRecord['range'],
]

/** Without schedule and token, which are its name in the store. */
export function writeRun(record: RunRecord): string {
  const { schedule: _schedule, token: _token, ...kept } = record
  const { dueAt, nonce, job, round, attempt, instance, request, startedAt, readyAt, slots, cancel, ...end } = kept
  const { ending, endedAt, error, result, ...rest } = end
  rest satisfies Nothing
  return JSON.stringify([
    FORMAT,
    dueAt,
    nonce,
    job,
    round,
    attempt,
    instance,
    request,
    startedAt,
    readyAt,
    slots,
    cancel,
    ending,
    endedAt,
    error,
    result,
  ])
}

export function readRun(schedule: string, token: string, text: string): RunRecord {
  const list = JSON.parse(text) as RunList
  const [, dueAt, nonce, job, round, attempt, instance, request, startedAt, readyAt, slots, cancel] = list
  const [, , , , , , , , , , , , ending, endedAt, error, result] = list
  return {
    schedule,
    token,
    dueAt,
    nonce,
    job,
    round,
    attempt,
    instance,
    request,
    startedAt,
    readyAt,
    slots,
    cancel,
    ending,
    endedAt,
    error,
    result,
  }
}

type RunList = [
  format: number,
  dueAt: number,
  nonce: string,
  job: string,
  round: number,
  attempt: number,
  instance: string,
  request: string,
  startedAt: number,
  readyAt: number,
  slots: RunRecord['slots'],
  cancel: RunRecord['cancel'],
  ending: RunRecord['ending'],
  endedAt: RunRecord['endedAt'],
  error: RunRecord['error'],
  result: RunRecord['result'],
]

/** Without name, version, counter of tokens and definition, which the store keeps apart. */
export function writeState(state: ScheduleState): string {
  const { id: _id, version: _version, tokens: _tokens, definition: _definition, ...kept } = state
  const {
    revision,
    source,
    createdAt,
    updatedAt,
    pause,
    retiredAt,
    nextAt,
    plannedTo,
    skipped,
    zoneData,
    wakeAt,
    ...more
  } = kept
  const { fired, ended, trimmedBefore, failedInRow, last, open, backfills, ...rest } = more
  rest satisfies Nothing
  return JSON.stringify([
    FORMAT,
    revision,
    source,
    createdAt,
    updatedAt,
    pause,
    retiredAt,
    nextAt,
    plannedTo,
    skipped,
    zoneData,
    wakeAt,
    fired,
    ended,
    trimmedBefore,
    failedInRow,
    [last.dueAt, last.succeededDueAt, last.succeededAt],
    open.map(openList),
    backfills,
  ])
}

/** As the store has it: the state, and what it keeps apart. */
export interface StoredState {
  readonly id: string
  readonly version: number
  readonly tokens: number
  readonly state: string
}

/** `null`: a newer version wrote it. */
export function readState({ id, version, tokens, state }: StoredState, definition: Definition): ScheduleState | null {
  const list = JSON.parse(state) as StateList
  if (list[0] > FORMAT) return null
  const [, revision, source, createdAt, updatedAt, pause, retiredAt, nextAt, plannedTo, skipped, zoneData, wakeAt] =
    list
  const [, , , , , , , , , , , , fired, ended, trimmedBefore, failedInRow, last, open, backfills] = list
  return {
    id,
    version,
    definition,
    revision,
    source,
    createdAt,
    updatedAt,
    pause,
    retiredAt,
    nextAt,
    ...(plannedTo !== null && { plannedTo }),
    ...(skipped !== null && { skipped }),
    zoneData,
    wakeAt,
    tokens,
    fired,
    ended,
    trimmedBefore,
    failedInRow,
    last: { dueAt: last[0], succeededDueAt: last[1], succeededAt: last[2] },
    open: open.map(openFireOf),
    backfills,
  }
}

type StateList = [
  format: number,
  revision: number,
  source: ScheduleState['source'],
  createdAt: number,
  updatedAt: number,
  pause: ScheduleState['pause'],
  retiredAt: ScheduleState['retiredAt'],
  nextAt: ScheduleState['nextAt'],
  plannedTo: number | null,
  skipped: readonly number[] | null,
  zoneData: ScheduleState['zoneData'],
  wakeAt: ScheduleState['wakeAt'],
  fired: number,
  ended: number,
  trimmedBefore: ScheduleState['trimmedBefore'],
  failedInRow: number,
  last: [number | null, number | null, number | null],
  open: readonly OpenList[],
  backfills: ScheduleState['backfills'],
]

type OpenList = ReturnType<typeof openList>

function openList(fire: OpenFire) {
  const { dueAt, nonce, kind, round, plannedAt, readyAt, queued, ignoresOverlap, attempt, failures, crashes, ...more } =
    fire
  const { giveUp = null, run, own, ...rest } = more
  rest satisfies Nothing
  return [
    dueAt,
    nonce,
    kind,
    round,
    plannedAt,
    readyAt,
    queued,
    ignoresOverlap,
    attempt,
    failures,
    crashes,
    giveUp,
    run === null ? null : runList(run),
    own,
  ] as const
}

function openFireOf(list: OpenList): OpenFire {
  const [dueAt, nonce, kind, round, plannedAt, readyAt, queued, ignoresOverlap, attempt, failures, crashes] = list
  const [, , , , , , , , , , , giveUp, run, own] = list
  return {
    dueAt,
    nonce,
    kind,
    round,
    plannedAt,
    readyAt,
    queued,
    ignoresOverlap,
    attempt,
    failures,
    crashes,
    ...(giveUp !== null && { giveUp }),
    run: run === null ? null : openRunOf(run),
    own,
  }
}

function runList({ token, instance, request, startedAt, cancel, ...rest }: OpenRun) {
  rest satisfies Nothing
  return [token, instance, request, startedAt, cancel] as const
}

function openRunOf([token, instance, request, startedAt, cancel]: ReturnType<typeof runList>): OpenRun {
  return { token, instance, request, startedAt, cancel }
}
