import type { ScheduleState } from '../../model/schedule.ts'
import { Definitions, readSettings } from './definitions.ts'
import { memberOf, scheduleOf } from './keys.ts'
import type { AskScript } from './moment.ts'
import { LOAD } from './scripts.ts'
import { editionOf, readState } from './state-line.ts'

/** How many lines are remembered. */
const MOST_LINES = 50_000

/** Reads schedules from what scripts answer: their lines change with every fire, their settings are read once per edition. */
export class Schedules {
  readonly definitions = new Definitions()
  readonly #ask: AskScript
  /** Lines as they were read or written last: the next change of a schedule builds on its line. Nothing but cost depends on it. */
  readonly #lines = new Map<string, string>()

  constructor(ask: AskScript) {
    this.#ask = ask
  }

  /** From member, line and settings of each. Those whose settings are neither here nor known are read once more, as a whole. */
  async read(lines: readonly string[], first = 0): Promise<ScheduleState[]> {
    const states: (ScheduleState | null)[] = []
    const unknown: string[] = []
    for (let at = first; at < lines.length; at += 3) {
      const state = this.#readOne(lines[at]!, lines[at + 1]!, lines[at + 2]!)
      if (state === null) unknown.push(lines[at]!)
      states.push(state)
    }
    if (unknown.length === 0) return states as ScheduleState[]
    const whole = await this.#loadWhole(unknown)
    let next = 0
    // One that was removed meanwhile is left out.
    return states.flatMap((state) => state ?? whole.get(unknown[next++]!) ?? [])
  }

  async load(
    ids: readonly string[],
    ask = this.#ask,
  ): Promise<{ readonly now: number; readonly epoch: number; readonly schedules: ScheduleState[] }> {
    const { now, epoch, lines } = await ask(LOAD, ['0', ...new Set(ids.map(memberOf))])
    return { now, epoch, schedules: await this.read(lines) }
  }

  lineOf(id: string): string | undefined {
    return this.#lines.get(id)
  }

  rememberLine(id: string, line: string | null): void {
    if (line === null) this.#lines.delete(id)
    else {
      if (this.#lines.size >= MOST_LINES && !this.#lines.has(id)) this.#lines.delete(this.#lines.keys().next().value!)
      this.#lines.set(id, line)
    }
  }

  /** A store that went back in time may give the same version to another line, and the same edition to other settings. */
  forget(): void {
    this.#lines.clear()
    this.definitions.clear()
  }

  /** Make sure that the current settings of these are known. */
  async learn(ids: readonly string[]): Promise<void> {
    await this.#loadWhole(ids.map(memberOf))
  }

  async #loadWhole(members: readonly string[]): Promise<Map<string, ScheduleState>> {
    const { lines } = await this.#ask(LOAD, ['1', ...members])
    const found = new Map<string, ScheduleState>()
    for (let at = 0; at < lines.length; at += 3) {
      found.set(lines[at]!, this.#readOne(lines[at]!, lines[at + 1]!, lines[at + 2]!)!)
    }
    return found
  }

  #readOne(member: string, line: string, text: string): ScheduleState | null {
    const id = scheduleOf(member)
    const edition = editionOf(line)
    this.rememberLine(id, line)
    const known = this.definitions.find(id, edition)
    if (known !== undefined) return readState(id, line, known)
    if (text === '') return null
    const settings = { ...readSettings(text), edition }
    this.definitions.remember(id, settings)
    return readState(id, line, settings)
  }
}
