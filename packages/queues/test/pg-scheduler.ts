import { setTimeout as sleep } from 'node:timers/promises'
import { makeWorkerUtils } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import { cronce } from '../../cronce/src/index.ts'
import { graphileWorker } from '../src/graphile-worker.ts'
import { type PgBossLike, pgBoss } from '../src/pg-boss.ts'

/** A process with an app of cronce whose jobs enqueue in the transaction that settles the fire. */
const { url } = JSON.parse(process.argv[2]!) as { readonly url: string }
const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 4 })
boss.on('error', () => {})
await boss.start()
const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 4 })
/** The time after the insert and before the commit, in which the process is killed. */
const MOST_MS = 200
const slow: PgBossLike = {
  send: async (name, data, options) => {
    const id = await boss.send(name, data, options)
    await sleep(Math.random() * MOST_MS)
    return id
  },
  getJobById: (name, id) => boss.getJobById(name, id),
  cancel: (name, id) => boss.cancel(name, id),
  getDb: () => boss.getDb(),
}
const app = cronce({ store: url, lease: '2s', logger: false, signals: false, app: 'queues' })
app.job('invoice', { guarantee: 'exactly-once' }, pgBoss(slow, { transaction: true }))
app.job('rollup', { guarantee: 'exactly-once' }, graphileWorker(utils, { transaction: true }))
app.on('run.started', ({ schedule }) => {
  if (process.connected) process.send!({ what: 'run.started', id: schedule }, () => {})
})
await app.start()
process.send!({ what: 'started', id: app.instance! })
process.once('disconnect', () => process.exit())
