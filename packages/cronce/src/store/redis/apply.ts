import { bucketOf } from '../../model/bucket.ts'
import type { Change } from '../../model/change.ts'
import { ownEndsOf } from '../../model/own-ends.ts'
import type { FireRecord, RunRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { ChangeResult } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { decodeName, encodeName, fireName, readFireName } from './keys.ts'
import { readFire, writeFire, writeRun, writeState } from './records.ts'

/** Changes of different schedules, and where each stands in the whole. A change that builds on another one comes in a later batch. */
export interface Batch {
  readonly changes: Change[]
  readonly places: number[]
}

/** So many in one script: nobody else is served meanwhile. */
const MOST = 500

export function batchesOf(changes: readonly Change[]): Batch[] {
  const batches: Batch[] = []
  let batch: Batch = { changes: [], places: [] }
  let ids = new Set<string>()
  for (const [place, change] of changes.entries()) {
    // In order, whatever they are about: they may want the same slot.
    if (place === 0 || ids.has(change.id) || batch.changes.length === MOST) {
      batch = { changes: [], places: [] }
      batches.push(batch)
      ids = new Set()
    }
    ids.add(change.id)
    batch.changes.push(change)
    batch.places.push(place)
  }
  return batches
}

/** What the script takes, in its order: see `scripts/apply.ts`. `definitionText` is empty where the store has it already. */
export function pushChange(args: string[], change: Change, definitionText: (state: ScheduleState) => string): void {
  const { id, version, epoch, notBefore, state, creates, updates, runs, limits, trim } = change
  // One that is made has none in the store, whatever one of its name had: to be asked for it would cost its place in the order, too.
  const definition = state === null ? '' : version === 0 ? JSON.stringify(state.definition) : definitionText(state)
  let head = `${encodeName(id)}\n${version}\n${epoch}\n${whole(notBefore)}\n${stateFields(id, state)}`
  head += `${whole(trim?.belowNumber)}\n${whole(trim?.endedBefore)}\n${definition === '' ? 0 : 1}\n`
  head += `${creates.length}\n${updates.length}\n${runs.length}\n${limits.length}\n`
  for (const { slot, limit } of limits) head += `${encodeName(slot)}\n${limit}\n`
  args.push(head)
  if (state !== null) args.push(writeState(state))
  if (definition !== '') args.push(definition)
  const own = new Set(ownEndsOf(change))
  for (const fire of [...creates, ...updates]) args.push(fireHead(fire, own.has(fire)), writeFire(fire))
  for (const run of runs) args.push(runHead(run), writeRun(run))
}

/** What is no number would stop the script half-way, and all that the others of its batch wrote would be in no list. */
function whole(value: number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (Number.isSafeInteger(value)) return String(value)
  throw new StoreError('STORE_FAILED', `A change has a time or number that is none: ${value}.`, {
    hint: 'Report this: it should not happen.',
  })
}

function stateFields(id: string, state: ScheduleState | null): string {
  const bucket = bucketOf(id).toString(16).padStart(2, '0')
  if (state === null) return `x\n-\n\n${bucket}\n\n\n\n\n`
  const { wakeAt, definition, revision, tokens, source } = state
  const tenant = definition.tenant === null ? '' : `+${encodeName(definition.tenant)}`
  const app = source.kind === 'code' ? `+${encodeName(source.app)}` : ''
  return `s\n${whole(wakeAt) || '-'}\n${encodeName(definition.job)}\n${bucket}\n${revision}\n${tokens}\n${tenant}\n${app}\n`
}

function fireHead(fire: FireRecord, isOwnEnd: boolean): string {
  const { ending, range, number, endedAt, expiresAt } = fire
  const isOpen = ending === null ? 1 : 0
  const times = `${whole(range?.untilAt)}\n${whole(number)}\n${whole(endedAt)}\n${whole(expiresAt)}`
  return `${fireName(fire)}\n${isOpen}\n${times}\n${isOwnEnd ? 1 : 0}\n`
}

function runHead(run: RunRecord): string {
  const { token, instance, ending, startedAt, slots } = run
  const isOpen = ending === null ? 1 : 0
  const names = slots.length === 0 ? '' : slots.map(encodeName).join('\t')
  return `${token}\n${fireName(run)}\n${encodeName(instance)}\n${isOpen}\n${whole(startedAt)}\n${names}\n`
}

const APPLIED: ChangeResult = { kind: 'applied' }
const CONFLICT: ChangeResult = { kind: 'conflict' }
const EARLY: ChangeResult = { kind: 'early' }
const NOT_LIVE: ChangeResult = { kind: 'not-live' }

/** `null`: the store wants the definition. */
export function resultsOf(lines: readonly string[], changes: readonly Change[]): (ChangeResult | null)[] {
  if (lines[0] === 'n') return changes.map(() => NOT_LIVE)
  if (lines[0] === 'h') return changes.map(() => CONFLICT)
  return changes.map((change, index) => resultOf(lines[index]!, change))
}

function resultOf(line: string, { id }: Change): ChangeResult | null {
  switch (line[0]) {
    case 'a':
      return APPLIED
    case 'c':
      return CONFLICT
    case 'e':
      return EARLY
    case 'd':
      return null
    case 'f':
      return { kind: 'full', slot: decodeName(line.slice(1)) }
    default: {
      const [name, record] = line.slice(1).split('\t')
      const fire = readFire({ schedule: id, ...readFireName(name!) }, record!)
      // That of a newer version is for that one to deal with.
      return fire === null ? CONFLICT : { kind: 'exists', fire }
    }
  }
}
