import type { ScheduleView } from 'cronce'
import { type Declaration, viewSchedule } from 'cronce/internal'
import type { ScheduleState, StoreCopy } from './copy-store.ts'
import type { Rehearsed } from './rehearse.ts'

/**
 * `returned`: it was retired, and is active again. `undeclared`: the code no longer has it, and it is not retired soon.
 * `refused`: the release may not define it.
 */
export type ChangeKind = 'added' | 'changed' | 'renamed' | 'returned' | 'retired' | 'undeclared' | 'refused'

export interface FoundChange {
  readonly kind: ChangeKind
  readonly name: string
  /** The name that it had. */
  readonly was: string | null
  readonly before: ScheduleView | null
  readonly after: ScheduleView | null
  /** The release may not define it: why. */
  readonly refusal: { readonly code: string; readonly message: string } | null
}

export interface Found {
  readonly changes: readonly FoundChange[]
  /** Active schedules of the app, before and after. */
  readonly before: readonly ScheduleView[]
  readonly after: readonly ScheduleView[]
}

/** What the deployment changes, by name. */
export function findChanges(copy: StoreCopy, rehearsed: Rehearsed, declarations: readonly Declaration[]): Found {
  const isOwn = ({ source }: ScheduleState): boolean => source.kind === 'code' && source.app === copy.app
  const isActive = (state: ScheduleState | undefined): boolean =>
    state !== undefined && state.retiredAt === null && isOwn(state)
  const active = (states: ReadonlyMap<string, ScheduleState>): readonly ScheduleState[] =>
    [...states.values()].filter(isActive)
  const declared = new Set(declarations.flatMap(({ settings }) => settings.declared.map(({ id }) => id)))
  const families = new Set(declarations.flatMap(({ settings }) => settings.families))
  const isDeclared = (name: string): boolean => declared.has(name) || families.has(`${name.split('@')[0]}@*`)
  const refusals = refusalsOf(rehearsed)
  const renamed = renamesOf(copy, rehearsed)
  const names = [...new Set([...copy.schedules.keys(), ...rehearsed.settled.keys(), ...refusals.keys()])].sort()
  const changes = names.flatMap((name): FoundChange[] => {
    const before = copy.schedules.get(name)
    const deployed = rehearsed.deployed.get(name)
    const settled = rehearsed.settled.get(name)
    const after = isActive(deployed) ? deployed : settled
    const known = { name, was: null, before: viewOf(before), after: viewOf(after), refusal: null }
    const refusal = refusals.get(name)
    if (refusal !== undefined) return [{ ...known, kind: 'refused', refusal }]
    if (isActive(before) && !isActive(settled)) {
      const next = settled?.retirements?.at(-1)?.renamedTo
      // Told under its new name.
      if (next !== undefined && renamed.get(next) === name) return []
      return [{ ...known, kind: 'retired', after: null }]
    }
    if (isActive(before) && !isDeclared(name)) return [{ ...known, kind: 'undeclared' }]
    if (!isActive(after)) return []
    if (isActive(before)) return isSame(before!, after!) ? [] : [{ ...known, kind: 'changed' }]
    const was = renamed.get(name)
    if (was !== undefined) return [{ ...known, kind: 'renamed', was, before: viewOf(copy.schedules.get(was)) }]
    return [{ ...known, kind: before === undefined || !isOwn(before) ? 'added' : 'returned' }]
  })
  // What the release defines at once counts from then on, and what is retired later does not.
  const later = active(rehearsed.settled).map(({ id }) => rehearsed.deployed.get(id) ?? rehearsed.settled.get(id)!)
  return { changes, before: active(copy.schedules).map(viewSchedule), after: later.map(viewSchedule) }
}

function viewOf(state: ScheduleState | undefined): ScheduleView | null {
  return state === undefined ? null : viewSchedule(state)
}

function refusalsOf({ app }: Rehearsed): ReadonlyMap<string, { readonly code: string; readonly message: string }> {
  return new Map(app.refused.map(({ schedule, code, message }) => [schedule, { code, message }]))
}

/** By new name, the name that was active before the deployment. */
function renamesOf(copy: StoreCopy, { settled }: Rehearsed): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  for (const { id, retiredAt, retirements } of settled.values()) {
    const next = retiredAt === null ? undefined : retirements?.at(-1)?.renamedTo
    const isNew = copy.schedules.get(id)?.retiredAt === null && copy.schedules.get(next ?? '')?.retiredAt !== null
    if (next !== undefined && isNew) renamed.set(next, id)
  }
  return renamed
}

function isSame(one: ScheduleState, other: ScheduleState): boolean {
  return canonical(one.definition) === canonical(other.definition)
}

/** JSON in one order of keys: stores differ in the order that they answer in. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
