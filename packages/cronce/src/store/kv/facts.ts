import type { Change } from '../../model/change.ts'
import type { FireKey, FireRecord, HistoryRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { findTwin } from '../matches.ts'
import type { Context } from './context.ts'
import type { Entry, Found, Guard, Put, Read } from './driver.ts'
import { decodeNumber, encodeName, type Keys } from './keys.ts'
import { readLine, viewFire } from './lines.ts'
import { type Facts, vanishing } from './plan-change.ts'
import type { Schedules } from './schedules.ts'
import type { SlotCount } from './slots.ts'

/** What a commit of several changes depends on, beside their states. */
export interface CommitFacts {
  readonly slots: readonly SlotCount[]
  /** For each change. */
  readonly of: readonly Facts[]
  /** Changes that make or remove a schedule depend on the floor: two commits of those are one after the other. */
  floorFor(changes: readonly Change[], schedules: Schedules): { readonly guards: Guard[]; readonly puts: Put[] }
}

export async function readFacts(
  context: Context,
  schedules: Schedules,
  changes: readonly Change[],
): Promise<CommitFacts> {
  const { keys, driver } = context
  const slots = [...new Set(changes.flatMap(({ limits }) => limits.map(({ slot }) => slot)))]
  const isFloorRead = changes.some(({ version, state }) => version === 0 || state === null)
  const plans = changes.map((change) => readsFor(keys, change, schedules.known(change.id)?.state))
  const reads: Read[] = [
    ...slots.map((slot) => ({ ...keys.below('c', encodeName(slot)), countOnly: true })),
    ...(isFloorRead ? [{ get: keys.floor }] : []),
    ...plans.flatMap(({ reads }) => reads),
  ]
  const { found, revision } = reads.length === 0 ? { found: [], revision: 0 } : await driver.read(reads)
  const answers = found.values()
  const counts = slots.map((slot) => ({ slot, count: answers.next().value!.count, revision }))
  const floor = isFloorRead ? answers.next().value!.entries[0] : undefined
  const of: Facts[] = []
  for (const plan of plans)
    of.push(await factsOf(context, plan, Number(floor?.value ?? 0), () => answers.next().value!))
  return { slots: counts, of, floorFor: (written, known) => floorOf(keys, floor, written, known) }
}

interface FactsPlan {
  readonly schedule: string
  readonly isNew: boolean
  readonly rewrites: readonly number[]
  readonly reopens: readonly FireKey[]
  readonly vanishing: readonly FireKey[]
  readonly reads: readonly Read[]
}

function readsFor(keys: Keys, change: Change, before: ScheduleState | undefined): FactsPlan {
  const { id, version, reopens } = change
  const rewrites = change.rewrites.map(({ number }) => number)
  const gone = vanishing(change, before)
  const numbers = keys.below('n', encodeName(id))
  return {
    schedule: id,
    isNew: version === 0,
    rewrites,
    reopens,
    vanishing: gone,
    reads: [
      ...(version === 0 ? [{ ...numbers, reverse: true, limit: 1, keysOnly: true }] : []),
      ...rewrites.map((number) => ({ get: keys.numbered(id, number) })),
      ...reopens.map((fire) => keys.linesOf(fire)),
      ...gone.map((fire) => ({ ...keys.linesOf(fire), countOnly: true })),
    ],
  }
}

async function factsOf(context: Context, plan: FactsPlan, floor: number, next: () => Found): Promise<Facts> {
  const { keys, driver } = context
  const last = plan.isNew ? next().entries[0] : undefined
  const numbered = plan.rewrites.flatMap((number) => {
    const entry = next().entries[0]
    if (entry === undefined) return []
    const [dueAt, nonce] = JSON.parse(entry.value) as [number, string]
    return [{ get: keys.line({ schedule: plan.schedule, dueAt, nonce, number }) }]
  })
  const reopened = plan.reopens.flatMap(() => linesIn(next())).filter(({ isFinal }) => isFinal)
  const freed = plan.vanishing.filter(() => next().count === 0).map(({ nonce }) => nonce)
  const replaced = numbered.length === 0 ? [] : (await driver.read(numbered)).found.flatMap(linesIn)
  const lastNumber = last === undefined ? 0 : decodeNumber(keys.parts(last.key)[2]!)
  return { floor, lastNumber, replaced, reopened, freed }
}

export function linesIn({ entries }: Found): HistoryRecord[] {
  return entries.map(({ value }) => readLine(value))
}

function floorOf(
  keys: Keys,
  entry: Entry | undefined,
  changes: readonly Change[],
  schedules: Schedules,
): { readonly guards: Guard[]; readonly puts: Put[] } {
  const key = keys.floor
  const before = Number(entry?.value ?? 0)
  const removed = changes.filter(({ state }) => state === null).map(({ id }) => schedules.known(id)?.state)
  const floor = Math.max(before, ...removed.map((state) => Math.max(state?.tokens ?? 0, state?.version ?? 0)))
  const guard: Guard = entry === undefined ? { key, is: 'absent' } : { key, is: 'revision', revision: entry.revision }
  return { guards: [guard], puts: floor > before ? [{ key, value: String(floor) }] : [] }
}

/** The first of the fires that a change creates which is on record, or open in this state. */
export async function findExisting(
  { keys, driver }: Context,
  change: Change,
  state: ScheduleState | undefined,
): Promise<FireRecord | null> {
  const { creates } = change
  if (creates.length === 0) return null
  const reads = creates.flatMap((fire): Read[] => [keys.linesOf(fire), { get: keys.nonce(fire.schedule, fire.nonce) }])
  const { found } = await driver.read(reads)
  for (const [index, fire] of creates.entries()) {
    const own = viewFire(fire, state, linesIn(found[2 * index]!))
    if (own !== null) return own
    const namesake = found[2 * index + 1]!.entries[0]
    if (fire.nonce === '' || namesake === undefined) continue
    const other = { ...fire, dueAt: Number(namesake.value) }
    // Later than what was read above: the fire of a nonce stays the same until its last line is deleted.
    const { found: lines } = await driver.read([keys.linesOf(other)])
    const known = viewFire(other, state, linesIn(lines[0]!))
    if (known !== null) return known
  }
  return findTwin(change)
}
