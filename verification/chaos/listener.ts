import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger, LedgerFire, LedgerRun } from '../../packages/checker/src/history.ts'
import { connect } from '../../packages/cronce/src/app/connect.ts'
import { startProxy } from './proxy.ts'
import { type Random, randomFrom } from './random.ts'
import type { PreparedStore, StoreModule } from './stores/store.ts'

/** Follows a feed as a dashboard does: lists when it is ready and after every gap, entries in between. */
export interface Listener {
  /** Ends that came as entries. */
  readonly reported: () => number
  readonly gaps: () => number
  /** From now on its connection is left alone. */
  calm(): void
  /** Ends on this ledger that the listener has not received, once it had time to. */
  missing(ledger: Ledger): Promise<string[]>
  stop(): Promise<void>
}

/** How long a feed has for what was committed: far beyond its interval and the deadlines of its calls. */
const LONGEST_MS = 60_000
const LOOK_MS = 200
const CUT_MS = [500, 4_000] as const

/** On a connection of its own, which is cut every now and then where there is a network. */
export async function startListener(store: PreparedStore, seed: number): Promise<Listener> {
  const stop = new AbortController()
  const calm = new AbortController()
  const proxy = store.network === null ? null : await startProxy(store.network)
  const client = await connect({ store: await sourceBy(store, proxy?.port ?? null), logger: false })
  const known = new Set<string>()
  let reported = 0
  let gaps = 0
  let trouble: string | null = null

  const readLists = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        for await (const run of client.runs.all()) if (run.endedAt !== null) known.add(runKey(run))
        for await (const fire of client.fires.all()) if (fire.endedAt !== null) known.add(fireKey(fire))
        return
      } catch {
        await sleep(LOOK_MS)
      }
    }
  }
  const begun = Promise.withResolvers<void>()
  const follow = async (): Promise<void> => {
    const { signal } = stop
    for await (const entry of client.feed({ signal, interval: LOOK_MS, onReady: begun.resolve })) {
      if (entry.kind === 'gap') {
        gaps++
        await readLists()
      } else if (entry.kind === 'run.ended') known.add(runKey(entry.run))
      else if (entry.kind === 'fire.ended') known.add(fireKey(entry.fire))
      if (entry.kind === 'run.ended' || entry.kind === 'fire.ended') reported++
    }
  }
  const following = follow().catch((error: Error) => {
    trouble = `the feed ended: ${error.message}`
    begun.resolve()
  })
  await begun.promise
  await readLists()
  if (proxy !== null) void cutNowAndThen(proxy, randomFrom(seed), calm.signal)

  return {
    reported: () => reported,
    gaps: () => gaps,
    calm: () => calm.abort(),
    async missing(ledger) {
      const lacking = (): string[] => endsOn(ledger).filter((key) => !known.has(key))
      const endAt = performance.now() + LONGEST_MS
      while (trouble === null && lacking().length > 0 && performance.now() < endAt) await sleep(LOOK_MS)
      const lost = lacking()
      const words = lost.length === 0 ? [] : [`a feed never reported ${lost.length} ends, the first: ${lost[0]}`]
      return trouble === null ? words : [trouble, ...words]
    },
    async stop() {
      calm.abort()
      stop.abort()
      await following
      await client.close().catch(() => {})
      await proxy?.close()
    },
  }
}

async function sourceBy({ source, network, module }: PreparedStore, port: number | null) {
  if (network === null || port === null) return source
  const made: StoreModule = await import(module)
  return made.source(network.urlBy(port))
}

async function cutNowAndThen(proxy: { cut(): void }, random: Random, calm: AbortSignal): Promise<void> {
  while (!calm.aborted) {
    await sleep(random.between(...CUT_MS), undefined, { signal: calm }).catch(() => {})
    proxy.cut()
  }
}

/** Ended runs; and ended fires, but for those that ended as one of their runs did. */
function endsOn({ fires, runs }: Ledger): string[] {
  const ended = runs.filter(({ endedAt }) => endedAt !== null)
  const byRun = new Set(ended.map((run) => `${placeOf(run)} ${run.reason}`))
  const own = fires.filter((fire) => fire.endedAt !== null && !byRun.has(`${placeOf(fire)} ${fire.reason}`))
  return [...ended.map(runKey), ...own.map(fireKey)]
}

function placeOf({
  schedule,
  dueAt,
  nonce,
  round,
}: Pick<LedgerFire, 'schedule' | 'dueAt' | 'nonce' | 'round'>): string {
  return `${schedule} ${dueAt} ${nonce} ${round}`
}

function runKey({ schedule, token }: Pick<LedgerRun, 'schedule' | 'token'>): string {
  return `run ${token} of ${schedule}`
}

function fireKey(fire: Pick<LedgerFire, 'schedule' | 'dueAt' | 'nonce' | 'round'>): string {
  return `fire ${placeOf(fire)}`
}
