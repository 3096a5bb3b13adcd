/** A process that reports its clocks when asked. */
import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'

export interface Clocks {
  readonly date: number
  readonly monotonicMs: number
  /** Of SQLite in this process, of another program that it starts, and of a thread of it. */
  readonly sqlite: number
  readonly child: number
  readonly thread: number
}

const THREAD = 'require("node:worker_threads").parentPort.postMessage(Date.now())'
const sqlite = new DatabaseSync(':memory:').prepare("select unixepoch('subsec') * 1000 as at")

process.on('message', async (question) => {
  if (question === 'nap') {
    setTimeout(() => process.send!({ woke: true }), 50)
    return
  }
  const thread = new Worker(THREAD, { eval: true })
  const clocks: Clocks = {
    date: Date.now(),
    monotonicMs: Number(process.hrtime.bigint()) / 1e6,
    sqlite: (sqlite.get() as { at: number }).at,
    child: Number(execFileSync('date', ['+%s'])) * 1000,
    thread: await new Promise<number>((resolve) => thread.once('message', resolve)),
  }
  process.send!(clocks)
})
process.send!('ready')
