import type { FireRecord } from '../model/record.ts'
import { fireIn } from '../policy/fire-in.ts'
import { covers } from '../policy/ledger.ts'
import { deliver } from '../policy/operate/deliver.ts'
import { changeSchedule } from './change-schedule.ts'
import { findFire, findUnderOtherNames } from './find-fire.ts'
import { viewFire } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { readCommand } from './read-command.ts'
import { readInstant } from './read-option.ts'
import type { When } from './schedule-options.ts'
import type { FireView } from './views.ts'

/** Options of `schedules.deliver()`. */
export interface DeliverOptions {
  /** The instant that is due, exactly: with the schedule it is the fire's identity. */
  readonly dueAt: When
}

/** The fire that a delivery led to. */
export interface Delivered {
  /** `null`: the schedule has a trigger of its own, and comes to this instant by itself. */
  readonly fire: FireView | null
  /** False: the fire was already on record. */
  readonly created: boolean
  /** When it may start: the instant, with its jitter. */
  readonly readyAt: number
}

export async function deliverFire<Tx>(
  parts: ClientParts<Tx>,
  schedule: string,
  options: DeliverOptions,
): Promise<Delivered> {
  const dueAt = readInstant('dueAt', readCommand(options, ['dueAt']).dueAt)
  let known: FireRecord | null = null
  let readyAt = dueAt
  const changed = await changeSchedule(parts, schedule, async (state, context) => {
    // Read after the state: whatever puts it on record changes the state's version, too, and is noticed.
    const find = (name: string) => findFire(parts, { schedule: name, dueAt, nonce: '' })
    known = (await find(schedule)) ?? (await findUnderOtherNames(parts, state, find))
    if (known !== null) return null
    const decision = deliver(state, dueAt, context)
    if (!('readyAt' in decision)) return decision
    readyAt = decision.readyAt
    return null
  })
  if (changed.kind === 'exists') return answer(changed.fire, false)
  if (changed.kind === 'unchanged')
    return known === null ? { fire: null, created: false, readyAt } : answer(known, false)
  const fire = fireIn(changed.decision.change, (one) => one.nonce === '' && covers(one, dueAt))
  return answer(fire!, true)
}

function answer(fire: FireRecord, created: boolean): Delivered {
  return { fire: viewFire(fire), created, readyAt: fire.readyAt }
}
