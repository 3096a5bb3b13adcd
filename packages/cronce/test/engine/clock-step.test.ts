import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const beats = ({ link }: Member): number => link.calls.get('beat') ?? 0

/** Handlers that take a while, one for each guarantee. */
async function billing(): Promise<{ readonly fleet: Fleet; readonly members: readonly Member[] }> {
  const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
  const members = await fleet.addMany(2, (app, { clock }) => {
    app.job('least', '1 0 * * *', () => clock.sleep(30_000))
    app.job('most', { cron: '1 0 * * *', guarantee: 'at-most-once' }, () => clock.sleep(30_000))
    app.job('exactly', { cron: '1 0 * * *', guarantee: 'exactly-once' }, async (run) => {
      await clock.sleep(30_000)
      await run.transaction((tx) => tx.set('paid', run.attempt))
    })
  })
  await fleet.advance('62s')
  assert.equal(fleet.handled.length, 3)
  return { fleet, members }
}

describe('a wall clock that is set while runs are open', () => {
  for (const ms of [20_000, -20_000, 3_600_000, 15_000, 700]) {
    for (const whose of ['the host', 'one process'] as const) {
      test(`by ${ms} ms on ${whose} ends no run: each fire runs once`, async () => {
        const { fleet, members } = await billing()
        for (const member of whose === 'the host' ? members : members.slice(0, 1)) member.step(ms)
        await fleet.advance('2m')
        assert.deepEqual(
          fleet.handled.map(({ attempt, how, signal }) => [attempt, how, signal.aborted]),
          Array.from({ length: 3 }, () => [1, 'returned', false]),
        )
        const { items } = await fleet.operator.fires.list()
        assert.deepEqual(
          items.map(({ state, attempt }) => [state, attempt]),
          Array.from({ length: 3 }, () => ['succeeded', 1]),
        )
        assert.deepEqual([...fleet.source.data.effects], [['paid', 1]])
        assert.deepEqual(fleet.events('lease.lost'), [])
        fleet.end()
      })
    }
  }

  test('makes the instance renew before a step starts, and the step waits for the answer', async () => {
    const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
    const seen: string[] = []
    await fleet.add((app, member) =>
      app.job('bill', '1 0 * * *', async (run) => {
        member.step(20_000)
        const before = beats(member)
        await run.once('charge', () => seen.push(`charged after ${beats(member) - before} beat`))
      }),
    )
    await fleet.advance('2m')
    assert.deepEqual(seen, ['charged after 1 beat'])
    fleet.end()
  })

  test('makes the instance renew before a run starts, and the run waits for the answer', async () => {
    const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
    const started: number[] = []
    const member = await fleet.add((app, own) => app.job('bill', '1 0 * * *', () => started.push(beats(own))))
    await fleet.advance('30s')
    let before = 0
    member.at('run:starting', () => {
      member.step(20_000)
      before = beats(member)
    })
    await fleet.advance('2m')
    assert.deepEqual(started, [before + 1])
    const { items } = await fleet.operator.runs.list()
    assert.deepEqual(
      items.map(({ reason }) => reason),
      ['completed'],
    )
    fleet.end()
  })

  test('holds steps for as long as the store is silent, and ends runs only when the lease has run out', async () => {
    const fleet = await createFleet()
    const charged: number[] = []
    const codes: unknown[] = []
    const member = await fleet.add((app, { clock }) =>
      app.job('bill', '1 0 * * *', async (run) => {
        await clock.sleep(1_000)
        await run
          .once('charge', () => charged.push(run.attempt))
          .catch((error) => {
            codes.push(error.code)
            throw error
          })
      }),
    )
    await fleet.advance('60500ms')
    const end = fleet.outage({ kind: 'request-lost' })
    member.step(20_000)
    await fleet.advance('8s')
    assert.deepEqual([charged, codes, fleet.handled[0]?.signal.aborted], [[], [], false])
    await fleet.advance('8s')
    assert.deepEqual([charged, codes, fleet.handled[0]?.signal.aborted], [[], ['LEASE_LOST'], true])
    end()
    await fleet.advance('1m')
    assert.deepEqual(charged, [2])
    fleet.end()
  })
})

describe('a machine that was frozen, which none of its own clocks but a corrected wall clock shows', () => {
  test('starts no step until the store has answered, and none if another instance has taken over', async () => {
    const fleet = await createFleet()
    const charged: number[] = []
    const codes: unknown[] = []
    await fleet.addMany(2, (app, member) =>
      app.job('bill', '1 0 * * *', async (run) => {
        if (run.attempt === 1) await member.block(40_000, 'frozen')
        await run
          .once('charge', () => charged.push(run.attempt))
          .catch((error) => {
            codes.push(error.code)
            throw error
          })
      }),
    )
    await fleet.advance('3m')
    assert.deepEqual([charged, codes], [[2], ['RUN_FENCED']])
    fleet.end()
  })
})
