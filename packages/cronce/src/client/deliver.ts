import type { FireRecord } from '../model/record.ts'
import { BY_ITSELF, deliver } from '../policy/deliver.ts'
import { changeSchedule } from './change-schedule.ts'
import { findFire } from './find-fire.ts'
import { viewFire } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { readCommand } from './read-command.ts'
import { readInstant } from './read-option.ts'
import type { When } from './schedule-options.ts'
import type { FireView } from './views.ts'

export interface DeliverOptions {
  /** The instant that is due, exactly: with the schedule it is the fire's identity. */
  readonly dueAt: When
}

export interface Delivered {
  /** `null`: the schedule has a trigger of its own, and comes to this instant by itself. */
  readonly fire: FireView | null
  /** False: it was on record, whoever put it there. */
  readonly created: boolean
}

export async function deliverFire<Tx>(
  parts: ClientParts<Tx>,
  schedule: string,
  options: DeliverOptions,
): Promise<Delivered> {
  const dueAt = readInstant('dueAt', readCommand(options, ['dueAt']).dueAt)
  let known: FireRecord | null = null
  const changed = await changeSchedule(parts, schedule, async (state, context) => {
    // Read after the state: whatever puts it on record changes the state's version, too, and is noticed.
    known = await findFire(parts, { schedule, dueAt, nonce: '' })
    if (known !== null) return null
    const decision = deliver(state, dueAt, context)
    return decision === BY_ITSELF ? null : decision
  })
  if (changed.kind === 'exists') return { fire: viewFire(changed.fire), created: false }
  if (changed.kind === 'unchanged') return { fire: known === null ? null : viewFire(known), created: false }
  const fire = changed.decision.change.creates.find((record) => record.dueAt === dueAt && record.nonce === '')
  return { fire: viewFire(fire!), created: true }
}
