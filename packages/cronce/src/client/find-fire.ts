import type { FireKey, FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { namesBefore } from '../policy/deploy/continue-job.ts'
import { covers } from '../policy/ledger.ts'
import { listFires, ofFire } from '../store/list-views.ts'
import { readStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'

/** The record of a fire, or of the range that its instant is in. */
export async function findFire<Tx>({ store }: ClientParts<Tx>, key: FireKey): Promise<FireRecord | null> {
  // The fire itself, and ranges around it, of which a handful at most overlap.
  const query = { ...ofFire(key), limit: 100, after: null }
  const { items } = await readStore('look for a fire', () => listFires(store, query))
  const single = items.find(({ range }) => range === null)
  return single ?? items.find((record) => covers(record, key.dueAt)) ?? null
}

/** The fire of a dedupe key. */
export async function findByNonce<Tx>(
  { store }: ClientParts<Tx>,
  schedule: string,
  nonce: string,
): Promise<FireRecord | null> {
  const query = { schedule, nonce, limit: 1, after: null }
  const { items } = await readStore('look for a fire', () => listFires(store, query))
  return items[0] ?? null
}

/**
 * What `find` finds under the other names that the job of a schedule has had, unless another app has the name by now. No store is asked
 * about a job that has one name.
 */
export async function findUnderOtherNames<Tx>(
  { store }: ClientParts<Tx>,
  state: ScheduleState,
  find: (schedule: string) => Promise<FireRecord | null>,
): Promise<FireRecord | null> {
  const seen = new Set([state.id])
  for (let names = namesBefore(state); names.length > 0; ) {
    const asked = names
    const { schedules } = await readStore('load schedules', () => store.load(asked))
    const isOther = (other: ScheduleState): boolean => !isSameApp(other, state) && !isLinked(other, seen)
    const others = new Set(schedules.filter(isOther).map(({ id }) => id))
    for (const name of names) {
      seen.add(name)
      const found = others.has(name) ? null : await find(name)
      if (found !== null) return found
    }
    const own = schedules.filter(({ id }) => !others.has(id))
    names = [...new Set(own.flatMap(namesBefore))].filter((name) => !seen.has(name))
  }
  return null
}

function isSameApp({ source: a }: ScheduleState, { source: b }: ScheduleState): boolean {
  return a.kind === 'code' && b.kind === 'code' && a.app === b.app
}

/** Whether its job still has the new name that it got, whichever app had it then. */
function isLinked({ retiredAt, retirements }: ScheduleState, names: ReadonlySet<string>): boolean {
  return retiredAt !== null && names.has(retirements?.at(-1)?.renamedTo ?? '')
}
