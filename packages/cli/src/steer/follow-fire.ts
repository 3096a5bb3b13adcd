import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, FireView, RunView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { shellWord } from 'cronce/internal'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { formatDuration, formatUtc } from '../format.ts'
import type { Io } from '../io.ts'
import { note, warn } from '../output.ts'
import { progressLine } from '../progress.ts'
import { sanitize } from '../terminal.ts'
import { warnUnrunnable } from './runners.ts'

export interface Following {
  /** `null`: for ever. */
  readonly timeoutMs: number | null
  /** It was reported that no instance can run it. */
  readonly knewUnrunnable: boolean
}

export interface Followed {
  readonly fire: FireView
  /** The latest; `null`: it was never run. */
  readonly run: RunView | null
}

const FIRST_MS = 200
const LATER_MS = 1_000
const LOOK_FOR_RUNNERS_MS = 5_000
/** A store that restarts is waited for; one that stays away is not. */
const PATIENCE_MS = 60_000

/** Wait for the end of a fire, and report its runs meanwhile. The run goes on when the wait ends. */
export async function followFire(client: Client, fire: FireView, following: Following, io: Io): Promise<Followed> {
  const { signal } = io
  const line = progressLine(io)
  const teller = runTeller(io, line.clear)
  const begunAt = performance.now()
  const runners = runnerWatch(client, fire.job, following.knewUnrunnable, begunAt)
  let failingSince: number | null = null
  try {
    for (;;) {
      const waitedMs = performance.now() - begunAt
      try {
        const { last, ...now } = await look(client, fire)
        failingSince = null
        for (const run of now.runs) teller(run)
        if (now.fire.state !== 'open') return { fire: now.fire, run: last }
        line.show(waitingWords(now.fire, last, waitedMs))
        const unrunnable = last === null ? await runners() : null
        if (unrunnable !== null) {
          line.clear()
          warn(unrunnable, io)
        }
      } catch (error) {
        failingSince ??= performance.now()
        if (!isPassing(error) || performance.now() - failingSince > PATIENCE_MS) throw error
        line.show(`the store does not answer: ${(error as Error).message}`)
      }
      const { timeoutMs } = following
      if (timeoutMs !== null && waitedMs >= timeoutMs) throw notYet(fire, timeoutMs)
      await pause(pauseMs(waitedMs, timeoutMs), signal)
    }
  } catch (error) {
    line.clear()
    if (signal.aborted) note(`The fire goes on: cronce show ${shellWord(fire.schedule)} ${formatUtc(fire.dueAt)}`, io)
    throw error
  } finally {
    line.clear()
  }
}

/** How long to wait before the next look, but not beyond the timeout. */
function pauseMs(waitedMs: number, timeoutMs: number | null): number {
  const leftMs = (timeoutMs ?? Number.POSITIVE_INFINITY) - waitedMs
  return Math.min(waitedMs < 5_000 ? FIRST_MS : LATER_MS, Math.max(leftMs, 1))
}

/** Checks now and then whether an instance can run the job. Answers a warning when none can any more, else `null`. */
function runnerWatch(client: Client, job: string, knewUnrunnable: boolean, from: number): () => Promise<string | null> {
  let isUnrunnable = knewUnrunnable
  let lookedAt = from
  return async () => {
    if (performance.now() - lookedAt <= LOOK_FOR_RUNNERS_MS) return null
    lookedAt = performance.now()
    const unrunnable = await warnUnrunnable({ job, on: null }, client)
    const isNews = !isUnrunnable
    isUnrunnable = unrunnable !== null
    return isNews ? unrunnable : null
  }
}

interface Look {
  readonly fire: FireView
  /** The earliest first. */
  readonly runs: readonly RunView[]
  readonly last: RunView | null
}

async function look(client: Client, fire: FireView): Promise<Look> {
  // The fire first: runs that began before it was looked at are then in the list.
  const now = await client.fires.get(fire)
  const { items } = await client.runs.list({ fire, limit: 50 })
  return { fire: now, runs: [...items].reverse(), last: items[0] ?? null }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}

/** Tells of a run what was not told before. */
function runTeller(io: Io, clear: () => void): (run: RunView) => void {
  const told = new Map<string, { lines: number; ended: boolean }>()
  const tell = (text: string): void => {
    clear()
    io.err(`${text}\n`)
  }
  return (run) => {
    let known = told.get(run.token)
    if (known === undefined) {
      known = { lines: 0, ended: false }
      told.set(run.token, known)
      const where = run.instance === '' ? 'elsewhere, until its call-back' : `on ${sanitize(run.instance)}`
      tell(io.paintErr('dim', `${formatUtc(run.startedAt)} run ${run.token} (attempt ${run.attempt}) ${where}`))
    }
    for (const { at, level, message } of run.log.slice(known.lines)) {
      const mark =
        level === 'info'
          ? ''
          : `${io.paintErr(level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim', level)} `
      tell(`${io.paintErr('dim', formatUtc(at))} ${mark}${message.split('\n').map(sanitize).join('\n')}`)
    }
    known.lines = run.log.length
    if (run.endedAt === null || known.ended) return
    known.ended = true
    if (run.error !== null)
      tell(
        `${io.paintErr('dim', formatUtc(run.endedAt))} ${io.paintErr('red', sanitize(`${run.error.name}: ${run.error.message}`))}`,
      )
  }
}

function waitingWords(fire: FireView, run: RunView | null, waitedMs: number): string {
  const waited = formatDuration(Math.floor(waitedMs / 1_000) * 1_000)
  if (run === null) return `waiting for an instance to run ${fire.schedule}, ${waited}`
  if (run.endedAt !== null) return `run ${run.token} ${run.state}; waiting for the next attempt, ${waited}`
  if (run.progress === null) return `${run.state}, ${waited}`
  const { fraction, message } = run.progress
  return `${Math.round(fraction * 100)}%${message === null ? '' : ` ${message}`}, ${waited}`
}

function isPassing(error: unknown): boolean {
  return error instanceof CronceError && exitCodeOf(error) === EXIT.unreachable
}

function notYet({ schedule, dueAt }: FireView, timeoutMs: number): CronceError {
  const which = formatUtc(dueAt)
  return new CronceError('WAIT_TIMEOUT', `The fire of ${schedule} had not ended after ${formatDuration(timeoutMs)}.`, {
    hint: `It goes on: look at it with cronce show ${shellWord(schedule)} ${which}, or end it with cronce cancel ${shellWord(schedule)} ${which}.`,
  })
}
