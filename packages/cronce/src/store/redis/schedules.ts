import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { Definitions, readSettings } from './definitions.ts'
import { memberOf, scheduleOf } from './keys.ts'
import type { Answer, AskScript } from './moment.ts'
import { LOAD } from './scripts.ts'
import { editionOf, type KnownLine, readKnown } from './state-line.ts'

/** How many lines are cached: those of schedules with open fires, and those that were read last. */
const MOST_LINES = 20_000

/** Reads schedules from the answers of scripts: their lines change with every fire, their settings are read once per edition. */
export class Schedules {
  readonly definitions = new Definitions()
  readonly #ask: AskScript
  /** By schedule. Only cost depends on it. */
  readonly #lines = new Map<string, KnownLine>()

  constructor(ask: AskScript) {
    this.#ask = ask
  }

  /** Built from member, line and settings of each. */
  async read(lines: readonly string[], first = 0): Promise<ScheduleState[]> {
    return (await this.readAt({ now: 0, lines }, first)).schedules
  }

  /**
   * Those with unknown settings are read once more, as a whole: then `now` is the time of that, because nothing that is answered may
   * have been written after it.
   */
  async readAt(
    { now, lines }: Pick<Answer, 'now' | 'lines'>,
    first = 0,
  ): Promise<{ readonly now: Instant; readonly schedules: ScheduleState[] }> {
    const states: (ScheduleState | null)[] = []
    const unknown: string[] = []
    for (let at = first; at < lines.length; at += 3) {
      const state = this.#readOne(lines[at]!, lines[at + 1]!, lines[at + 2]!)
      if (state === null) unknown.push(lines[at]!)
      states.push(state)
    }
    if (unknown.length === 0) return { now, schedules: states as ScheduleState[] }
    const whole = await this.#loadWhole(unknown)
    let next = 0
    // A schedule that was removed meanwhile is left out.
    const schedules = states.flatMap((state) => state ?? whole.found.get(unknown[next++]!) ?? [])
    return { now: whole.now, schedules }
  }

  async load(
    ids: readonly string[],
    ask = this.#ask,
  ): Promise<{ readonly now: Instant; readonly epoch: number; readonly schedules: ScheduleState[] }> {
    const answer = await ask(LOAD, ['0', ...new Set(ids.map(memberOf))])
    return { epoch: answer.epoch, ...(await this.readAt(answer)) }
  }

  /** Its line as last read or written. */
  known(id: string): KnownLine | undefined {
    return this.#lines.get(id)
  }

  /** `null`: what is known about it does not help its next change. */
  rememberLine(id: string, known: KnownLine | null): void {
    if (known === null) this.#lines.delete(id)
    else {
      if (this.#lines.size >= MOST_LINES && !this.#lines.has(id)) this.#lines.delete(this.#lines.keys().next().value!)
      this.#lines.set(id, known)
    }
  }

  /** A store that went back in time may give the same version to another line, and the same edition to other settings. */
  forget(): void {
    this.#lines.clear()
    this.definitions.clear()
  }

  /** Loads the current settings of these, if they are unknown. */
  async learn(ids: readonly string[]): Promise<void> {
    await this.#loadWhole(ids.map(memberOf))
  }

  async #loadWhole(
    members: readonly string[],
  ): Promise<{ readonly now: Instant; readonly found: ReadonlyMap<string, ScheduleState> }> {
    const { now, lines } = await this.#ask(LOAD, ['1', ...members])
    const found = new Map<string, ScheduleState>()
    for (let at = 0; at < lines.length; at += 3) {
      found.set(lines[at]!, this.#readOne(lines[at]!, lines[at + 1]!, lines[at + 2]!)!)
    }
    return { now, found }
  }

  #readOne(member: string, line: string, text: string): ScheduleState | null {
    const id = scheduleOf(member)
    const settings = this.#settingsOf(id, editionOf(line), text)
    if (settings === null) {
      this.rememberLine(id, null)
      return null
    }
    const known = readKnown(id, member, line, settings)
    this.rememberLine(id, known)
    return known.state
  }

  #settingsOf(id: string, edition: number, text: string): KnownLine['settings'] | null {
    const known = this.definitions.find(id, edition)
    if (known !== undefined) return known
    if (text === '') return null
    const settings = { ...readSettings(text), edition }
    this.definitions.remember(id, settings)
    return settings
  }
}
