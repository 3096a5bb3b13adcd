/** The program of a thread that runs a task. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FromTask, TaskOrder, ToTask } from './messages.ts'
import { exitWhenWritten, runTask } from './run-task.ts'

const port = parentPort
if (port === null) throw new Error('This is a program for a thread.')

const receive = runTask(workerData as TaskOrder, {
  send: (message: FromTask) => port.postMessage(message),
  ref: () => port.ref(),
  unref: () => port.unref(),
  end: exitWhenWritten,
})
port.on('message', (message: ToTask) => receive(message))
// Only while somebody waits for the scheduler does it keep the thread from ending.
port.unref()
