import { existsSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { cronce } from '../../src/app/cronce.ts'
import type { Run } from '../../src/run/run.ts'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { gateFiles, type Line, type Order, type OrderedJob, STORE, witnessFile } from './order.ts'

/**
 * One process of a fleet: an application as users write it. Sends every event to its parent, until the parent has
 * ended.
 */
const { name, folder, postgres, options, jobs, lock, logs } = JSON.parse(process.argv[2]!) as Order
const gates = gateFiles(folder, name)
const witness = openSync(witnessFile(folder, name), 'a')
const app = cronce<Tx>({ ...options, store: await findStore(), logger: logs === true ? undefined : false })

/** Of SQLite's own driver, or of `pg`. */
type Tx = DatabaseSync | ClientBase

async function findStore(): Promise<StoreSource<Tx>> {
  if (postgres === undefined) return sqlite(join(folder, STORE)) as StoreSource<Tx>
  const store = await import('../../src/store/postgres/postgres.ts')
  return store.postgres(postgres) as StoreSource<Tx>
}

const GATE_LOOK_MS = 10
const WORK_MS = 60

const HANDLERS: Record<OrderedJob['does'], (run: Run<unknown, Tx>) => Promise<void>> = {
  note: async () => {},
  hold: async ({ signal }) => {
    while (!gates.some((gate) => existsSync(gate))) await sleep(GATE_LOOK_MS, undefined, { signal })
  },
  ignore: async () => {
    while (!gates.some((gate) => existsSync(gate))) await sleep(GATE_LOOK_MS)
  },
  insert: async (run) => {
    // Somewhere in here the process is killed.
    await sleep(Math.random() * WORK_MS)
    const { schedule, dueAt } = run.fire
    await run.transaction((tx) => {
      if ('query' in tx) return tx.query('insert into effects (schedule, due_at) values ($1, $2)', [schedule, dueAt])
      return void tx.prepare('insert into effects (schedule, due_at) values (?, ?)').run(schedule, dueAt)
    })
  },
}

for (const [job, { does, ...schedule }] of Object.entries(jobs)) {
  app.job(job, schedule, async (run) => {
    note('started', run)
    await HANDLERS[does](run)
    note('ended', run)
  })
}

function note(what: Line['what'], { fire, attempt, token }: Run<unknown, Tx>): void {
  const { schedule, dueAt } = fire
  const line: Line = { what, process: name, schedule, dueAt, attempt, token: String(token) }
  writeSync(witness, `${JSON.stringify(line)}\n`)
}

function tell(message: unknown): void {
  // Without a callback an answer that can't be delivered any more would be an error of this process.
  if (process.connected) process.send!(message, () => {})
}

process.once('disconnect', () => process.exit())
app.on('*', (event) => tell(event))
await app.start()
if (lock !== undefined) await app.lock(lock, async () => {})
tell({ type: 'started', instance: app.instance })
