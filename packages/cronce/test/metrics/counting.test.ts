import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metrics } from '../../src/metrics/metrics.ts'
import { createFleet, type Declare, type Fleet, type FleetOptions, type Member } from '../engine/fleet.ts'
import { sumOf, valuesIn } from './read-text.ts'

/** A fleet whose members are measured from the start. */
async function measuredFleet(count: number, declare: Declare, options: FleetOptions = {}) {
  const fleet = await createFleet(options)
  const measured = new Map<Member, ReturnType<typeof metrics>>()
  await fleet.addMany(count, (app, member) => {
    measured.set(member, metrics(app))
    declare(app, member)
  })
  const texts = () => [...measured.values()].map((one) => one.text())
  return {
    fleet,
    measured,
    texts,
    sum: (name: string, ...labels: string[]) => texts().reduce((sum, text) => sum + sumOf(text, name, ...labels), 0),
  }
}

/** How many fires and runs ended for each reason, as the store has it. */
async function recorded(fleet: Fleet): Promise<{ fires: Map<string, number>; runs: Map<string, number> }> {
  const fires = new Map<string, number>()
  const runs = new Map<string, number>()
  const count = (counts: Map<string, number>, job: string, reason: string | null, by: number): void => {
    if (reason === null) return
    const key = `job_name="${job}",reason="${reason}"`
    counts.set(key, (counts.get(key) ?? 0) + by)
  }
  for await (const { job, reason, range } of fleet.operator.fires.all()) count(fires, job, reason, range?.count ?? 1)
  for await (const { job, reason } of fleet.operator.runs.all()) count(runs, job, reason, 1)
  return { fires, runs }
}

for (const isQuiet of [false, true]) {
  const how = isQuiet ? 'nothing else listens' : 'other listeners want every event'
  test(`after failures, retries, crashes, skipped and missed fires, the counters equal the record: ${how}`, () =>
    countAll(isQuiet))
}

async function countAll(isQuiet: boolean): Promise<void> {
  let calls = 0
  const declare: Declare = (app, { clock }) => {
    app.job('good', '* * * * *', () => {})
    app.job('flaky', { cron: '* * * * *', retry: 2 }, () => {
      if (++calls % 3 !== 0) throw new Error('no')
    })
    app.job('bad', { cron: '*/2 * * * *' }, () => {
      throw new Error('never')
    })
    app.job('slow', { cron: '* * * * *', overlap: 'skip' }, () => clock.sleep(150_000))
    app.job('late', { cron: '* * * * *', misfire: 'skip' }, () => {})
  }
  const { fleet, measured, sum } = await measuredFleet(3, declare, { isQuiet })
  await fleet.advance('5m')
  const victim = fleet.handled.find(({ how }) => how === 'runs')!.member
  victim.crash()
  await fleet.advance('5m')
  // All instances are down for a while, so fires are missed; then one returns and plans them.
  for (const member of measured.keys()) member.crash()
  await fleet.advance('30m')
  await fleet.add((app, member) => {
    measured.set(member, metrics(app))
    declare(app, member)
  })
  await fleet.advance('10m')

  const { fires, runs } = await recorded(fleet)
  for (const [labels, count] of fires) assert.equal(sum('cronce_fires_total', labels), count, `fires ${labels}`)
  for (const [labels, count] of runs) assert.equal(sum('cronce_runs_total', labels), count, `runs ${labels}`)
  const total = (counts: Map<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0)
  assert.equal(sum('cronce_fires_total'), total(fires))
  assert.equal(sum('cronce_runs_total'), total(runs))
  const reasons = [...fires.keys(), ...runs.keys()].map((key) => /reason="(.*)"/.exec(key)![1])
  for (const reason of ['completed', 'error', 'overlap', 'late', 'crashed']) {
    assert.ok(reasons.includes(reason), `the load has a fire or run that ended as ${reason}`)
  }
  assert.equal(sum('cronce_runs_recovered_total'), sum('cronce_runs_total', 'reason="crashed"'))
  assert.ok(sum('cronce_runs_recovered_total') > 0)
  if (!isQuiet) assert.equal(sum('cronce_retries_total'), fleet.events('run.retried').length)
  // What succeeded or failed has a duration; what died has none.
  const timed = sum('cronce_runs_total', 'outcome="succeeded"') + sum('cronce_runs_total', 'outcome="failed"')
  assert.equal(sum('cronce_run_duration_seconds_count'), timed)
  assert.equal(sum('cronce_start_lateness_seconds_count'), fleet.handled.length)
  fleet.end()
}

test('a job on every host is one job: no host is a label', async () => {
  const fleet = await createFleet()
  const measured: ReturnType<typeof metrics>[] = []
  const declare: Declare = (app) => {
    measured.push(metrics(app, { maxJobs: 2 }))
    app.job('clean', { cron: '* * * * *', hosts: 'each' }, () => {})
    app.job('mail@corp', '* * * * *', () => {})
  }
  const first = await fleet.add(declare, { labels: { host: 'web-1' } })
  await fleet.add(declare, { labels: { host: 'web-2' } })
  await fleet.advance('3m')
  // A peer that does not have the job records the end of what its host has left.
  await fleet.add((app) => measured.push(metrics(app, { maxJobs: 2 })), { app: 'other', labels: { host: 'web-3' } })
  first.crash()
  await fleet.advance('10m')
  const labels = measured.flatMap((one) => [...one.text().matchAll(/job_name="([^"]*)"/g)].map((match) => match[1]))
  assert.deepEqual([...new Set(labels)].sort(), ['clean', 'mail@corp'])
  const ran = fleet.handled.filter(({ schedule }) => schedule.startsWith('clean@')).length
  const counted = measured.reduce(
    (sum, one) => sum + sumOf(one.text(), 'cronce_start_lateness_seconds_count', 'clean'),
    0,
  )
  assert.equal(counted, ran)
  assert.ok(ran >= 12)
  fleet.end()
})

test('the claim and the start are measured apart, from when the run was ready', async () => {
  // A claim takes a second to be written, so the start is later than the look that decided it.
  const { fleet, sum } = await measuredFleet(1, (app, { link }) => {
    app.job('bill', '*/10 * * * *', () => {})
    link.disturb(({ name }) => (name === 'claim' ? { kind: 'slow', requestMs: 500, answerMs: 500 } : null))
  })
  await fleet.advance('25m')
  const fired = sum('cronce_start_lateness_seconds_count', 'job_name="bill"')
  assert.ok(fired >= 2)
  assert.ok(sum('cronce_claim_lateness_seconds_sum', 'job_name="bill"') < 0.1 * fired)
  assert.ok(sum('cronce_start_lateness_seconds_sum', 'job_name="bill"') >= 1 * fired)
  fleet.end()
})

test('what was claimed ahead was not claimed late, and starts at its due time', async () => {
  const { fleet, sum } = await measuredFleet(1, (app) => app.job('bill', '* * * * *', () => {}), { probes: true })
  await fleet.advance('5m')
  assert.equal(sum('cronce_claim_lateness_seconds_sum', 'job_name="bill"'), 0)
  assert.ok(sum('cronce_start_lateness_seconds_bucket', 'job_name="bill"', 'le="0.005"') >= 4)
  fleet.end()
})

/** A fleet in which a fire is claimed ahead and has not started, and the member that holds it. */
async function heldAhead(count: number, isQuiet: boolean, options: { readonly late?: 'skip' } = {}) {
  const misfire = { grace: '1s', ...options } as const
  const declare: Declare = (app) => void app.job('bill', { cron: '*/10 * * * *', misfire }, () => {})
  const measured = await measuredFleet(count, declare, { probes: true, isQuiet })
  await measured.fleet.advance(600_000 - 100)
  const { items } = await measured.fleet.operator.runs.list({ schedule: 'bill', outcome: 'open' })
  assert.equal(items.length, 1, 'it is claimed')
  const holder = measured.fleet.members.find(({ name }) => items[0]!.instance!.startsWith(`${name}.`))!
  return { ...measured, holder, before: measured.sum('cronce_runs_total') }
}

/** Everything that counts a fire counts as many as there are on record; `runs` of them were started. */
async function assertCounted({ fleet, sum }: Awaited<ReturnType<typeof heldAhead>>, starts: number, what: string) {
  const { fires, runs } = await recorded(fleet)
  const total = (counts: Map<string, number>) => [...counts.values()].reduce((all, count) => all + count, 0)
  assert.equal(sum('cronce_fires_total'), total(fires), `${what}: fires`)
  assert.equal(sum('cronce_runs_total'), total(runs), `${what}: runs`)
  assert.equal(sum('cronce_start_lateness_seconds_count'), starts, `${what}: starts`)
  assert.equal(sum('cronce_claim_lateness_seconds_count'), starts, `${what}: claims`)
  assert.equal(sum('cronce_run_duration_seconds_count'), starts, `${what}: durations`)
  assert.equal(fleet.handled.length, starts, `${what}: handlers`)
  for (const name of ['cronce_retries_total', 'cronce_runs_recovered_total', 'cronce_runs_in_progress'])
    assert.equal(sum(name), 0, `${what}: ${name}`)
}

test('a run that was claimed ahead and handed back before its start is counted once, where it ran', async () => {
  for (const isQuiet of [false, true]) {
    const stopped = await heldAhead(2, isQuiet)
    await stopped.fleet.world.until(stopped.holder.app.stop())
    await stopped.fleet.advance('10s')
    assert.equal(stopped.sum('cronce_runs_total') - stopped.before, 1)
    await assertCounted(stopped, stopped.fleet.handled.length, 'stopped')
    stopped.fleet.end()

    // The start would be later than the grace: the misfire policy judges the fire.
    for (const late of [undefined, 'skip'] as const) {
      const blocked = await heldAhead(1, isQuiet, late === undefined ? {} : { late })
      blocked.holder.pause()
      await blocked.fleet.advance('3s')
      blocked.holder.resume()
      await blocked.fleet.advance('10s')
      assert.equal(blocked.sum('cronce_runs_total') - blocked.before, late === 'skip' ? 0 : 1)
      await assertCounted(blocked, blocked.fleet.handled.length, `blocked, ${late}`)
      blocked.fleet.end()
    }
  }
})

test("a run that waits, since the store's clock was set back, and is then handed back is counted once", async () => {
  const declare: Declare = (app) => void app.job('bill', { cron: '*/10 * * * *' }, () => {})
  const { fleet, sum } = await measuredFleet(2, declare)
  await fleet.advance('1m')
  const before = { handled: fleet.handled.length, starts: sum('cronce_start_lateness_seconds_count') }
  const held: Member[] = []
  for (const member of fleet.members) {
    member.at('run:starting', async () => {
      if (held.push(member) > 1) return
      fleet.stepStore(-20_000)
      await fleet.world.after(1_000)
      fleet.world.at(fleet.world.now() + 2_000, () => void member.app.stop())
    })
  }
  await fleet.advance('10m')
  assert.equal(held.length, 2, 'its peer claims it when it is due again')
  assert.deepEqual(
    fleet.handled.slice(before.handled).map(({ member, startedAt, dueAt }) => [member, startedAt >= dueAt]),
    [[held[1], true]],
  )
  assert.equal(sum('cronce_start_lateness_seconds_count') - before.starts, 1)
  const { fires, runs } = await recorded(fleet)
  for (const [labels, count] of fires) assert.equal(sum('cronce_fires_total', labels), count, labels)
  for (const [labels, count] of runs) assert.equal(sum('cronce_runs_total', labels), count, labels)
  fleet.end()
})

test('calls of the store have a duration, errors, and conflicts, by operation', async () => {
  const { fleet, sum } = await measuredFleet(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('3m')
  for (const operation of ['due', 'claim', 'settle', 'beat', 'declare']) {
    assert.ok(sum('cronce_store_call_duration_seconds_count', `operation="${operation}"`) > 0, operation)
  }
  assert.equal(sum('cronce_store_errors_total'), 0)
  const recover = fleet.outage({ kind: 'throws' })
  await fleet.advance('1m')
  recover()
  await fleet.advance('2m')
  assert.ok(sum('cronce_store_errors_total', 'operation="beat"') > 0)
  assert.equal(sum('cronce_leases_lost_total'), fleet.events('lease.lost').length)
  assert.ok(fleet.events('lease.lost').length > 0)
  fleet.end()
})

test('two instances that claim the same fire: one has a conflict', async () => {
  const { fleet, sum, measured } = await measuredFleet(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('30s')
  // Both have looked; the one that is held writes when the other has written.
  for (const member of measured.keys()) member.at('claim:sent', () => fleet.world.until(member.clock.sleep(1_000)), 1)
  await fleet.advance('30m')
  assert.ok(sum('cronce_conflicts_total') > 0)
  fleet.end()
})

test('gauges show the current state', async () => {
  const { fleet, texts } = await measuredFleet(1, (app, { clock }) =>
    app.job('slow', '*/10 * * * *', () => clock.sleep(60_000)),
  )
  await fleet.advance('10s')
  const [text] = texts()
  const values = valuesIn(text!)
  assert.equal(values.get('cronce_runs_in_progress{job_name="slow"}'), 1)
  assert.equal(values.get('cronce_concurrency'), 20)
  assert.equal(values.get('cronce_clock_offset_seconds'), 0)
  await fleet.advance('2m')
  assert.equal(valuesIn(texts()[0]!).has('cronce_runs_in_progress{job_name="slow"}'), false)
  fleet.end()
})
