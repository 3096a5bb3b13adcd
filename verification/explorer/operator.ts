import type { Definition, ScheduleState } from '../../packages/cronce/src/model/schedule.ts'
import type { Decision, Refusal } from '../../packages/cronce/src/policy/decision.ts'
import { define } from '../../packages/cronce/src/policy/operate/define.ts'
import { pause, resume } from '../../packages/cronce/src/policy/operate/pause.ts'
import { remove } from '../../packages/cronce/src/policy/operate/remove.ts'
import { contextOf, type Fleet, type Moves } from './fleet.ts'
import { type Command, type Operator, SCHEDULE, type State, send, waits } from './state.ts'

/** There is one operator, beside the workers. */
export const OPERATOR = -1

export const NO_OPERATOR: Operator = { script: [], acknowledged: null }

/** `store/change-schedules.ts`, as a client calls it: read, decide, write; again after a conflict. */
export async function operatorMoves(fleet: Fleet, state: State): Promise<Moves> {
  const [command] = state.operator.script
  if (command === undefined || waits(state, OPERATOR, 'operator')) return []
  const { schedules } = await fleet.at.read(state.store, state.now, (store) => store.load([SCHEDULE]))
  const decision = decide(fleet, state, command, schedules[0] ?? null)
  // Nothing to do, or refused: continue with the next one.
  if (decision === null || 'refused' in decision) {
    return [
      {
        words: `the operator finds nothing to ${command}`,
        isFault: false,
        make: () => hearCommand(state, command, true),
      },
    ]
  }
  const frame = { worker: OPERATOR, instance: '', waiting: 'operator' } as const
  const next = send(state, { ...frame, kind: 'command', command, change: decision.change })
  return [{ words: `the operator sends a command: ${command}`, isFault: false, make: () => next }]
}

function decide(
  { options }: Fleet,
  state: State,
  command: Command,
  schedule: ScheduleState | null,
): Decision | Refusal | null {
  const context = contextOf(state)
  const source = { kind: 'client' } as const
  if (schedule === null) {
    return command === 'create' ? define(null, SCHEDULE, { definition: options.definition, source }, context) : null
  }
  switch (command) {
    case 'pause':
      return pause(schedule, { note: null, author: null, until: null, missed: 'all' }, context)
    case 'resume':
      return resume(schedule, 'all', context)
    case 'redefine':
      return define(schedule, SCHEDULE, { definition: redefined(options.definition), source }, context)
    case 'remove':
      return remove(schedule, { force: true }, context)
    case 'create':
      return null
  }
}

export function redefined(definition: Definition): Definition {
  return { ...definition, input: 'changed' }
}

export function hearCommand(state: State, command: Command, isApplied: boolean): State {
  if (!isApplied) return state
  return { ...state, operator: { script: state.operator.script.slice(1), acknowledged: command } }
}
