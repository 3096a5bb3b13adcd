import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type FakeClock, prepareClock } from './clock.ts'
import type { Clocks } from './witness.ts'

const HOUR_MS = 3_600_000
/** Steps are hours, so that a busy machine's minutes do not matter. */
const TOLERANCE_MS = 600_000

const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'cronce-clock-')))
const clocks = [await prepareClock(folders[0]!), await prepareClock(folders[1]!, { compilers: [] })]
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

for (const [index, kind] of ['the own shim', 'libfaketime'].entries()) {
  const clock = clocks[index]!
  const skip = 'reason' in clock ? clock.reason : false
  describe(`a clock of ${kind}`, { skip, timeout: 600_000 }, () => {
    if (!('reason' in clock)) describeClock(clock)
  })
}

test('a missing capability of the machine is reported', async () => {
  const clock = await prepareClock(folders[1]!, { compilers: ['no-such-compiler'], libraries: [] })
  assert.deepEqual(clock, { reason: 'setting the clock of a process takes a C compiler or libfaketime' })
})

function describeClock(clock: FakeClock): void {
  let processes: ChildProcess[]
  before(async () => {
    processes = await Promise.all([startWitness(clock), startWitness(clock)])
  })
  after(() => {
    for (const child of processes) child.kill()
    clock.close()
  })

  for (const [title, byMs, ahead] of [
    ['shows real time until it is set', 0, 0],
    ['follows a step forward at once, in all processes, their threads and children', 5 * HOUR_MS, 5],
    ['follows a step back', -12 * HOUR_MS, -7],
  ] as const) {
    test(title, async () => {
      clock.step(byMs)
      assert.equal(Math.round(clock.offset() / HOUR_MS), ahead)
      for (const child of processes) {
        const { monotonicMs, ...walls } = await ask<Clocks>(child, 'clocks')
        for (const [name, shown] of Object.entries(walls)) assertNear(shown - Date.now(), ahead * HOUR_MS, name)
        assertNear(monotonicMs, Number(process.hrtime.bigint()) / 1e6, 'monotonic')
      }
    })
  }

  test('a timer does not notice steps', async () => {
    const naps = processes.map((child) => ask(child, 'nap'))
    clock.step(-100 * HOUR_MS)
    assert.deepEqual(await Promise.all(naps), [{ woke: true }, { woke: true }])
    clock.step(100 * HOUR_MS)
  })

  test('runs at another rate from where it is, and keeps what it gained', { skip: clock.rate === null }, async () => {
    const before = clock.offset()
    clock.rate!(1e6)
    await ask(processes[0]!, 'nap')
    clock.rate!(1)
    const gained = clock.offset() - before

    assert.ok(gained > 10 * HOUR_MS, '50 ms of real time are about 14 hours')
    for (const child of processes) {
      const { date } = await ask<Clocks>(child, 'clocks')
      assertNear(date - Date.now(), before + gained, 'date')
    }
  })

  test('more changes than it has room for', async () => {
    const before = clock.offset()
    for (let i = 0; i < 300; i++) clock.step(HOUR_MS)
    const { date } = await ask<Clocks>(processes[0]!, 'clocks')
    assertNear(date - Date.now(), before + 300 * HOUR_MS, 'date')
  })
}

async function startWitness(clock: FakeClock): Promise<ChildProcess> {
  const env = { ...process.env, ...clock.environment }
  const child = fork(join(import.meta.dirname, 'witness.ts'), { env })
  await once(child, 'message')
  return child
}

async function ask<Answer = unknown>(child: ChildProcess, question: string): Promise<Answer> {
  child.send(question)
  const [answer] = await once(child, 'message')
  return answer
}

function assertNear(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) < TOLERANCE_MS, `${what}: ${actual} is not about ${expected}`)
}
