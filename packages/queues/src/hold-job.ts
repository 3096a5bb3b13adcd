import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, Run } from 'cronce'
import { QueueError } from './queue-error.ts'

/** A queue whose jobs a run waits for. */
export interface HeldQueue {
  /** For messages: `queue reports of BullMQ`. */
  readonly name: string
  /** Adds a job unless there is one with this key. Returns the id of the job. */
  add(key: string): Promise<string>
  watch(id: string): WatchedJob
}

export interface WatchedJob {
  /** Reports to the run what is new. */
  look(): Promise<'open' | 'missing' | JobEnd>
  /**
   * Removes a job that no worker has, and asks the worker of an active one to end it. May be called again. Returns what there is to say
   * about an active job.
   */
  cancel(why: string): Promise<string | null>
}

/** How a job ended, as the result of a durable step. */
export interface JobEnd {
  readonly outcome: 'succeeded' | 'failed'
  readonly result: Json
  /** How often workers have begun it, as far as the queue knows. `null`: the queue has forgotten. */
  readonly attempts: number | null
  /** How often the queue gave it to another worker because it had not heard from the first one. `null`: the queue does not count. */
  readonly stalled: number | null
  /** Why it failed. */
  readonly error: { readonly message: string; readonly stack: string | null } | null
}

export interface HeldResult {
  readonly jobId: string
  readonly result: Json
  readonly attempts: number | null
  readonly stalled: number | null
}

/** Each of them has failed and cost the fire an attempt, of which it has fewer. */
const MOST_JOBS = 10_000
const GRACE_MS = 10_000
/** Less than the grace: the end must be on record before the run is given up. */
const GRACE_PART = 0.8
const CANCEL_PAUSE_MS = 100
/** Other ends of a run (a stop, a lost lease) leave the job alone: the next run of the fire waits for it. */
const CANCELS: ReadonlySet<unknown> = new Set(['RUN_TIMEOUT', 'RUN_CANCELLED', 'RUN_REPLACED'])

/**
 * Waits for the fire's job. A run that takes over from another one waits for the same job; only a retry, after the job's failure was
 * recorded as the failure of a run, adds another job.
 */
export async function holdJob(run: Run, queue: HeldQueue, pollMs: number): Promise<HeldResult> {
  for (let number = 1; number <= MOST_JOBS; number++) {
    const step = number === 1 ? 'job' : `job ${number}`
    const add = (): Promise<string> => unlessAborted(run.signal, queue.add(run.idempotencyKey(step)))
    const jobId = await run.once(`${step}: enqueue`, add, { rerun: true })
    let isOurs = false
    const wait = async (): Promise<JobEnd> => {
      isOurs = true
      return endOf(run, queue, queue.watch(jobId), pollMs)
    }
    const { outcome, error, ...end } = await run.once(`${step}: wait`, wait, { rerun: true })
    if (outcome === 'succeeded') return { jobId, ...end }
    if (!isOurs) continue
    run.signal.throwIfAborted()
    throw jobFailed(queue.name, jobId, end.attempts, error)
  }
  throw new Error('A fire has more jobs than it can have attempts.')
}

async function endOf(run: Run, queue: HeldQueue, job: WatchedJob, pollMs: number): Promise<JobEnd> {
  let isReachable = true
  while (!run.signal.aborted) {
    const state = await unlessAborted(run.signal, job.look()).catch((error: unknown) => {
      if (isReachable && !run.signal.aborted)
        run.log.warn(`The ${queue.name} can't be read, so the run waits: ${String(error)}`)
      isReachable = false
      return 'open' as const
    })
    if (state === 'missing') throw jobMissing(queue.name)
    if (state !== 'open') return state
    await sleep(pollMs, undefined, { signal: run.signal }).catch(() => {})
  }
  return endCancelled(run, job)
}

/** Ends the job of a run that an operator, a timeout or a newer fire has ended, as far as the queue can. */
async function endCancelled(run: Run & { readonly graceMs?: number }, job: WatchedJob): Promise<JobEnd> {
  const { code, message } = run.signal.reason as { readonly code?: unknown; readonly message: string }
  if (!CANCELS.has(code)) throw run.signal.reason
  const over = AbortSignal.timeout((run.graceMs ?? GRACE_MS) * GRACE_PART)
  let noted: string | null = null
  const look = async (): ReturnType<WatchedJob['look']> => {
    const note = await job.cancel(message)
    // At once: at the end of the grace it could be too late to write it.
    if (note !== null && noted === null) run.log.warn(note)
    noted ??= note
    return job.look()
  }
  while (!over.aborted) {
    const state = await unlessAborted(over, look()).catch(() => 'open' as const)
    if (state === 'missing') return removed(message)
    if (state !== 'open') return state
    await sleep(CANCEL_PAUSE_MS, undefined, { signal: over }).catch(() => {})
  }
  throw run.signal.reason
}

function removed(message: string): JobEnd {
  return { outcome: 'failed', result: null, attempts: 0, stalled: null, error: { message, stack: null } }
}

/** A client of Redis may wait for its connection for as long as it takes. */
function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

function jobFailed(queue: string, id: string, attempts: number | null, error: JobEnd['error']): QueueError {
  const times = attempts !== null && attempts > 1 ? ` after ${attempts} attempts` : ''
  return new QueueError(
    'QUEUE_JOB_FAILED',
    `Job ${id} in the ${queue} failed${times}: ${error?.message ?? 'no reason'}`,
    {
      hint: "Look at the run's log and at the worker. Each further attempt of the fire (retry) adds another job.",
      stack: error?.stack ?? undefined,
    },
  )
}

function jobMissing(queue: string): QueueError {
  return new QueueError('QUEUE_JOB_MISSING', `The job has left the ${queue} without an outcome.`, {
    hint: 'It was removed by hand, by another program or by a short retention of the queue. Look whether its work was done, then retry the fire.',
    retryable: false,
  })
}

const RESULT_BYTES = 8_192

/** What a worker returned, if a durable step can keep it. */
export function resultOf(value: unknown): Json {
  const text = JSON.stringify(value ?? null) as string | undefined
  if (text === undefined) return null
  const bytes = Buffer.byteLength(text)
  return bytes > RESULT_BYTES ? `[cut: ${bytes} bytes]` : (JSON.parse(text) as Json)
}
