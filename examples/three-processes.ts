/** Three processes, one file, one list of jobs: every fire is run once. So it is with PM2's cluster mode, or three containers. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cronce } from 'cronce'

if (process.send === undefined) await watchThem()
else await beOne()

async function beOne(): Promise<void> {
  const app = cronce({ store: 'sqlite:./cronce-three-processes.db' })
  app.job(
    'charge',
    { every: '100ms', overlap: 'queue-all' },
    (run) => process.connected && process.send!(run.fire.dueAt),
  )
  process.once('disconnect', () => void app.stop())
  await app.start()
}

async function watchThem(): Promise<void> {
  const runs: number[] = []
  const processes = [1, 2, 3].map(() => fork(import.meta.filename))
  await new Promise<void>((resolve) => {
    for (const one of processes) one.on('message', (dueAt: number) => runs.push(dueAt) === 12 && resolve())
  })
  const due = [...new Set(runs)].sort((a, b) => a - b)
  for (const one of processes) one.disconnect()
  await Promise.all(processes.map((one) => once(one, 'exit')))
  console.log(`run twice: ${runs.length - new Set(runs).size}`)
  console.log(`left out: ${due.filter((at, index) => index > 0 && at - due[index - 1]! !== 100).length}`)
}

/* prints
run twice: 0
left out: 0
*/
