import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AlertMessage } from '../../src/alerts.ts'
import { type Connection, connect } from '../../src/app/connect.ts'
import { verifySignature } from '../../src/signature.ts'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'
import type { WorkerOrder } from './worker.ts'

const SECRET = 'a secret of the receiver'
const DEADLINE_MS = 120_000

interface Scene {
  readonly workers: ChildProcess[]
  readonly client: Connection
  /** What the receiver took, in order. */
  readonly got: AlertMessage[]
  breakJobs(): void
  repairJobs(): void
  /** From now on the receiver answers with this. */
  answer(status: number): void
  /** Waits until the receiver has as many messages. */
  arrived(count: number): Promise<void>
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = performance.now() + DEADLINE_MS
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`)
    await sleep(50)
  }
}

async function listen(got: AlertMessage[], status: () => number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { body } = await verifySignature(request, { secret: SECRET })
    const message = JSON.parse(new TextDecoder().decode(body)) as AlertMessage
    if (status() === 200) got.push(message)
    response.writeHead(status()).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Three processes on one file, and a receiver. Each schedule fires every second. */
async function stage(
  context: TestContext,
  { schedules = 1, gather = '2s' }: { readonly schedules?: number; readonly gather?: WorkerOrder['gather'] } = {},
): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-watch-'))
  const got: AlertMessage[] = []
  let status = 200
  const server = await listen(got, () => status)
  const order: WorkerOrder = {
    store: join(folder, 'cronce.db'),
    brokenFile: join(folder, 'broken'),
    receiver: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret: SECRET,
    gather,
  }
  const client = await connect({ store: sqlite(order.store), logger: false })
  const workers = [1, 2, 3].map(() => fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)]))
  context.after(async () => {
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.exitCode !== null || worker.signalCode !== null) return
        worker.kill('SIGKILL')
        await once(worker, 'exit')
      }),
    )
    server.closeAllConnections()
    server.close()
    await client.close()
    await rm(folder, { recursive: true, force: true })
  })
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  const cron = schedules > 1 ? '*/5 * * * * *' : '* * * * * *'
  const entries = Array.from({ length: schedules }, (_, index) => [`mail-${index}`, { job: 'mail', cron }] as const)
  await client.schedules.createMany(entries)
  return {
    workers,
    client,
    got,
    breakJobs: () => writeFileSync(order.brokenFile, ''),
    repairJobs: () => rmSync(order.brokenFile),
    answer: (next) => {
      status = next
    },
    arrived: (count) => until(`${count} messages`, () => got.length >= count),
  }
}

/** Long enough for a second message, if there were one. */
const SETTLED_MS = 4_000

describe('three processes and a receiver that counts', () => {
  test('one problem: one alert, one resolution', async (context) => {
    const { got, breakJobs, repairJobs, arrived, client } = await stage(context)
    breakJobs()
    await arrived(1)
    await sleep(SETTLED_MS)
    repairJobs()
    await arrived(2)
    await sleep(SETTLED_MS)
    assert.deepEqual(
      got.map(({ rule, kind }) => [rule, kind]),
      [
        ['failing', 'firing'],
        ['failing', 'resolved'],
      ],
    )
    assert.deepEqual(await client.alerts.list(), [])
    assert.equal((await client.alerts.list({ all: true }))[0]?.state, 'resolved')
  })

  test('the watching process is killed between noticing and sending: still one alert', async (context) => {
    const { got, breakJobs, arrived, workers } = await stage(context, { gather: '5s' })
    const noticed = Promise.race(
      workers.map(async (worker) => {
        await once(worker, 'message')
        return worker
      }),
    )
    breakJobs()
    const watching = await noticed
    watching.kill('SIGKILL')
    assert.deepEqual(got, [])
    await arrived(1)
    await sleep(SETTLED_MS)
    assert.deepEqual(
      got.map(({ kind }) => kind),
      ['firing'],
    )
  })

  test('the receiver is down for a while: still one alert', async (context) => {
    const { got, breakJobs, arrived, answer, workers } = await stage(context)
    answer(503)
    const noticed = Promise.race(workers.map((worker) => once(worker, 'message')))
    breakJobs()
    await noticed
    await sleep(SETTLED_MS)
    assert.deepEqual(got, [])
    answer(200)
    await arrived(1)
    await sleep(SETTLED_MS)
    assert.equal(got.length, 1)
  })

  test('500 problems are one message', async (context) => {
    const { got, breakJobs, arrived } = await stage(context, { schedules: 500, gather: '30s' })
    breakJobs()
    await arrived(1)
    await sleep(SETTLED_MS)
    assert.equal(got.length, 1)
    assert.equal(got[0]!.count, 500)
  })
})
