/**
 * Decide once, execute elsewhere: each fire is one message in a queue. Here the answer to the first message is lost, so the run is
 * repeated. Both runs send the same key, and the queue keeps one message. For BullMQ, pg-boss and graphile-worker see docs/queues.md.
 */
import { enqueue } from '@cronce/queues'
import { cronce } from 'cronce'

const queue = new Map<string, unknown>()
const app = cronce({ store: 'memory:', logger: false })
const options = { every: '1s', limit: 1, input: { to: 'Ada' }, retry: { attempts: 2, backoff: { base: 100 } } } as const

app.job(
  'report',
  options,
  enqueue(({ idempotencyKey, input }, run) => {
    queue.set(idempotencyKey, input)
    if (run.attempt === 1) throw new Error('the connection was closed')
    return { messages: queue.size }
  }),
)
app.on('run.retried', ({ attempt }) => console.log(`attempt ${attempt} failed, ${queue.size} message`))
app.on('fire.ended', ({ outcome, attempt }) => {
  console.log(`attempt ${attempt} ${outcome}, ${queue.size} message:`, ...queue.values())
  void app.stop()
})

await app.start()

/* prints
attempt 1 failed, 1 message
attempt 2 succeeded, 1 message: { to: 'Ada' }
*/
