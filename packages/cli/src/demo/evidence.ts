import { DatabaseSync } from 'node:sqlite'
import type { Connection, FireView, RunView, ScheduleView } from 'cronce'
import type { Evidence } from './ledger.ts'
import { dueBetween, SCHEDULES, TARGET } from './schedules.ts'
import { readWitnesses } from './witness.ts'

/** Where it all is. */
export interface Place {
  readonly folder: string
  readonly file: string
  readonly client: Connection<DatabaseSync>
  readonly startAt: number
}

/** The schedules of the story. Beside them there may be those of the shop, whose history is older. */
const NAMES: ReadonlySet<string> = new Set(SCHEDULES.map(({ name }) => name))

/** Everything up to an instant. The store is read through the public client. */
export async function gather(
  { folder, file, client, startAt }: Place,
  until: number,
  isFinal: boolean,
): Promise<Evidence> {
  const window = { from: startAt, to: until + 1 }
  const isWithin = ({ dueAt }: { readonly dueAt: number }): boolean => dueAt >= startAt && dueAt <= until
  const isJudged = ({ schedule }: { readonly schedule: string }): boolean => NAMES.has(schedule)
  const fires: FireView[] = []
  for await (const fire of client.fires.all(window)) if (isJudged(fire)) fires.push(fire)
  const runs: RunView[] = []
  for await (const run of client.runs.all(window)) if (isJudged(run)) runs.push(run)
  const due = new Map(SCHEDULES.map(({ name, everyMs }) => [name, dueBetween(everyMs, startAt, until)]))
  const lines = readWitnesses(folder).filter(isWithin)
  return { due, fires, runs, lines, payments: readPayments(file).filter(isWithin), paying: TARGET, isFinal }
}

/** The user's own table, in the same file. */
export function createPayments(file: string): void {
  const db = new DatabaseSync(file)
  db.exec('pragma journal_mode = wal; create table payments (schedule text not null, due_at integer not null)')
  db.close()
}

function readPayments(file: string): Evidence['payments'] {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 1_000 })
  try {
    const rows = db.prepare('select schedule, due_at from payments').all()
    return rows.map(({ schedule, due_at }) => ({ schedule: String(schedule), dueAt: Number(due_at) }))
  } finally {
    db.close()
  }
}

/** Every schedule is past this instant, and nothing that was due by then is open. */
export async function isSettled(client: Connection<DatabaseSync>, until: number): Promise<boolean> {
  const items = await listJudged(client)
  return (
    items.length === SCHEDULES.length &&
    items.every(({ nextAt, open }) => nextAt !== null && nextAt > until && open.every(({ dueAt }) => dueAt > until))
  )
}

/** The schedules of the story that are on record. */
export async function listJudged(client: Connection<DatabaseSync>): Promise<readonly ScheduleView[]> {
  const { items } = await client.schedules.list()
  return items.filter(({ name }) => NAMES.has(name))
}
