import type { Json } from '../model/json.ts'
import { LIMITS } from '../model/limits.ts'
import type { FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { fireIn } from '../policy/fire-in.ts'
import { findTriggered, triggerNow } from '../policy/operate/trigger-now.ts'
import { changeSchedule } from './change-schedule.ts'
import { findByNonce, findUnderOtherNames } from './find-fire.ts'
import { viewFire } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, authorOf, readCommand, readOperator } from './read-command.ts'
import { readInput } from './read-input.ts'
import { readName } from './read-name.ts'
import { readChoice } from './read-option.ts'
import { demandInput } from './standard-schema.ts'
import type { FireView } from './views.ts'

/** Options of `schedules.trigger()`. */
export interface TriggerNowOptions<Tx = unknown> extends Authored {
  /** @default the schedule's input */
  readonly input?: Json | undefined
  /** At most one fire per key, as long as its record is kept. @default none */
  readonly dedupe?: string | undefined
  /** `ignore`: start whatever else is active. @default 'honour' */
  readonly overlap?: 'honour' | 'ignore' | undefined
  /** The caller's transaction on the same database. No event is emitted, since it may not commit. */
  readonly tx?: Tx | undefined
}

/** The fire that a trigger created or found. */
export interface Triggered {
  readonly fire: FireView
  /** False: a fire of this dedupe key was on record, and is the answer. */
  readonly created: boolean
}

export async function triggerSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  options: TriggerNowOptions<Tx> | undefined,
): Promise<Triggered> {
  const {
    input: givenInput,
    dedupe,
    overlap,
    tx,
    ...authored
  } = readCommand(options, ['input', 'dedupe', 'overlap', 'tx', ...AUTHORED])
  const key = dedupe === undefined ? undefined : readName('dedupe key', dedupe, LIMITS.dedupeKey)
  const input = givenInput === undefined ? undefined : readInput(givenInput)
  const by = readOperator(authored)
  const command = {
    nonce: key ?? parts.context().newId(),
    input,
    overlap: overlap === undefined ? 'honour' : readChoice('overlap', overlap, ['honour', 'ignore']),
    asked: authorOf(by),
  } as const
  let known: FireRecord | null = null
  const changed = await changeSchedule(
    parts,
    id,
    async (state, context) => {
      await demandFittingInput(parts, state, input)
      known = findTriggered(state, command.nonce, context)
      if (known !== null) return null
      if (key !== undefined) known = await findUnderOtherNames(parts, state, (name) => findByNonce(parts, name, key))
      if (known !== null) return null
      const decision = triggerNow(state, command, context)
      if (!('refused' in decision)) return decision
      // An earlier call with the same key may have succeeded before the schedule began to refuse triggers.
      known = key === undefined ? null : await findByNonce(parts, id, key)
      return known === null ? decision : null
    },
    { tx: tx as Tx | undefined, act: { action: 'trigger', by, changed: () => ({ fire: command.nonce }) } },
  )
  if (changed.kind === 'exists') return { fire: viewFire(changed.fire), created: false }
  if (changed.kind === 'unchanged') return { fire: viewFire(known!), created: false }
  const fire = fireIn(changed.decision.change, ({ nonce }) => nonce === command.nonce)
  return { fire: viewFire(fire!), created: true }
}

async function demandFittingInput<Tx>(
  { inputSchemaOf }: ClientParts<Tx>,
  { definition }: ScheduleState,
  input: Json | undefined,
): Promise<void> {
  const schema = inputSchemaOf?.(definition.job)
  if (schema !== undefined) await demandInput(schema, definition.job, input === undefined ? definition.input : input)
}
