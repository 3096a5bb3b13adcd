import type { Client } from '../client/client.ts'
import { scheduleOf } from './coordinator-key.ts'
import { type SlotContext, slotOfContext } from './coordinator-watch.ts'

/**
 * The fencing token of a background task: that is a process of its own, which has to ask the store. By the context that its
 * function got, and a client that it made with `connect`. `null`: no such run is going on.
 */
export async function findToken(client: Pick<Client, 'runs'>, context: SlotContext): Promise<bigint | null> {
  const key = slotOfContext(context)
  if (key === null) return null
  const fire = { schedule: scheduleOf(key.name), dueAt: key.dueAt }
  const { items } = await client.runs.list({ fire, outcome: 'open', limit: 1 })
  return items[0] === undefined ? null : BigInt(items[0].token)
}
