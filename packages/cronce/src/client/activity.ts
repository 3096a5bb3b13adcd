import type { Action, ActivityRecord, ActivitySubject } from '../model/activity.ts'
import type { Json } from '../model/json.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import type { Decision } from '../policy/decision.ts'
import { isEqual } from '../policy/equal.ts'
import type { ActivityQuery } from '../store/store.ts'
import { readStore, writeStore } from './ask-store.ts'
import { everyItem, PAGE_NAMES, type Page, type PageOptions, readPage } from './pages.ts'
import type { ClientParts } from './parts.ts'
import {
  AUTHORED,
  type Authored,
  type Operator,
  optionalInstant,
  optionalText,
  readCommand,
  readOperator,
} from './read-command.ts'
import { readInput } from './read-input.ts'
import { readChoice } from './read-option.ts'
import type { When } from './schedule-options.ts'

/** Which lines of the operator log to list. */
export interface ActivityFilter {
  /** Lines about this schedule. */
  readonly schedule?: string | undefined
  /** Actions at this instant or later. */
  readonly from?: When | undefined
  /** Actions before this instant. */
  readonly to?: When | undefined
}

/** Options of `activity.list()`. */
export interface ActivityListOptions extends ActivityFilter, PageOptions {}

/** The operator log: who did what, when, from where and why. */
export interface Activity {
  /** The latest first. */
  list(options?: ActivityListOptions): Promise<Page<ActivityRecord>>
  /** The same without pages. */
  all(filter?: ActivityFilter): AsyncIterable<ActivityRecord>
  /** Log an action on the store as a whole that no other command stands for. */
  add(action: 'adopt', options?: AddActivity): Promise<void>
}

/** Options of `activity.add()`. */
export interface AddActivity extends Authored {
  readonly changed?: ActivityRecord['changed'] | undefined
}

/** An action, and what it changes once that is decided. */
export interface Act {
  readonly action: Action
  readonly by: Operator
  readonly changed?: ((decision: Decision, before: ScheduleState | null) => ActivityRecord['changed']) | undefined
}

const YEAR_MS = 365 * 86_400_000

/** What programs do as part of their work, perhaps a thousand times a second: from code, it is logged only if it has an author or a note. */
const BY_PROGRAMS: ReadonlySet<Action> = new Set(['create', 'put', 'replace', 'trigger', 'prune'])

export function isLogged({ action, by: { origin, author, note } }: Act): boolean {
  return origin !== 'code' || author !== null || note !== null || !BY_PROGRAMS.has(action)
}

export function lineOf<Tx>(
  parts: ClientParts<Tx>,
  { action, by: { author, note, origin } }: Act,
  subject: ActivitySubject,
  at: Instant,
  changed: ActivityRecord['changed'],
): ActivityRecord {
  const id = parts.context().newId()
  const expiresAt = at + (parts.keepActivityMs ?? YEAR_MS)
  return { id, at, action, origin, author, note, subject, changed, expiresAt }
}

/** Logs an action that no change of a schedule stands for. `schedule`: it is about this one, not about the store as a whole. */
export async function logAlone<Tx>(
  parts: ClientParts<Tx>,
  act: Act,
  changed: ActivityRecord['changed'],
  schedule?: string,
): Promise<void> {
  if (!isLogged(act)) return
  const { store } = parts
  const subject: ActivitySubject =
    schedule === undefined ? { type: 'store', name: store.info.name } : { type: 'schedule', name: schedule }
  const { now } = await readStore('read its clock', () => store.load([]))
  const activity = lineOf(parts, act, subject, now, changed)
  await writeStore('write to the operator log', () => store.apply([], { activity }))
}

/** The decision with the line about it, which is written with it or not at all. */
export function withActivity<Tx>(
  parts: ClientParts<Tx>,
  act: Act | undefined,
  before: ScheduleState | null,
  decision: Decision,
  now: Instant,
): Decision {
  if (act === undefined || !isLogged(act)) return decision
  const subject = { type: 'schedule', name: decision.change.id } as const
  const activity = lineOf(parts, act, subject, now, act.changed?.(decision, before) ?? {})
  return { ...decision, change: { ...decision.change, activity } }
}

/** Which parts of a definition a change replaces. The input may hold secrets or data of customers: only that it changed is logged. */
export function changedDefinition(
  { change: { state } }: Decision,
  before: ScheduleState | null,
): ActivityRecord['changed'] {
  if (state === null) return {}
  const { input, ...after } = state.definition
  if (before === null) return { created: true, job: after.job, trigger: after.trigger as unknown as Json }
  const { input: oldInput, ...old } = before.definition
  const names = [...new Set([...Object.keys(old), ...Object.keys(after)])] as (keyof typeof after)[]
  const fields = names.filter((name) => !isEqual(old[name], after[name]))
  const changed = Object.fromEntries(
    fields.map((name) => [name, { from: (old[name] ?? null) as Json, to: (after[name] ?? null) as Json }]),
  )
  return isEqual(input, oldInput) ? changed : { ...changed, input: 'changed' }
}

const FILTERS = ['schedule', 'from', 'to'] as const

export function makeActivity<Tx>(parts: ClientParts<Tx>): Activity {
  const { store } = parts
  const list = async (query: ActivityQuery): Promise<Page<ActivityRecord>> => {
    const { items, next } = await readStore('list the operator log', () => store.listActivity(query))
    return { items, next }
  }
  return {
    async list(options) {
      const fields = readCommand(options, [...FILTERS, ...PAGE_NAMES])
      return list({ ...readFilter(fields), ...readPage(fields) })
    },
    all(filter) {
      const fields = readFilter(readCommand(filter, FILTERS))
      return everyItem((after, limit) => list({ ...fields, after, limit }))
    },
    async add(action, options) {
      const { changed = {}, ...authored } = readCommand(options, ['changed', ...AUTHORED])
      const act: Act = { action: readChoice('action', action, ['adopt']), by: readOperator(authored) }
      await logAlone(parts, act, readInput(changed) as ActivityRecord['changed'])
    },
  }
}

function readFilter({ schedule, from, to }: Partial<Record<(typeof FILTERS)[number], unknown>>) {
  return {
    schedule: optionalText('schedule', schedule),
    from: optionalInstant('from', from),
    to: optionalInstant('to', to),
  }
}
