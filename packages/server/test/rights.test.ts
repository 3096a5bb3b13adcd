import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cronce } from 'cronce'
import { createHandler, type Decision, type Right } from '../src/index.ts'
import { ROUTES } from '../src/routes/all.ts'
import type { Route } from '../src/routes/route.ts'
import { type Api, type Asked, apiOf, ask, codeOf, eventually, PATIENT } from './kit.ts'
import { EventReader } from './kit-events.ts'

const RIGHTS: readonly Right[] = ['seeInput', 'run', 'pause', 'backfill', 'edit']
const SECRET = 'card-4242'

/** The same app for a caller with other access. */
function as(
  api: Api,
  decision: Exclude<Decision, string>,
): (method: string, path: string, body?: object) => Promise<Asked> {
  const handler = createHandler(api.app, { ...PATIENT, access: () => decision, logger: false })
  return (method, path, body) => ask(handler, method, path, body === undefined ? {} : { body })
}

function operations(asked: Asked): ReadonlySet<string> {
  return new Set(asked.body.operations)
}

describe('single rights', () => {
  const changes = ROUTES.filter(({ access }) => access === 'operate')
  const pathOf = ({ path }: Route): string => path.replaceAll(/:\w+/g, '1')

  for (const right of RIGHTS) {
    test(`${right} alone, besides reading, allows what it names and nothing else`, async (context) => {
      const may = as(apiOf(context), { level: 'read', rights: { seeInput: false, [right]: true } })
      const offered = await may('GET', '/api/v1/access')
      assert.deepEqual([offered.body.level, offered.body.rights], ['read', [right]])
      for (const route of changes) {
        const isAllowed = route.right === right
        const code = codeOf(await may(route.method, pathOf(route)))
        assert.equal(/^403/.test(code), !isAllowed, `${route.id} ${code}`)
        assert.equal(operations(offered).has(route.id), isAllowed, route.id)
      }
    })

    test(`operate without ${right} allows everything else`, async (context) => {
      const may = as(apiOf(context), { level: 'operate', rights: { [right]: false } })
      const offered = await may('GET', '/api/v1/access')
      for (const route of changes) {
        const code = codeOf(await may(route.method, pathOf(route)))
        assert.equal(code === '403 ACCESS_RIGHT_MISSING', route.right === right, `${route.id} ${code}`)
        assert.equal(operations(offered).has(route.id), route.right !== right, route.id)
      }
    })
  }

  test('a right that does not exist opens nothing: it may have been meant to withdraw one', async (context) => {
    const api = apiOf(context)
    for (const rights of [{ seeInputs: false }, { trigger: true }] as object[]) {
      const may = as(api, { level: 'operate', rights })
      assert.equal(codeOf(await may('GET', '/api/v1/store')), '500 INTERNAL')
    }
    const may = as(api, { level: 'operate', rights: { edit: 'yes' as unknown as boolean } })
    assert.equal(codeOf(await may('DELETE', '/api/v1/schedules/s')), '403 ACCESS_RIGHT_MISSING')
    const none = as(api, { level: 'none', rights: { run: true } })
    assert.equal(codeOf(await none('POST', '/api/v1/schedules/s/trigger')), '401 ACCESS_DENIED')
  })
})

describe('a caller without seeInput', () => {
  test('finds no input and no result in any answer or event', async (context) => {
    const api = apiOf(context)
    const { app } = api
    app.job('pay', {}, async (run) => {
      await run.once('charge', async () => ({ card: SECRET }))
      return { receipt: SECRET }
    })
    await app.start()
    const decision = { level: 'operate', rights: { seeInput: false } } as const
    const handler = createHandler(app, { ...PATIENT, access: () => decision, logger: false })
    context.after(() => handler.close())
    const stream = await handler(new Request('http://localhost/api/v1/events'))
    const events = new EventReader(stream)
    await events.until('ready')
    await app.schedules.put('daily', { job: 'pay', every: '1d', input: { card: SECRET } }, { author: 'ada' })
    await app.schedules.trigger('daily', { input: { card: SECRET }, dedupe: 'one' })
    await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === 1)
    const [fire] = (await app.fires.list()).items
    const [run] = (await app.runs.list()).items
    const may = as(api, decision)
    const seen = async (path: string): Promise<string> => JSON.stringify((await may('GET', path)).body)
    const paths = [
      '/api/v1/schedules',
      '/api/v1/schedules/daily',
      '/api/v1/fires',
      `/api/v1/fires/daily/${fire!.dueAt}?nonce=one`,
      `/api/v1/fires/daily/${fire!.dueAt}/steps?nonce=one`,
      '/api/v1/runs',
      `/api/v1/runs/daily/${run!.token}`,
      '/api/v1/activity',
    ]
    for (const path of paths) {
      const text = await seen(path)
      assert.ok(text.includes('daily') || text.includes('charge'), `${path} has nothing to hide: ${text}`)
      assert.ok(!text.includes(SECRET), path)
      assert.ok(JSON.stringify((await api.ask('GET', path)).body).includes(SECRET) || path.includes('activity'), path)
    }
    const again = await may('POST', '/api/v1/schedules/daily/trigger', { input: { card: SECRET }, dedupe: 'one' })
    assert.ok(!JSON.stringify(again.body).includes(SECRET))
    const ended = await events.until('run.ended')
    assert.ok(!JSON.stringify(ended).includes(SECRET))
    await events.cancel()
  })
})

describe('the option redact', () => {
  test('replaces the named fields of inputs and results in answers and events, and refuses what would erase them', async (context) => {
    const api = apiOf(context, { redact: ['Card', 'password'] })
    const { app } = api
    app.job('pay', {}, () => ({ receipt: { CARD: SECRET, amount: 12 } }))
    await app.start()
    const events = new EventReader(await api.handler(new Request('http://localhost/api/v1/events')))
    await events.until('ready')
    const definition = { job: 'pay', every: '1d', input: { user: [{ card: SECRET }], note: 'card' } }
    assert.equal((await api.ask('PUT', '/api/v1/schedules/daily', { body: definition })).status, 200)
    await app.schedules.trigger('daily', { input: { password: { old: SECRET } }, dedupe: 'one' })
    await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === 1)
    const shown = (await api.ask('GET', '/api/v1/schedules/daily')).body
    assert.deepEqual(shown.input, { user: [{ card: '[redacted]' }], note: 'card' })
    assert.deepEqual((await api.ask('GET', '/api/v1/fires')).body.items[0].input, { password: '[redacted]' })
    const [run] = (await api.ask('GET', '/api/v1/runs')).body.items
    assert.deepEqual(run.result, { receipt: { CARD: '[redacted]', amount: 12 } })
    assert.ok(!JSON.stringify((await api.ask('GET', '/api/v1/activity')).body).includes(SECRET))
    const ended = await events.until('run.ended')
    assert.ok(JSON.stringify(ended).includes('[redacted]') && !JSON.stringify(ended).includes(SECRET))
    await events.cancel()
    const again = await api.ask('PUT', '/api/v1/schedules/daily', { body: { ...definition, input: shown.input } })
    assert.equal(codeOf(again), '400 INPUT_INVALID')
    assert.deepEqual((await app.schedules.get('daily')).input, definition.input)
  })

  test('takes names only', () => {
    for (const redact of ['card', [''], [7]] as unknown as readonly string[][])
      assert.throws(() => createHandler(cronce({ store: 'memory:', signals: false, logger: false }), { redact }), {
        code: 'OPTION_INVALID',
      })
  })
})

describe('a caller who sees only some schedules', () => {
  const decision = { level: 'operate', visible: (name: string) => name.startsWith('shop.') } as const

  test('gets the answer that the others do not exist, in lists, figures, events and changes', async (context) => {
    const api = apiOf(context)
    const { app } = api
    for (const name of ['shop.mail', 'bank.transfer']) app.job(name, { every: '1d' }, () => {})
    await app.start()
    const handler = createHandler(app, { ...PATIENT, access: () => decision, logger: false })
    context.after(() => handler.close())
    const events = new EventReader(await handler(new Request('http://localhost/api/v1/events')))
    await events.until('ready')
    await app.schedules.pause('bank.transfer', { note: 'hidden' })
    await app.schedules.trigger('bank.transfer', { dedupe: 'one' })
    await app.schedules.resume('bank.transfer')
    await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === 1)
    await app.schedules.trigger('shop.mail', { dedupe: 'one' })
    await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === 2)
    const hidden = (await app.fires.list({ schedule: 'bank.transfer' })).items[0]!
    const token = (await app.runs.list({ schedule: 'bank.transfer' })).items[0]!.token
    const may = as(api, decision)
    for (const path of ['schedules', 'fires', 'runs', 'forecast', 'overview', 'instances', 'apps/shop/deployments']) {
      const { status, body } = await may('GET', `/api/v1/${path}`)
      assert.equal(status, 200, path)
      assert.ok(JSON.stringify(body).includes('shop'), path)
      assert.ok(!JSON.stringify(body).includes('bank'), path)
    }
    for (const path of ['activity', 'alerts', 'alerts/mutes', 'calendar', 'fires?schedule=bank.transfer'])
      assert.ok(!JSON.stringify((await may('GET', `/api/v1/${path}`)).body).includes('bank'), path)
    const strips = await may('GET', `/api/v1/strips?names=${encodeURIComponent('["bank.transfer","shop.mail"]')}`)
    assert.deepEqual(
      strips.body.items.map(({ fires }: { fires: readonly unknown[] }) => fires.length),
      [0, 1],
    )
    const fire = `/api/v1/fires/bank.transfer/${hidden.dueAt}`
    const run = `/api/v1/runs/bank.transfer/${token}`
    for (const [method, path, body] of [
      ['GET', '/api/v1/schedules/bank.transfer'],
      ['GET', '/api/v1/schedules/bank.transfe'],
      ['GET', '/api/v1/schedules/shop.mai'],
      ['GET', '/api/v1/schedules/bank.transfer/next'],
      ['GET', `${fire}?nonce=one`],
      ['GET', `${fire}/steps?nonce=one`],
      ['GET', run],
      ['GET', `${run}/log`],
      ['POST', '/api/v1/schedules/bank.transfer/pause', {}],
      ['POST', '/api/v1/schedules/bank.transfer/trigger', {}],
      ['POST', `${fire}/retry?nonce=one`, { force: true }],
      ['POST', `${run}/cancel`, {}],
      ['PUT', '/api/v1/schedules/bank.other', { job: 'bank.transfer', every: '1h' }],
      ['DELETE', '/api/v1/schedules/bank.transfer?force=true'],
    ] as const) {
      const asked = await may(method, path, body)
      assert.equal(codeOf(asked), '404 SCHEDULE_NOT_FOUND', `${method} ${path}`)
      assert.equal(asked.body.error.hint, 'GET /api/v1/schedules lists those that you see.')
    }
    assert.equal((await app.schedules.get('bank.transfer')).state, 'active')
    assert.equal((await may('POST', '/api/v1/schedules/shop.mail/pause', {})).body.state, 'paused')
    const first = await events.until('run.ended')
    assert.equal(first.data.run.schedule, 'shop.mail')
    await events.cancel()
  })

  test('changes nothing that concerns the fleet, and sees no figures of all schedules', async (context) => {
    const may = as(apiOf(context), decision)
    const offered = operations(await may('GET', '/api/v1/access'))
    const forbidden = ROUTES.filter(({ access, right, isOfAll }) => {
      return (access === 'operate' && right === undefined) || access === 'metrics' || isOfAll === true
    })
    assert.ok(forbidden.length >= 8)
    for (const route of forbidden) {
      assert.equal(offered.has(route.id), false, route.id)
      const path = route.path.replaceAll(/:\w+/g, '1')
      assert.equal(codeOf(await may(route.method, path)), '403 ACCESS_RIGHT_MISSING', route.id)
    }
  })

  test('gets pages that are never empty as long as there is something to see', async (context) => {
    const api = apiOf(context)
    await api.app.schedules.createMany(
      Array.from({ length: 300 }, (_, index) => [`bank.${index}`, { job: 'j', every: '1h' }] as const),
    )
    await api.app.schedules.put('shop.last', { job: 'j', every: '1h' })
    const { body } = await as(api, decision)('GET', '/api/v1/schedules?limit=50')
    assert.deepEqual(
      body.items.map(({ name }: { name: string }) => name),
      ['shop.last'],
    )
  })

  test('sees nothing if visible answers something else than true', async (context) => {
    const api = apiOf(context)
    await api.app.schedules.put('shop.mail', { job: 'j', every: '1h' })
    const promised = { level: 'read', visible: (async () => true) as unknown as () => boolean } as const
    assert.deepEqual((await as(api, promised)('GET', '/api/v1/schedules')).body.items, [])
    const nonsense = { level: 'read', visible: 'all' as unknown as () => boolean } as const
    assert.equal(codeOf(await as(api, nonsense)('GET', '/api/v1/schedules')), '500 INTERNAL')
  })
})
