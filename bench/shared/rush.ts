import { setTimeout as sleep } from 'node:timers/promises'
import { recordFaults } from './audit.ts'
import { watchMost } from './effort.ts'
import { ACQUAINT_MS, type Fleet } from './fleet.ts'
import type { Start } from './protocol.ts'
import { onceFaults } from './starts.ts'
import { quantile } from './statistics.ts'

/** More to do than can be done at once: all due at one instant, or all waiting in a queue. */
export interface Rushed<Effort> {
  readonly starts: readonly (readonly Start[])[]
  readonly from: number
  readonly lastEndedAt: number
  readonly spent: Effort
  /** Open at once, of all processes together. */
  readonly connections: number
  readonly faults: readonly string[]
}

export interface RushFigures {
  readonly count: number
  /** Until the last one is done and durably recorded as done. */
  readonly firesPerSecond: number
  /** From the instant on, in milliseconds. For a queue: from when its workers were asked to start. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly lastStartMs: number
  readonly lastEndMs: number
  /** Runs of each process. */
  readonly spread: readonly number[]
  readonly faults: readonly string[]
}

export interface RushPlan<Effort> {
  readonly count: number
  readonly instances: number
  /** Measure the second instant of the schedules: the processes have compiled their code and know the schedules. */
  readonly warm: boolean
  /** When the schedules are there and the measured instant is the next one. */
  created?(): Promise<void>
  /** Half a second before they are due. What it returns is called when the last one has ended. */
  begin(): Promise<() => Promise<Effort>>
  connections(): Promise<number>
}

export const RUSH_PATIENCE_MS = 180_000
const TRIAL = 1_000
const TRIAL_FIRST = 10_000_000
/** Between the first and the measured instant of a warm process. */
const WARM_INTERVAL_MS = 30_000

/** The schedules exist, the fleet waits for the instant. */
export async function rushOfFires<Effort>(fleet: Fleet, plan: RushPlan<Effort>): Promise<Rushed<Effort>> {
  const { count, instances, warm } = plan
  // Its current speed predicts how long it will take, once its code is compiled; these are not due within the hour.
  await fleet.create({ kind: 'idle', count: TRIAL, first: TRIAL_FIRST })
  const trialMs = await fleet.create({ kind: 'idle', count: TRIAL, first: TRIAL_FIRST + TRIAL })
  await fleet.start()
  const creatingMs = Math.ceil(2 * trialMs * (count / TRIAL))
  const first = Date.now() + 3_000 + creatingMs + (instances > 1 ? ACQUAINT_MS : 0)
  const from = warm ? first + WARM_INTERVAL_MS : first
  const total = warm ? 2 * count : count
  await fleet.create({ kind: 'burst', count, at: first, ...(warm ? { intervalMs: WARM_INTERVAL_MS } : {}) })
  if (warm) await warmUp(fleet, count, first)
  await plan.created?.()
  if (Date.now() >= from - 1_000) throw new Error(`The burst of ${count} was due before the fleet was ready.`)
  await sleep(from - 500 - Date.now())
  const spent = await plan.begin()
  await sleep(from - Date.now())
  const { value: counts, most } = await watchMost(plan.connections, () => fleet.until('ended', total, RUSH_PATIENCE_MS))
  const lastEndedAt = Math.max(...counts.map((counted) => counted.lastEndedAt))
  const done = await spent()
  const starts = (await fleet.collect()).map((own) => own.filter(([, dueAt]) => dueAt === from))
  // Otherwise the next instants come while the records are read.
  await fleet.stop()
  const audited = await fleet.first.ask({ do: 'audit', before: from + 1 }, 'audited')
  return { starts, from, lastEndedAt, spent: done, connections: most, faults: recordFaults(audited, total) }
}

async function warmUp(fleet: Fleet, count: number, first: number): Promise<void> {
  if (Date.now() >= first) throw new Error(`The first burst of ${count} was due before the schedules were created.`)
  await sleep(first - Date.now())
  await fleet.until('ended', count, RUSH_PATIENCE_MS)
}

export function figuresOf({ starts, from, lastEndedAt, faults }: Rushed<unknown>, count: number): RushFigures {
  const late = starts.flat().map(([, dueAt, lateMs]) => dueAt + lateMs - from)
  return {
    count,
    firesPerSecond: count / ((lastEndedAt - from) / 1000),
    p50Ms: quantile(late, 0.5),
    p99Ms: quantile(late, 0.99),
    lastStartMs: quantile(late, 1),
    lastEndMs: lastEndedAt - from,
    spread: starts.map(({ length }) => length),
    faults: [...onceFaults(starts.flat(), count), ...faults],
  }
}
