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

/** What is known about one name. */
interface Known {
  readonly name: string
  readonly before: ScheduleState | undefined
  /** When the first process of the release has started, and when the older ones are gone. */
  readonly deployed: ScheduleState | undefined
  readonly settled: ScheduleState | undefined
}

/** What the deployment changes, by name. */
export function findChanges(copy: StoreCopy, rehearsed: Rehearsed, declarations: readonly Declaration[]): Found {
  const refusals = refusalsOf(rehearsed)
  const judge = new ChangeJudge(copy, rehearsed, declarations)
  const names = [...new Set([...copy.schedules.keys(), ...rehearsed.settled.keys(), ...refusals.keys()])].sort()
  const changes = names.flatMap((name): FoundChange[] => {
    const [before, deployed, settled] = [copy.schedules, rehearsed.deployed, rehearsed.settled].map((one) =>
      one.get(name),
    )
    const refusal = refusals.get(name) ?? null
    const kind = refusal === null ? judge.kindOf({ name, before, deployed, settled }) : 'refused'
    if (kind === null) return []
    const was = kind === 'renamed' ? judge.renamed.get(name)! : null
    const after = kind === 'retired' ? undefined : judge.isActive(deployed) ? deployed : settled
    const old = viewOf(was === null ? before : copy.schedules.get(was))
    return [{ kind, name, was, before: old, after: viewOf(after), refusal }]
  })
  const active = (states: ReadonlyMap<string, ScheduleState>): readonly ScheduleState[] =>
    [...states.values()].filter((state) => judge.isActive(state))
  // What the release defines at once counts from then on, and what is retired later does not.
  const later = active(rehearsed.settled).map(({ id }) => rehearsed.deployed.get(id) ?? rehearsed.settled.get(id)!)
  return { changes, before: active(copy.schedules).map(viewSchedule), after: later.map(viewSchedule) }
}

class ChangeJudge {
  /** By new name, the name that was active before the deployment. */
  readonly renamed: ReadonlyMap<string, string>
  readonly #app: string
  readonly #declared: ReadonlySet<string>
  readonly #families: ReadonlySet<string>

  constructor(copy: StoreCopy, rehearsed: Rehearsed, declarations: readonly Declaration[]) {
    this.#app = copy.app
    this.renamed = renamesOf(copy, rehearsed)
    this.#declared = new Set(declarations.flatMap(({ settings }) => settings.declared.map(({ id }) => id)))
    this.#families = new Set(declarations.flatMap(({ settings }) => settings.families))
  }

  isActive(state: ScheduleState | undefined): boolean {
    return state !== undefined && state.retiredAt === null && this.#isOwn(state)
  }

  /** `null`: nothing changes under this name, or it is told under another one. */
  kindOf({ name, before, deployed, settled }: Known): ChangeKind | null {
    const after = this.isActive(deployed) ? deployed : settled
    if (this.isActive(before)) {
      if (!this.isActive(settled)) return this.#isTold(name, settled) ? null : 'retired'
      if (!this.#isDeclared(name)) return 'undeclared'
      return isSame(before!, after!) ? null : 'changed'
    }
    if (!this.isActive(after)) return null
    if (this.renamed.has(name)) return 'renamed'
    return before === undefined || !this.#isOwn(before) ? 'added' : 'returned'
  }

  #isTold(name: string, settled: ScheduleState | undefined): boolean {
    const next = settled?.retirements?.at(-1)?.renamedTo
    return next !== undefined && this.renamed.get(next) === name
  }

  #isOwn({ source }: ScheduleState): boolean {
    return source.kind === 'code' && source.app === this.#app
  }

  #isDeclared(name: string): boolean {
    return this.#declared.has(name) || this.#families.has(`${name.split('@')[0]}@*`)
  }
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
