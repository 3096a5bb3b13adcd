import type { FireKey, StepRecord } from '../../model/record.ts'
import type { StepAnswer, StepCommand } from '../store.ts'
import { decodeName, encodeName, fireName, instantOf, memberOf, packToken, readToken } from './keys.ts'
import type { AskScript } from './moment.ts'
import { LIST_STEPS } from './scripts.ts'

/** How many steps one script reads: the server serves no other client meanwhile. */
const BITE = 500

/** The arguments of the script for this command. */
export function stepValues(command: StepCommand): string[] {
  const { kind, fire, step } = command
  const head = [kind, memberOf(fire.schedule), fireName(fire), encodeName(step)]
  if (kind === 'begin') return [...head, packToken(command.token), command.rerun ? '1' : '0', '']
  const token = kind === 'end' ? packToken(command.token) : ''
  return [...head, token, command.failed ? '1' : '0', JSON.stringify(command.result)]
}

export function stepAnswerOf([kind, value]: readonly string[]): StepAnswer {
  if (kind === 'done') return { kind, result: JSON.parse(value!) }
  if (kind === 'unknown') return { kind, token: readToken(value!) }
  return { kind: kind as 'applied' | 'duplicate' | 'stale' | 'not-found' }
}

/** In the order in which they started. */
export async function listSteps(ask: AskScript, fire: FireKey): Promise<StepRecord[]> {
  const steps = new Map<string, StepRecord>()
  let cursor = '0'
  do {
    const { lines } = await ask(LIST_STEPS, [encodeName(fire.schedule), fireName(fire), cursor, String(BITE)])
    const [next = '0', ...rest] = lines
    for (const line of rest) {
      const step = stepOf(fire, line)
      steps.set(step.step, step)
    }
    cursor = next
  } while (cursor !== '0')
  return [...steps.values()].sort((one, other) => one.begunAt - other.begunAt || (one.step < other.step ? -1 : 1))
}

function stepOf({ schedule, dueAt, nonce }: FireKey, line: string): StepRecord {
  const [name, head, result] = line.split('\t') as [string, string, string]
  const [state, token, begunAt, endedAt] = head.split(' ') as [StepRecord['state'], string, string, string]
  return {
    schedule,
    dueAt,
    nonce,
    step: decodeName(name),
    state,
    token: readToken(token),
    result: JSON.parse(result),
    begunAt: Number(begunAt),
    endedAt: instantOf(endedAt),
  }
}
