import type { Client } from '../client/client.ts'
import { readDuration } from '../client/read-option.ts'
import type { Duration } from '../client/schedule-options.ts'
import { type Clock, systemClock } from '../clock.ts'
import { CronceError } from '../errors.ts'
import { trigger } from '../trigger/from-data.ts'
import { answerError, answerJson, methodRefused } from './handle-fire-answer.ts'
import { authenticate, type FireAuth } from './handle-fire-auth.ts'
import { type FireIdentity, readIdentity } from './handle-fire-identity.ts'
import {
  comeAgainInMs,
  deliverAndRun,
  type FireAnswer,
  type FireRunner,
  type FireTime,
  isOver,
} from './handle-fire-run.ts'
import type { Logger } from './logger.ts'
import { NEAREST_TOLERANCE_MS, nearestInstant } from './nearest-instant.ts'

/** Options of `app.handleFire()`. */
export interface HandleFireOptions extends FireAuth {
  /** How far from its instant a delivery that names none may come, up to a minute. @default '60s' */
  readonly tolerance?: Duration | undefined
}

export interface HandleFireParts extends FireRunner {
  /** Gets the details that the response must not reveal. @default stderr */
  readonly logger?: Logger | undefined
}

export type { FireAnswer } from './handle-fire-run.ts'

/**
 * Accepts a delivery of an external scheduler; repeated deliveries make one fire. In a process that has not started (a cloud
 * function) the fire runs before the answer, otherwise on any free instance.
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
    const answer = parts.isStarted()
      ? await deliver()
      : await deliverAndRun(parts, { schedule: identity.schedule, time, clock, deliver })
    if (isOver(answer)) return answerJson(200, answer)
    const againInMs = parts.isStarted() ? null : await comeAgainInMs(parts.client, time, answer)
    if (againInMs === null) return answerJson(202, answer)
    return answerJson(503, answer, { 'retry-after': String(Math.ceil(againInMs / 1_000)) })
  } catch (error) {
    return answerError(error, { isKnown, logger })
  }
}

/** The store's clock, which is asked once for each request. */
class StoreTime implements FireTime {
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

  /** Offset from this machine's monotonic clock to the store's clock. */
  async #ask(): Promise<number> {
    const { now } = await this.#client.store.check()
    return now - this.#clock.mono()
  }
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
    `It is unclear which fire is due: the schedule ${JSON.stringify(schedule)} ${near}.`,
    {
      hint: 'Say which one: add due=<instant> or id=<text> to the delivery.',
    },
  )
}
