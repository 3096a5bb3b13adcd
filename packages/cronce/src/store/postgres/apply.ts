import { type ActivityRecord, scheduleOfActivity } from '../../model/activity.ts'
import { bucketOf } from '../../model/bucket.ts'
import type { Change } from '../../model/change.ts'
import type { FireKey } from '../../model/record.ts'
import type { Definition, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { stateOf } from '../../model/state-of.ts'
import type { ChangeResult } from '../store.ts'
import { lineRow, MOST_FAILED, moreOf, plainRunOf, type StoreMoment, toColumn } from './rows.ts'
import type { Definitions } from './schedules.ts'

/** The answer of the general statement. */
export interface ApplyAnswer extends StoreMoment {
  readonly live: boolean
  readonly renewed?: boolean
  /** One for each change. Absent: all of them are refused. */
  readonly results?: readonly string[]
  /** Rows of claims that were written for the claimant, with the places of their changes. */
  readonly claims?: readonly ClaimRow[] | null
  /** Claims that the statement should delete, but that have not ended. `null`: it had none to delete, or did not get that far. */
  readonly kept?: readonly number[] | null
}

export type ClaimRow = readonly [id: number, places: readonly number[]]

/** The claimant, and whom to notify. */
export interface ApplyHeader {
  readonly instance: string | null
  readonly lease_ms: number | null
  /** Renew the lease, whenever it was last renewed. */
  readonly renew: boolean
  readonly channel: string | null
  readonly payload: string
  readonly app: string | null
  readonly app_version: number | null
  /** Claims that have ended, as far as this process knows. */
  readonly finished: readonly number[]
  /** A line of the operator log that no change carries. */
  readonly activity?: ActivityRecord | undefined
}

/** The values of the statement, after the namespace. */
export function applyValues(header: ApplyHeader, changes: readonly Change[], definitions: Definitions): string[] {
  const finished = header.finished.length === 0 ? null : `{${header.finished.join()}}`
  const head = { ...header, finished, locks: changes.some(mayWait), activity: some(activityRows(header.activity)) }
  return [JSON.stringify(head), JSON.stringify(changes.map((change) => changeRow(change, definitions)))]
}

/** For a transaction that creates the same name or takes the same slot. */
export function mayWait({ version, state, limits }: Change): boolean {
  return version === 0 || limits.length > 0 || slotsOf(state) !== null
}

function changeRow(change: Change, definitions: Definitions): object {
  const { id, version, epoch, notBefore, state, trim } = change
  return {
    ...{ id, version, epoch, not_before: notBefore },
    creates: some(change.creates.map(fireRow)),
    reopens: some(change.reopens.map(fireRow)),
    history: some(change.history.map(lineRow)),
    rewrites: some(change.rewrites.map(lineRow)),
    limits: some(change.limits),
    activity: some(activityRows(change.activity)),
    below: trim?.belowNumber,
    before: trim?.endedBefore,
    ...(state === null ? { is_gone: true, more: '' } : stateRow(state, version, definitions)),
  }
}

/** The line as a list, as `json_to_recordset` takes it. */
export function activityRows(line: ActivityRecord | undefined): readonly object[] {
  if (line === undefined) return []
  const { at, id, expiresAt } = line
  return [{ at, id, schedule: scheduleOfActivity(line) ?? '', expires_at: expiresAt, line: JSON.stringify(line) }]
}

/** Statements skip what is null. */
function some<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.length === 0 ? null : items
}

function fireRow({ dueAt, nonce }: Omit<FireKey, 'schedule'>): object {
  return { due_at: dueAt, nonce }
}

function stateRow(state: ScheduleState, version: number, definitions: Definitions): object {
  const { definition, source, last } = state
  const known = definitions.known(state)
  return {
    is_gone: false,
    open: some(openRows(state)),
    slots: slotsOf(state),
    tokens: state.tokens,
    fired: state.fired,
    ended: state.ended,
    failed_in_row: Math.min(state.failedInRow, MOST_FAILED),
    wake_at: toColumn(state.wakeAt),
    next_at: toColumn(state.nextAt),
    planned_to: toColumn(state.plannedTo),
    trimmed_before: toColumn(state.trimmedBefore),
    last_due: toColumn(last.dueAt),
    last_ok_due: toColumn(last.succeededDueAt),
    last_ok_at: toColumn(last.succeededAt),
    zone: state.zoneData ?? '',
    more: moreOf(state),
    bucket: bucketOf(state.id),
    job: definition.job,
    tenant: definition.tenant,
    app: source.kind === 'code' ? source.app : null,
    status: stateOf(state),
    revision: state.revision,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
    source: JSON.stringify(source),
    // The store already has it if it was read there with this revision.
    definition: version > 0 && known !== undefined ? null : JSON.stringify(definition),
  }
}

function openRows({ open, definition }: ScheduleState): object[] {
  return open.map((fire) => openRow(fire, definition))
}

function openRow(fire: OpenFire, definition: Definition): object {
  const { dueAt, nonce, run, tenant = definition.tenant } = fire
  return {
    due_at: dueAt,
    nonce,
    tenant: tenant ?? '',
    token: run?.token ?? '0',
    claim: run?.claim ?? 0,
    started_at: plainRunOf(fire)?.claimedAt ?? run?.startedAt ?? 0,
    instance: run?.instance ?? '',
    cancel: run === null || run.cancel === null ? '' : JSON.stringify(run.cancel),
  }
}

function slotsOf(state: ScheduleState | null): readonly object[] | null {
  return some((state?.open ?? []).flatMap(({ run }) => run?.slots?.map((slot) => ({ slot, token: run.token })) ?? []))
}

/** The result of a change. If it is refused because a fire is on record, `place` is the index in `creates`. */
export type Judgement = Exclude<ChangeResult, { readonly kind: 'exists' }> | { readonly kind: 'exists'; place: number }

export function judgementsOf({ live, results }: ApplyAnswer, count: number): Judgement[] {
  if (!live) return Array.from({ length: count }, () => ({ kind: 'not-live' }))
  if (results === undefined) return Array.from({ length: count }, () => ({ kind: 'conflict' }))
  return results.map(judgementOf)
}

function judgementOf(text: string): Judgement {
  if (text === 'applied' || text === 'conflict' || text === 'early') return { kind: text }
  const value = text.slice(text.indexOf(' ') + 1)
  return text.startsWith('exists ') ? { kind: 'exists', place: Number(value) } : { kind: 'full', slot: value }
}
