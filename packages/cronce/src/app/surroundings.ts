import type { Clock } from '../clock.ts'
import type { EngineParts, EngineSettings } from '../engine/parts.ts'
import type { CronceEvent } from '../model/event.ts'
import type { StoreSource } from '../store/store.ts'

/** What an app takes from the process it runs in. Tests and simulations bring their own. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly zoneData: string
  readonly production: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default name of an app in these surroundings. */
  readonly appName: () => string | undefined
  readonly settings: Partial<EngineSettings>
  /** What an app without jobs is for, for the log line about its start. */
  readonly purpose: string | null
  /** How often a leader makes sure that its event loop is not blocked. */
  readonly pulseMs: number
  readonly sync: EngineParts['sync']
  /** Receives every event of every app in this process. */
  readonly told: ((event: CronceEvent) => void) | null
}

const KNOWN = new WeakMap<object, Partial<Surroundings>>()

/** Any app that opens this store gets these surroundings: an application's code can be tested without extra options. */
export function surround<Source extends StoreSource<never>>(
  source: Source,
  surroundings: Partial<Surroundings>,
): Source {
  KNOWN.set(source, surroundings)
  return source
}

/** Gives a store the surroundings of another one: what opens it lives in the same time. */
export function surroundLike<Source extends object>(source: Source, other: object): Source {
  KNOWN.set(source, surroundingsOf(other))
  return source
}

export function surroundingsOf(source: object): Partial<Surroundings> {
  return KNOWN.get(source) ?? {}
}
