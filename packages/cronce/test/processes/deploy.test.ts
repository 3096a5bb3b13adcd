import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { collect, startFleet, startMember, until } from './fleet.ts'
import { STORE } from './order.ts'

/** How long before its due time a fire may be claimed. */
const CLAIM_AHEAD_MS = 400

test('a deploy changes schedules once: an old process that runs on or restarts cannot flip them back', async (context) => {
  const fleet = await startFleet(context)
  const { schedules } = fleet.client
  const note = { does: 'note' as const }
  // What a live old process declares is retired after a moment instead of ten minutes.
  const soon = { holdDown: '1s', retireAfter: '1s' } as const
  const old = {
    options: { app: 'shop', deployment: 'v1', ...soon },
    jobs: { changed: { ...note, every: '200ms' as const }, dropped: { ...note, every: '200ms' as const } },
  }
  const next = {
    options: { app: 'shop', deployment: 'v2', ...soon },
    jobs: { changed: { ...note, every: '300ms' as const }, added: { ...note, every: '200ms' as const } },
  }
  const stranger = { options: { app: 'blog' }, jobs: { posts: { ...note, every: '200ms' as const } } }
  const first = fleet.start({ name: 'first', ...old })
  await fleet.start({ name: 'stranger', ...stranger }).started
  await first.event('run.ended', ({ schedule }) => schedule === 'dropped')

  const second = fleet.start({ name: 'second', ...next })
  await second.started
  // The first process to notice decides which one counts; this one then declares.
  await until('the new code counts', async () => (await schedules.find('added')) !== null)
  const { revision } = await schedules.get('changed')
  // An old process restarts, in the middle of the deploy.
  const restarted = fleet.start({ name: 'restarted', ...old })
  await restarted.started
  await second.event('run.ended', ({ schedule }) => schedule === 'added')

  const { retiredAt } = await until('what left the code is retired', async () => {
    const dropped = await schedules.get('dropped')
    return dropped.state === 'retired' && dropped
  })
  const changed = await schedules.get('changed')
  assert.deepEqual(changed.trigger, { kind: 'every', everyMs: 300, anchor: 0 })
  assert.equal(changed.revision, revision, 'it has not changed since')
  const { nextAt } = changed
  await until('time has passed', async () => {
    const { items } = await fleet.client.fires.list({
      schedule: 'changed',
      from: nextAt! + 1_200,
      outcome: 'succeeded',
    })
    return items.length > 0
  })
  // What was claimed ahead when it was retired still runs.
  const late = await collect(fleet.client.fires.all({ schedule: 'dropped', from: retiredAt! + CLAIM_AHEAD_MS + 1 }))
  assert.deepEqual(late, [], 'what left the code does not fire')
  assert.equal((await schedules.get('posts')).state, 'active', "another app's jobs are not touched")
})

test('processes that start at the same time on a file that does not exist all get it', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-processes-'))
  const jobs = { beat: { does: 'note' as const, every: '100ms' as const } }
  const members = ['a', 'b', 'c'].map((name) => startMember({ name, folder, jobs }))
  context.after(async () => {
    await Promise.all(members.map((member) => member.kill()))
    await rm(folder, { recursive: true, force: true })
  })
  const ids = await Promise.all(members.map(({ started }) => started))
  assert.equal(new Set(ids).size, members.length)
  await until('it fires', () => members.some(({ events }) => events.some(({ type }) => type === 'run.ended')))
})

test('a process that starts while another one migrates waits for it', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-processes-'))
  const migrating = new DatabaseSync(join(folder, STORE))
  migrating.exec('pragma journal_mode = wal; begin immediate; create table half_done (x)')
  const member = startMember({ name: 'waiting', folder, jobs: { beat: { does: 'note', every: '100ms' } } })
  context.after(async () => {
    await member.kill()
    migrating.close()
    await rm(folder, { recursive: true, force: true })
  })
  const first = await Promise.race([member.started, new Promise((resolve) => setTimeout(resolve, 1_500, 'waits'))])
  assert.equal(first, 'waits')
  migrating.exec('commit')
  await member.event('run.ended')
})
