import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'
import type { Context } from './context.ts'
import { type Entry, type Read, RevisionGone } from './driver.ts'

/** A schedule as it was read or written last, by this opening. */
export interface Known {
  /** The write that wrote its key. */
  readonly revision: number
  readonly state: ScheduleState
  /** The version that wrote its definition. */
  readonly edition: number
}

/** A server without a history: states and definitions are read again until nothing is written in between. */
const MOST_TRIES = 50

/** How many schedules are remembered. */
const MOST_KNOWN = 20_000

interface StoredDefinition {
  readonly edition: number
  readonly definition: Definition
}

/** What the key of a schedule holds: its state, when it was written, and which definition it has. */
type StoredState = Omit<ScheduleState, 'id' | 'definition'> & { readonly writtenAt: Instant; readonly edition: number }

export function writeState(state: ScheduleState, edition: number, writtenAt: Instant): string {
  const { id: _, definition: __, ...rest } = state
  return JSON.stringify({ ...rest, writtenAt, edition } satisfies StoredState)
}

export function writeDefinition(definition: Definition, edition: number): string {
  return JSON.stringify({ edition, definition } satisfies StoredDefinition)
}

/** Reads schedules. Their definitions change rarely, and are read once per edition. */
export class Schedules {
  readonly #context: Context
  /** The longest unused first. */
  readonly #known = new Map<string, Known>()

  constructor(context: Context) {
    this.#context = context
  }

  known(id: string): Known | undefined {
    return this.#known.get(id)
  }

  remember(id: string, known: Known | null): void {
    this.#known.delete(id)
    if (known === null) return
    if (this.#known.size >= MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, known)
  }

  /** A store that was replaced may give the same revision to something else. */
  forget(): void {
    this.#known.clear()
  }

  /** As they are now, or right after the write `at`. Those that do not exist are left out. */
  async load(ids: readonly string[], at?: number): Promise<ScheduleState[]> {
    return (await this.loadKnown(ids, at)).map(({ state }) => state)
  }

  /** With `at`, what is read is not remembered: it may be old. */
  async loadKnown(asked: readonly string[], at?: number): Promise<Known[]> {
    const ids = [...new Set(asked)]
    if (ids.length === 0) return []
    for (let tries = 1; ; tries++) {
      try {
        return await this.#load(ids, at)
      } catch (error) {
        if (!(error instanceof RevisionGone) || at !== undefined || tries === MOST_TRIES) throw error
      }
    }
  }

  async #load(ids: readonly string[], at: number | undefined): Promise<Known[]> {
    const { keys, driver } = this.#context
    const areKnown = ids.map((id) => this.#known.has(id))
    // The definition of a known one is most likely known, too.
    const reads = ids.flatMap((id, index): Read[] =>
      areKnown[index]! ? [{ get: keys.state(id) }] : [{ get: keys.state(id) }, { get: keys.definition(id) }],
    )
    const { found, revision } = await driver.read(reads, at)
    const entries = found.map(({ entries }) => entries[0]).values()
    const answer: (Known | string)[] = []
    for (const [index, id] of ids.entries()) {
      const state = entries.next().value
      const definition = areKnown[index]! ? undefined : entries.next().value
      if (state !== undefined) answer.push(this.#assemble(id, state, definition, at === undefined) ?? id)
      else if (at === undefined) this.remember(id, null)
    }
    return this.#complete(answer, at ?? revision, at === undefined)
  }

  /** Of those whose definition has changed since it was read: at the same moment, with the definition. */
  async #complete(answer: readonly (Known | string)[], at: number, isLatest: boolean): Promise<Known[]> {
    const changed = answer.filter((one) => typeof one === 'string')
    if (changed.length === 0) return answer as Known[]
    const { keys, driver } = this.#context
    const reads = changed.flatMap((id): Read[] => [{ get: keys.state(id) }, { get: keys.definition(id) }])
    const { found } = await driver.read(reads, at)
    const whole = new Map(
      changed.map((id, index) => {
        const [state, definition] = [found[2 * index]!.entries[0]!, found[2 * index + 1]!.entries[0]!]
        return [id, this.#assemble(id, state, definition, isLatest)!]
      }),
    )
    return answer.map((one) => (typeof one === 'string' ? whole.get(one)! : one))
  }

  /** `null`: its definition is neither known nor given. */
  #assemble(id: string, entry: Entry, given: Entry | undefined, isLatest: boolean): Known | null {
    const before = this.#known.get(id)
    if (before?.revision === entry.revision) return before
    const { writtenAt, edition, ...rest } = JSON.parse(entry.value) as StoredState
    this.#context.time.see(writtenAt)
    const definition = given === undefined ? definitionOf(before, edition) : readDefinition(given.value)
    if (definition === null) return null
    const known = { revision: entry.revision, edition, state: { id, ...rest, definition } }
    if (isLatest && (before === undefined || before.revision < known.revision)) this.remember(id, known)
    return known
  }
}

function definitionOf(known: Known | undefined, edition: number): Definition | null {
  return known?.edition === edition ? known.state.definition : null
}

function readDefinition(text: string): Definition {
  return (JSON.parse(text) as StoredDefinition).definition
}
