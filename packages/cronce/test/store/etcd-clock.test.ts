import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { startEtcd } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { cronce } from '../../src/app/cronce.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import { openKvStore } from '../../src/store/kv/open.ts'
import { ServerClock } from '../../src/store/kv/server-clock.ts'
import { StoreTime } from '../../src/store/kv/time.ts'
import { beat } from '../../src/testing/conformance/samples.ts'
import { driverAt } from './etcd-kit.ts'
import { OPENING } from './kv-kit.ts'

const NOON = Date.UTC(2026, 5, 1, 12)

describe('the clock of a server that reports it to the second', () => {
  test("the lower bound is never ahead of the server's clock, the upper one never behind", () => {
    const ask = fc.record({
      pauseMs: fc.integer({ min: 0, max: 20_000 }),
      thereMs: fc.integer({ min: 0, max: 800 }),
      backMs: fc.integer({ min: 0, max: 800 }),
    })
    const drift = fc.integer({ min: -400, max: 400 })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999 }),
        drift,
        fc.array(ask, { minLength: 1, maxLength: 60 }),
        (part, ppm, asks) => {
          let mono = 0
          const server = (): number => NOON + part + mono * (1 + ppm / 1e6)
          const clock = new ServerClock(() => mono)
          for (const { pauseMs, thereMs, backMs } of asks) {
            mono += pauseMs
            const sentAt = mono
            mono += thereMs
            const second = Math.floor(server() / 1_000) * 1_000
            mono += backMs
            clock.observe(second, sentAt, mono)
            const { earliest, latest, steps } = clock.bounds()
            assert.ok(earliest <= server() && server() <= latest, `${earliest} ${server()} ${latest}`)
            assert.equal(steps, 0)
          }
        },
      ),
    )
  })

  test('answers around a change of the second make it known to their distance', () => {
    let mono = 0
    const clock = new ServerClock(() => mono)
    const observe = (at: number): void => {
      mono = at
      clock.observe(Math.floor((NOON + 300 + at) / 1_000) * 1_000, at - 1, at + 1)
    }
    observe(0)
    assert.ok(clock.width > 900)
    for (const at of [690, 698, 703]) observe(at)
    assert.ok(clock.width < 10, `${clock.width}`)
    const { earliest } = clock.bounds()
    assert.ok(NOON + 300 + mono - earliest < 10)
  })

  test('a clock that was set counts from the answer that contradicts', () => {
    let mono = 0
    const clock = new ServerClock(() => mono)
    clock.observe(NOON, 0, 2)
    mono = 5_000
    clock.observe(NOON - 60_000, 4_999, 5_000)
    const { earliest, latest, steps } = clock.bounds()
    assert.deepEqual([steps, earliest, latest], [1, NOON - 60_000, NOON - 60_000 + 1_001])
  })
})

describe("the store's time", () => {
  const boundsAt = (earliest: number, latest: number, steps = 0) => ({ clock: () => ({ earliest, latest, steps }) })

  test('a time that was read is not followed by an earlier one', () => {
    const time = new StoreTime(boundsAt(NOON, NOON + 900))
    time.see(NOON + 700)
    assert.equal(time.now(), NOON + 700)
  })

  test('a time far ahead of what the server can show does not count', () => {
    const time = new StoreTime(boundsAt(NOON, NOON + 10))
    time.see(NOON + 60_000)
    assert.equal(time.now(), NOON)
  })

  test('a time of another member counts up to 250 ms ahead of what this one can show, and no further', () => {
    const time = new StoreTime(boundsAt(NOON, NOON + 10))
    time.see(NOON + 10 + 251)
    assert.equal(time.now(), NOON)
    time.see(NOON + 10 + 250)
    assert.equal(time.now(), NOON + 260)
  })

  test('once the clock was set, earlier times prove nothing about it', () => {
    let steps = 0
    const time = new StoreTime({ clock: () => ({ earliest: NOON, latest: NOON + 900, steps }) })
    time.see(NOON + 700)
    steps = 1
    assert.equal(time.now(), NOON)
  })
})

test("the store's clock is the server's, independent of the process's clock", async (context) => {
  await using server = await startEtcd()
  const source = etcd({ endpoints: [server.url] })
  const { now } = Date
  context.mock.method(Date, 'now', () => now() + 30_000)
  const store = await source.open(OPENING)
  try {
    const before = now()
    const answer = await store.load([])
    // Late by at most one second, the resolution of the server's answer.
    assert.ok(answer.now > before - 1_500 && answer.now <= now(), `${answer.now - before}`)
  } finally {
    await store.close()
  }
})

test('an instance that joins, or asks only for the time, waits until it is known well', async () => {
  await using server = await startEtcd()
  const driver = driverAt(server.url)
  const waits: number[] = []
  driver.clock = () => ({ earliest: NOON, latest: NOON + 1_000, steps: 0 })
  driver.sharpen = async (mostMs) => void waits.push(mostMs)
  const store = await openKvStore(driver, { ...OPENING, prefix: 'cronce', onClose: () => driver.close() })
  await store.load(['s'])
  assert.equal(waits.length, 0)
  await store.load([])
  assert.equal(waits.length, 1)
  await store.beat(beat('i', { join: true, leaseMs: 10_000 }))
  await store.beat(beat('i'))
  await store.beat(beat('j', { join: true, leaseMs: 2_000 }))
  // The engine waits for the answer for twice the lease, and for 10 s at most.
  assert.deepEqual(waits.slice(1), [3_000, 1_000])
  await store.close()
})

test('an app starts although its etcd is too far away for a sharp clock', { timeout: 120_000 }, async () => {
  await using server = await startEtcd()
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  proxy.delay(20)
  const store = etcd({ endpoints: [`http://127.0.0.1:${proxy.port}`] })
  const app = cronce({ store, app: 'distant', lease: '5s', logger: false, signals: false })
  app.job('work', { cron: '0 0 1 1 *' }, () => {})
  await app.start()
  assert.equal((await app.instances.list()).length, 1)
  await app.stop()
  await proxy.close()
})
