import type { CronceEvent, EventOf, EventType } from '../model/event.ts'

export interface Emitter {
  emit(event: CronceEvent): void
  /** Whether an event of this type has a listener. */
  hears(type: EventType): boolean
  on<Type extends EventType | '*'>(type: Type, listener: Listener<Type>): () => void
}

/** Called with every event of a type. */
export type Listener<Type extends EventType | '*'> = (
  event: Type extends EventType ? EventOf<Type> : CronceEvent,
) => void

/** Calls listeners synchronously, in the order of registration. If one throws, `onThrow` gets the error and the others still run. */
export function emitter(onThrow: (error: unknown, event: CronceEvent) => void): Emitter {
  const listeners = new Map<EventType | '*', Set<(event: CronceEvent) => void>>()
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
    },
    hears: (type) => hasAny(listeners.get(type)) || hasAny(listeners.get('*')),
    on(type, listener) {
      const all = listeners.get(type) ?? new Set()
      listeners.set(type, all)
      const own = listener as (event: CronceEvent) => void
      all.add(own)
      return () => void all.delete(own)
    },
  }
}

function hasAny(all: ReadonlySet<unknown> | undefined): boolean {
  return all !== undefined && all.size > 0
}
