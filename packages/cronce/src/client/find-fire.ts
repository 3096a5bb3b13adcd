import type { FireKey, FireRecord } from '../model/record.ts'
import { covers } from '../policy/ledger.ts'
import type { FireQuery } from '../store/store.ts'
import { readStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'

/** The record of a fire, or of the range that its instant is in. */
export async function findFire<Tx>({ store }: ClientParts<Tx>, key: FireKey): Promise<FireRecord | null> {
  const { schedule, dueAt, nonce } = key
  // The fire itself, and ranges around it, of which a handful at most overlap.
  const query: FireQuery = { schedule, nonce, from: dueAt, to: dueAt + 1, limit: 100, after: null }
  const { items } = await readStore('look for a fire', () => store.listFires(query))
  const single = items.find(({ range }) => range === null)
  return single ?? items.find((record) => covers(record, dueAt)) ?? null
}
