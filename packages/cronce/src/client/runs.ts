import { CronceError } from '../errors.ts'
import { OUTCOMES, type Outcome } from '../model/outcome.ts'
import { STALE } from '../policy/decision.ts'
import { requestCancel } from '../policy/operate/cancel.ts'
import { findRun, listRuns, ofFire, type ViewQuery } from '../store/list-views.ts'
import { readBack, readStore } from './ask-store.ts'
import { changeSchedule, type Decide } from './change-schedule.ts'
import { type Completion, completeRun } from './complete-run.ts'
import { viewRun } from './make-view.ts'
import { everyItem, PAGE_NAMES, type Page, type PageOptions, readPage } from './pages.ts'
import type { ClientParts } from './parts.ts'
import {
  AUTHORED,
  type Authored,
  authorOf,
  type FireRef,
  optionalInstant,
  optionalText,
  readCommand,
  readFireKey,
  readOperator,
} from './read-command.ts'
import { readName } from './read-name.ts'
import { invalid, optionConflict, readChoice } from './read-option.ts'
import type { When } from './schedule-options.ts'
import type { RunView } from './views.ts'

/** Options of `runs.list()`. */
export interface RunListOptions extends RunFilter, PageOptions {}

/** Which runs to list. */
export interface RunFilter {
  readonly schedule?: string | undefined
  readonly job?: string | undefined
  readonly instance?: string | undefined
  readonly outcome?: Outcome | 'open' | undefined
  /** Runs of one fire. */
  readonly fire?: FireRef | undefined
  /** Of fires that were due from this instant on. */
  readonly from?: When | undefined
  /** Of fires that were due before this instant. */
  readonly to?: When | undefined
}

/** A run is named by its token; a bigint, as the handler knows it, will do as well. */
export type TokenRef = string | bigint

/** Runs: list, get, complete. */
export interface Runs {
  /** By the due time of their fire, the latest first; of the runs of one fire, the latest first. */
  list(options?: RunListOptions): Promise<Page<RunView>>
  /** The same without pages. */
  all(filter?: RunFilter): AsyncIterable<RunView>
  /** RUN_NOT_FOUND if there is no record of it. */
  get(schedule: string, token: TokenRef): Promise<RunView>
  /**
   * Ask a run to end: its signal is aborted, and it is over for the fleet when the grace of its timeout has passed.
   * RUN_NOT_OPEN if it has ended.
   */
  cancel(schedule: string, token: TokenRef, options?: Authored): Promise<RunView>
  /**
   * Report the outcome of a parked run: one whose work went on elsewhere (an HTTP target with a call-back). May be repeated.
   * RUN_NOT_OPEN if it has ended otherwise, RUN_NOT_PARKED if an instance is still executing it.
   */
  complete(schedule: string, token: TokenRef, completion: Completion): Promise<RunView>
}

const FILTERS = ['schedule', 'job', 'instance', 'outcome', 'fire', 'from', 'to'] as const

export function makeRuns<Tx>(parts: ClientParts<Tx>): Runs {
  const { store } = parts
  const list = async (query: ViewQuery): Promise<Page<RunView>> => {
    const { items, next } = await readStore('list runs', () => listRuns(store, query))
    return { items: items.map(viewRun), next }
  }
  const get = async (schedule: string, token: string): Promise<RunView> => {
    const run = await readStore('look for a run', () => findRun(store, { schedule }, token))
    if (run !== undefined) return viewRun(run)
    throw new CronceError('RUN_NOT_FOUND', `There is no record of run ${token} of ${JSON.stringify(schedule)}.`, {
      hint: 'List the runs of the schedule: records go after a while.',
    })
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
    get: async (schedule, token) => get(readName('schedule', schedule), readToken(token)),
    async cancel(schedule, token, options) {
      const id = readName('schedule', schedule)
      const text = readToken(token)
      const by = readOperator(readCommand(options, AUTHORED))
      const decide: Decide = (state, context) => {
        const decision = requestCancel(state, text, authorOf(by), context)
        if (decision !== STALE) return decision
        throw new CronceError('RUN_NOT_OPEN', `Run ${text} of ${JSON.stringify(id)} is not going on.`, {
          hint: 'Look at the run: it has ended, or the token is of another schedule.',
        })
      }
      await changeSchedule(parts, id, decide, { act: { action: 'cancel', by, changed: () => ({ run: text }) } })
      return readBack(() => get(id, text))
    },
    async complete(schedule, token, completion) {
      const id = readName('schedule', schedule)
      const text = readToken(token)
      await completeRun(parts, id, text, completion)
      return readBack(() => get(id, text))
    },
  }
}

function readToken(token: unknown): string {
  const text = typeof token === 'bigint' ? String(token) : token
  if (typeof text === 'string' && /^\d{1,19}$/.test(text)) return text
  throw invalid('token', token, 'the token of a run: a decimal text or a bigint', "'17592186044417'")
}

type Filter = Partial<Record<(typeof FILTERS)[number], unknown>>

function readFilter(fields: Filter): Omit<ViewQuery, 'limit' | 'after'> {
  const { outcome } = fields
  return {
    ...readStretch(fields),
    job: optionalText('job', fields.job),
    instance: optionalText('instance', fields.instance),
    outcome: outcome === undefined ? undefined : readChoice('outcome', outcome, [...OUTCOMES, 'open']),
  }
}

function readStretch(fields: Filter): Pick<ViewQuery, 'schedule' | 'nonce' | 'from' | 'to'> {
  const schedule = optionalText('schedule', fields.schedule)
  const from = optionalInstant('from', fields.from)
  const to = optionalInstant('to', fields.to)
  if (fields.fire === undefined) return { schedule, from, to }
  const key = readFireKey(fields.fire as FireRef)
  if (schedule !== undefined && schedule !== key.schedule) {
    throw optionConflict('Options schedule and fire name different schedules.', 'Leave out schedule.')
  }
  return { ...ofFire(key), from: Math.max(from ?? key.dueAt, key.dueAt), to: Math.min(to ?? Infinity, key.dueAt + 1) }
}
