import type { Client } from '../client/client.ts'
import { readDuration } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import type { FireView } from '../client/views.ts'
import { type Clock, systemClock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import { trigger } from '../trigger/from-data.ts'
import { answerError, answerJson, methodRefused } from './handle-fire-answer.ts'
import { authenticate, type FireAuth } from './handle-fire-auth.ts'
import { type DueRunner, runDueTogether } from './handle-fire-due.ts'
import { type FireIdentity, readIdentity } from './handle-fire-identity.ts'
import type { Logger } from './logger.ts'
import { NEAREST_TOLERANCE_MS, nearestInstant } from './nearest-instant.ts'

export interface HandleFireOptions extends FireAuth {
  /** How far from its instant a delivery that names none may come, up to a minute. @default '60s' */
  readonly tolerance?: Duration | undefined
}

export interface HandleFireParts extends DueRunner {
  readonly client: Client
  /** Is told what strangers must not be. @default stderr */
  readonly logger?: Logger | undefined
}

/** What is answered: which fire it is, and how it ended if it has. */
export interface FireAnswer {
  readonly schedule: string
  readonly dueAt: number
  /** `null`: the schedule comes to this instant by itself. */
  readonly fire: FireView | null
  /** False: it was on record, whoever put it there. */
  readonly created: boolean
  /** When it may start: its instant, with its jitter; when it is to be run again. */
  readonly readyAt: number
}

/**
 * A scheduler outside says that something is due. However often it says so, there is one fire. In a process that has not started
 * (a function of a cloud) the fire is run before the answer, else by whichever instance is free.
 */
export async function handleFire(
  parts: HandleFireParts,
  request: Request,
  options: HandleFireOptions = {},
): Promise<Response> {
  const { client, logger, clock = systemClock() } = parts
  let isKnown = false
  try {
    if (request.method !== 'POST' && request.method !== 'GET') throw methodRefused(request, 'POST or GET')
    const authenticated = await authenticate(request, options)
    isKnown = true
    const identity = readIdentity(request.url, authenticated)
    const bounds = { min: 0, max: NEAREST_TOLERANCE_MS }
    const toleranceMs = readDuration('tolerance', options.tolerance ?? NEAREST_TOLERANCE_MS, bounds)
    const time = new StoreTime(client, clock)
    const deliver = (): Promise<FireAnswer> => deliverOnce(client, identity, { time, toleranceMs })
    const answer = parts.isStarted() ? await deliver() : await deliverAndRun(parts, { time, clock, deliver })
    return answerJson(isOver(answer) ? 200 : 202, answer)
  } catch (error) {
    return answerError(error, { isKnown, logger })
  }
}

/** The store's clock, which is asked once for each request. */
class StoreTime {
  readonly #client: Client
  readonly #clock: Clock
  #asked: Promise<number> | null = null

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async now(): Promise<number> {
    this.#asked ??= this.#ask()
    return Math.floor((await this.#asked) + this.#clock.mono())
  }

  /** From this machine's steady clock to the store's. */
  async #ask(): Promise<number> {
    const { now } = await this.#client.store.check()
    return now - this.#clock.mono()
  }
}

function isOver({ fire }: FireAnswer): boolean {
  return fire !== null && fire.state !== 'open'
}

interface Nearness {
  readonly time: StoreTime
  readonly toleranceMs: number
}

async function deliverOnce(client: Client, identity: FireIdentity, nearness: Nearness): Promise<FireAnswer> {
  const { schedule, when, input } = identity
  if (typeof when === 'object' && 'id' in when) {
    const { fire, created } = await client.schedules.trigger(schedule, { dedupe: when.id, input })
    return { schedule, dueAt: fire.dueAt, fire, created, readyAt: fire.readyAt }
  }
  const dueAt = when === 'auto' ? await nearestOf(client, schedule, nearness) : when.dueAt
  return { schedule, dueAt, ...(await client.schedules.deliver(schedule, { dueAt })) }
}

async function nearestOf(client: Client, schedule: string, { time, toleranceMs }: Nearness): Promise<number> {
  const { trigger: data } = await client.schedules.get(schedule)
  const now = await time.now()
  const nearest = data === null ? null : nearestInstant(trigger(data), now, toleranceMs)
  if (nearest !== null) return nearest.dueAt
  const near = data === null ? 'has no trigger' : `has no instant that could be meant by ${new Date(now).toISOString()}`
  throw new CronceError(
    'DUE_UNKNOWN',
    `Which fire is due can't be told: the schedule ${JSON.stringify(schedule)} ${near}.`,
    {
      hint: 'Say which one: add due=<instant> or id=<text> to the delivery.',
    },
  )
}

/** A function of a cloud is paid by the second, and ended after a few minutes. */
const LONGEST_WAIT_MS = 60_000

/** Refused by what the store knows, while the code that is running here may declare something else: then it must be told first. */
const UNTOLD: ReadonlySet<string> = new Set([
  'SCHEDULE_NOT_FOUND',
  'SCHEDULE_RETIRED',
  'INSTANT_UNKNOWN',
  'DUE_UNKNOWN',
])

interface Delivery {
  readonly time: StoreTime
  readonly clock: Clock
  readonly deliver: () => Promise<FireAnswer>
}

async function deliverAndRun(parts: HandleFireParts, { time, clock, deliver }: Delivery): Promise<FireAnswer> {
  /** Whoever is a little early waits, since nobody else may be there when it is ready. False: it is too long until then. */
  const waitFor = async ({ readyAt }: FireAnswer): Promise<boolean> => {
    const waitMs = readyAt - (await time.now())
    if (waitMs > LONGEST_WAIT_MS) return false
    if (waitMs > 0) await clock.sleep(waitMs)
    return true
  }
  const first = await deliver().catch((error: unknown) => {
    if (error instanceof CronceError && UNTOLD.has(error.code)) return null
    throw error
  })
  if (first !== null && isOver(first)) return first
  if (first !== null) await waitFor(first)
  // Also if it is not ready: something else may be.
  await runDueTogether(parts.client, parts)
  const ran = first === null ? null : await lookAt(parts.client, first)
  if (ran !== null && ran.fire !== null) return ran
  // Running wrote down what this code declares: now it is known, and what is refused is refused.
  const second = await deliver()
  if (isOver(second)) return second
  if (await waitFor(second)) await runDueTogether(parts.client, parts)
  return lookAt(parts.client, second)
}

async function lookAt(client: Client, answer: FireAnswer): Promise<FireAnswer> {
  const { schedule, dueAt, fire } = answer
  try {
    return { ...answer, fire: await client.fires.get({ schedule, dueAt, nonce: fire?.nonce ?? '' }) }
  } catch (error) {
    if (error instanceof CronceError && error.code === 'FIRE_NOT_FOUND') return answer
    throw error
  }
}
