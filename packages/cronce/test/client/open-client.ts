import { type Client, createClient } from '../../src/client/client.ts'
import type { ClientParts } from '../../src/client/parts.ts'
import type { CronceEvent } from '../../src/model/event.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import type { Context, Decision, StartedRun } from '../../src/policy/decision.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { type MemorySource, memory } from '../../src/store/memory/memory.ts'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import type { Store } from '../../src/store/store.ts'

export const NOON = Date.UTC(2027, 5, 1, 12)
export const MINUTE = 60_000
export const DAY = 86_400_000

type Tx = MemoryTransaction

export interface Bench {
  readonly client: Client<Tx>
  readonly store: Store<Tx>
  readonly source: MemorySource
  readonly clock: { wall(): number; now: number }
  readonly events: CronceEvent[]
  readonly context: () => Context
  readonly state: (id: string) => Promise<ScheduleState>
  /** What an instance does: look at the schedule, decide, write; answers the runs that began. */
  readonly work: (id: string) => Promise<readonly StartedRun[]>
  /** Decide about a schedule as an instance would, and write it. */
  readonly decide: (id: string, decide: (state: ScheduleState, context: Context) => Decision) => Promise<void>
}

/**
 * A client on a store in memory, with a clock that stands still until it is set, and an instance that works on request.
 */
export async function openClient(
  more: Partial<ClientParts<Tx>> & { readonly wrap?: (store: Store<Tx>) => Store<Tx> } = {},
): Promise<Bench> {
  const clock = { now: NOON, boot: () => clock.now, wall: () => clock.now }
  const source = memory({ clock })
  const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  const events: CronceEvent[] = []
  let ids = 0
  const { wrap = (own) => own, ...parts } = more
  const client = createClient<Tx>({
    store: wrap(store),
    context: () => ({
      zoneData: '2027a',
      clock: { ...clock, mono: clock.wall, sleep: async () => {}, pause: async () => {} },
      random: () => 0.5,
      newId: () => `id-${++ids}`,
    }),
    emit: (event) => events.push(event),
    ...parts,
  })
  const context = (): Context => ({ now: clock.now, epoch: store.info.epoch, zoneData: '2027a', random: () => 0.5 })
  const state = async (id: string): Promise<ScheduleState> => (await store.load([id])).schedules[0]!
  const instance = { id: 'worker', app: 'app', deployment: 'd1', jobs: ['billing'], host: 'h', pid: 1 }
  const rest = {
    version: '1',
    zoneData: '2027a',
    clockOffsetMs: 0,
    running: 0,
    concurrency: 10,
    state: 'live',
  } as const
  await store.beat({ instance: { ...instance, ...rest }, join: true, leaseMs: 365 * DAY })
  const write = async (decision: Decision): Promise<void> => {
    const claimant = { instance: 'worker', leaseMs: 365 * DAY }
    const { results } = await store.apply([decision.change], { claimant })
    if (results[0]?.kind !== 'applied') throw new Error(`The change was not applied: ${results[0]?.kind}`)
  }
  return {
    client,
    store,
    source,
    clock,
    events,
    context,
    state,
    async work(id) {
      const claimant = { instance: 'worker', claim: ++ids, room: 10, idle: true }
      const decision = advance(await state(id), context(), claimant, [])
      if (decision === null) return []
      await write(decision)
      return decision.started
    },
    async decide(id, decide) {
      await write(decide(await state(id), context()))
    },
  }
}

export async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
