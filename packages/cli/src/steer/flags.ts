import type { Flags } from '../args.ts'
import { changeFlags } from '../confirm.ts'
import { STORE_FLAGS } from '../open-store.ts'
import { TIME_FLAGS } from '../time-words.ts'

/** What every command takes that changes something in a store. `kept`: where a note is found again; `null`: nowhere. */
export function steerFlags(kept: string | null) {
  return {
    ...changeFlags(kept),
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object, {"version": 1, …}, and nothing else' },
  } as const satisfies Flags
}
