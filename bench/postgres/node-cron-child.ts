// node-cron on every instance. For each fire, an advisory lock of the job decides which instance runs it.
import { schedule } from 'node-cron'
import pg from 'pg'
import { setupOf } from '../shared/answering.ts'
import { serveNodeCron } from '../shared/node-cron-instance.ts'

const { url } = setupOf()
const pool = new pg.Pool({ connectionString: url, max: 10 })
pool.on('error', () => {})
let underWay = 0

serveNodeCron({
  async connect() {
    const clients = await Promise.all(Array.from({ length: 10 }, () => pool.connect()))
    for (const client of clients) client.release()
  },
  schedule: (number, run) => schedule('* * * * * *', ({ date }) => fire(number, () => run(date.getTime()))),
  underWay: () => underWay,
  close: () => void pool.end(),
})

async function fire(number: number, run: () => void): Promise<void> {
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
      run()
    } finally {
      await client.query({ name: 'unlock', text: 'select pg_advisory_unlock($1::bigint)', values: [number] })
    }
  } finally {
    client.release()
    underWay--
  }
}
