// graphile-worker, tuned as its documentation recommends: a local queue of 500, jobs completed in batches.
import { Logger, type Runner, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { answerParent, setupOf, tally } from '../shared/answering.ts'
import { JOB } from '../shared/loads.ts'

const { url, concurrency } = setupOf()
const counts = tally()
const silent = new Logger(() => () => {})
const pool = new pg.Pool({ connectionString: url, max: 10 })
// A broken idle connection shows in the figures or in the next query.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))
let runner: Runner | undefined

answerParent(counts, {
  create: async ({ load }) => {
    await runMigrations({ pgPool: pool, logger: silent })
    // In one statement, as `add_jobs` does it, but without building the array in JavaScript.
    await pool.query(
      `select count(*) from graphile_worker.add_jobs(array(
         select row($1::text, json_build_object('number', n), null, now(), null, null, null, null)::graphile_worker.job_spec
         from generate_series($2::int, $3::int) n))`,
      [JOB, load.first ?? 0, (load.first ?? 0) + load.count - 1],
    )
    await pool.query('vacuum analyze')
    return undefined
  },
  connect: async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => pool.connect()))
    for (const client of clients) client.release()
    return undefined
  },
  start: async () => {
    runner = await run({
      pgPool: pool,
      logger: silent,
      noHandleSignals: true,
      taskList: {
        [JOB]: (payload) => {
          counts.starts.push([(payload as { readonly number: number }).number, Date.now(), 0, 1])
        },
      },
      preset: {
        worker: {
          concurrentJobs: concurrency,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
          pollInterval: 2_000,
        },
      },
    })
    return undefined
  },
  pause: async () => {
    await runner?.stop()
    runner = undefined
    return undefined
  },
  stop: async () => {
    await runner?.stop()
    await pool.end()
    return undefined
  },
})
