import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cronce } from 'cronce'
import { memory } from 'cronce/memory'
import { createHandler } from '../src/index.ts'
import { ask as askHandler, codeOf } from './kit.ts'

describe('alerts over HTTP', () => {
  test('are listed, muted, unmuted and tested', async (context) => {
    const app = cronce({ store: memory(), app: 'shop', signals: false, logger: false, alerts: {} })
    app.job('report', { cron: '0 3 * * *' }, () => {})
    await app.start()
    context.after(() => app.stop())
    const handler = createHandler(app, { access: () => 'operate' })
    const ask = (method: string, path: string, body?: object) =>
      askHandler(handler, method, path, body === undefined ? {} : { body })
    assert.deepEqual((await ask('GET', '/api/v1/alerts?all')).body, { items: [] })
    const until = Date.now() + 3_600_000
    const muted = await ask('POST', '/api/v1/alerts/mute', { subject: 'report', until, note: 'why', author: 'ann' })
    const mute = { app: 'shop', subject: 'report', untilAt: until, note: 'why', author: 'ann' }
    assert.deepEqual(muted.body, { items: [mute] })
    assert.deepEqual((await ask('GET', '/api/v1/alerts/mutes')).body, { items: [mute] })
    assert.deepEqual((await ask('POST', '/api/v1/alerts/unmute', { subject: 'report' })).body, { unmuted: true })
    assert.deepEqual((await ask('POST', '/api/v1/alerts/unmute', { subject: 'report' })).body, { unmuted: false })
    const sent = await ask('POST', '/api/v1/alerts/test', {})
    assert.deepEqual([sent.body.items[0].app, sent.body.items[0].rule], ['shop', 'test'])
    assert.deepEqual((await ask('GET', '/api/v1/alerts/unsent')).body, sent.body)
    assert.equal(codeOf(await ask('POST', '/api/v1/alerts/mute', {})), '400 OPTION_INVALID')
    assert.equal(codeOf(await ask('POST', '/api/v1/alerts/mute', { subject: 'x', until: 1 })), '400 OPTION_INVALID')
    assert.equal(codeOf(await ask('POST', '/api/v1/alerts/mute', { subject: 'x', app: 'y' })), '404 APP_NOT_FOUND')
  })

  test('may be looked at, but not muted, with read access', async () => {
    const app = cronce({ store: memory(), logger: false })
    const handler = createHandler(app, { access: () => 'read' })
    assert.equal((await askHandler(handler, 'GET', '/api/v1/alerts')).status, 200)
    const refused = await askHandler(handler, 'POST', '/api/v1/alerts/mute', { body: { subject: 'x' } })
    assert.equal(refused.status, 403)
  })
})
