import type { TestContext } from 'node:test'
import { type Job, Queue } from 'bullmq'
import { type Cronce, cronce, type JobOptions } from '../../cronce/src/index.ts'
import { type BullmqOptions, bullmq } from '../src/bullmq.ts'
import { type Program, startProgram } from './kit.ts'

export interface World {
  readonly url: string
  readonly queue: Queue
  readonly app: Cronce
  worker(options?: object): Promise<Program>
}

let worlds = 0

/** An app in this process whose job `report` is enqueued in a queue of its own. */
export async function world(
  context: TestContext,
  url: string,
  options: BullmqOptions,
  policy: JobOptions = {},
  around: (queue: Queue) => Parameters<typeof bullmq>[0] = (queue) => queue,
): Promise<World> {
  const name = `reports-${++worlds}`
  const connection = { url, maxRetriesPerRequest: 1 }
  const queue = new Queue(name, { connection })
  queue.on('error', () => {})
  const app = cronce({ store: 'memory:', logger: false, signals: false, app: 'queues' })
  app.job('report', policy, bullmq(around(queue), { pollMs: 20, ...options }))
  await app.start()
  context.after(async () => {
    await app.stop()
    await queue.close()
  })
  const worker = async (more: object = {}): Promise<Program> => {
    const program = startProgram('bull-worker.ts', { url, queue: name, ...more })
    await program.told('ready')
    return program
  }
  return { url, queue, app, worker }
}

export async function allJobs(queue: Queue): Promise<readonly Job[]> {
  return queue.getJobs()
}

/** A queue whose first answer gets lost: the job was added. */
export function losing(queue: Queue): Queue {
  let calls = 0
  const add = async (...args: Parameters<Queue['add']>) => {
    const job = await queue.add(...args)
    if (++calls === 1) throw new Error('the connection was closed')
    return job
  }
  return Object.assign(Object.create(queue) as Queue, { add })
}
