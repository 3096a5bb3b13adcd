import type { ScheduleState } from '../../model/schedule.ts'
import { encodeName } from './keys.ts'

/** Settings that only people change about a schedule. Stored separately, and read once per edition. */
export type Settings = Pick<
  ScheduleState,
  'definition' | 'revision' | 'source' | 'createdAt' | 'updatedAt' | 'zoneData'
>

interface Known extends Settings {
  /** The version of the schedule that wrote it: no two of one name have the same within an epoch. */
  readonly edition: number
}

/** How many are cached: those of due schedules are needed again soon. */
const MOST = 50_000

/**
 * Settings as the store has them in this epoch. Scripts refuse to keep an edition that is not the current one, so an old entry does no
 * harm. After a rollback the store may give the same edition to other settings, so a new epoch begins with none.
 */
export class Definitions {
  readonly #known = new Map<string, Known>()

  find(id: string, edition: number): Known | undefined {
    const known = this.#known.get(id)
    return known?.edition === edition ? known : undefined
  }

  /** The edition that was seen last. */
  last(id: string): Known | undefined {
    return this.#known.get(id)
  }

  clear(): void {
    this.#known.clear()
  }

  remember(id: string, known: Known): void {
    if (this.#known.size >= MOST && !this.#known.has(id)) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, known)
  }
}

/** In the form that a script takes: job, tenant and app separately, since schedules are searched by them. */
export function writeSettings({ definition, revision, source, createdAt, updatedAt, zoneData }: Settings): string {
  const tenant = definition.tenant === null ? '' : `+${encodeName(definition.tenant)}`
  const app = source.kind === 'code' ? `+${encodeName(source.app)}` : ''
  const json = JSON.stringify({ definition, revision, source, createdAt, updatedAt, zoneData } satisfies Settings)
  return `${encodeName(definition.job)}\n${tenant}\n${app}\n${json}`
}

/** By their text: schedules that were created together mostly share it. */
const read = new Map<string, Settings>()
const MOST_READ = 1_000

export function readSettings(text: string): Settings {
  const known = read.get(text)
  if (known !== undefined) return known
  const settings = JSON.parse(text.slice(text.indexOf('\n{') + 1)) as Settings
  if (read.size >= MOST_READ) read.clear()
  read.set(text, settings)
  return settings
}

/** Whether `state` leaves the settings as they are. A definition counts only with a new revision. */
export function isUnchanged(known: Settings, state: ScheduleState): boolean {
  return (
    known.revision === state.revision &&
    known.updatedAt === state.updatedAt &&
    known.createdAt === state.createdAt &&
    known.zoneData === state.zoneData &&
    (known.source === state.source || isSameSource(known.source, state.source))
  )
}

function isSameSource(one: Settings['source'], other: Settings['source']): boolean {
  if (one.kind !== 'code' || other.kind !== 'code') return one.kind === other.kind
  return one.app === other.app && one.number === other.number
}

/** What the store keeps of `state`: the definition it has, unless the revision is another one. */
export function settingsOf(known: Settings | undefined, state: ScheduleState): Settings {
  const { revision, source, createdAt, updatedAt, zoneData } = state
  const definition = known?.revision === revision ? known.definition : state.definition
  return { definition, revision, source, createdAt, updatedAt, zoneData }
}
