/** One process of one system, until its parent has ended. It writes down what it executes. */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sinceOrigin } from '../chaos/order.ts'
import type { Attempt, Line, Order } from './order.ts'
import { STARTS, type Work } from './systems.ts'

const order = JSON.parse(process.argv[2]!) as Order
const file = openSync(order.ledger, 'a')
const origin = BigInt(order.origin)
const write = (line: Line): void => void writeSync(file, `${JSON.stringify(line)}\n`)

const work: Work = async (schedule, dueAt, { signal, token = null }) => {
  const attempt = (): Attempt => ({ at: sinceOrigin(origin), node: order.node, schedule, dueAt, token })
  write({ kind: 'start', ...attempt() })
  try {
    await sleep(order.workMs, undefined, signal === undefined ? {} : { signal })
    // A signal that was aborted while the process slept is heard before the effect.
    signal?.throwIfAborted()
  } catch (error) {
    write({ kind: 'stopped', ...attempt() })
    throw error
  }
  write({ kind: 'end', ...attempt() })
}

process.once('disconnect', () => process.exit())
// Rejections inside a library are its own affair; a process that ends by itself is counted.
await STARTS[order.system](order, work)
process.send!('ready')
