import type { Client } from '../client/client.ts'
import type { FireView } from '../client/views.ts'
import type { Clock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import { type DueRunner, runDueTogether } from './handle-fire-due.ts'

/** The answer: which fire it is, and its outcome if it has ended. */
export interface FireAnswer {
  readonly schedule: string
  readonly dueAt: number
  /** `null`: the schedule reaches this instant by itself. */
  readonly fire: FireView | null
  /** False: the fire was already on record. */
  readonly created: boolean
  /** When the fire may start: its due time plus jitter, or the time of its retry. */
  readonly readyAt: number
}

export interface FireRunner extends DueRunner {
  readonly client: Client
}

/** The longest wait for one delivery in all: cloud functions are billed by the second and are stopped after a few minutes. */
const LONGEST_WAIT_MS = 60_000
/** Poll interval for a fire that waits for something other than a time. */
const LOOK_AGAIN_MS = 5_000

/** Refusals that rest on the stored schedules. The code in this process may declare others, so it deploys and tries again. */
const UNTOLD: ReadonlySet<string> = new Set([
  'SCHEDULE_NOT_FOUND',
  'SCHEDULE_RETIRED',
  'INSTANT_UNKNOWN',
  'DUE_UNKNOWN',
])

/** By the store's clock. */
export interface FireTime {
  now(): Promise<number>
}

interface Delivery {
  readonly schedule: string
  readonly time: FireTime
  readonly clock: Clock
  readonly deliver: () => Promise<FireAnswer>
}

export function isOver({ fire }: FireAnswer): boolean {
  return fire !== null && fire.state !== 'open'
}

/** For a process that has not started and may have no peers: waits until the fire may start, and for its retries. */
export async function deliverAndRun(
  parts: FireRunner,
  { schedule, time, clock, deliver }: Delivery,
): Promise<FireAnswer> {
  const { client } = parts
  let leftMs = LONGEST_WAIT_MS
  /** False: that is too far away. */
  const waitFor = async ({ readyAt }: FireAnswer): Promise<boolean> => {
    const waitMs = readyAt - (await time.now())
    if (waitMs > leftMs) return false
    if (waitMs <= 0) return true
    leftMs -= waitMs
    await clock.sleep(waitMs)
    return true
  }
  const runAgain = async (ran: FireAnswer): Promise<FireAnswer> => {
    let answer = ran
    for (let attempt = 0; isToRunAgain(answer, attempt) && (await waitFor(answer)); ) {
      attempt = answer.fire!.attempt
      await runDueTogether(client, parts)
      answer = await lookAt(client, answer)
    }
    return answer
  }
  // The instance that runs it may be dead, and the delivery would be skipped for its sake: runDue detects dead peers.
  if (await isBeingRun(client, schedule)) await runDueTogether(client, parts)
  const first = await deliver().catch((error: unknown) => {
    if (error instanceof CronceError && UNTOLD.has(error.code)) return null
    throw error
  })
  if (first !== null && isOver(first)) return first
  if (first !== null) await waitFor(first)
  // Even if this fire is not ready: another one may be.
  await runDueTogether(client, parts)
  const ran = first === null ? null : await lookAt(client, first)
  if (ran !== null && ran.fire !== null) return runAgain(ran)
  // Running wrote the declarations of this code, so a refusal is final now.
  const second = await deliver()
  if (isOver(second)) return second
  if (await waitFor(second)) await runDueTogether(client, parts)
  return runAgain(await lookAt(client, second))
}

async function isBeingRun(client: Client, schedule: string): Promise<boolean> {
  try {
    const { open } = await client.schedules.get(schedule)
    return open.some(({ state }) => state === 'running')
  } catch (error) {
    if (error instanceof CronceError && error.code === 'SCHEDULE_NOT_FOUND') return false
    throw error
  }
}

/** The fire has run since and is to be retried. A fire without progress waits for something else, for an unknown time. */
function isToRunAgain({ fire }: FireAnswer, attempt: number): boolean {
  return fire !== null && fire.state === 'open' && fire.attempt > attempt
}

async function lookAt(client: Client, answer: FireAnswer): Promise<FireAnswer> {
  const { schedule, dueAt, fire } = answer
  try {
    const found = await client.fires.get({ schedule, dueAt, nonce: fire?.nonce ?? '' })
    return { ...answer, fire: found, readyAt: found.readyAt }
  } catch (error) {
    if (error instanceof CronceError && error.code === 'FIRE_NOT_FOUND') return answer
    throw error
  }
}

/**
 * When the caller must deliver again because the fire is still open and there may be no other instance. `null`: an instance runs
 * it, a call-back will end it, or an operator has paused it.
 */
export async function comeAgainInMs(client: Client, time: FireTime, answer: FireAnswer): Promise<number | null> {
  const { fire, dueAt, readyAt } = answer
  const { pause, open } = await client.schedules.get(answer.schedule)
  const own = open.find((each) => each.dueAt === dueAt && each.nonce === (fire?.nonce ?? ''))
  if (pause !== null || (own !== undefined && own.state !== 'waiting')) return null
  const leftMs = (own?.readyAt ?? readyAt) - (await time.now())
  return leftMs > 0 ? leftMs : LOOK_AGAIN_MS
}
