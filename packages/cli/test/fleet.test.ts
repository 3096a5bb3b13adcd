import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from 'cronce'
import pg from 'pg'
import { startPostgres } from '../../../scripts/servers/index.ts'
import { ask } from './cronce.ts'
import { type Running, running } from './fixtures/service/running.ts'

const JOBS = fileURLToPath(new URL('fixtures/service/fleet-jobs.ts', import.meta.url))
const TOKEN = 'fleet-0123456789abcdef'
const { CRONCE_FLEET_SECONDS } = process.env
const SECONDS = Number(CRONCE_FLEET_SECONDS ?? 10)
const INSTANCES = 3
/** A liveness limit: beside other work, hundreds of deliveries take minutes. */
const LIMIT_MS = 300_000
/** Each second, of the same three fires. */
const DUPLICATES = { ticking: 8, delivered: 6, event: 6 } as const
type Schedule = keyof typeof DUPLICATES
const SCHEDULES = Object.keys(DUPLICATES) as Schedule[]

interface Ran {
  readonly schedule: Schedule
  readonly due_at: string
  readonly nonce: string
  readonly token: string
}

test(`three instances and twenty duplicate triggers a second for ${SECONDS} s: one run per fire, and every fire accounted for`, async (context) => {
  const server = await startPostgres({ settings: { fsync: 'off' } })
  context.after(() => server.stop())
  assert.equal((await ask(['migrate', 'up', '--store', server.url])).status, 0)
  const pool = new pg.Pool({ connectionString: server.url })
  pool.on('error', () => {})
  context.after(() => pool.end())
  await pool.query('create table ran (schedule text, due_at bigint, nonce text, token text, instance text)')

  const fleet = Array.from({ length: INSTANCES }, () =>
    running(['start', JOBS, '--listen', '127.0.0.1:0', '--app', 'fleet'], {
      env: { CRONCE_STORE: server.url, FLEET_DATABASE: server.url, CRONCE_FIRE_TOKEN: TOKEN },
    }),
  )
  context.after(() => Promise.all(fleet.map((one) => one.end('SIGKILL'))))
  const urls = await Promise.all(fleet.map(urlOf))

  const seconds: number[] = []
  const answers: Promise<number>[] = []
  const firstAt = (Math.floor(Date.now() / 1_000) + 1) * 1_000
  for (let second = 0; second < SECONDS; second++) {
    const dueAt = firstAt + second * 1_000
    await sleep(Math.max(0, dueAt - Date.now()))
    seconds.push(dueAt)
    for (const schedule of SCHEDULES) {
      for (let copy = 0; copy < DUPLICATES[schedule]; copy++) {
        // Half of them at once, the others over the second: some race, and some find it run.
        const body = schedule === 'event' ? { id: `event ${dueAt}` } : { dueAt }
        answers.push(
          sleep(copy % 2 === 0 ? 0 : copy * 100).then(() => deliver(urls[copy % INSTANCES]!, { schedule, ...body })),
        )
      }
    }
  }
  const codes = await Promise.all(answers)
  assert.equal(codes.length, SECONDS * 20)
  assert.deepEqual(
    [...new Set(codes)].toSorted().filter((code) => code !== 200 && code !== 202),
    [],
  )

  const client = await connect({ store: server.url, logger: false })
  context.after(() => client.close())
  await until('its last second is past', async () => {
    const { nextAt } = await client.schedules.get('ticking')
    return nextAt !== null && nextAt > seconds.at(-1)!
  })
  const open = async () =>
    (await Promise.all(SCHEDULES.map((name) => client.schedules.get(name)))).flatMap((schedule) => schedule.open)
  // Paused between two of its fires: what is claimed while a process stops is handed back and stays open.
  await until('every fire has ended', async () => {
    if ((await open()).length > 0) return false
    await client.schedules.pause('ticking')
    if ((await open()).length === 0) return true
    await client.schedules.resume('ticking', { missed: 'all' })
    return false
  })
  for (const code of await Promise.all(fleet.map((one) => one.end('SIGTERM')))) assert.equal(code, 0)

  const { rows } = await pool.query<Ran>('select schedule, due_at, nonce, token from ran')
  await judge(client, rows, seconds)
})

async function urlOf(one: Running): Promise<string> {
  const [, url] = await one.until(/The HTTP API is at (\S+)/)
  await one.until(/runs the jobs of fleet/)
  return url!
}

/** Like an external scheduler: an answer that asks to come back later is not an answer yet. */
async function deliver(url: string, body: object): Promise<number> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  for (;;) {
    const answer = await fetch(`${url}/api/v1/fires`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    await answer.text()
    const retryAfter = answer.headers.get('retry-after')
    if (answer.status !== 503 || retryAfter === null) return answer.status
    await sleep(Number(retryAfter) * 1_000, undefined, { signal })
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS
  while (Date.now() < deadline) {
    if (await isSo()) return
    await sleep(100)
  }
  assert.fail(`after ${LIMIT_MS} ms: not yet that ${what}`)
}

async function judge(client: Connection, rows: readonly Ran[], seconds: readonly number[]): Promise<void> {
  const keyOf = (fire: { schedule: string; nonce: string }, dueAt: number): string =>
    // A caller that triggers by an id leaves the time to cronce.
    fire.schedule === 'event' ? `event ${fire.nonce}` : `${fire.schedule} ${dueAt}`
  const ran = rows.map((row) => keyOf(row, Number(row.due_at)))
  assert.equal(new Set(ran).size, ran.length, 'no fire ran twice')

  const wanted = seconds.flatMap((dueAt) => [`ticking ${dueAt}`, `delivered ${dueAt}`, `event event ${dueAt}`])
  assert.deepEqual(
    wanted.filter((key) => !ran.includes(key)),
    [],
    'every fire that was delivered ran',
  )

  // The ledger agrees: as many fires, each with one run, with the token that the job saw.
  const fires = await all(client.fires.all())
  const runs = await all(client.runs.all())
  assert.deepEqual(
    fires.filter(
      ({ state, attempt, round, range }) => state !== 'succeeded' || attempt !== 1 || round !== 1 || range !== null,
    ),
    [],
  )
  assert.deepEqual(fires.map((fire) => keyOf(fire, fire.dueAt)).toSorted(), ran.toSorted())
  assert.deepEqual(
    runs.map(({ schedule, token }) => `${schedule} ${token}`).toSorted(),
    rows.map(({ schedule, token }) => `${schedule} ${token}`).toSorted(),
  )
  // Of the schedule that comes by itself, no second is missing from the first to the last.
  const ticks = fires.filter(({ schedule }) => schedule === 'ticking').map(({ dueAt }) => dueAt)
  const span = (Math.max(...ticks) - Math.min(...ticks)) / 1_000 + 1
  assert.equal(ticks.length, span)
  assert.ok(ticks.length >= seconds.length && fires.length >= seconds.length * 3)
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}
