// Instances of a fleet in their own process. The parent directs them.
import { type Cronce, cronce, type Store, type StoreSource } from 'cronce'
import { memory } from 'cronce/memory'
import { sqlite } from 'cronce/sqlite'
import { type Calls, counted, countStatements } from './counted-store.ts'
import { JOB, schedulesOf } from './loads.ts'
import type { Collected, Counted, Load, Reply, Request, Setup } from './protocol.ts'

const setup = JSON.parse(process.argv[2]!) as Setup
const calls: Calls = {}
const statements = setup.countSql ? await countStatements() : () => 0
const plain: StoreSource = (setup.store === 'memory' ? memory() : sqlite(setup.file)) as StoreSource
const source = counted(plain, calls)
const starts: Collected['starts'][number][] = []
let ended = 0
let lastEndedAt = 0
const instances = Array.from({ length: setup.instances }, makeInstance)

process.on('message', async (request: Request) => {
  try {
    process.send!(await answer(request))
  } catch (error) {
    process.send!({ is: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
process.send!({ is: 'ready' })

function makeInstance(): Cronce {
  const app = cronce({
    store: source,
    app: 'bench',
    deployment: 'one',
    concurrency: setup.concurrency,
    signals: false,
    keepAlive: false,
  })
  app.job(JOB, {}, ({ fire }) => {
    starts.push([Number(fire.schedule), fire.dueAt, Date.now() - fire.dueAt])
  })
  app.on('fire.ended', () => {
    ended++
    lastEndedAt = Date.now()
  })
  return app
}

async function answer(request: Request): Promise<Reply> {
  const from = performance.now()
  switch (request.do) {
    case 'create':
      await create(request.load)
      return { is: 'done', ms: performance.now() - from }
    case 'start':
      await Promise.all(instances.map((app) => app.start()))
      return { is: 'done', ms: performance.now() - from }
    case 'count':
      return {
        is: 'counted',
        started: starts.length,
        ended,
        lastEndedAt,
        calls,
        statements: statements(),
        ...cpu(),
      }
    case 'collect':
      return { is: 'collected', starts }
    case 'look':
      return { is: 'looked', each: await look(request.looks) }
    case 'weigh':
      return weigh()
    case 'audit':
      return audit()
    case 'stop':
      await Promise.all(instances.map((app) => app.stop()))
      return { is: 'done', ms: performance.now() - from }
  }
}

function cpu(): Pick<Counted, 'cpuMs' | 'mainMs'> {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  return { cpuMs: (all.user + all.system) / 1000, mainMs: (main.user + main.system) / 1000 }
}

async function create(load: Load): Promise<void> {
  const { refused, problems } = await instances[0]!.schedules.createMany(schedulesOf(load))
  if (refused > 0) throw problems[0]!.error
}

/** The store by itself, without an instance around it. */
async function withStore<Value>(work: (store: Store) => Promise<Value>): Promise<Value> {
  const store = await plain.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** One look: what is due, and when the next is. */
function look(looks: number): Promise<number[]> {
  const query = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 250, limit: 500 }
  return withStore(async (store) => {
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

/** Every page of the record, read from the store. */
function audit(): Promise<Reply> {
  return withStore(async (store) => {
    let succeeded = 0
    let others = 0
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page = await store.listRecords({ view: 'fires', after, limit: 500 })
      for (const { ending } of page.items) ending?.outcome === 'succeeded' ? succeeded++ : others++
      after = page.next
    }
    return { is: 'audited', succeeded, others }
  })
}
