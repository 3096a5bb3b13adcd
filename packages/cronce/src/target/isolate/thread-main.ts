/** The program of a thread that runs a task. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FromTask, TaskOrder, ToTask } from './messages.ts'
import { runTask } from './run-task.ts'

const port = parentPort
if (port === null) throw new Error('This is a program for a thread.')

const receive = runTask(workerData as TaskOrder, {
  send: (message: FromTask) => port.postMessage(message),
  ref: () => port.ref(),
  unref: () => port.unref(),
  // What it has written is on its way, too.
  end: () => process.stdout.write('', () => process.stderr.write('', () => process.exit(0))),
})
port.on('message', (message: ToTask) => receive(message))
// Only while somebody waits for the scheduler does it keep the thread from ending.
port.unref()
