import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'

// Where the texts of the tables meet the model.

/** The format of `state` that this version writes. Rows with a higher one were written by a newer version, and are left alone. */
export const FORMAT = 1

/** As a statement answers it: the state without what has a column of its own. */
export interface ScheduleRow {
  readonly format: number
  readonly version: number
  readonly tokens: number
  readonly state: Omit<ScheduleState, 'version' | 'tokens' | 'definition'>
  readonly definition: Definition
}

/**
 * Of which revision a definition is, for those that were read here. Decisions hand on the very object they were given, so most
 * of what is written need not bring its definition along.
 */
const revisions = new WeakMap<Definition, number>()

export function scheduleOf({ version, tokens, state, definition }: ScheduleRow): ScheduleState {
  revisions.set(definition, state.revision)
  return { ...state, version, tokens, definition }
}

/** The definition as text; `null` where the store has it already. */
export function definitionText({ definition, revision }: ScheduleState): string | null {
  return revisions.get(definition) === revision ? null : JSON.stringify(definition)
}

export function stateText(state: ScheduleState): string {
  const { version: _version, tokens: _tokens, definition: _definition, ...kept } = state
  return JSON.stringify(kept)
}

/** SQL for a text as JSON, so that answers can be put together as texts. */
export function quoted(column: string): string {
  return `to_json(${column})::text`
}

/** SQL for what `ScheduleRow` wants of a clock `k` and its schedule `s`. */
export const SCHEDULE_JSON = `'{"format":' || k.format || ',"version":' || k.version || ',"tokens":' || k.tokens
  || ',"state":' || k.state || ',"definition":' || s.definition || '}'`

/** The store's time, and the epoch it is in. `moved`: the server is another than the one the epoch is about. */
export interface StoreMoment {
  readonly now: Instant
  readonly epoch: number
  readonly moved: boolean
}

/**
 * A CTE `clock` for the beginning of every statement. A snapshot is taken before anything is computed, so what is read is never
 * newer than `now`. The write-ahead log tells on which timeline the server is: it moves when a standby is promoted.
 */
export function clockCte(schema: string): string {
  return `clock as materialized (
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, m.epoch,
         case when m.timeline is null then false
              else m.timeline <> ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
         end as moved
    from ${schema}._meta m
)`
}

/** SQL for the head of an answer, as of `clock`. */
export const MOMENT_JSON = `'{"now":' || clock.now || ',"epoch":' || clock.epoch || ',"moved":' || clock.moved`
