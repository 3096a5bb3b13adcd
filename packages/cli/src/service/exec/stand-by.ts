import { setTimeout as sleep } from 'node:timers/promises'
import type { Cronce, OpenFireView, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { endWords, runningWords } from './exec-words.ts'
import { awaitLeftovers, type LeftoverParts, silentHolder } from './leftovers.ts'

export interface StandByParts extends LeftoverParts {
  readonly dueAt: number
  /** Whether to stay while another one runs it. */
  readonly wait: boolean
  readonly complain: (text: string) => void
}

const SHORTEST_MS = 100
const LONGEST_MS = 2_000
/** How long a store may be unreachable before that is reported. */
const PATIENCE_MS = 60_000

/**
 * Until our fire is over, or another one runs it whom we need not wait for; and nothing runs here. The app runs meanwhile what it
 * gets: our fire, if it is this process that gets it.
 */
export async function standBy(parts: StandByParts): Promise<void> {
  const { app, runner, name, dueAt, wait, signal, say } = parts
  let pauseMs = SHORTEST_MS
  let isTold = false
  let hasWaited = false
  while (!signal.aborted || runner.isRunning) {
    if (runner.isRunning) {
      await runner.idle()
      pauseMs = SHORTEST_MS
      continue
    }
    const schedule = await look(parts)
    // It may have begun while we looked.
    if (runner.isRunning) continue
    if (schedule === null) return
    const ours = schedule.open.find((fire) => fire.dueAt === dueAt && fire.nonce === '')
    if (ours === undefined) return sayEnd(parts, schedule)
    if (isWithOthers(ours, app)) {
      if (!isTold) say(await runningWords(app, name, ours))
      isTold = true
      if (!wait) {
        if (hasWaited || (await silentHolder(app, schedule)) === null) return
        hasWaited = true
        await awaitLeftovers(parts, schedule)
        continue
      }
    } else if (isHeldByPause(ours, schedule)) {
      say(`${name} is paused: what is open waits until it is resumed.`)
      return
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_MS)
  }
}

/** Our fire has ended. If it did not run here, says how it ended, and waits for what other hosts still run. */
async function sayEnd(parts: StandByParts, schedule: ScheduleView): Promise<void> {
  const { app, runner, name, dueAt, say } = parts
  if (runner.runs.some((run) => run.dueAt === dueAt)) return
  say(await endWords(app, name, dueAt))
  if (schedule.open.length > 0) await awaitLeftovers(parts, schedule)
}

function isWithOthers({ state, instance }: OpenFireView, app: Cronce): boolean {
  return state !== 'waiting' && instance !== app.instance
}

function isHeldByPause({ state }: OpenFireView, schedule: ScheduleView): boolean {
  return state === 'waiting' && schedule.state === 'paused'
}

/** `null`: the command has been run, and whether that is on record is not to be found out: the schedule is gone, or the store away. */
async function look({ app, runner, name, signal, complain }: StandByParts): Promise<ScheduleView | null> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await app.schedules.get(name)
    } catch (error) {
      if (!(error instanceof CronceError)) throw error
      if (error.code === 'SCHEDULE_NOT_FOUND' && runner.runs.length > 0) {
        complain(`${name} was removed meanwhile, with its records.`)
        return null
      }
      if (!error.code.startsWith('STORE_')) throw error
      if (performance.now() < giveUpAt && !signal.aborted) {
        await sleep(LONGEST_MS, undefined, { signal }).catch(() => {})
        continue
      }
      if (runner.runs.length === 0) throw error
      complain(`The store is away (${error.message}): it is not known whether the end of the command is on record.`)
      return null
    }
  }
}
