import { type Ending, ending, type StartCause } from '../../model/outcome.ts'
import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { Asked, Definition, OpenFire, OpenRun, ScheduleState } from '../../model/schedule.ts'

// Records as JSON lists. Memory is what a Redis server has least of, and the names of fields would be more than half of it.

/** Leads every list. What has a higher one was written by a newer version, and is left alone. */
export const FORMAT = 1

// A field that is added to the model and not read here does not compile; of those that may be missing, this says the same.
type Optional<Model> = { [Name in keyof Model]-?: object extends Pick<Model, Name> ? Name : never }[keyof Model]
true satisfies Optional<ScheduleState> extends 'plannedTo' | 'skipped' | 'retirements' ? true : never
true satisfies Optional<OpenFire> extends 'giveUp' | 'wait' | 'asked' | 'tenant' ? true : never
true satisfies Optional<OpenRun> extends 'cause' | 'parkedUntil' ? true : never
true satisfies Optional<FireRecord & RunRecord> extends 'asked' | 'cause' | 'givenNull' ? true : never

/** The reason says the outcome. */
type EndingList = [reason: Ending['reason'], detail: Ending['detail']]

function endingList(ending: Ending | null): EndingList | null {
  return ending === null ? null : [ending.reason, ending.detail]
}

function endingOf(list: EndingList | null): Ending | null {
  return list === null ? null : ending(list[0], list[1])
}

type Mutable<Model> = { -readonly [Name in keyof Model]: Model[Name] }

/** Without its key, which is its name in the store. */
export function writeFire(record: FireRecord): string {
  const list: FireList = [
    FORMAT,
    record.job,
    record.tenant,
    record.kind,
    record.round,
    record.plannedAt,
    record.readyAt,
    record.attempt,
    record.input,
    endingList(record.ending),
    record.endedAt,
    record.number,
    record.expiresAt,
    record.range,
  ]
  if (record.givenNull) list.push(record.asked ?? null, true)
  else if (record.asked !== undefined) list.push(record.asked)
  return JSON.stringify(list)
}

/** `null`: a newer version wrote it. */
export function readFire({ schedule, dueAt, nonce }: FireKey, text: string): FireRecord | null {
  const list = JSON.parse(text) as FireList
  if (list[0] > FORMAT) return null
  return {
    schedule,
    dueAt,
    nonce,
    job: list[1],
    tenant: list[2],
    kind: list[3],
    round: list[4],
    plannedAt: list[5],
    readyAt: list[6],
    attempt: list[7],
    input: list[8],
    ending: endingOf(list[9]),
    endedAt: list[10],
    number: list[11],
    expiresAt: list[12],
    range: list[13],
    ...(list[14] ? { asked: list[14] } : {}),
    ...(list[15] ? { givenNull: true } : {}),
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
  ending: EndingList | null,
  endedAt: FireRecord['endedAt'],
  number: FireRecord['number'],
  expiresAt: FireRecord['expiresAt'],
  range: FireRecord['range'],
  asked?: Asked | null,
  givenNull?: true,
]

/** Without schedule and token, which are its name in the store. */
export function writeRun(record: RunRecord): string {
  const list: RunList = [
    FORMAT,
    record.dueAt,
    record.nonce,
    record.job,
    record.round,
    record.attempt,
    record.instance,
    record.request,
    record.startedAt,
    record.readyAt,
    record.slots,
    record.cancel,
    endingList(record.ending),
    record.endedAt,
    record.error,
    record.result,
  ]
  if (record.cause !== undefined) list.push(record.cause)
  return JSON.stringify(list)
}

/** `null`: a newer version wrote it. */
export function readRun(schedule: string, token: string, text: string): RunRecord | null {
  const list = JSON.parse(text) as RunList
  if (list[0] > FORMAT) return null
  return {
    schedule,
    token,
    dueAt: list[1],
    nonce: list[2],
    job: list[3],
    round: list[4],
    attempt: list[5],
    instance: list[6],
    request: list[7],
    startedAt: list[8],
    readyAt: list[9],
    slots: list[10],
    cancel: list[11],
    ending: endingOf(list[12]),
    endedAt: list[13],
    error: list[14],
    result: list[15],
    ...(list[16] === undefined ? {} : { cause: list[16] }),
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
  ending: EndingList | null,
  endedAt: RunRecord['endedAt'],
  error: RunRecord['error'],
  result: RunRecord['result'],
  cause?: StartCause,
]

/** Without name, version, counter of tokens and definition, which the store keeps apart. */
export function writeState(state: ScheduleState): string {
  const { last, source } = state
  return JSON.stringify([
    FORMAT,
    state.revision,
    source.kind === 'client' ? null : [source.app, source.number],
    state.createdAt,
    state.updatedAt,
    state.pause,
    state.retiredAt,
    state.nextAt,
    state.plannedTo ?? null,
    state.skipped ?? null,
    state.zoneData,
    state.wakeAt,
    state.fired,
    state.ended,
    state.trimmedBefore,
    state.failedInRow,
    [last.dueAt, last.succeededDueAt, last.succeededAt],
    state.open.map(openList),
    state.backfills,
    state.retirements ?? null,
  ] satisfies StateList)
}

/** As the store has it: the state, and what it keeps apart. */
export interface StoredState {
  readonly id: string
  readonly version: number
  readonly tokens: number
  readonly state: string
}

/** `null`: a newer version wrote it. */
export function readState(
  { id, version, tokens, state: text }: StoredState,
  definition: Definition,
): ScheduleState | null {
  const list = JSON.parse(text) as StateList
  if (list[0] > FORMAT) return null
  const source = list[2]
  const last = list[16]
  const state: Mutable<ScheduleState> = {
    id,
    version,
    definition,
    revision: list[1],
    source: source === null ? { kind: 'client' } : { kind: 'code', app: source[0], number: source[1] },
    createdAt: list[3],
    updatedAt: list[4],
    pause: list[5],
    retiredAt: list[6],
    nextAt: list[7],
    zoneData: list[10],
    wakeAt: list[11],
    tokens,
    fired: list[12],
    ended: list[13],
    trimmedBefore: list[14],
    failedInRow: list[15],
    last: { dueAt: last[0], succeededDueAt: last[1], succeededAt: last[2] },
    open: list[17].map(openFireOf),
    backfills: list[18],
  }
  if (list[8] !== null) state.plannedTo = list[8]
  if (list[9] !== null) state.skipped = list[9]
  if (list[19] !== null) state.retirements = list[19]
  return state
}

type StateList = [
  format: number,
  revision: number,
  source: [app: string, number: number] | null,
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
  retirements: NonNullable<ScheduleState['retirements']> | null,
]

type OpenList = ReturnType<typeof openList>

function openList(fire: OpenFire) {
  const { run } = fire
  return [
    fire.dueAt,
    fire.nonce,
    fire.kind,
    fire.round,
    fire.plannedAt,
    fire.readyAt,
    // An earlier release wrote a boolean here: whether the fire was never to be judged as late.
    fire.wait ?? (false as boolean),
    fire.ignoresOverlap,
    fire.attempt,
    fire.failures,
    fire.crashes,
    fire.giveUp ?? null,
    run === null ? null : openRunList(run),
    fire.own,
    ...rareList(fire),
  ] as const
}

/** Hardly any fire was asked for, or has a tenant that its schedule no longer has: most lists are shorter. */
function rareList({ asked, tenant }: OpenFire): readonly [asked?: Asked | null, tenant?: string | null] {
  if (tenant !== undefined) return [asked ?? null, tenant]
  return asked === undefined ? [] : [asked]
}

type OpenRunList = [
  token: string,
  instance: string,
  request: string,
  startedAt: number,
  cancel: OpenRun['cancel'],
  parkedUntil?: number | null,
  cause?: StartCause,
]

/** Hardly any run is parked or started late: most lists are shorter. */
function openRunList({ token, instance, request, startedAt, cancel, parkedUntil, cause }: OpenRun): OpenRunList {
  if (cause !== undefined) return [token, instance, request, startedAt, cancel, parkedUntil ?? null, cause]
  if (parkedUntil === undefined) return [token, instance, request, startedAt, cancel]
  return [token, instance, request, startedAt, cancel, parkedUntil]
}

function openRunOf([token, instance, request, startedAt, cancel, parkedUntil = null, cause]: OpenRunList): OpenRun {
  const run: Mutable<OpenRun> = { token, instance, request, startedAt, cancel }
  if (parkedUntil !== null) run.parkedUntil = parkedUntil
  if (cause !== undefined) run.cause = cause
  return run
}

function openFireOf(list: OpenList): OpenFire {
  const run = list[12]
  const fire: Mutable<OpenFire> = {
    dueAt: list[0],
    nonce: list[1],
    kind: list[2],
    round: list[3],
    plannedAt: list[4],
    readyAt: list[5],
    ignoresOverlap: list[7],
    attempt: list[8],
    failures: list[9],
    crashes: list[10],
    run: run === null ? null : openRunOf(run),
    own: list[13],
  }
  if (list[11] !== null) fire.giveUp = list[11]
  const asked = list[14] ?? null
  if (asked !== null) fire.asked = asked
  if (list[15] !== undefined) fire.tenant = list[15]
  if (typeof list[6] !== 'boolean') fire.wait = list[6]
  return fire
}
