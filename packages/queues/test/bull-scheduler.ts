import { Queue } from 'bullmq'
import { cronce } from '../../cronce/src/index.ts'
import { bullmq } from '../src/bullmq.ts'

interface Order extends Readonly<Record<'url' | 'queue' | 'store', string>> {
  readonly enqueues?: boolean
  /** The answer to an enqueue never comes. */
  readonly hangs?: boolean
}

/** A process with an app of cronce whose job waits for a queue, or only enqueues. */
const { url, queue: name, store, hangs = false, enqueues = false } = JSON.parse(process.argv[2]!) as Order
const queue = new Queue(name, { connection: { url, maxRetriesPerRequest: null } })
const app = cronce({ store, lease: '2s', drain: '1d', logger: false, app: 'queues' })
const add = async (...args: Parameters<Queue['add']>) => {
  const job = await queue.add(...args)
  process.send!({ what: 'added', id: job.id ?? '' })
  return hangs ? new Promise<never>(() => {}) : job
}
const asked = Object.assign(Object.create(queue) as Queue, { add })
const options = enqueues ? {} : ({ wait: 'completed', pollMs: 50 } as const)
app.job('report', { guarantee: 'at-least-once' }, bullmq(asked, options))
app.on('*', ({ type }) => {
  if (process.connected) process.send!({ what: type, id: app.instance ?? '' }, () => {})
})
await app.start()
process.send!({ what: 'started', id: app.instance! })
process.once('disconnect', () => process.exit())
