import { CronceError } from '../errors.ts'
import { OUTCOMES, type Outcome } from '../model/outcome.ts'
import type { FireEnd, FireKey, FireRecord, HourCount } from '../model/record.ts'
import { cancelFire } from '../policy/operate/cancel.ts'
import { retryFire } from '../policy/operate/retry-fire.ts'
import { listFires, type ViewQuery } from '../store/list-views.ts'
import { type Act, logAlone } from './activity.ts'
import { readBack, readStore, writeStore } from './ask-store.ts'
import { changeSchedule, type Decide } from './change-schedule.ts'
import { findFire } from './find-fire.ts'
import { viewFire } from './make-view.ts'
import { everyItem, PAGE_NAMES, type Page, type PageOptions, readPage } from './pages.ts'
import type { ClientParts } from './parts.ts'
import {
  AUTHORED,
  type Authored,
  authorOf,
  type FireRef,
  type Operator,
  optionalInstant,
  optionalText,
  readCommand,
  readFireKey,
  readOperator,
} from './read-command.ts'
import { demandSteered, readName } from './read-name.ts'
import { optionInvalid, readBoolean, readChoice, readInteger } from './read-option.ts'
import type { When } from './schedule-options.ts'
import type { FireView } from './views.ts'

/** Options of `fires.list()`. */
export interface FireListOptions extends FireFilter, PageOptions {}

/** Which fires to list. */
export interface FireFilter {
  readonly schedule?: string | undefined
  readonly job?: string | undefined
  readonly outcome?: Outcome | 'open' | undefined
  /** Of a manual fire: its dedupe key or id. */
  readonly nonce?: string | undefined
  /** Due from this instant on. */
  readonly from?: When | undefined
  /** Due before this instant. */
  readonly to?: When | undefined
  /** @default 'latest' */
  readonly order?: 'latest' | 'earliest' | undefined
}

/** Options of `fires.latest()`. */
export interface LatestOptions {
  readonly schedules: readonly string[]
  /** Of each. @default 60 */
  readonly limit?: number | undefined
}

/** Options of `fires.count()`. */
export interface CountOptions {
  /** The hour that begins then, or the first one after it. */
  readonly from: When
  /** Hours that begin before this. @default all */
  readonly to?: When | undefined
}

/** Fires: list, count, retry, cancel, prune. */
export interface Fires {
  /** The latest due first. Many missed instants are one item with a `range`. */
  list(options?: FireListOptions): Promise<Page<FireView>>
  /** The same without pages. */
  all(filter?: FireFilter): AsyncIterable<FireView>
  /** The fire, or the range that its instant is in. FIRE_NOT_FOUND if there is no record of it. */
  get(fire: FireRef): Promise<FireView>
  /** How the latest fires of up to 100 schedules ended, up to 100 of each (60), in one answer: the latest due first. */
  latest(options: LatestOptions): Promise<readonly FireEnd[]>
  /**
   * How many fires ended how, by the hour in which they were due: for a hundred days, also if their records are gone. A range of missed
   * instants counts in the hour of its first one.
   */
  count(options: CountOptions): Promise<readonly HourCount[]>
  /**
   * Run a fire that has ended once more, as another round of it. One that succeeded, or was started at most once, needs
   * `force`.
   */
  retry(fire: FireRef, options?: Authored & { readonly force?: boolean | undefined }): Promise<FireView>
  /** End a fire that waits, or ask its run to end. */
  cancel(fire: FireRef, options?: Authored): Promise<FireView>
  /** Delete ended fires whose time is up, with their runs and steps, up to `limit` (1,000). Instances do it by themselves. */
  prune(options?: Authored & { readonly limit?: number | undefined }): Promise<{ readonly deleted: number }>
}

/** In one look at their latest fires. */
const MOST_SCHEDULES = 100
const FILTERS = ['schedule', 'job', 'outcome', 'nonce', 'from', 'to', 'order'] as const

export function makeFires<Tx>(parts: ClientParts<Tx>): Fires {
  const list = async (query: ViewQuery): Promise<Page<FireView>> => {
    const { items, next } = await readStore('list fires', () => listFires(parts.store, query))
    return { items: items.map(viewFire), next }
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
    get: async (fire) => viewFire(await demandFire(parts, readFireKey(fire))),
    async latest(options) {
      const { schedules, limit = 60 } = readCommand(options, ['schedules', 'limit'])
      const names = readNames(schedules)
      const most = readInteger('limit', limit, { min: 1, max: 100 })
      const query = { schedules: names, limit: most }
      return (await readStore('list the latest fires', () => parts.store.listLatest(query))).fires
    },
    async count(options) {
      const fields = readCommand(options, ['from', 'to'])
      const query = {
        from: optionalInstant('from', fields.from) ?? Number.MIN_SAFE_INTEGER,
        to: optionalInstant('to', fields.to) ?? Number.MAX_SAFE_INTEGER,
      }
      return (await readStore('count fires', () => parts.store.countFires(query))).hours
    },
    async retry(fire, options) {
      const key = readFireKey(fire)
      demandSteered(key.schedule)
      const { force = false, ...authored } = readCommand(options, ['force', ...AUTHORED])
      const by = readOperator(authored)
      const command = { force: readBoolean('force', force), dueAt: key.dueAt, asked: authorOf(by) }
      const decide: Decide = async (state, context) =>
        // Read after the state: whatever changes the record changes the state's version, too, and is noticed.
        retryFire(state, await demandFire(parts, key), command, context)
      await changeSchedule(parts, key.schedule, decide, { act: actOn('retry', by, key) })
      return viewFire(await readBack(() => demandFire(parts, key)))
    },
    async cancel(fire, options) {
      const key = readFireKey(fire)
      const by = readOperator(readCommand(options, AUTHORED))
      const decide: Decide = (state, context) => cancelFire(state, key, authorOf(by), context)
      await changeSchedule(parts, key.schedule, decide, { act: actOn('cancel', by, key) })
      return viewFire(await readBack(() => demandFire(parts, key)))
    },
    async prune(options) {
      const { limit = 1_000, ...authored } = readCommand(options, ['limit', ...AUTHORED])
      const most = readInteger('limit', limit, { min: 1, max: 10_000 })
      await logAlone(parts, { action: 'prune', by: readOperator(authored) }, { limit: most })
      return writeStore('prune', () => parts.store.prune(most))
    },
  }
}

function actOn(action: 'retry' | 'cancel', by: Operator, { dueAt, nonce }: FireKey): Act {
  return { action, by, changed: () => ({ dueAt, nonce }) }
}

function readNames(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= MOST_SCHEDULES) return value.map((name) => readName('schedule', name))
  throw optionInvalid('schedules', value, `a list of up to ${MOST_SCHEDULES} names`, "Write schedules: ['billing'].")
}

async function demandFire<Tx>(parts: ClientParts<Tx>, key: FireKey): Promise<FireRecord> {
  const found = await findFire(parts, key)
  if (found !== null) return found
  const nonce = key.nonce === '' ? '' : ` (${key.nonce})`
  const due = new Date(key.dueAt).toISOString()
  const message = `There is no record of a fire of ${JSON.stringify(key.schedule)} due ${due}${nonce}.`
  throw new CronceError('FIRE_NOT_FOUND', message, {
    hint: 'List the fires of the schedule: the instant must be exactly its due time, and records go after a while.',
  })
}

type Filter = Partial<Record<(typeof FILTERS)[number], unknown>>

function readFilter(fields: Filter): Omit<ViewQuery, 'limit' | 'after'> {
  const { outcome, order } = fields
  return {
    schedule: optionalText('schedule', fields.schedule),
    job: optionalText('job', fields.job),
    outcome: outcome === undefined ? undefined : readChoice('outcome', outcome, [...OUTCOMES, 'open']),
    nonce: optionalText('nonce', fields.nonce),
    from: optionalInstant('from', fields.from),
    to: optionalInstant('to', fields.to),
    order: order === undefined ? undefined : readChoice('order', order, ['latest', 'earliest']),
  }
}
