import type { Clock } from '../clock.ts'
import type { CronceEvent } from '../model/event.ts'
import type { Context, Decision } from '../policy/decision.ts'
import type { Loaded, Store } from '../store/store.ts'
import type { Calendars } from './read-calendar.ts'
import type { PolicyOptions } from './schedule-options.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What a client is made of: all of it handed in, so that tests and simulations can bring their own. */
export interface ClientParts<Tx = unknown> {
  readonly store: Store<Tx>
  readonly context: () => ClientContext
  /** Receives the events of a change once it is applied. Must not throw. */
  readonly emit: (event: CronceEvent) => void
  /** Receives every change that was written: this instance remembers it in case the store loses it. */
  readonly applied?: ((decision: Decision) => void) | undefined
  /** How long lines of the operator log are kept. @default a year */
  readonly keepActivityMs?: number | undefined
  /** The jobs that this process knows. */
  readonly jobNames?: (() => readonly string[]) | undefined
  /** Reports what is valid and probably not meant. */
  readonly warn?: ((message: string) => void) | undefined
  /** The schema of a job that this process knows. */
  readonly inputSchemaOf?: ((job: string) => StandardSchema | undefined) | undefined
  /** The policies of a job that this process knows: they hold where a schedule says nothing. */
  readonly defaultsOf?: ((job: string) => PolicyOptions | undefined) | undefined
  /** The calendars that schedules may name. */
  readonly calendars?: Calendars | undefined
}

export interface ClientContext {
  /** Version of this process's time zone data. */
  readonly zoneData: string
  /** Never decides: it only measures how far away the store is, and waits between two looks at it. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Made at random, unique. */
  readonly newId: () => string
}

export function contextAt<Tx>({ context }: ClientParts<Tx>, { now, epoch }: Loaded): Context {
  const { zoneData, random } = context()
  return { now, epoch, zoneData, random }
}
