import { cronce, type Store, type StoreSource } from 'cronce'
import { answerParent, tally } from './answering.ts'
import { JOB, STUCK_JOB, schedulesOf } from './loads.ts'
import { mainThreadProfile } from './profile.ts'
import type { Reply } from './protocol.ts'

/** An instance of cronce on this store, in its own process. The parent directs it. */
export function serveInstance(source: StoreSource, concurrency: number): void {
  const counts = tally()
  const app = cronce({
    store: source,
    app: 'bench',
    deployment: 'one',
    concurrency,
    signals: false,
    keepAlive: false,
  })
  app.job(JOB, {}, ({ fire, attempt }) => {
    counts.starts.push([Number(fire.schedule), fire.dueAt, Date.now() - fire.dueAt, attempt])
  })
  app.job(STUCK_JOB, {}, async ({ fire, attempt }) => {
    counts.starts.push([Number(fire.schedule), fire.dueAt, Date.now() - fire.dueAt, attempt])
    if (attempt === 1) await new Promise(() => {})
  })
  app.on('fire.ended', () => {
    counts.ended++
    counts.lastEndedAt = Date.now()
  })
  const profile = mainThreadProfile()

  answerParent(counts, {
    create: async ({ load }) => {
      const { refused, problems } = await app.schedules.createMany(schedulesOf(load))
      if (refused > 0) throw problems[0]!.error
      return undefined
    },
    start: async () => void (await app.start()),
    look: async ({ looks }) => ({ is: 'looked', each: await look(source, looks) }),
    weigh: async () => weigh(),
    audit: ({ before }) => audit(source, before),
    profile: async () => void (await profile.start()),
    profiled: () => profile.stop(),
    stop: async () => void (await app.stop()),
  })
}

/** The store by itself, without an instance around it. */
async function withStore<Value>(source: StoreSource, work: (store: Store) => Promise<Value>): Promise<Value> {
  const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** One look: what is due, and when the next is. */
function look(source: StoreSource, looks: number): Promise<number[]> {
  const query = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 250, limit: 500 }
  return withStore(source, async (store) => {
    const each: number[] = []
    for (let done = 0; done < looks; done++) {
      const from = performance.now()
      await store.due(query)
      each.push(performance.now() - from)
    }
    return each
  })
}

function weigh(): Reply {
  globalThis.gc!()
  globalThis.gc!()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { is: 'weighed', rssBytes: rss, heapBytes: heapUsed + external }
}

/** Large: on Redis, each page of records that are due at one instant reads all of them. */
const AUDIT_PAGE = 10_000

/** Every page of the record, read from the store. */
function audit(source: StoreSource, before = Number.POSITIVE_INFINITY): Promise<Reply> {
  return withStore(source, async (store) => {
    let succeeded = 0
    const others: Record<string, number> = {}
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page = await store.listRecords({ view: 'fires', after, limit: AUDIT_PAGE })
      for (const { dueAt, ending, range } of page.items) {
        if (dueAt >= before) continue
        const why = ending === null ? 'open' : ending.reason
        if (ending?.outcome === 'succeeded') succeeded++
        else others[why] = (others[why] ?? 0) + (range?.count ?? 1)
      }
      after = page.next
    }
    return { is: 'audited', succeeded, others }
  })
}
