import { bucketOf } from '../../model/bucket.ts'
import type { Change } from '../../model/change.ts'
import { ownEndsOf } from '../../model/own-ends.ts'
import type { FireKey, FireRecord, RunRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { stateOf } from '../../model/state-of.ts'
import type { ChangeResult } from '../store.ts'
import { type ApplyParts, CHANGE_COLUMNS, CODE, FIRE_COLUMNS, OPEN_COLUMNS, RUN_COLUMNS } from './apply-sql.ts'
import type { FunctionName } from './functions.ts'
import { Packer, type Row } from './packed.ts'
import { definitionText, type StoreMoment, stateText } from './rows.ts'

export interface ApplyAnswer extends StoreMoment {
  readonly live: boolean
  /** Slots that have no row yet: nothing was written. */
  readonly unmade?: readonly string[]
  /** By the number of the change. What is not mentioned is a conflict. */
  readonly results: readonly (
    | readonly [n: number, code: number]
    | { readonly n: number; readonly fire: FireRecord }
    | { readonly n: number; readonly slot: string }
  )[]
}

/** Who claims, and whom to tell. */
export interface ApplyHeader {
  readonly instance: string | null
  readonly lease_ms: number | null
  readonly channel: string | null
  readonly payload: string
  readonly app: string | null
  readonly app_version: number | null
}

/** What one statement can write at once: changes of different schedules. */
export interface Batch {
  readonly changes: readonly Change[]
  /** Where each stands in the whole. */
  readonly places: readonly number[]
}

/**
 * A change that builds on another one comes after it, in a batch of its own. So does what may have to wait for somebody: it must
 * not keep the others waiting.
 */
export function batchesOf(changes: readonly Change[]): Batch[] {
  const batches: { readonly changes: Change[]; readonly places: number[] }[] = []
  const turns = new Map<string, number>()
  for (const [place, change] of changes.entries()) {
    const turn = turns.get(change.id) ?? 0
    turns.set(change.id, turn + 1)
    const index = 2 * turn + (mayWait(change) ? 1 : 0)
    while (batches.length <= index) batches.push({ changes: [], places: [] })
    batches[index]!.changes.push(change)
    batches[index]!.places.push(place)
  }
  return batches.filter((batch) => batch.changes.length > 0)
}

/** For a counter of slots, for another who makes a schedule of this name, for another who removes one. */
function mayWait({ version, state, runs, limits }: Change): boolean {
  return version === 0 || state === null || limits.length > 0 || runs.some(({ slots }) => slots.length > 0)
}

export function functionFor(changes: readonly Change[]): FunctionName {
  const { slots, trims } = partsOf(changes)
  if (slots) return trims ? 'applyAll' : 'applySlots'
  return trims ? 'applyTrims' : 'apply'
}

export function partsOf(changes: readonly Change[]): ApplyParts {
  return {
    slots: changes.some(({ runs, limits }) => limits.length > 0 || runs.some(({ slots }) => slots.length > 0)),
    trims: changes.some(({ trim }) => trim !== null),
  }
}

/** The values of the statement, after the namespace. */
export function applyValues(header: ApplyHeader, changes: readonly Change[]): string[] {
  const rows = new Packer(CHANGE_COLUMNS)
  const fires = new Packer(FIRE_COLUMNS)
  const runs = new Packer(RUN_COLUMNS)
  const open = new Packer(OPEN_COLUMNS)
  const limits: unknown[] = []
  const trims: unknown[] = []
  for (const [n, change] of changes.entries()) {
    rows.add(changeRow(n, change))
    const own = new Set(ownEndsOf(change))
    for (const [place, fire] of change.creates.entries())
      if (fire.ending !== null) fires.add({ ...fireRow(n, place, fire), fresh: true, own: own.has(fire) })
    for (const [place, fire] of change.updates.entries())
      if (fire.ending !== null) fires.add({ ...fireRow(n, place, fire), fresh: false, own: own.has(fire) })
    for (const run of change.runs) if (run.ending !== null) runs.add(runRow(n, run))
    for (const row of openRows(n, change)) open.add(row)
    for (const [place, { slot, limit }] of change.limits.entries()) limits.push({ n, place, slot, most: limit })
    if (change.trim === null) continue
    trims.push({ n, id: change.id, below: change.trim.belowNumber, before: change.trim.endedBefore })
  }
  return [
    JSON.stringify(header),
    ...[rows, fires, runs, open].map((packer) => packer.text()),
    ...[limits, trims].map((value) => JSON.stringify(value)),
  ]
}

function changeRow(n: number, { id, version, epoch, notBefore, state }: Change): Row<typeof CHANGE_COLUMNS> {
  const head = { n, id, version, epoch, not_before: notBefore }
  if (state === null) return head
  const { definition, tokens, wakeAt, revision } = state
  return {
    ...head,
    state: stateText(state),
    tokens,
    wake_at: wakeAt,
    bucket: bucketOf(id),
    job: definition.job,
    tenant: definition.tenant,
    app: appOf(state),
    status: stateOf(state),
    revision,
    definition: version === 0 ? JSON.stringify(definition) : definitionText(state),
  }
}

function appOf({ source }: ScheduleState): string | null {
  return source.kind === 'code' ? source.app : null
}

function fireRow(n: number, place: number, fire: FireRecord): Row<typeof FIRE_COLUMNS> {
  return {
    n,
    place,
    schedule: fire.schedule,
    due_at: fire.dueAt,
    nonce: fire.nonce,
    job: fire.job,
    tenant: fire.tenant,
    outcome: fire.ending?.outcome,
    ended_at: fire.endedAt,
    number: fire.number,
    expires_at: fire.expiresAt,
    until_at: fire.range?.untilAt,
    record: JSON.stringify(fire),
  }
}

function runRow(n: number, run: RunRecord): Row<typeof RUN_COLUMNS> {
  return {
    n,
    schedule: run.schedule,
    token: run.token,
    due_at: run.dueAt,
    nonce: run.nonce,
    job: run.job,
    instance: run.instance,
    started_at: run.startedAt,
    outcome: run.ending?.outcome,
    record: JSON.stringify(run),
  }
}

interface Opening {
  readonly key: FireKey & { readonly job: string }
  readonly place: number
  readonly isFresh: boolean
  fire: FireRecord | null
  /** The one that is open; of those that have ended, any. */
  run: RunRecord | null
  readonly endedTokens: string[]
}

/** A fire and its run stand in one row while they are open: what a change says about either, by fire. */
function openRows(n: number, { creates, updates, runs }: Change): Row<typeof OPEN_COLUMNS>[] {
  const openings = new Map<string, Opening>()
  for (const [place, fire] of creates.entries()) {
    if (fire.ending === null)
      openings.set(keyText(fire), { key: fire, place, isFresh: true, fire, run: null, endedTokens: [] })
  }
  for (const [place, fire] of updates.entries()) {
    openings.set(keyText(fire), { key: fire, place, isFresh: false, fire, run: null, endedTokens: [] })
  }
  for (const run of runs) {
    const key = keyText(run)
    const opening = openings.get(key) ?? { key: run, place: 0, isFresh: false, fire: null, run: null, endedTokens: [] }
    openings.set(key, opening)
    if (opening.run === null || run.ending === null) opening.run = run
    if (run.ending !== null) opening.endedTokens.push(run.token)
  }
  return [...openings.values()].map((opening) => openRow(n, opening))
}

function openRow(n: number, { key, place, isFresh, fire, run, endedTokens }: Opening): Row<typeof OPEN_COLUMNS> {
  const head = { n, place, fresh: isFresh, schedule: key.schedule, due_at: key.dueAt, nonce: key.nonce, job: key.job }
  const isRun = run?.ending === null
  return {
    ...head,
    tenant: fire?.tenant,
    round: fire?.round ?? 1,
    fire_is: stateIn(fire),
    fire: fire?.ending === null ? JSON.stringify(fire) : null,
    // What is new has no run of before.
    run_is: isFresh && run === null ? 'ended' : stateIn(run),
    ended_tokens: endedTokens.join(' '),
    ...(isRun && {
      run: JSON.stringify(run),
      token: run.token,
      instance: run.instance,
      started_at: run.startedAt,
      slots: JSON.stringify(run.slots),
    }),
  }
}

function stateIn(record: FireRecord | RunRecord | null): 'open' | 'ended' | 'same' {
  if (record === null) return 'same'
  return record.ending === null ? 'open' : 'ended'
}

function keyText({ schedule, dueAt, nonce }: FireKey): string {
  return `${dueAt} ${nonce} ${schedule}`
}

const KINDS: ReadonlyMap<number, ChangeResult> = new Map(
  (['applied', 'early', 'conflict'] as const).map((kind) => [CODE[kind], { kind }]),
)

/** One for each change, in order. No answer: all are for another time. */
export function resultsOf(answer: ApplyAnswer | null, count: number): ChangeResult[] {
  const { live = true, results = [] } = answer ?? {}
  const kind = live ? 'conflict' : 'not-live'
  const all: ChangeResult[] = Array.from({ length: count }, () => ({ kind }))
  for (const result of results) {
    if (!('n' in result)) all[result[0]] = KINDS.get(result[1])!
    else if ('fire' in result) all[result.n] = { kind: 'exists', fire: result.fire }
    else all[result.n] = { kind: 'full', slot: result.slot }
  }
  return all
}
