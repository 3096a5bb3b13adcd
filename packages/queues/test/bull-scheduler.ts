import { Queue } from 'bullmq'
import { cronce } from '../../cronce/src/index.ts'
import { bullmq } from '../src/bullmq.ts'

/** A process with an app of cronce whose job waits for a queue. */
const { url, queue: name, store } = JSON.parse(process.argv[2]!) as Readonly<Record<'url' | 'queue' | 'store', string>>
const queue = new Queue(name, { connection: { url, maxRetriesPerRequest: null } })
const app = cronce({ store, lease: '2s', drain: '1d', logger: false, app: 'queues' })
app.job('report', { guarantee: 'at-least-once' }, bullmq(queue, { wait: 'completed', pollMs: 50 }))
app.on('*', ({ type }) => {
  if (process.connected) process.send!({ what: type, id: app.instance ?? '' }, () => {})
})
await app.start()
process.send!({ what: 'started', id: app.instance! })
process.once('disconnect', () => process.exit())
