import { openSync, writeSync } from 'node:fs'
import { type LineBody, now } from './history.ts'
import { type Command, linesFile, type Message, type Order, type Question, sourceOf } from './order.ts'
import { takePart } from './participant.ts'

/** One process of a contest. Runs until it is asked to stop, or its parent has ended. */
const order = JSON.parse(process.argv[2]!) as Order
const { name, folder, store, lease, skewMs } = order
const realTime = Date.now
if (skewMs !== 0) Date.now = () => realTime() + skewMs

// Not before the clock is what it shall be.
const { cronce } = await import('../../packages/cronce/src/app/cronce.ts')
const file = openSync(linesFile(folder, name), 'a')
const asked = new Map<number, (value: number | boolean | null) => void>()
let questions = 0

function tell(message: Message): void {
  if (process.connected) process.send!(message, () => {})
}

function ask(question: Question): Promise<number | boolean | null> {
  const id = ++questions
  tell({ type: 'ask', id, question })
  return new Promise((resolve) => asked.set(id, resolve))
}

function note(line: LineBody, at = now()): void {
  writeSync(file, `${JSON.stringify({ process: name, at, ...line })}\n`)
  if (line.what === 'locked') tell({ type: 'kept' })
}

process.once('disconnect', () => process.exit())
const app = cronce({ store: await sourceOf(store), lease, logger: false, signals: false, app: 'contest' })
await app.start()
const participant = takePart(app, order, {
  note,
  read: (token) => ask({ kind: 'read', token }) as Promise<number | null>,
  write: (token, value) => ask({ kind: 'write', token, value }) as Promise<boolean>,
  present: (term) => tell({ type: 'present', term }),
  doing: () => tell({ type: 'doing' }),
})
process.on('message', (command: Command) => {
  if (command.type === 'answer') {
    asked.get(command.id)?.(command.value)
    asked.delete(command.id)
  } else if (command.type === 'block') {
    participant.ask()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, command.ms)
    // At once, before any other message is received.
    participant.ask()
  } else void participant.stop().then(() => process.exit())
})
await participant.finished
tell({ type: 'finished' })
