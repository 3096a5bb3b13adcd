import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Client, connect, cronce, type FireView } from '../../src/index.ts'
import { endOf, eventually, folderFor, isAlive, linesOf, stateOf, TASK } from './kit.ts'

const PROGRAM = fileURLToPath(new URL('./pausable.ts', import.meta.url))
const WITNESS = fileURLToPath(new URL('./witness.ts', import.meta.url))
const LEASE_S = 6
/** Two commands, and a task in a process or a thread. */
type JobName = 'obedient' | 'deaf' | 'task' | 'thread'

interface Fleet {
  readonly client: Client
  start(): Promise<Scheduler>
  /** Stops it while it holds no lock: otherwise the others would wait for the locked file. */
  stop(scheduler: Scheduler): Promise<void>
  /** The ticks of all runs of the job, in order. */
  ticks(job: JobName): Promise<{ readonly token: string; readonly pid: number }[]>
}

interface Scheduler {
  readonly process: ChildProcess
  told: readonly string[]
}

async function fleet(context: TestContext): Promise<Fleet> {
  const children: ChildProcess[] = []
  // Before the folder is removed: they write there.
  context.after(async () => {
    const ends = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ends)
  })
  const folder = await folderFor(context)
  const file = join(folder, 'cronce.db')
  const store = `sqlite:${file}?ephemeral`
  const client = await connect({ store })
  context.after(() => client.close())
  return {
    client,
    async stop({ process: { pid = 0 } }) {
      await eventually(async () => {
        process.kill(pid, 'SIGSTOP')
        await eventually(() => (stateOf(pid) === 'T' ? true : null))
        if (isWritable(file)) return true
        process.kill(pid, 'SIGCONT')
        return null
      })
    },
    async start() {
      const child = spawn(process.execPath, [PROGRAM, store, folder, `${LEASE_S}s`, WITNESS], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      const scheduler: Scheduler = { process: child, told: [] }
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        scheduler.told = text.split('\n').slice(0, -1)
      })
      await eventually(() => (scheduler.told.includes('started') ? true : null))
      return scheduler
    },
    async ticks(job) {
      const text = await readFile(join(folder, job), 'utf8').catch(() => '')
      const lines = text.split('\n').slice(0, -1)
      return lines.map((line) => line.split(' ')).map(([token = '', pid]) => ({ token, pid: Number(pid) }))
    },
  }
}

function isWritable(file: string): boolean {
  const db = new DatabaseSync(file)
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}

/** Triggers these jobs and waits until each of them has reported that it is working. */
async function begin({ client, ticks }: Fleet, jobs: readonly JobName[]): Promise<Map<JobName, FireView>> {
  const fires = new Map<JobName, FireView>()
  for (const job of jobs) fires.set(job, (await client.schedules.trigger(job)).fire)
  await eventually(async () => ((await Promise.all(jobs.map(ticks))).every(({ length }) => length > 0) ? true : null))
  return fires
}

const ended = (client: Client, fire: FireView): Promise<FireView> =>
  eventually(async () => {
    const found = await client.fires.get(fire)
    return found.state === 'open' ? null : found
  })

describe('a scheduler that is paused for longer than its lease', { concurrency: 3, timeout: 600_000 }, () => {
  for (const [how, pause, jobs] of [
    ['is stopped by a signal', (all, one) => all.stop(one), ['obedient', 'deaf', 'task']],
    ['has its event loop blocked', (_, one) => one.process.kill('SIGUSR2'), ['deaf', 'thread']],
  ] satisfies [string, (all: Fleet, one: Scheduler) => unknown, JobName[]][]) {
    test(`since it ${how}: its commands and tasks have ended before peers run them again`, async (context) => {
      const all = await fleet(context)
      const first = await all.start()
      const fires = await begin(all, jobs)
      await all.start()
      await pause(all, first)
      for (const [job, fire] of fires) {
        assert.equal((await ended(all.client, fire)).state, 'succeeded', job)
        const told = await all.ticks(job)
        const tokens = told.map(({ token }) => token)
        const [before, after, ...more] = [...new Set(tokens)]
        assert.ok(before !== undefined && after !== undefined && more.length === 0, `${job} was run by ${tokens}`)
        // All of the first run, then all of the second: never one beside the other.
        assert.equal(tokens.lastIndexOf(before) + 1, tokens.indexOf(after), job)
        const isThere = told.some(({ token, pid }) => token === before && isAlive(pid))
        assert.equal(isThere, job === 'thread', job)
      }
      first.process.kill('SIGCONT')
      const heard = await eventually(() => (first.told.length > jobs.length ? first.told.slice(1) : null))
      for (const line of heard) assert.match(line, /^\w+ 1 (LEASE_LOST|RUN_FENCED)$/)
    })
  }

  test('learns, when it wakes, why its command was ended: its lease was lost, and the run is handed back', async (context) => {
    const all = await fleet(context)
    const scheduler = await all.start()
    const jobs = ['obedient', 'task'] as const
    const fires = await begin(all, jobs)
    await all.stop(scheduler)
    const workers = (await Promise.all(jobs.map(all.ticks))).map((told) => told[0]?.pid as number)
    await eventually(() => (workers.some(isAlive) ? null : true))
    scheduler.process.kill('SIGCONT')
    for (const [job, fire] of fires) {
      assert.equal((await ended(all.client, fire)).state, 'succeeded', job)
      const { items } = await all.client.runs.list({ fire })
      const [one, two, ...more] = items.toSorted((a, b) => a.attempt - b.attempt)
      assert.deepEqual([one?.reason, two?.state, more.length], ['handed-back', 'succeeded', 0])
      const isTold = linesOf(one!, 'warn').some((line) => line.includes('no news of the lease'))
      assert.equal(isTold, true, JSON.stringify(one?.log))
      assert.ok(scheduler.told.includes(`${job} 1 LEASE_LOST`), `it told ${scheduler.told}`)
    }
  })
})

describe('a scheduler that renews its lease', { concurrency: 3, timeout: 600_000 }, () => {
  const options = { app: 'renewing', signals: false, drain: 0, logger: false } as const

  test('lets commands and tasks go on for several leases', async (context) => {
    const app = cronce({ store: 'memory:', lease: '5s', ...options })
    context.after(() => app.stop())
    app.job('command', { command: ['sleep', '13'] })
    for (const isolate of ['process', 'thread'] as const) {
      app.job(isolate, { file: TASK, isolate, input: { does: 'rest' } })
    }
    await app.start()
    const triggered = ['command', 'process', 'thread'].map((name) => app.schedules.trigger(name))
    for (const { fire } of await Promise.all(triggered)) {
      const { runs } = await endOf(app, fire)
      assert.deepEqual(
        runs.map(({ state }) => state),
        ['succeeded'],
        fire.schedule,
      )
    }
  })

  test('in time after all, since the store was away only for a while, lets it go on', async (context) => {
    const file = join(await folderFor(context), 'cronce.db')
    const app = cronce({ store: `sqlite:${file}?ephemeral`, lease: '10s', ...options })
    context.after(() => app.stop())
    const told: string[] = []
    for (const type of ['lease.doubted', 'lease.lost'] as const) app.on(type, () => told.push(type))
    app.job('work', { command: ['sleep', '14'] })
    await app.start()
    const { fire } = await app.schedules.trigger('work')
    await eventually(async () => ((await app.runs.list({ schedule: 'work' })).items.length > 0 ? true : null))
    await sleep(1_000)
    const other = new DatabaseSync(file)
    context.after(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    await eventually(() => (told.includes('lease.doubted') ? true : null))
    other.exec('ROLLBACK')
    const { runs } = await endOf(app, fire)
    assert.deepEqual([runs.map(({ state }) => state), told], [['succeeded'], ['lease.doubted']])
  })
})
