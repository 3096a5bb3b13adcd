import { CronceError } from '../errors.ts'
import type { Jsonified } from '../model/json.ts'
import { enter, isWithin } from './call-chain.ts'

/**
 * Call `begin` with work that knows which step it is part of. `run`: whose step it is. A step within itself is rejected, since it
 * would wait for itself.
 */
export async function onceOf<Value>(
  run: object,
  step: string,
  work: () => Value | Promise<Value>,
  begin: (work: () => Promise<Value>) => Promise<unknown>,
): Promise<Jsonified<Value>> {
  if (isWithin(run, step)) {
    throw new CronceError('STEP_NESTED', `Step '${step}' was called within its own work, and would wait for itself.`, {
      hint: 'Give the inner step another name, or call the inner function directly.',
    })
  }
  // What `begin` stores as JSON is what it resolves to.
  return (await begin(() => enter(run, step, work))) as Jsonified<Value>
}
