import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHandler } from '../src/index.ts'
import { apiOf, ask, codeOf, eventually } from './kit.ts'

test('a read that takes too long is answered, counts until the store has answered, and changes are waited for', async (context) => {
  const { app } = apiOf(context)
  app.job('mail', { every: '1d' }, () => {})
  await app.start()
  const slow = Promise.withResolvers<void>()
  const schedules = {
    ...app.schedules,
    list: async (options?: object) => {
      await slow.promise
      return app.schedules.list(options)
    },
    pause: async (name: string, options?: object) => {
      await sleep(300)
      return app.schedules.pause(name, options)
    },
  }
  const source = new Proxy(app, {
    get: (target, name) => (name === 'schedules' ? schedules : Reflect.get(target, name)),
  })
  const options = { access: () => 'operate' as const, logger: false as const, readTimeout: 100, concurrency: 1 }
  const handler = createHandler(source, options)
  const late = await ask(handler, 'GET', '/api/v1/schedules')
  assert.equal(codeOf(late), '503 STORE_TIMEOUT')
  assert.match(late.body.error.message, /within 0.1 s/)
  const next = await ask(handler, 'GET', '/api/v1/store')
  assert.match(codeOf(next), /OVERLOADED/)
  slow.resolve()
  await eventually(async () => (await ask(handler, 'GET', '/api/v1/schedules')).status === 200)
  const paused = await ask(handler, 'POST', '/api/v1/schedules/mail/pause', { body: {} })
  assert.equal(paused.status, 200)
  assert.throws(() => createHandler(app, { readTimeout: 5 }), { code: 'OPTION_INVALID' })
})
