/** The program of a thread that runs a task. */
import { parentPort, workerData } from 'node:worker_threads'
import { CronceError } from '../../errors.ts'
import { toErrorData } from './error-data.ts'
import type { FromTask, TaskOrder, ToTask } from './messages.ts'
import { exitWhenWritten, runTask } from './run-task.ts'
import { type LeaseCells, watchLease } from './thread-lease.ts'

export interface ThreadData {
  readonly order: TaskOrder
  readonly lease: LeaseCells
}

const port = parentPort
if (port === null) throw new Error('This is a program for a thread.')

const { order, lease } = workerData as ThreadData
const receive = runTask(order, {
  send: (message: FromTask) => port.postMessage(message),
  ref: () => port.ref(),
  unref: () => port.unref(),
  end: exitWhenWritten,
})
port.on('message', (message: ToTask) => receive(message))
// It keeps the thread alive only while code waits for the scheduler.
port.unref()

const lost = new CronceError('LEASE_LOST', 'No news of the lease came in time: another instance may run this fire.', {
  hint: 'Stop working when run.signal is aborted. The event loop of the scheduler may be blocked.',
})
watchLease(lease, {
  ask: () => receive({ kind: 'abort', error: toErrorData(lost) }),
  end: () => process.exit(1),
})
