import type { Definition, Instant, ScheduleState, Source } from '../../model/schedule.ts'
import { FORMAT, fromColumn, NONE, plainFire, type StoreMoment, uncommonOf } from './rows.ts'

/** Schedules as statements answer them: one array for each column. `null`: all of them have what most have. */
export interface StateColumns {
  /** `null`: there are none. */
  readonly key: readonly number[] | null
  readonly name: readonly string[]
  readonly version: readonly number[]
  readonly definition: readonly number[]
  readonly wakeAt: readonly number[]
  readonly nextAt: readonly number[]
  readonly tokens: readonly number[]
  readonly fired: readonly number[]
  readonly failedInRow: readonly number[]
  readonly ended: readonly number[]
  readonly lastDue: readonly number[]
  readonly lastOkDue: readonly number[]
  readonly lastOkAt: readonly number[]
  readonly format: readonly number[] | null
  readonly plannedTo: readonly number[] | null
  readonly trimmedBefore: readonly number[] | null
  readonly zone: readonly string[] | null
  readonly more: readonly string[] | null
  /** Open runs of plain schedules. `instance` is empty where there is none. */
  readonly open: {
    readonly instance: readonly string[]
    readonly dueAt: readonly number[]
    readonly token: readonly string[]
    readonly claim: readonly number[]
    readonly startedAt: readonly number[]
  } | null
}

export interface StatesAnswer extends StoreMoment {
  readonly states: StateColumns
}

export interface DueAnswer extends StatesAnswer {
  /** By job, the earliest time of all that was found and of what comes next. */
  readonly oldest: readonly (readonly [job: string, wakeAt: Instant])[] | null
  readonly mineAt: Instant | null
  readonly othersAt: Instant | null
}

/** A row of `_definitions` as it is read. Its texts are JSON, which the server need not take apart. */
export type DefinitionColumns = readonly [
  id: number,
  revision: number,
  createdAt: Instant,
  updatedAt: Instant,
  source: string,
  definition: string,
]

/** A row of `_definitions`, which never changes. */
export interface DefinitionRow {
  readonly id: number
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly source: Source
  readonly definition: Definition
}

/** What this process knows of a schedule whose definition it has read: decisions hand on the very object that they were given. */
export interface KnownSchedule extends DefinitionRow {
  readonly key: number
  /** As it was last read or written here. The version tells whether it is so still. */
  readonly latest: ScheduleState
}

const MOST_KEPT = 50_000

/**
 * Definitions that were read, by the id of their row. An id stands for the same text for ever, unless the database goes back in time,
 * in which case its epoch moves.
 */
export class Definitions {
  readonly #rows = new Map<number, DefinitionRow>()
  /** By their text: most schedules have the same one. */
  readonly #sources = new Map<string, Source>()
  readonly #known = new WeakMap<Definition, KnownSchedule>()
  #epoch = 0

  /** Of these, those that were not read in this epoch. */
  missing(columns: StateColumns, epoch: number): number[] {
    if (epoch !== this.#epoch || this.#rows.size > MOST_KEPT) {
      this.#rows.clear()
      this.#sources.clear()
    }
    this.#epoch = epoch
    return columns.key === null ? [] : columns.definition.filter((id) => !this.#rows.has(id))
  }

  add(rows: readonly DefinitionColumns[]): void {
    for (const [id, revision, createdAt, updatedAt, text, definition] of rows) {
      const source = this.#sources.get(text) ?? (JSON.parse(text) as Source)
      this.#sources.set(text, source)
      const parsed = JSON.parse(definition) as Definition
      this.#rows.set(id, { id, revision, createdAt, updatedAt, source, definition: parsed })
    }
  }

  /** Unless the schedule has been defined anew since. */
  known({ definition, revision, source, createdAt, updatedAt }: ScheduleState): KnownSchedule | undefined {
    const known = this.#known.get(definition)
    const isSame = known?.revision === revision && known.createdAt === createdAt && known.updatedAt === updatedAt
    return isSame && known.source === source ? known : undefined
  }

  /** This was written here. */
  wrote(state: ScheduleState): void {
    const known = this.known(state)
    if (known !== undefined) this.#known.set(state.definition, { ...known, latest: state })
  }

  /** `null`: a definition is missing, because its schedule was changed after it was read. `newer` is told of what cannot be read. */
  decode(columns: StateColumns, newer: (name: string) => void): ScheduleState[] | null {
    const states: ScheduleState[] = []
    for (const [index, key] of (columns.key ?? []).entries()) {
      const row = this.#rows.get(columns.definition[index]!)
      if ((columns.format?.[index] ?? FORMAT) > FORMAT) newer(columns.name[index]!)
      else if (row === undefined) return null
      else {
        const state = stateOf(columns, index, row)
        this.#known.set(row.definition, { ...row, key, latest: state })
        states.push(state)
      }
    }
    return states
  }
}

function stateOf(columns: StateColumns, index: number, row: DefinitionRow): ScheduleState {
  const more = columns.more?.[index] ?? ''
  const plannedTo = fromColumn(columns.plannedTo?.[index] ?? NONE)
  const state = {
    id: columns.name[index]!,
    version: columns.version[index]!,
    definition: row.definition,
    revision: row.revision,
    source: row.source,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    pause: null,
    retiredAt: null,
    nextAt: fromColumn(columns.nextAt[index]!),
    ...(plannedTo === null ? {} : { plannedTo }),
    zoneData: columns.zone?.[index] || null,
    wakeAt: fromColumn(columns.wakeAt[index]!),
    tokens: columns.tokens[index]!,
    fired: columns.fired[index]!,
    ended: columns.ended[index]!,
    trimmedBefore: fromColumn(columns.trimmedBefore?.[index] ?? NONE),
    failedInRow: columns.failedInRow[index]!,
    last: {
      dueAt: fromColumn(columns.lastDue[index]!),
      succeededDueAt: fromColumn(columns.lastOkDue[index]!),
      succeededAt: fromColumn(columns.lastOkAt[index]!),
    },
    backfills: [],
  }
  if (more !== '') return { ...state, ...uncommonOf(more) }
  const { open } = columns
  const instance = open?.instance[index] ?? ''
  if (open === null || instance === '') return { ...state, open: [] }
  const run = {
    dueAt: open.dueAt[index]!,
    token: open.token[index]!,
    instance,
    claim: open.claim[index]!,
    startedAt: open.startedAt[index]!,
  }
  return { ...state, open: [plainFire(run)] }
}
