import { isInternal, RESERVED_PREFIX } from '../model/exclusive-jobs.ts'
import type { MissedChoice, ScheduleState } from '../model/schedule.ts'
import { SCHEDULE_STATES } from '../model/state-of.ts'
import { pause, resume } from '../policy/operate/pause.ts'
import { skipNext } from '../policy/operate/skip-next.ts'
import type { InTransaction, ScheduleQuery } from '../store/store.ts'
import type { Act } from './activity.ts'
import { readStore } from './ask-store.ts'
import { type BackfillAnswer, type BackfillOptions, backfill } from './backfill.ts'
import { type Changed, changeSchedule, type Decide, scheduleNotFound } from './change-schedule.ts'
import { type CreatedMany, type CreateManyOptions, createMany, type Entries } from './create-many.ts'
import { type Delivered, type DeliverOptions, deliverFire } from './deliver.ts'
import type { AnyInputs } from './inputs.ts'
import { viewSchedule } from './make-view.ts'
import { everyItem, filteredPage, PAGE_NAMES, type Page, type PageOptions, readPage } from './pages.ts'
import type { ClientParts } from './parts.ts'
import {
  AUTHORED,
  type Authored,
  authorOf,
  type Operator,
  optionalInstant,
  optionalText,
  readCommand,
  readOperator,
} from './read-command.ts'
import { readName, readSteered } from './read-name.ts'
import { optionInvalid, readBoolean, readChoice, readInstant } from './read-option.ts'
import { removeSchedule } from './remove-schedule.ts'
import type { NewSchedule, When } from './schedule-options.ts'
import { type Triggered, type TriggerNowOptions, triggerSchedule } from './trigger-schedule.ts'
import type { ScheduleView } from './views.ts'
import { type WrittenSchedule, writeSchedule } from './write-schedule.ts'

/** Options of `schedules.list()`. */
export interface ScheduleListOptions extends ScheduleFilter, PageOptions {}

/** Which schedules to list. */
export interface ScheduleFilter {
  readonly job?: string | undefined
  readonly state?: ScheduleView['state'] | undefined
  /** Names that begin with this. */
  readonly prefix?: string | undefined
  readonly tenant?: string | undefined
  /** Declared in the code of this app. */
  readonly app?: string | undefined
  /**
   * Also those that cronce keeps for itself, whose names begin with `cronce:`: locks, elections, keys, alerts, heartbeats.
   * @default false, unless `job` or `prefix` begins with `cronce:`
   */
  readonly internal?: boolean | undefined
}

/** Options of `schedules.create()`, `put()` and `replace()`. */
export interface WriteOptions<Tx = unknown> extends InTransaction<Tx>, Authored {}

/** Options of `schedules.pause()`. */
export interface PauseOptions extends Authored {
  /** When the pause ends by itself. @default never: until it is resumed */
  readonly until?: When | undefined
  /** Which instants of the pause run when it ends: none, the latest, or all. @default 'skip' */
  readonly missed?: MissedChoice | undefined
}

/** Schedules: create, change, trigger, pause, resume, remove, backfill. */
export interface Schedules<Tx = unknown, Inputs = AnyInputs> {
  /** SCHEDULE_EXISTS if there is one of this name. In a transaction no event is emitted, since it may not commit. */
  create<Job extends string>(
    name: string,
    options: NewSchedule<Inputs, Job>,
    more?: WriteOptions<Tx>,
  ): Promise<WrittenSchedule>
  /** Create it, or replace its definition; its pause, its counters and its open fires stay. */
  put<Job extends string>(
    name: string,
    options: NewSchedule<Inputs, Job>,
    more?: WriteOptions<Tx>,
  ): Promise<WrittenSchedule>
  /** SCHEDULE_NOT_FOUND if there is none. */
  replace<Job extends string>(
    name: string,
    options: NewSchedule<Inputs, Job>,
    more?: WriteOptions<Tx>,
  ): Promise<WrittenSchedule>
  /** Any number, in batches of 500. What is refused does not keep the others from being created. */
  createMany(entries: Entries, options?: CreateManyOptions): Promise<CreatedMany>
  /** SCHEDULE_NOT_FOUND if there is none. */
  get(name: string): Promise<ScheduleView>
  /** `null` if there is none. */
  find(name: string): Promise<ScheduleView | null>
  /** By name, ascending. */
  list(options?: ScheduleListOptions): Promise<Page<ScheduleView>>
  /** The same without pages, however many there are. */
  all(filter?: ScheduleFilter): AsyncIterable<ScheduleView>
  /**
   * Its records stay for their time. Needs `force` while it runs, whose run is then fenced, and while an app's code declares
   * it, which would make it again.
   */
  remove(name: string, options?: Authored & { readonly force?: boolean | undefined }): Promise<void>
  /** What is due by now is still run; what comes later, and retries, wait. Pausing again replaces note and end. */
  pause(name: string, options?: PauseOptions): Promise<ScheduleView>
  /** @default missed: what was chosen when it was paused */
  resume(name: string, options?: Authored & { readonly missed?: MissedChoice | undefined }): Promise<ScheduleView>
  /** Run it now, besides its instants. With a `dedupe` key that is on record, the fire of that key is the answer. */
  trigger(name: string, options?: TriggerNowOptions<Tx>): Promise<Triggered>
  /** Skip the next instant, which must be `dueAt`: if it is another by now, NEXT_CHANGED. */
  skipNext(name: string, options: Authored & { readonly dueAt: When }): Promise<ScheduleView>
  /**
   * A scheduler outside says that this instant is due. However often it says so there is one fire, the same that the schedule's
   * own trigger would make.
   */
  deliver(name: string, options: DeliverOptions): Promise<Delivered>
  /** Run what was missed or skipped between two instants, both included. Never repeats what was run. */
  backfill(name: string, options: BackfillOptions): Promise<BackfillAnswer>
}

const MISSED: readonly MissedChoice[] = ['skip', 'latest', 'all']
const FILTERS = ['job', 'state', 'prefix', 'tenant', 'app', 'internal'] as const

export function makeSchedules<Tx>(parts: ClientParts<Tx>): Schedules<Tx> {
  const { store } = parts
  const find = async (name: string): Promise<ScheduleView | null> => {
    const id = readName('schedule', name)
    const { schedules } = await readStore('load a schedule', () => store.load([id]))
    return schedules[0] === undefined ? null : viewSchedule(schedules[0])
  }
  const list = async ({ internal, ...query }: ListQuery): Promise<Page<ScheduleView>> => {
    const read = async (page: Pick<ListQuery, 'limit' | 'after'>): Promise<Page<ScheduleState>> =>
      readStore('list schedules', () => store.listSchedules({ ...query, ...page }))
    const { items, next } = await (internal
      ? read(query)
      : filteredPage(read, query, ({ definition }) => !isInternal(definition.job)))
    return { items: items.map(viewSchedule), next }
  }
  return {
    create: async (name, options, more) => writeSchedule(parts, 'create', name, options, readWrite(more)),
    put: async (name, options, more) => writeSchedule(parts, 'put', name, options, readWrite(more)),
    replace: async (name, options, more) => writeSchedule(parts, 'replace', name, options, readWrite(more)),
    async createMany(entries, options) {
      const { onResult, ...authored } = readCommand(options, ['onResult', ...AUTHORED])
      return createMany(parts, entries, onResult as CreateManyOptions['onResult'], readOperator(authored))
    },
    async get(name) {
      const found = await find(name)
      if (found === null) throw await scheduleNotFound(parts, name)
      return found
    },
    find,
    async list(options) {
      const fields = readCommand(options, [...FILTERS, ...PAGE_NAMES])
      return list({ ...readFilter(fields), ...readPage(fields) })
    },
    all(filter) {
      const fields = readFilter(readCommand(filter, FILTERS))
      return everyItem((after, limit) => list({ ...fields, after, limit }))
    },
    async remove(name, options) {
      const { force = false, ...authored } = readCommand(options, ['force', ...AUTHORED])
      const command = { force: readBoolean('force', force) }
      await removeSchedule(parts, readName('schedule', name), command, readOperator(authored))
    },
    pause: async (name, options) => pauseSchedule(parts, readSteered(name), options),
    async resume(name, options) {
      const { missed, ...authored } = readCommand(options, ['missed', ...AUTHORED])
      const chosen = missed === undefined ? undefined : readChoice('missed', missed, MISSED)
      return resumeSchedule(parts, readName('schedule', name), chosen, readOperator(authored))
    },
    trigger: async (name, options) => triggerSchedule(parts, readSteered(name), options),
    async skipNext(name, options) {
      const { dueAt: given, ...authored } = readCommand(options, ['dueAt', ...AUTHORED])
      const dueAt = readInstant('dueAt', given)
      const by = readOperator(authored)
      const id = readSteered(name)
      const decide: Decide = (state, context) => skipNext(state, dueAt, context, authorOf(by))
      const changed = () => ({ dueAt })
      return viewChanged(await changeSchedule(parts, id, decide, { act: { action: 'skip', by, changed } }))
    },
    deliver: async (name, options) => deliverFire(parts, readSteered(name), options),
    backfill: async (name, options) => backfill(parts, readSteered(name), options),
  }
}

async function pauseSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  options: PauseOptions | undefined,
): Promise<ScheduleView> {
  const { until, missed = 'skip', ...authored } = readCommand(options, [...AUTHORED, 'until', 'missed'])
  const by = readOperator(authored)
  const wish = { until: optionalInstant('until', until) ?? null, missed: readChoice('missed', missed, MISSED) }
  const decide: Decide = (state, context) => {
    demandFuture('until', wish.until, context.now)
    return pause(state, { ...authorOf(by), ...wish }, context)
  }
  return viewChanged(await changeSchedule(parts, id, decide, { act: { action: 'pause', by, changed: () => wish } }))
}

/** A long pause is settled in steps; an instance goes on with what would take even longer. */
const RESUME_STEPS = 100

async function resumeSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  missed: MissedChoice | undefined,
  by: Operator,
): Promise<ScheduleView> {
  const chosen = (state: ScheduleState | null) => missed ?? state?.pause?.missed ?? 'skip'
  const changes: Act['changed'] = (_, before) => ({ missed: chosen(before) })
  for (let step = 1; ; step++) {
    // An instance finishes a resume that has begun, so the first step stands for all of them.
    const act: Act | undefined = step === 1 ? { action: 'resume', by, changed: changes } : undefined
    const changed = await changeSchedule(
      parts,
      id,
      (state, context) => resume(state, chosen(state), context, authorOf(by)),
      { act },
    )
    const view = viewChanged(changed)
    if (view.pause === null || changed.kind === 'unchanged' || step === RESUME_STEPS) return view
  }
}

function demandFuture(path: string, at: number | null, now: number): void {
  if (at !== null && at <= now) {
    throw optionInvalid(path, at, 'an instant that is yet to come', "Look at the store's clock, or leave it out.")
  }
}

function viewChanged(changed: Changed): ScheduleView {
  if (changed.kind === 'exists' || changed.state === null) throw new Error('This command leaves the schedule there.')
  return viewSchedule(changed.state)
}

function readWrite<Tx>(more: WriteOptions<Tx> | undefined): InTransaction<Tx> & { readonly by: Operator } {
  const { tx, ...authored } = readCommand(more, ['tx', ...AUTHORED])
  return { tx: tx as Tx | undefined, by: readOperator(authored) }
}

type Filter = Partial<Record<(typeof FILTERS)[number], unknown>>

/** `internal`: with those that the library keeps for itself. */
interface ListQuery extends ScheduleQuery {
  readonly internal: boolean
}

function readFilter({ job, state, prefix, tenant, app, internal }: Filter): Omit<ListQuery, 'limit' | 'after'> {
  const isNamed = [job, prefix].some((text) => typeof text === 'string' && text.startsWith(RESERVED_PREFIX))
  return {
    internal: internal === undefined ? isNamed : readBoolean('internal', internal),
    job: optionalText('job', job),
    state: state === undefined ? undefined : readChoice('state', state, SCHEDULE_STATES),
    prefix: optionalText('prefix', prefix),
    tenant: optionalText('tenant', tenant),
    app: optionalText('app', app),
  }
}
