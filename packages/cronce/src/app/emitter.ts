import type { CronceEvent, EventOf, EventType } from '../model/event.ts'

export interface Emitter {
  emit(event: CronceEvent): void
  /** Whether an event of this type has a listener. */
  hears(type: EventType): boolean
  on<Type extends EventType | '*'>(type: Type, listener: Listener<Type>): () => void
  /** As `on`, but only for events that are made anyway: it does not count as a listener. */
  observe<Type extends EventType>(type: Type, listener: Listener<Type>): () => void
}

/** Called with every event of a type. */
export type Listener<Type extends EventType | '*'> = (
  event: Type extends EventType ? EventOf<Type> : CronceEvent,
) => void

/** Calls listeners synchronously, in the order of registration. If one throws, `onThrow` gets the error and the others still run. */
export function emitter(onThrow: (error: unknown, event: CronceEvent) => void): Emitter {
  const listeners: Listeners = new Map()
  const observers: Listeners = new Map()
  const call = (listener: (event: CronceEvent) => unknown, event: CronceEvent): void => {
    try {
      const returned = listener(event)
      if (returned instanceof Promise) returned.catch((error: unknown) => onThrow(error, event))
    } catch (error) {
      onThrow(error, event)
    }
  }
  const tell = (all: ReadonlySet<(event: CronceEvent) => void> | undefined, event: CronceEvent): void => {
    if (all !== undefined) for (const listener of all) call(listener, event)
  }
  return {
    emit(event) {
      tell(listeners.get(event.type), event)
      tell(listeners.get('*'), event)
      tell(observers.get(event.type), event)
    },
    hears: (type) => hasAny(listeners.get(type)) || hasAny(listeners.get('*')),
    on: (type, listener) => addTo(listeners, type, listener as (event: CronceEvent) => void),
    observe: (type, listener) => addTo(observers, type, listener as (event: CronceEvent) => void),
  }
}

type Listeners = Map<EventType | '*', Set<(event: CronceEvent) => void>>

function addTo(listeners: Listeners, type: EventType | '*', listener: (event: CronceEvent) => void): () => void {
  const all = listeners.get(type) ?? new Set()
  listeners.set(type, all)
  all.add(listener)
  return () => void all.delete(listener)
}

function hasAny(all: ReadonlySet<unknown> | undefined): boolean {
  return all !== undefined && all.size > 0
}
