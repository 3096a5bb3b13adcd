import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityRecord } from '../../src/model/activity.ts'
import { type Bench, DAY, MINUTE, NOON, openClient, toArray } from './open-client.ts'

const BY = { author: 'ada', note: 'ticket 7', origin: 'cli' } as const

async function lines({ client }: Bench): Promise<ActivityRecord[]> {
  return (await toArray(client.activity.all())).reverse()
}

/** `action subject` of each line, the earliest first. */
async function told(bench: Bench): Promise<string[]> {
  return (await lines(bench)).map(({ action, subject }) => `${action} ${subject.name}`)
}

async function tick({ clock }: Bench, ms = 1): Promise<void> {
  clock.now += ms
}

test('every action on a schedule is logged once, with its time, author, note, origin and what it changed', async () => {
  const bench = await openClient()
  const { client, work } = bench
  await client.schedules.create('acme', { job: 'billing', cron: '30 * * * *', input: { secret: 1 } }, BY)
  await tick(bench)
  await client.schedules.put('acme', { job: 'billing', cron: '15 * * * *', input: { secret: 2 } }, BY)
  await tick(bench)
  await client.schedules.replace('acme', { job: 'billing', cron: '20 * * * *', input: { secret: 2 } }, BY)
  await tick(bench)
  await client.schedules.pause('acme', { ...BY, until: NOON + DAY })
  await tick(bench)
  await client.schedules.resume('acme', BY)
  await tick(bench)
  await client.schedules.skipNext('acme', { ...BY, dueAt: NOON + 20 * MINUTE })
  await tick(bench)
  const { fire } = await client.schedules.trigger('acme', BY)
  await tick(bench)
  const [run] = await work('acme')
  await client.runs.cancel('acme', run!.record.token, BY)
  await tick(bench)
  const backfilled = await client.schedules.backfill('acme', { ...BY, from: NOON, to: NOON + 1, force: true })
  await tick(bench)
  await client.schedules.remove('acme', { ...BY, force: true })

  const found = await lines(bench)
  const triggerOf = (index: number) => found[index]!.changed['trigger']
  assert.deepEqual(
    found.map(({ action, changed }) => [action, changed]),
    [
      ['create', { created: true, job: 'billing', trigger: triggerOf(0) }],
      ['put', { trigger: triggerOf(1), input: 'changed' }],
      ['replace', { trigger: triggerOf(2) }],
      ['pause', { until: NOON + DAY, missed: 'skip' }],
      ['resume', { missed: 'skip' }],
      ['skip', { dueAt: NOON + 20 * MINUTE }],
      ['trigger', { fire: fire.nonce }],
      ['cancel', { run: run!.record.token }],
      ['backfill', { id: backfilled.id, from: NOON, to: NOON + 1 }],
      ['remove', { job: 'billing', open: 1 }],
    ],
  )
  for (const [index, line] of found.entries()) {
    assert.deepEqual([line.author, line.note, line.origin], ['ada', 'ticket 7', 'cli'])
    assert.deepEqual(line.subject, { type: 'schedule', name: 'acme' })
    assert.equal(line.at, NOON + index)
    assert.equal(line.expiresAt, line.at + 365 * DAY)
  }
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
  assert.doesNotMatch(JSON.stringify(found), /secret/)
})

test('a command that changes nothing, or is refused, leaves no line', async () => {
  const bench = await openClient()
  const { client } = bench
  const options = { job: 'billing', cron: '30 * * * *' } as const
  await client.schedules.create('acme', options, BY)
  const before = await told(bench)
  await client.schedules.put('acme', options, BY)
  await client.schedules.resume('acme', BY)
  await client.schedules.backfill('acme', { ...BY, from: NOON - DAY, to: NOON, force: true, dryRun: true })
  await assert.rejects(client.schedules.create('acme', options, BY), { code: 'SCHEDULE_EXISTS' })
  await assert.rejects(client.schedules.pause('none', BY), { code: 'SCHEDULE_NOT_FOUND' })
  await assert.rejects(client.schedules.skipNext('acme', { ...BY, dueAt: NOON }), { code: 'NEXT_CHANGED' })
  await assert.rejects(client.runs.cancel('acme', '17', BY), { code: 'RUN_NOT_OPEN' })
  assert.deepEqual(await told(bench), before)
})

test('a repeated dedupe key is one trigger and one line', async () => {
  const bench = await openClient()
  const { client } = bench
  await client.schedules.create('acme', { job: 'billing' })
  const options = { ...BY, dedupe: 'invoice' }
  await Promise.all([client.schedules.trigger('acme', options), client.schedules.trigger('acme', options)])
  assert.deepEqual(await told(bench), ['trigger acme'])
})

test('what programs create and trigger is logged only if it has an author or a note', async () => {
  const bench = await openClient()
  const { client } = bench
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.createMany([['other', { job: 'billing' }]])
  await client.schedules.trigger('acme')
  await client.fires.prune()
  assert.deepEqual(await told(bench), [])
  await client.schedules.trigger('acme', { note: 'why' })
  await tick(bench)
  await client.schedules.put('acme', { job: 'billing', input: 1 }, { author: 'ada' })
  await tick(bench)
  await client.schedules.pause('acme')
  assert.deepEqual(await told(bench), ['trigger acme', 'put acme', 'pause acme'])
  assert.deepEqual(
    (await lines(bench)).map(({ origin }) => origin),
    ['code', 'code', 'code'],
  )
})

test('createMany logs every schedule that it creates, and none that it refuses', async () => {
  const bench = await openClient()
  const { client } = bench
  const entry = (name: string) => [name, { job: 'billing' }] as const
  const entries = [entry('a'), entry('b'), entry('a'), entry('')]
  const { created } = await client.schedules.createMany(entries, BY)
  assert.equal(created, 2)
  assert.deepEqual((await told(bench)).sort(), ['create a', 'create b'])
})

test('fires, instances, apps and the store have lines too', async () => {
  const bench = await openClient()
  const { client, store } = bench
  await client.schedules.create('acme', { job: 'billing', overlap: 'queue-all' })
  await client.schedules.trigger('acme')
  const { fire } = await client.schedules.trigger('acme')
  await client.fires.cancel(fire, BY)
  await tick(bench)
  await client.fires.retry(fire, { ...BY, force: true })
  await tick(bench)
  await client.instances.drain('worker', true, BY)
  await tick(bench)
  await client.instances.drain('worker', false, BY)
  await tick(bench)
  await assert.rejects(client.instances.drain('nobody', true, BY), { code: 'INSTANCE_NOT_FOUND' })
  const deployment = {
    ...{ id: 'd1', explicit: true, number: 1, declares: [], firstReadyAt: 1, readyAt: 1, goneAt: null },
    ...{ onProbation: false, lost: false, cleared: false },
  }
  const app = { name: 'app', version: 1, deployments: [deployment], active: null, activated: null, tidiedFor: null }
  await store.saveApp({ ...app, retired: [], refused: [] } as unknown as Parameters<typeof store.saveApp>[0])
  await client.deployments.activate('app', 'd1', BY)
  await tick(bench)
  await client.fires.prune(BY)
  await tick(bench)
  await client.activity.add('adopt', { ...BY, changed: { epoch: 2 } })
  assert.deepEqual(await told(bench), [
    'cancel acme',
    'retry acme',
    'drain worker',
    'undrain worker',
    'activate app',
    'prune memory',
    'adopt memory',
  ])
  const found = await lines(bench)
  assert.deepEqual(found.at(0)!.changed, { dueAt: fire.dueAt, nonce: fire.nonce })
  assert.deepEqual(found.at(4)!.changed, { from: null, to: 'd1' })
  assert.deepEqual(found.at(-1)!.changed, { epoch: 2 })
})

test('an action in a transaction is logged with it or not at all', async () => {
  const bench = await openClient()
  const { client, source } = bench
  await client.schedules.create('acme', { job: 'billing' })
  const lost = source.transaction(async (tx) => {
    await client.schedules.trigger('acme', { ...BY, tx })
    throw new Error('rolled back')
  })
  await assert.rejects(lost)
  assert.deepEqual(await told(bench), [])
  await source.transaction(async (tx) => void (await client.schedules.trigger('acme', { ...BY, tx })))
  assert.deepEqual(await told(bench), ['trigger acme'])
})

test('a long resume is one line, although it takes several changes', async () => {
  const bench = await openClient()
  const { client, clock } = bench
  await client.schedules.create('acme', { job: 'billing', every: '1s', start: NOON + 1 })
  await client.schedules.pause('acme', { missed: 'latest' })
  clock.now += DAY
  await client.schedules.resume('acme', BY)
  assert.deepEqual(await told(bench), ['pause acme', 'resume acme'])
})

test('the log is listed by schedule and time, in pages, and kept as long as the client requests', async () => {
  const bench = await openClient({ keepActivityMs: 2 * DAY })
  const { client } = bench
  for (const name of ['a', 'b', 'c']) {
    await client.schedules.create(name, { job: 'billing' }, BY)
    await tick(bench, MINUTE)
  }
  const first = await client.activity.list({ limit: 2 })
  assert.deepEqual(
    first.items.map(({ subject }) => subject.name),
    ['c', 'b'],
  )
  const rest = await client.activity.list({ limit: 2, after: first.next! })
  assert.deepEqual([rest.items.map(({ subject }) => subject.name), rest.next], [['a'], null])
  assert.equal((await client.activity.list({ schedule: 'b' })).items.length, 1)
  assert.equal((await client.activity.list({ from: NOON + MINUTE, to: NOON + 2 * MINUTE })).items.length, 1)
  assert.equal(rest.items[0]!.expiresAt, NOON + 2 * DAY)
  await assert.rejects(client.activity.list({ schedul: 'b' } as object), { code: 'OPTION_UNKNOWN' })
  await assert.rejects(client.schedules.pause('a', { origin: 'phone' as 'cli' }), { code: 'OPTION_INVALID' })
})
