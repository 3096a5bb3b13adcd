import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from 'cronce'
import { createHandler, pathPart } from '../src/index.ts'
import { ROUTES } from '../src/routes/all.ts'
import { apiOf, ask, codeOf, eventually } from './kit.ts'

const YEAR_2030 = Date.UTC(2030, 0, 1)
const NAMES = [
  'a/b',
  '..',
  '.',
  '=',
  '=..',
  '../../etc/passwd',
  '100 %',
  '%2e%2e',
  'Übersicht ☂ 時',
  'a?b#c&d=e+f',
  "'; drop",
]

describe('schedules over HTTP', () => {
  test('are made, shown, listed, replaced and removed', async (context) => {
    const { ask } = apiOf(context)
    const made = await ask('PUT', '/api/v1/schedules/report', { body: { job: 'report', cron: '0 8 * * *', tz: 'UTC' } })
    assert.deepEqual([made.status, made.body.name, made.body.warnings], [200, 'report', []])
    assert.equal((await ask('GET', '/api/v1/schedules/report')).body.trigger.expression, '0 8 * * *')
    const only = { 'if-none-match': '*' }
    const again = await ask('PUT', '/api/v1/schedules/report', { body: { job: 'report', every: '1d' }, headers: only })
    assert.equal(codeOf(again), '409 SCHEDULE_EXISTS')
    const missing = { body: { job: 'report' }, headers: { 'if-match': '*' } }
    assert.equal(codeOf(await ask('PUT', '/api/v1/schedules/reprot', missing)), '404 SCHEDULE_NOT_FOUND')
    await ask('PUT', '/api/v1/schedules/other', { body: { job: 'other', every: '1h' } })
    const listed = await ask('GET', '/api/v1/schedules?job=report&state=active&prefix=re&limit=5')
    assert.deepEqual([listed.body.items.length, listed.body.next], [1, null])
    const first = await ask('GET', '/api/v1/schedules?limit=1')
    const second = await ask('GET', `/api/v1/schedules?limit=1&after=${encodeURIComponent(first.body.next)}`)
    assert.deepEqual([first.body.items[0].name, second.body.items[0].name], ['other', 'report'])
    assert.equal((await ask('DELETE', '/api/v1/schedules/report')).status, 204)
    assert.equal(codeOf(await ask('GET', '/api/v1/schedules/report')), '404 SCHEDULE_NOT_FOUND')
  })

  test('are listed without those that cronce keeps for itself, unless they are asked for', async (context) => {
    const { app, ask } = apiOf(context)
    await app.schedules.create('report', { job: 'report', every: '1h' })
    await app.start()
    await app.lock('importer', () => {})
    const names = async (query: string): Promise<string[]> =>
      (await ask('GET', `/api/v1/schedules${query}`)).body.items.map(({ name }: { name: string }) => name)
    assert.deepEqual(await names(''), ['report'])
    assert.deepEqual(await names('?limit=1'), ['report'])
    assert.deepEqual(await names('?internal=true'), ['cronce:lock:importer', 'report'])
    assert.deepEqual(await names('?prefix=cronce:'), ['cronce:lock:importer'])
    assert.deepEqual(await names('?job=cronce:lock'), ['cronce:lock:importer'])
    assert.deepEqual(await names('?prefix=cron'), [])
  })

  test('may have any name that the library allows', async (context) => {
    const { ask } = apiOf(context)
    for (const name of NAMES) {
      const made = await ask('PUT', `/api/v1/schedules/${pathPart(name)}`, { body: { job: 'j', at: YEAR_2030 } })
      assert.equal(made.body.name, name)
      assert.equal((await ask('GET', `/api/v1/schedules/${pathPart(name)}`)).body.name, name)
      const query = `/api/v1/fires?schedule=${encodeURIComponent(name)}`
      assert.equal((await ask('GET', query)).status, 200)
    }
    assert.equal((await ask('GET', '/api/v1/schedules')).body.items.length, NAMES.length)
    for (const name of NAMES) assert.equal((await ask('DELETE', `/api/v1/schedules/${pathPart(name)}`)).status, 204)
    assert.deepEqual((await ask('GET', '/api/v1/schedules')).body.items, [])
  })

  test('come in pages of bounded size, and none is left out', async (context) => {
    const { app, ask } = apiOf(context)
    const input = 'x'.repeat(60_000)
    for (let number = 0; number < 200; number++) await app.schedules.create(`s${number}`, { job: 'j', input })
    const sizes: number[] = []
    const names = new Set<string>()
    for (let after: string | null = ''; after !== null; ) {
      const query = after === '' ? '' : `&after=${encodeURIComponent(after)}`
      const { body } = await ask('GET', `/api/v1/schedules?limit=1000${query}`)
      assert.ok(JSON.stringify(body).length < 9_000_000)
      for (const { name } of body.items) names.add(name)
      sizes.push(body.items.length)
      after = body.next
    }
    assert.deepEqual([names.size, sizes[0]], [200, 100], sizes.join())
  })

  test('list their next instants, from their pause to their end and limit', async (context) => {
    const { ask } = apiOf(context)
    const hours = (...list: number[]): number[] => list.map((hour) => YEAR_2030 + hour * 3_600_000)
    const body = { job: 'j', every: '1h', start: YEAR_2030, end: YEAR_2030 + 5 * 3_600_000 }
    await ask('PUT', '/api/v1/schedules/s', { body })
    assert.deepEqual((await ask('GET', '/api/v1/schedules/s/next')).body.items, hours(0, 1, 2, 3, 4))
    assert.deepEqual((await ask('GET', '/api/v1/schedules/s/next?count=2')).body.items, hours(0, 1))
    const from = '/api/v1/schedules/s/next?from=2030-01-01T02:30:00Z'
    assert.deepEqual((await ask('GET', from)).body.items, hours(3, 4))
    await ask('PUT', '/api/v1/schedules/s', { body: { ...body, limit: 2 } })
    assert.deepEqual((await ask('GET', '/api/v1/schedules/s/next')).body.items, hours(0, 1))
    await ask('POST', '/api/v1/schedules/s/pause', { body: { until: '2030-01-01T00:30:00Z' } })
    assert.deepEqual((await ask('GET', '/api/v1/schedules/s/next')).body.items, hours(1))
    await ask('POST', '/api/v1/schedules/s/pause')
    assert.deepEqual((await ask('GET', '/api/v1/schedules/s/next')).body.items, [])
    assert.equal(codeOf(await ask('GET', '/api/v1/schedules/s/next?count=1001')), '400 OPTION_INVALID')
  })

  test('are written under the conditions that are known, and under no others', async (context) => {
    const { app, ask } = apiOf(context)
    const put = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      codeOf(await ask('PUT', '/api/v1/schedules/s', { body: { job: 'j' }, headers }))
    assert.equal(await put({ 'if-match': '*' }), '404 SCHEDULE_NOT_FOUND')
    for (const name of ['if-match', 'if-none-match']) {
      for (const value of ['"1"', 'W/"1"', '*, "1"', ''])
        assert.equal(await put({ [name]: value }), '400 OPTION_INVALID')
    }
    assert.equal(await put({ 'if-none-match': '*' }), '200')
    assert.equal(await put({ 'if-none-match': '*' }), '409 SCHEDULE_EXISTS')
    const remove = await ask('DELETE', '/api/v1/schedules/s', { headers: { 'if-match': '"1"' } })
    assert.equal(codeOf(remove), '400 OPTION_INVALID')
    assert.equal((await app.schedules.get('s')).revision, 1)
  })

  test('are paused, resumed, skipped and filled in, and the record names the requester', async (context) => {
    const { ask } = apiOf(context)
    await ask('PUT', '/api/v1/schedules/s', { body: { job: 'j', every: '1h' } })
    const asked = { author: 'ada', note: 'holidays' }
    const paused = await ask('POST', '/api/v1/schedules/s/pause', { body: { ...asked, missed: 'latest' } })
    assert.deepEqual(
      [paused.body.state, paused.body.pause.author, paused.body.pause.note],
      ['paused', 'ada', 'holidays'],
    )
    assert.equal((await ask('POST', '/api/v1/schedules/s/resume', { body: asked })).body.state, 'active')
    const { nextAt } = (await ask('GET', '/api/v1/schedules/s')).body
    const wrong = await ask('POST', '/api/v1/schedules/s/skip-next', { body: { dueAt: nextAt + 1 } })
    assert.equal(codeOf(wrong), '409 NEXT_CHANGED')
    const skipped = await ask('POST', '/api/v1/schedules/s/skip-next', { body: { dueAt: nextAt, ...asked } })
    assert.equal(skipped.body.nextAt, nextAt + 3_600_000)
    const stretch = { from: Date.now() - 7_200_000, to: Date.now(), force: true, ...asked }
    const dry = await ask('POST', '/api/v1/schedules/s/backfill', { body: { ...stretch, dryRun: true } })
    assert.deepEqual([dry.body.id, dry.body.preview.toRun], [null, 2])
    const filled = await ask('POST', '/api/v1/schedules/s/backfill', { body: stretch })
    assert.equal(typeof filled.body.id, 'string')
    assert.equal((await ask('GET', '/api/v1/schedules/s')).body.backfills[0]?.author, 'ada')
    const backwards = { body: { from: 2, to: 1 } }
    assert.equal(codeOf(await ask('POST', '/api/v1/schedules/s/backfill', backwards)), '400 OPTION_CONFLICT')
  })

  test('take deliveries of an instant, of which there is one fire', async (context) => {
    const { ask } = apiOf(context)
    await ask('PUT', '/api/v1/schedules/s', { body: { job: 'j' } })
    const dueAt = new Date(Date.now() - 1_000).toISOString()
    const first = await ask('POST', '/api/v1/schedules/s/deliver', { body: { dueAt } })
    const second = await ask('POST', '/api/v1/schedules/s/deliver', { body: { dueAt } })
    assert.deepEqual([first.body.created, second.body.created], [true, false])
    assert.deepEqual(second.body.fire, first.body.fire)
    const early = await ask('POST', '/api/v1/schedules/s/deliver', { body: { dueAt: YEAR_2030 } })
    assert.equal(codeOf(early), '425 FIRE_EARLY')
  })
})

describe('fires and runs over HTTP', () => {
  test('are listed, shown, cancelled and run again, with steps and logs', async (context) => {
    const { app, ask } = apiOf(context)
    let fail = true
    app.job('bill', {}, async (run) => {
      run.log('begun')
      run.log.warn('wait')
      await run.once('charge', () => 17)
      if (fail) throw new Error('no luck')
      return { done: true }
    })
    app.job('slow', {}, (run) => new Promise((_, reject) => run.signal.addEventListener('abort', reject)))
    await app.start()

    const { fire } = (await ask('POST', '/api/v1/schedules/bill/trigger', { body: { dedupe: 'one', note: 'try' } }))
      .body
    const path = `/api/v1/fires/bill/${fire.dueAt}`
    const ended = await eventually(async () => {
      const found = await ask('GET', `${path}?nonce=one`)
      return found.body.state !== 'open' && found.body
    })
    assert.deepEqual([ended.state, ended.reason, ended.asked.note], ['failed', 'error', 'try'])
    assert.equal(codeOf(await ask('GET', path)), '404 FIRE_NOT_FOUND')
    const iso = new Date(fire.dueAt).toISOString()
    assert.equal((await ask('GET', `/api/v1/fires/bill/${iso}?nonce=one`)).status, 200)
    const list = await ask('GET', '/api/v1/fires?schedule=bill&outcome=failed&order=earliest&from=0')
    assert.equal(list.body.items.length, 1)
    const runs = await ask('GET', `/api/v1/runs?schedule=bill&dueAt=${fire.dueAt}&nonce=one`)
    assert.deepEqual([runs.body.items.length, runs.body.items[0].log], [1, undefined])
    const { token } = runs.body.items[0]
    const run = await ask('GET', `/api/v1/runs/bill/${token}`)
    assert.equal(run.body.error.message, 'no luck')
    const log = await ask('GET', `/api/v1/runs/bill/${token}/log`)
    assert.deepEqual(
      log.body.items.map(({ message }: { message: string }) => message),
      ['begun', 'wait'],
    )
    assert.deepEqual([log.body.next, log.body.open], [2, false])
    assert.deepEqual((await ask('GET', `/api/v1/runs/bill/${token}/log?after=2`)).body.items, [])
    const steps = await ask('GET', `${path}/steps?nonce=one`)
    assert.deepEqual([steps.body.items[0].step, steps.body.items[0].state], ['charge', 'done'])
    const resolved = await ask('POST', `${path}/steps/charge?nonce=one`, { body: { failed: true } })
    assert.equal(codeOf(resolved), '409 STEP_ENDED')
    assert.equal(
      codeOf(await ask('POST', `${path}/steps/chrge?nonce=one`, { body: { result: 1 } })),
      '404 STEP_NOT_FOUND',
    )
    assert.equal(codeOf(await ask('POST', `${path}/cancel?nonce=one`)), '409 FIRE_NOT_OPEN')
    assert.equal(codeOf(await ask('POST', `/api/v1/runs/bill/${token}/cancel`)), '409 RUN_NOT_OPEN')

    fail = false
    const retried = await ask('POST', `${path}/retry?nonce=one`, { body: { author: 'ada' } })
    assert.deepEqual([retried.body.round, retried.body.asked.author], [2, 'ada'])
    await eventually(async () => (await ask('GET', `${path}?nonce=one`)).body.state === 'succeeded')
    assert.equal(codeOf(await ask('POST', `${path}/retry?nonce=one`)), '409 FIRE_SUCCEEDED')

    const slow = (await ask('POST', '/api/v1/schedules/slow/trigger')).body.fire
    const open = await eventually(async () => {
      const found = await ask('GET', '/api/v1/runs?outcome=open&job=slow')
      return found.body.items[0]
    })
    assert.equal(codeOf(await ask('DELETE', '/api/v1/schedules/slow')), '409 SCHEDULE_IN_CODE')
    const cancelled = await ask('POST', `/api/v1/runs/slow/${open.token}/cancel`, { body: { note: 'enough' } })
    assert.equal(cancelled.status, 200)
    const slowPath = `/api/v1/fires/slow/${slow.dueAt}?nonce=${encodeURIComponent(slow.nonce)}`
    await eventually(async () => (await ask('GET', slowPath)).body.state === 'cancelled')
    const { fires, runs: figures } = (await ask('GET', '/api/v1/overview')).body
    assert.deepEqual([fires.succeeded, fires.cancelled, fires.failed, fires.open], [1, 1, 0, 0])
    assert.deepEqual([figures.count, typeof figures.durationP95Ms, figures.cut], [3, 'number', false])
  })
})

describe('the fleet over HTTP', () => {
  test('shows instances, deployments, the store, what comes and what needs attention', async (context) => {
    const { app, ask } = apiOf(context)
    app.job('tick', { every: '1h' }, () => {})
    await app.start()
    await app.schedules.create('orphan', { job: 'nobody', every: '90m' })
    await app.schedules.create('when-asked', { job: 'nobody' })
    const instances = await ask('GET', '/api/v1/instances')
    assert.deepEqual([instances.body.items.length, instances.body.items[0].id], [1, app.instance])
    assert.equal((await ask('POST', `/api/v1/instances/${app.instance}/drain`)).status, 204)
    assert.equal((await ask('GET', '/readyz')).status, 503)
    assert.equal((await ask('POST', `/api/v1/instances/${app.instance}/undrain`)).status, 204)
    await eventually(async () => (await ask('GET', '/readyz')).status === 200)
    assert.equal(codeOf(await ask('POST', '/api/v1/instances/nobody/drain')), '404 INSTANCE_NOT_FOUND')
    await eventually(async () => (await ask('GET', '/api/v1/apps/shop/deployments')).body.active === 'v1')
    const activate = '/api/v1/apps/shop/deployments/v1/activate'
    assert.equal((await ask('POST', activate)).body.active, 'v1')
    const unknown = await ask('POST', '/api/v1/apps/shop/deployments/v9/activate')
    assert.equal(codeOf(unknown), '404 DEPLOYMENT_NOT_FOUND')
    assert.equal(codeOf(await ask('GET', '/api/v1/apps/shp/deployments')), '404 APP_NOT_FOUND')
    assert.equal((await ask('GET', '/api/v1/store')).body.name, 'memory')
    const forecast = await ask('GET', '/api/v1/forecast?from=2030-01-01T00:00:00Z&to=2030-01-01T03:00:00Z')
    const coming = forecast.body.items.map(({ schedule, dueAt }: { schedule: string; dueAt: number }) => [
      schedule,
      (dueAt - YEAR_2030) / 60_000,
    ])
    assert.deepEqual(
      [coming.sort(([, one]: [string, number], [, other]: [string, number]) => one - other), forecast.body.cut],
      [
        [
          ['orphan', 0],
          ['tick', 0],
          ['tick', 60],
          ['orphan', 90],
          ['tick', 120],
        ],
        false,
      ],
    )
    const cut = await ask('GET', '/api/v1/forecast?limit=1')
    assert.deepEqual([cut.body.items.length, cut.body.cut], [1, true])
    assert.equal(codeOf(await ask('GET', '/api/v1/forecast?from=5&to=5')), '400 OPTION_INVALID')
    const { schedules, attention, next } = (await ask('GET', '/api/v1/overview')).body
    assert.deepEqual([schedules.active, next.length], [3, 10])
    assert.deepEqual(
      attention.map(({ kind, about }: { kind: string; about: string }) => [kind, about]),
      [['no-instance', 'orphan']],
    )
  })

  test('a leader, a lock that is held and a key need no instance, and the overview does not list them', async (context) => {
    const { app, ask } = apiOf(context)
    await app.start()
    app.elect('poller')
    await eventually(async () => app.isLeader('poller'))
    for (let tries = 0; tries < 3; tries++)
      await assert.rejects(app.lock('importer', () => Promise.reject(new Error('no'))))
    const held = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = app.lock('importer', () => {
      held.resolve()
      return release.promise
    })
    await held.promise
    const { attention } = (await ask('GET', '/api/v1/overview')).body
    release.resolve()
    await holding
    assert.deepEqual(attention, [])
  })

  test('is drained and live again in the eyes of readyz only as its instance is', async (context) => {
    const { app, ask } = apiOf(context)
    assert.equal((await ask('GET', '/readyz')).status, 200, 'an app that was never started only needs its store')
    await app.start()
    assert.equal((await ask('GET', '/readyz')).status, 200)
  })
})

test('readyz does not wait for a store that does not answer, nor look twice for two requests', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const client = await connect({ store: 'memory:' })
  context.after(() => client.close())
  let looks = 0
  const check = (): Promise<never> => {
    looks++
    return new Promise(() => {})
  }
  const handler = createHandler({ ...client, store: { check } })
  const asked = Promise.all([ask(handler, 'GET', '/readyz'), ask(handler, 'GET', '/readyz')])
  await new Promise((resolve) => setImmediate(resolve))
  context.mock.timers.tick(2_000)
  assert.deepEqual(
    (await asked).map(({ status }) => status),
    [503, 503],
  )
  assert.equal(looks, 1)
  const unready = createHandler(client, { ready: () => false })
  assert.equal((await ask(unready, 'GET', '/readyz')).status, 503)
})

describe('every route', () => {
  test('is known by its method: HEAD is a GET without a body, others get 405 and what is allowed', async (context) => {
    const { handler } = apiOf(context)
    for (const { method, path, answer } of ROUTES) {
      const plain = path.replaceAll(/:\w+/g, '1')
      const allowed = ROUTES.filter((route) => route.path === path).map((route) => route.method)
      const refused = await ask(handler, 'PATCH', plain)
      assert.equal(codeOf(refused), '405 METHOD_REFUSED', path)
      for (const one of allowed) assert.ok(refused.headers.get('allow')!.split(', ').includes(one))
      assert.equal(codeOf(await ask(handler, 'OPTIONS', plain)), '405 METHOD_REFUSED', path)
      if (method !== 'GET' || answer === null) continue
      const head = await ask(handler, 'HEAD', plain)
      assert.deepEqual([head.body, head.status !== 405], [null, true], path)
    }
    assert.equal(codeOf(await ask(handler, 'GET', '/api/v1/schedule')), '404 ROUTE_UNKNOWN')
    assert.equal(codeOf(await ask(handler, 'GET', '/')), '404 ROUTE_UNKNOWN')
  })
})

describe('a base path', () => {
  for (const basePath of ['/ops/cronce', '/api', '/api/v1']) {
    test(`of ${basePath} may be stripped by the host, or not`, async (context) => {
      const { handler } = apiOf(context, { basePath })
      for (const base of ['', basePath]) {
        const get = async (path: string): Promise<Response> => handler(new Request(`http://h${base}${path}`))
        assert.equal((await get('/healthz')).status, 200)
        assert.equal((await get('/api/v1/schedules')).status, 200)
        const document = (await (await get('/openapi.json')).json()) as { servers: { url: string }[] }
        assert.deepEqual(document.servers, [{ url: base === '' ? '/' : base }])
      }
      assert.equal((await handler(new Request(`http://h${basePath}x/healthz`))).status, 404)
    })
  }

  test('that was not given is guessed in the hint', async (context) => {
    const { handler } = apiOf(context)
    const response = await handler(new Request('http://h/ops/api/v1/schedules'))
    const { error } = (await response.json()) as { error: { hint: string } }
    assert.match(error.hint, /basePath: '\/ops'/)
  })
})
