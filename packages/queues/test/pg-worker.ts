import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'

/** A process with real workers of pg-boss and graphile-worker. They do what the data of a job says, and tell the parent. */
const { url, hangs } = JSON.parse(process.argv[2]!) as { readonly url: string; readonly hangs: boolean }

async function work(id: string, data: unknown): Promise<unknown> {
  tell('began', id)
  const { does } = (data as { readonly input: { readonly does: string } }).input
  if (does === 'fail') throw new Error('the printer burns')
  if (does === 'hang' && hangs) await sleep(600_000)
  return { rows: 7 }
}

const boss = new PgBoss({ connectionString: url, monitorIntervalSeconds: 1, superviseIntervalSeconds: 1 })
boss.on('error', () => {})
await boss.start()
await boss.work('print', { pollingIntervalSeconds: 0.5 }, async ([job]) => work(job!.id, job!.data))
await run({
  connectionString: url,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  pollInterval: 200,
  taskList: { print: async (payload, { job }) => void (await work(job.id, payload)) },
})
tell('ready', '')

function tell(what: string, id: string): void {
  if (process.connected) process.send!({ what, id }, () => {})
}
process.once('disconnect', () => process.exit())
