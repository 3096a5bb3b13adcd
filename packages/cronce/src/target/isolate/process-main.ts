/** The program of a process that runs a task. Its file descriptor 3 leads to the scheduler: a message a line. */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { toErrorData } from './error-data.ts'
import { readMessages } from './lines.ts'
import type { FromTask, ToTask } from './messages.ts'
import { exitWhenWritten, runTask } from './run-task.ts'

const CHANNEL = 3

// A task that writes faster than the scheduler reads waits, instead of buffering output in memory and losing it at exit.
for (const stream of [process.stdout, process.stderr]) {
  const { _handle } = stream as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } }
  _handle?.setBlocking?.(true)
}

const socket = new Socket({ fd: CHANNEL, readable: true, writable: true })
// The scheduler is gone, so an answer has no reader; the supervisor ends this process.
socket.on('error', () => {})
const print = (message: FromTask): string => `${JSON.stringify(message)}\n`

let receive = (message: ToTask): void => {
  if (message.kind !== 'order') return
  receive = runTask(message.order, {
    send: (answer) => void socket.write(print(answer)),
    ref: () => socket.ref(),
    unref: () => socket.unref(),
    end: () => socket.end(exitWhenWritten),
  })
  // It keeps the process alive only while code waits for the scheduler.
  socket.unref()
}
readMessages(socket, (message) => receive(message as ToTask))

// The process ends as it would have without us, and at once: this is the last that can be told.
process.on('uncaughtExceptionMonitor', (error) => {
  try {
    writeSync(CHANNEL, print({ kind: 'uncaught', error: toErrorData(error) }))
  } catch {
    // Then its exit code has to say it.
  }
})
