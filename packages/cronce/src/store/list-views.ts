import type { FireKey, FireRecord, RunNotes, RunRecord } from '../model/record.ts'
import { viewListedFire, viewListedRun } from '../model/views.ts'
import type { Page, RecordQuery, Store } from './store.ts'

// The two views of `Store.listRecords`, as the engine and the client read them.

export type ViewQuery = Omit<RecordQuery, 'view'>

type Lister = Pick<Store, 'listRecords'>

export async function listFires(store: Lister, query: ViewQuery): Promise<Page<FireRecord>> {
  const page = await store.listRecords({ ...query, view: 'fires' })
  return { ...page, items: page.items.map(viewListedFire) }
}

export async function listRuns(store: Lister, query: ViewQuery): Promise<Page<RunRecord & RunNotes>> {
  const page = await store.listRecords({ ...query, view: 'runs' })
  return { ...page, items: page.items.map(viewListedRun) }
}

/** Records of one fire, or of a range that its instant is in. */
export function ofFire({ schedule, dueAt, nonce }: FireKey): Pick<RecordQuery, 'schedule' | 'nonce' | 'from' | 'to'> {
  return { schedule, nonce, from: dueAt, to: dueAt + 1 }
}

/** The run with this token, open or ended. Without its fire, a store may have to read through the history of the schedule. */
export async function findRun(
  store: Lister,
  { schedule, dueAt, nonce }: Pick<FireKey, 'schedule'> & Partial<FireKey>,
  token: string,
): Promise<(RunRecord & RunNotes) | undefined> {
  const about = dueAt === undefined || nonce === undefined ? { schedule } : ofFire({ schedule, dueAt, nonce })
  return (await listRuns(store, { ...about, token, after: null, limit: 1 })).items[0]
}
