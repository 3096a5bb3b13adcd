import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { until } from '../processes/fleet.ts'
import { type CoordinatedFleet, recordsOf, startCoordinatedFleet } from './coordinator-fleet.ts'

const SLOTS = 3
/** In milliseconds; each is a process, with a process of its own for its background task. */
const { CRONCE_LONG } = process.env
const SKEWS = CRONCE_LONG === '1' ? [-400, 0, 500] : [-400, 500]

/** Slots of which a run has ended, by what the tasks wrote down. */
function slotsOf(fleet: CoordinatedFleet, task: string): number[] {
  return fleet
    .lines()
    .filter((line) => line.task === task && line.what === 'ended')
    .map(({ slot }) => slot)
}

describe('Processes with the coordinator, on one file', { concurrency: true }, () => {
  test('inline and background tasks of processes whose clocks are apart run each slot once', async (context: TestContext) => {
    const fleet = await startCoordinatedFleet(context)
    const tasks = [{ name: 'inline' }, { name: 'background', isBackground: true }]
    await Promise.all(SKEWS.map((skewMs, number) => fleet.start({ name: `p${number}`, skewMs, tasks })))
    await until('enough slots have run', () => tasks.every(({ name }) => new Set(slotsOf(fleet, name)).size >= SLOTS))
    for (const { name } of tasks) {
      const started = fleet.lines().filter((line) => line.task === name && line.what === 'started')
      const slots = started.map(({ slot }) => slot)
      assert.equal(slots.length, new Set(slots).size, `no slot of ${name} runs twice`)
      // Of each run the token that its function saw is the one on record.
      const records = await recordsOf(fleet, name)
      for (const { slot, token } of started) {
        const record = records.find(({ dueAt }) => dueAt === slot)
        const run = await fleet.client.runs.get(`node-cron:${name}`, String(token))
        assert.equal(run.dueAt, record?.dueAt)
      }
      assert.equal(new Set(started.map(({ token }) => token)).size, started.length)
    }
  })

  test('runs do not overlap in the whole fleet; a slot whose process died is abandoned, and later ones go on', async (context: TestContext) => {
    const fleet = await startCoordinatedFleet(context)
    const tasks = [{ name: 'long', workMs: 1_200 }]
    const start = (name: string) => fleet.start({ name, tasks, options: { overlap: 'fleet' } })
    const processes = { a: await start('a'), b: await start('b') }
    const last = await until('one runs after another has ended', () => {
      const lines = fleet.lines()
      return lines.some(({ what }) => what === 'ended') && lines.at(-1)?.what === 'started' && lines.at(-1)
    })
    await processes[last.process as 'a' | 'b'].kill()
    const wasKilled = !fleet.lines().some(({ slot, what }) => slot === last.slot && what === 'ended')
    await until('the other one goes on', () =>
      fleet.lines().some(({ slot, what }) => slot > last.slot && what === 'ended'),
    )
    const lines = fleet.lines().map(({ what, slot }) => `${what} ${slot}`)
    const started = lines.filter((line) => line.startsWith('started'))
    const ends = lines.filter((line) => line.startsWith('ended'))
    assert.equal(new Set(started).size, started.length)
    const expected = started
      .flatMap((line) => [line, line.replace('started', 'ended')])
      .filter((line) => !line.startsWith('ended') || ends.includes(line))
    assert.deepEqual(lines, expected, 'each run ends before the next one begins')
    const records = await recordsOf(fleet, 'long')
    const outcome = records.find(({ dueAt }) => dueAt === last.slot)
    if (wasKilled) assert.deepEqual([outcome?.state, outcome?.reason], ['abandoned', 'crashed'])
    await until('a slot found the one before it still running', async () =>
      (await recordsOf(fleet, 'long')).some(({ reason }) => reason === 'overlap'),
    )
  })
})
