import type { Client } from 'cronce'
import { JOB } from './loads.ts'
import { quantile } from './statistics.ts'

/** What one question about the records costs the caller. */
export interface ReadCost {
  readonly question: string
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Where the records lie: schedules are numbered from 0, and `instances` ran them one after the other. */
export interface RecordedHistory {
  readonly schedules: number
  readonly from: number
  readonly to: number
  readonly instances: readonly string[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REPEATS = 30

/** The questions that a dashboard asks, each about another place of the history every time. */
const QUESTIONS: Readonly<Record<string, (client: Client, history: RecordedHistory) => Promise<unknown>>> = {
  'last 60 outcomes of 50 schedules': (client, { schedules }) =>
    client.fires.latest({ schedules: Array.from({ length: 50 }, () => anyOf(schedules)), limit: 60 }),
  'latest fires of one schedule': (client, { schedules }) =>
    client.fires.list({ schedule: anyOf(schedules), limit: 50 }),
  'latest fires of all schedules': (client) => client.fires.list({ limit: 100 }),
  'fires of one hour, earliest first': (client, history) => {
    const from = instantOf(history)
    return client.fires.list({ from, to: from + HOUR_MS, order: 'earliest', limit: 100 })
  },
  'latest failed fires': (client) => client.fires.list({ outcome: 'failed', limit: 100 }),
  'failed fires of one job within a day': (client, history) => {
    const from = instantOf(history)
    return client.fires.list({ job: JOB, outcome: 'failed', from, to: from + DAY_MS, limit: 100 })
  },
  'fires by hour and outcome, 90 days': (client, { from, to }) => client.fires.count({ from, to }),
  'open runs': (client) => client.runs.list({ outcome: 'open', limit: 100 }),
  'latest runs of one instance': (client, { instances }) =>
    client.runs.list({ instance: instances[Math.floor(Math.random() * instances.length)], limit: 100 }),
  'one page of schedules': (client) => client.schedules.list({ limit: 50 }),
}

export async function measureReads(client: Client, history: RecordedHistory, repeats = REPEATS): Promise<ReadCost[]> {
  const costs: ReadCost[] = []
  for (const [question, ask] of Object.entries(QUESTIONS)) {
    const each: number[] = []
    for (let done = 0; done < repeats; done++) {
      const from = performance.now()
      await ask(client, history)
      each.push(performance.now() - from)
    }
    costs.push({ question, p50Ms: quantile(each, 0.5), p99Ms: quantile(each, 0.99) })
  }
  return costs
}

function anyOf(schedules: number): string {
  return String(Math.floor(Math.random() * schedules))
}

function instantOf({ from, to }: RecordedHistory): number {
  return Math.floor(from + Math.random() * (to - from - DAY_MS))
}
