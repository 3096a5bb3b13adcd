// node-cron on every instance, and for each fire an advisory lock of the job that decides who runs it: what people write themselves.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ScheduledTask, schedule, setLogger } from 'node-cron'
import pg from 'pg'
import { answerParent, setupOf, tally } from './answering.ts'

const { url } = setupOf()
const counts = tally()
const pool = new pg.Pool({ connectionString: url, max: 10 })
pool.on('error', () => {})
// What it misses shows in the figures.
setLogger({ info() {}, warn() {}, error() {}, debug() {} })
const DRAIN_MS = 10_000
const tasks: ScheduledTask[] = []
let wanted = 0
let underWay = 0

answerParent(counts, {
  create: async ({ load }) => {
    if (load.kind !== 'together' || load.intervalMs !== 1_000) throw new Error('Only every second.')
    wanted = load.count
    return undefined
  },
  start: async () => {
    // Connections first: logging in is not what is measured.
    const clients = await Promise.all(Array.from({ length: 10 }, () => pool.connect()))
    for (const client of clients) client.release()
    for (let number = 0; number < wanted; number++) {
      tasks.push(schedule('* * * * * *', ({ date }) => fire(number, date.getTime())))
    }
    return undefined
  },
  stop: async () => {
    await Promise.all(tasks.map((task) => task.destroy()))
    // Who can't keep up is late, and has everything still to do. What is not done by then counts as not run.
    for (const end = Date.now() + DRAIN_MS; underWay > 0 && Date.now() < end; ) await sleep(20)
    void pool.end()
    return undefined
  },
})

async function fire(number: number, dueAt: number): Promise<void> {
  underWay++
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ readonly locked: boolean }>({
      name: 'lock',
      text: 'select pg_try_advisory_lock($1::bigint) as locked',
      values: [number],
    })
    if (rows[0]?.locked !== true) return
    try {
      counts.starts.push([number, dueAt, Date.now() - dueAt, 1])
      counts.ended++
      counts.lastEndedAt = Date.now()
    } finally {
      await client.query({ name: 'unlock', text: 'select pg_advisory_unlock($1::bigint)', values: [number] })
    }
  } finally {
    client.release()
    underWay--
  }
}
