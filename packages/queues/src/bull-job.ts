import type { Run } from 'cronce'
import type { BullJobLike, BullQueue } from './bull-types.ts'
import { type JobEnd, resultOf, type WatchedJob } from './hold-job.ts'

/** Asks the worker of a job to end it. Returns what there is to say about that. */
export type AskWorker = (id: string, reason: string) => Promise<string>

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed'])
const MOST_LINES = 1_000

/** A job of BullMQ or Bull as a run sees it. */
export class BullJob implements WatchedJob {
  readonly #queue: BullQueue
  readonly #id: string
  readonly #run: Pick<Run, 'log' | 'progress'>
  readonly #ask: AskWorker
  #lines = 0
  #failed = 0
  #stalled = 0
  #progress = '0'

  constructor(queue: BullQueue, id: string, run: Pick<Run, 'log' | 'progress'>, ask: AskWorker) {
    this.#queue = queue
    this.#id = id
    this.#run = run
    this.#ask = ask
  }

  async look(): Promise<'open' | 'missing' | JobEnd> {
    const found = await this.#queue.getJob(this.#id)
    if (found === null || found === undefined) return 'missing'
    const state = await found.getState()
    const isEnded = ENDED.has(state)
    // It was read before its state, so it may have ended in between.
    const job = isEnded && !found.finishedOn ? await this.#queue.getJob(this.#id) : found
    if (job === null || job === undefined) return 'missing'
    await this.#report(job, state)
    return isEnded ? endOf(job, state) : 'open'
  }

  async cancel(why: string): Promise<string | null> {
    const job = await this.#queue.getJob(this.#id)
    const state = (await job?.getState()) ?? 'missing'
    if (state === 'active') return this.#ask(this.#id, why)
    // It fails if a worker has taken the job meanwhile.
    if (state !== 'missing' && !ENDED.has(state)) await job!.remove().catch(() => {})
    return null
  }

  async #report(job: BullJobLike, state: string): Promise<void> {
    const { attemptsMade, stalledCounter = 0, failedReason } = job
    const failed = state === 'completed' ? attemptsMade - 1 : attemptsMade
    if (failed > this.#failed) this.#run.log.warn(`Attempt ${failed} of the job failed: ${failedReason ?? 'no reason'}`)
    if (stalledCounter > this.#stalled)
      this.#run.log.warn(
        'The job stalled: its worker did not renew its lock. Another worker runs it, perhaps beside the first one.',
      )
    this.#failed = failed
    this.#stalled = stalledCounter
    this.#reportProgress(typeof job.progress === 'function' ? job.progress() : job.progress)
    const { logs, count } = await this.#queue.getJobLogs(this.#id, this.#lines, this.#lines + MOST_LINES - 1)
    for (const line of logs) this.#run.log.info(line)
    // Fewer than before: the worker cleared the log.
    this.#lines = Math.min(this.#lines + logs.length, count)
  }

  /** By the convention of Bull a number is a percentage. */
  #reportProgress(progress: unknown): void {
    const text = JSON.stringify(progress) ?? '0'
    if (text === this.#progress) return
    this.#progress = text
    if (typeof progress === 'number') this.#run.progress(Math.min(1, Math.max(0, progress / 100)))
    else this.#run.progress(0, text)
  }
}

function endOf(job: BullJobLike, state: string): JobEnd {
  const { attemptsMade, attemptsStarted, stalledCounter, failedReason, stacktrace } = job
  const isFailed = state === 'failed'
  return {
    outcome: isFailed ? 'failed' : 'succeeded',
    result: isFailed ? null : resultOf(job.returnvalue),
    attempts: attemptsStarted ?? attemptsMade,
    stalled: stalledCounter ?? null,
    error: isFailed ? { message: failedReason ?? 'no reason', stack: stacktrace?.at(-1) ?? null } : null,
  }
}
