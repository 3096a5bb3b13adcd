import type { Definition, Instant, ScheduleState, Source } from '../../model/schedule.ts'
import { fromColumn, NONE, plainFire, type StoreMoment, uncommonOf } from './rows.ts'

/** Values of the schedule with this index, counted from 1. */
type Placed<Values extends readonly unknown[]> = readonly [place: number, ...values: Values]

/** Schedules in the form that statements return: one array for each column. `null`: all of them have the usual value. */
export interface StateColumns {
  /** `null`: there are none. */
  readonly key: readonly number[] | null
  readonly name: readonly string[]
  readonly version: readonly number[]
  readonly definition: readonly number[]
  readonly nextAt: readonly number[]
  readonly tokens: readonly number[]
  readonly lastDue: readonly number[]
  readonly lastOkAt: readonly number[]
  /** `null`: the same as `nextAt`. */
  readonly wakeAt: readonly number[] | null
  /** `null`: the same as `tokens`. */
  readonly fired: readonly number[] | null
  readonly ended: readonly number[] | null
  /** `null`: the same as `lastDue`. */
  readonly lastOkDue: readonly number[] | null
  readonly plannedTo: readonly number[] | null
  readonly failedInRow: readonly number[] | null
  readonly trimmedBefore: readonly number[] | null
  readonly zone: readonly string[] | null
  readonly format: readonly Placed<[format: number]>[] | null
  readonly more: readonly Placed<[more: string]>[] | null
  /** Open runs of plain schedules. */
  readonly open:
    | readonly Placed<[instance: string, dueAt: number, token: string, claim: number, claimedAt: number]>[]
    | null
}

export interface StatesAnswer extends StoreMoment {
  readonly states: StateColumns
  /** The definitions in the answer. */
  readonly definitions?: DefinitionColumns
}

export interface DueAnswer extends StatesAnswer {
  /** By job, the earliest time of everything found and of the next one. */
  readonly oldest: readonly (readonly [job: string, wakeAt: Instant])[] | null
  readonly mineAt: Instant | null
  readonly othersAt: Instant | null
}

/** Rows of `_definitions` in the form that is read. The texts are JSON, which the server need not parse. */
export interface DefinitionColumns {
  /** `null`: there are none. */
  readonly id: readonly number[] | null
  readonly revision: readonly number[]
  readonly createdAt: readonly Instant[]
  readonly updatedAt: readonly Instant[]
  readonly source: readonly string[]
  readonly definition: readonly string[]
}

/** A row of `_definitions`, which never changes. */
interface DefinitionRow {
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly source: Source
  readonly definition: Definition
}

/** What this process knows about a schedule whose definition it has read. */
export interface KnownSchedule {
  readonly key: number
  /** As last read or written here. The version tells whether it is still current. */
  latest: ScheduleState
}

const MOST_KEPT = 50_000
const MOST_PARSED = 1_000

/**
 * Definitions that were read, by the id of their row. An id stands for the same text forever, unless the database goes back in
 * time, in which case its epoch moves.
 */
export class Definitions {
  readonly #rows = new Map<number, DefinitionRow>()
  /** By their text: most schedules have the same one. */
  readonly #sources = new Map<string, Source>()
  /** By their text: many schedules have the same one. */
  readonly #parsed = new Map<string, Definition>()
  /** By the name of the schedule. */
  readonly #known = new Map<string, KnownSchedule>()
  #epoch = 0
  #newest = 0

  /** The highest id that was read. */
  get newest(): number {
    return this.#newest
  }

  /** The ids of definitions that the answer needs but does not contain, and that were not read in this epoch. */
  missing({ states, epoch, definitions }: StatesAnswer): number[] {
    if (epoch !== this.#epoch) {
      this.#rows.clear()
      this.#known.clear()
      this.#newest = 0
    }
    this.#epoch = epoch
    forgetOldest(this.#rows, MOST_KEPT)
    forgetOldest(this.#known, MOST_KEPT)
    forgetOldest(this.#sources, MOST_PARSED)
    forgetOldest(this.#parsed, MOST_PARSED)
    if (definitions !== undefined) this.add(definitions)
    return states.key === null ? [] : states.definition.filter((id) => !this.#rows.has(id))
  }

  add(columns: DefinitionColumns): void {
    for (const [index, id] of columns.id?.entries() ?? []) {
      this.#rows.set(id, {
        revision: columns.revision[index]!,
        createdAt: columns.createdAt[index]!,
        updatedAt: columns.updatedAt[index]!,
        source: parsedOnce(this.#sources, columns.source[index]!),
        definition: parsedOnce(this.#parsed, columns.definition[index]!),
      })
      if (id > this.#newest) this.#newest = id
    }
  }

  /** Unless the schedule was redefined since: decisions pass on the objects that they were given. */
  known({ id, definition, revision, source, createdAt, updatedAt }: ScheduleState): KnownSchedule | undefined {
    const known = this.#known.get(id)
    const isSame =
      known !== undefined &&
      known.latest.definition === definition &&
      known.latest.source === source &&
      known.latest.revision === revision &&
      known.latest.createdAt === createdAt &&
      known.latest.updatedAt === updatedAt
    return isSame ? known : undefined
  }

  /**
   * A change was written here. A schedule without open fires is read again before its next change, so nothing is kept about it.
   */
  wrote(state: ScheduleState): void {
    if (state.open.length === 0) {
      this.#known.delete(state.id)
      return
    }
    const known = this.known(state)
    if (known !== undefined) known.latest = state
  }

  /**
   * `null`: a definition is missing, because its schedule was changed after it was read. Calls `newer` for a schedule that cannot
   * be read.
   */
  decode(columns: StateColumns, newer: (name: string) => void): ScheduleState[] | null {
    const states: ScheduleState[] = []
    const { key: keys, definition } = columns
    if (keys === null) return states
    const unreadable = new Set(columns.format?.map(([place]) => place - 1))
    for (let index = 0; index < keys.length; index++) {
      if (unreadable.has(index)) {
        newer(columns.name[index]!)
        continue
      }
      const row = this.#rows.get(definition[index]!)
      if (row === undefined) return null
      const state = stateOf(columns, index, row)
      this.#known.set(state.id, { key: keys[index]!, latest: state })
      states.push(state)
    }
    return states
  }
}

function parsedOnce<Value>(known: Map<string, Value>, text: string): Value {
  const found = known.get(text)
  if (found !== undefined) return found
  const parsed = JSON.parse(text) as Value
  known.set(text, parsed)
  return parsed
}

/** Deletes the oldest entries of a map that has grown beyond `most`, until half of that is left. */
function forgetOldest<Key>(map: Map<Key, unknown>, most: number): void {
  if (map.size <= most) return
  const left = most / 2
  for (const key of map.keys()) {
    if (map.size <= left) return
    map.delete(key)
  }
}

const NOTHING: readonly never[] = []

function stateOf(columns: StateColumns, index: number, row: DefinitionRow): ScheduleState {
  const { definition, revision, source, createdAt, updatedAt } = row
  const nextAt = columns.nextAt[index]!
  const tokens = columns.tokens[index]!
  const lastDue = columns.lastDue[index]!
  const plannedTo = fromColumn(columns.plannedTo?.[index] ?? lastDue)
  const state: ScheduleState = {
    id: columns.name[index]!,
    version: columns.version[index]!,
    definition,
    revision,
    source,
    createdAt,
    updatedAt,
    pause: null,
    retiredAt: null,
    nextAt: fromColumn(nextAt),
    ...(plannedTo === null ? {} : { plannedTo }),
    zoneData: columns.zone?.[index] || null,
    wakeAt: fromColumn(columns.wakeAt?.[index] ?? nextAt),
    tokens,
    fired: columns.fired?.[index] ?? tokens,
    ended: columns.ended?.[index] ?? tokens,
    trimmedBefore: fromColumn(columns.trimmedBefore?.[index] ?? NONE),
    failedInRow: columns.failedInRow?.[index] ?? 0,
    last: {
      dueAt: fromColumn(lastDue),
      succeededDueAt: fromColumn(columns.lastOkDue?.[index] ?? lastDue),
      succeededAt: fromColumn(columns.lastOkAt[index]!),
    },
    open: NOTHING,
    backfills: NOTHING,
  }
  const more = findPlaced(columns.more, index)
  if (more !== undefined) return { ...state, ...uncommonOf(more[1]) }
  const open = findPlaced(columns.open, index)
  if (open === undefined) return state
  const [, instance, dueAt, token, claim, claimedAt] = open
  return { ...state, open: [plainFire({ dueAt, token, instance, claim, claimedAt })] }
}

/** Indexed by position, so no search is needed where all have one. */
function findPlaced<Row extends readonly [number, ...unknown[]]>(
  rows: readonly Row[] | null,
  index: number,
): Row | undefined {
  if (rows === null) return undefined
  const same = rows[index]
  return same?.[0] === index + 1 ? same : rows.find(([place]) => place === index + 1)
}
