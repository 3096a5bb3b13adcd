import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '../../../packages/cronce/src/index.ts'
import { postgres } from '../../../packages/cronce/src/postgres.ts'
import { redis } from '../../../packages/cronce/src/redis.ts'
import { startPostgres, startRedis } from '../../../scripts/servers/index.ts'
import { prepareClock } from './clock.ts'

const PROGRAM = fileURLToPath(new URL('./step-worker.ts', import.meta.url))
const JOBS = ['least', 'most', 'steps', 'command', 'process', 'thread']

const folder = mkdtempSync(join(tmpdir(), 'cronce-step-'))
const clock = await prepareClock(folder)
after(() => {
  if (!('reason' in clock)) clock.close()
  rmSync(folder, { recursive: true })
})

describe('a wall clock that is set by 20 s while runs are open', {
  skip: 'reason' in clock ? clock.reason : false,
  timeout: 240_000,
}, () => {
  test('on SQLite ends none of them: each fire runs once', async () => {
    await loseNothing(`sqlite:${join(folder, 'jobs.db')}?ephemeral`)
  })

  test('on PostgreSQL ends none of them: each fire runs once', async () => {
    const server = await startPostgres()
    try {
      await loseNothing(server.url)
    } finally {
      await server.stop()
    }
  })

  test('on Redis ends none of them: each fire runs once', async () => {
    const server = await startRedis()
    try {
      await loseNothing(server.url)
    } finally {
      await server.stop()
    }
  })
})

async function loseNothing(store: string): Promise<void> {
  const client = await connect({ store: sourceOf(store), logger: false })
  const until = join(mkdtempSync(join(folder, 'runs-')), 'over')
  const worker = startWorker(store, until)
  try {
    await worker.says((lines) => lines.some((line) => line.startsWith('joined')))
    for (const job of JOBS) await client.schedules.trigger(job)
    await worker.says((lines) => lines.filter((line) => line.startsWith('started')).length === JOBS.length)
    for (const ms of [20_000, -40_000, 20_000]) await stepClock(ms, client)
    writeFileSync(until, '')
    await worker.says((lines) => lines.filter((line) => /^(returned|threw)/.test(line)).length === JOBS.length)
    const lines = worker.lines()
    assert.deepEqual(
      lines.filter((line) => /^(started|returned|threw|charged|lost)/.test(line)).sort(),
      [...JOBS.map((job) => `started ${job} 1`), ...JOBS.map((job) => `returned ${job}`), 'charged'].sort(),
    )
    const { items } = await settled(client)
    assert.deepEqual(
      items.map(({ schedule, state, attempt }) => `${schedule} ${state} ${attempt}`).sort(),
      JOBS.map((job) => `${job} succeeded 1`).sort(),
    )
  } finally {
    await worker.end()
    await client.close()
  }
}

/** Set the clock, and wait until the store has answered more than one heartbeat since. */
async function stepClock(ms: number, client: Client): Promise<void> {
  if ('reason' in clock) return
  clock.step(ms)
  const renewals = new Set<number>()
  await eventually(async () => {
    for (const { renewedAt } of await client.instances.list()) renewals.add(renewedAt)
    return renewals.size > 2
  })
}

async function settled(client: Client) {
  let found = await client.fires.list()
  await eventually(async () => {
    found = await client.fires.list()
    return found.items.every(({ state }) => state !== 'open')
  })
  return found
}

interface Worker {
  lines(): readonly string[]
  says(isSaid: (lines: readonly string[]) => boolean): Promise<void>
  end(): Promise<void>
}

function startWorker(store: string, until: string): Worker {
  const env = { ...process.env, ...('reason' in clock ? {} : clock.environment) }
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, store, until], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  const lines = (): string[] => text.split('\n').slice(0, -1)
  return {
    lines,
    says: (isSaid) =>
      eventually(
        async () => isSaid(lines()),
        () => `It said:\n${text}`,
      ),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}

async function eventually(isSo: () => Promise<boolean>, otherwise = () => 'It did not come.'): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(otherwise())
    await sleep(50)
  }
}

function sourceOf(store: string) {
  if (store.startsWith('postgres')) return postgres(store, { migrate: 'auto' })
  return store.startsWith('redis') ? redis(store) : store
}
