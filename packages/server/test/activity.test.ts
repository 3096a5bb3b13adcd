import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityRecord } from 'cronce'
import { apiOf, ask } from './kit.ts'

test('the operator log has the actions of the API and of the dashboard, with the author that access names', async (t) => {
  const { handler } = apiOf(t, { access: () => ({ level: 'operate', author: 'ada' }) })
  const dashboard = { 'x-cronce-client': 'dashboard' }
  const path = '/api/v1/schedules/acme'
  await ask(handler, 'PUT', `${path}?note=new&author=eve`, { body: { job: 'billing', cron: '0 3 * * *' } })
  await ask(handler, 'POST', `${path}/pause`, { body: { note: 'prices', author: 'eve' }, headers: dashboard })
  await ask(handler, 'DELETE', `${path}?note=old`, { headers: dashboard })
  const { status, body } = await ask(handler, 'GET', '/api/v1/activity?schedule=acme')
  assert.equal(status, 200)
  assert.deepEqual(
    body.items.map(({ action, author, note, origin }: ActivityRecord) => [action, author, note, origin]).sort(),
    [
      ['pause', 'ada', 'prices', 'dashboard'],
      ['put', 'ada', 'new', 'api'],
      ['remove', 'ada', 'old', 'dashboard'],
    ],
  )
  const [{ at }] = body.items
  assert.equal((await ask(handler, 'GET', `/api/v1/activity?from=${at + 1}`)).body.items.length, 0)
  assert.equal((await ask(handler, 'GET', '/api/v1/activity?limit=1')).body.items.length, 1)
})

test('a caller without access cannot read the operator log, and a body cannot choose its origin', async (t) => {
  const { handler } = apiOf(t, { access: () => 'none' })
  assert.equal((await ask(handler, 'GET', '/api/v1/activity')).status, 401)
  const { handler: open } = apiOf(t, { access: () => 'operate' })
  const body = { origin: 'cli' }
  assert.equal((await ask(open, 'POST', '/api/v1/schedules/acme/pause', { body })).status, 400)
})
