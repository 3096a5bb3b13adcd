import type { TestContext } from 'node:test'
import { Logger, makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { type Cronce, cronce, type FireView, type JobOptions } from '../../cronce/src/index.ts'
import { migrator } from '../../cronce/src/postgres.ts'
import type { PgBossLike, QueueHandler } from '../src/pg-boss.ts'

/** A database with the tables of cronce, pg-boss and graphile-worker. */
export interface Database {
  readonly url: string
  readonly boss: PgBoss
  readonly utils: WorkerUtils
  /** The fires that have a job, each once for every job: schedule and due time. */
  bossJobs(): Promise<readonly string[]>
  graphileJobs(): Promise<readonly string[]>
}

const BOSS = "select data ->> 'fireId' as fire from pgboss.job order by 1"
const GRAPHILE = "select payload ->> 'fireId' as fire from graphile_worker._private_jobs order by 1"

export async function prepareDatabase(url: string): Promise<Database> {
  const store = migrator(url)
  await store.up()
  await store.close()
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('invoice')
  await boss.createQueue('print')
  const utils = await makeWorkerUtils({ connectionString: url, logger: new Logger(() => () => {}) })
  await utils.migrate()
  const ask = async (text: string): Promise<readonly string[]> => {
    const client = new pg.Client(url)
    await client.connect()
    const { rows } = await client.query<{ fire: string }>(text)
    await client.end()
    return rows.map(({ fire }) => fire)
  }
  return { url, boss, utils, bossJobs: () => ask(BOSS), graphileJobs: () => ask(GRAPHILE) }
}

let apps = 0

/** An app in this process, in a namespace of its own. */
export async function startApp(
  context: TestContext,
  options: JobOptions,
  handlers: Readonly<Record<string, QueueHandler>>,
  store: string,
): Promise<Cronce> {
  const app = cronce({ store, namespace: `n${++apps}`, logger: false, signals: false, app: 'queues' })
  for (const [name, handler] of Object.entries(handlers)) app.job(name, options, handler)
  await app.start()
  context.after(() => app.stop())
  return app
}

export function idOf({ schedule, dueAt, nonce }: FireView): string {
  return `${schedule}@${new Date(dueAt).toISOString()}${nonce === '' ? '' : `#${nonce}`}`
}

/** pg-boss has private fields, so nothing can inherit from it. */
export function membersOf(boss: PgBossLike): PgBossLike {
  return {
    send: (...args) => boss.send(...args),
    getJobById: (...args) => boss.getJobById(...args),
    cancel: (...args) => boss.cancel(...args),
    getDb: () => boss.getDb(),
  }
}
