import { appendFileSync } from 'node:fs'
import type { TaskContext } from 'node-cron'
import { connect } from '../../src/app/connect.ts'
import { findToken } from '../../src/node-cron.ts'
import type { Line, Order } from './coordinator-order.ts'

/** A background task: node-cron runs it in a process of its own, where the coordinator is not. */
const { CRONCE_TEST_ORDER = '' } = process.env
const { name, store, witness } = JSON.parse(CRONCE_TEST_ORDER) as Order
const client = await connect({ store, logger: false })

export async function task(context: TaskContext): Promise<void> {
  const token = await findToken(client, context)
  const about = { process: name, task: context.task!.name!, slot: context.date.getTime(), token: String(token) }
  const note = (what: Line['what']): void => appendFileSync(witness, `${JSON.stringify({ what, ...about })}\n`)
  note('started')
  note('ended')
}
