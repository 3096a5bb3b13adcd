import type { Definition, ScheduleState } from '../../model/schedule.ts'

/** So many are remembered: what is due comes back soon, and its definition is the same most of the time. */
const MOST = 10_000
/** Longer ones are few, or would be too much. */
const LONGEST = 4_096

interface Known {
  readonly revision: number
  readonly text: string
  readonly definition: Definition
}

/** Definitions as the store has them, so that they are neither read nor written anew with every fire. Nothing but cost depends on it. */
export class Definitions {
  readonly #known = new Map<string, Known>()

  read(id: string, revision: number, text: string): Definition {
    const known = this.#known.get(id)
    if (known !== undefined && known.text === text) {
      if (known.revision !== revision) this.#known.set(id, { ...known, revision })
      return known.definition
    }
    const definition = JSON.parse(text) as Definition
    if (text.length > LONGEST) return definition
    if (known === undefined && this.#known.size >= MOST) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, { revision, text, definition })
    return definition
  }

  /** As text; empty where the store has it already, as far as is known. If it does not, it says so. */
  textOf({ id, revision, definition }: ScheduleState): string {
    return this.#known.get(id)?.revision === revision ? '' : JSON.stringify(definition)
  }

  forget(id: string): void {
    this.#known.delete(id)
  }
}
