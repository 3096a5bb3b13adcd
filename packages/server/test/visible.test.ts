import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { CronceError } from 'cronce'
import { bucketsOf } from '../src/buckets.ts'
import { createHandler, type Decision, type HandlerOptions } from '../src/index.ts'
import { overviewOf } from '../src/overview.ts'
import { Seal } from '../src/seal.ts'
import type { Source } from '../src/source.ts'
import { visibleSource } from '../src/visible-source.ts'
import { type Api, type Asked, type AskOptions, apiOf, ask, codeOf, eventually, PATIENT } from './kit.ts'
import { EventReader } from './kit-events.ts'

/** In every name and key that the caller must not see. */
const SECRET = 'vault'
const HIDDEN = ['bank.vault', 'shop.now-vault', 'zz.vault'] as const
const HIDDEN_FIRES = 4
const DAY_MS = 86_400_000
const isVisible = (name: string): boolean => name.startsWith('shop.') && !HIDDEN.some((hidden) => hidden === name)
const PARTIAL = { level: 'operate', visible: isVisible } as const

type Ask = (method: string, path: string, options?: AskOptions) => Promise<Asked>

function as(api: Api, decision: Decision = PARTIAL, options: HandlerOptions = {}): Ask {
  const handler = createHandler(api.app, { ...PATIENT, access: () => decision, logger: false, ...options })
  return (method, path, more) => ask(handler, method, path, more)
}

/** Two visible schedules among hidden ones, which come before, between and after them in every list. */
async function fleetOf(context: TestContext): Promise<Api> {
  const api = apiOf(context)
  const { app } = api
  for (const name of HIDDEN) app.job(name, { every: '1d', watch: { failing: 2 } }, () => {})
  app.job('shop.mail', { every: '1d' }, async (run) => {
    await run.once('send', async () => 1)
  })
  app.job('shop.report', { every: '1d' }, () => {})
  await app.start()
  for (let round = 0; round < HIDDEN_FIRES; round++) {
    for (const name of HIDDEN) await app.schedules.trigger(name, { dedupe: `vault-${round}`, note: SECRET })
    if (round % 2 === 0) await app.schedules.trigger('shop.mail', { dedupe: `letter-${round}` })
  }
  for (const name of HIDDEN) await app.schedules.pause(name, { note: SECRET })
  const ended = HIDDEN.length * HIDDEN_FIRES + 2
  await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === ended)
  return api
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: unknown
}

/** The requests that an operation of the OpenAPI document allows: about this schedule, and with and without it as a filter. */
async function requestsOf({ app }: Api, schedule: string, path: string, { parameters = [] }: Operation) {
  const real = schedule === 'shop.mai' ? 'shop.mail' : schedule
  const [fire] = (await app.fires.list({ schedule: real, limit: 1 })).items
  const [run] = (await app.runs.list({ schedule: real, limit: 1 })).items
  const values: Readonly<Record<string, string>> = {
    ...{ name: schedule, schedule, job: schedule, dueAt: String(fire!.dueAt), nonce: fire!.nonce, token: run!.token },
    ...{ app: 'shop', step: 'send', prefix: 'shop.', names: JSON.stringify([schedule, ...HIDDEN]) },
    ...{ from: String(fire!.dueAt - DAY_MS), to: String(fire!.dueAt + DAY_MS) },
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '1'))
  const queries = parameters.filter((one) => one.in === 'query')
  const required = queries.filter((one) => one.required === true).map(({ name }) => name)
  const inPath = path.includes('{dueAt}') ? ['nonce'] : []
  const known = (names: readonly string[]): readonly string[] =>
    names.filter((name) => queries.some((one) => one.name === name))
  const sets = [[], ['schedule'], ['job'], ['prefix']].map((names) => known([...required, ...inPath, ...names]))
  const limits = queries.some(({ name }) => name === 'limit') ? ['', 'limit=1', 'limit=2', 'limit=3'] : ['']
  const texts = sets.flatMap((names) => {
    const given = names.map((name) => `${name}=${encodeURIComponent(values[name]!)}`)
    return limits.map((limit) => [...given, limit].filter((text) => text !== '').join('&'))
  })
  return [...new Set(texts)].map((query) => `${filled}?${query}`)
}

const BODIES: Readonly<Record<string, object>> = {
  putSchedule: { job: 'bank.vaul', every: '1h' },
  skipNext: { dueAt: 0 },
  deliverFire: { dueAt: 0 },
  backfillSchedule: { from: 0, to: 1, dryRun: true },
}

describe('what a caller who sees only some schedules is answered', () => {
  test('names no hidden schedule, on every route of the OpenAPI document', async (context) => {
    const api = await fleetOf(context)
    const may = as(api)
    const { body: document } = await may('GET', '/openapi.json')
    const { body: access } = await may('GET', '/api/v1/access')
    const allowed = new Set<string>(access.operations)
    const asked = new Set<string>()
    for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId: id } = operation
        // The stream has a test of its own, and DELETE would remove what the others ask about.
        if (!allowed.has(id) || id === 'streamEvents' || id === 'removeSchedule') continue
        asked.add(id)
        for (const schedule of ['shop.mail', 'shop.mai', 'bank.vault']) {
          for (const url of await requestsOf(api, schedule, path, operation)) {
            const given = operation.requestBody === undefined ? {} : { body: BODIES[id] ?? {} }
            const { body } = await may(method.toUpperCase(), url, given)
            // What the caller has written itself is not secret.
            const answered = JSON.stringify(body).replaceAll('bank.vaul"', '').replaceAll('bank.vaul\\"', '')
            const named = [schedule, ...(id === 'listStrips' ? HIDDEN : [])]
            const text = named.reduce((rest, name) => rest.replaceAll(name, ''), answered)
            assert.ok(!text.includes(SECRET), `${method} ${url} ${answered}`)
          }
        }
      }
    }
    assert.ok(asked.size >= 25, `${[...asked]}`)
  })

  test('is empty, at once, if a filter or a path names a hidden schedule', async (context) => {
    const api = await fleetOf(context)
    const may = as(api)
    const nothing = { items: [], next: null }
    for (const list of ['fires', 'runs', 'activity']) {
      for (const limit of [1, 100]) {
        const url = `/api/v1/${list}?schedule=bank.vault&limit=${limit}`
        assert.deepEqual((await may('GET', url)).body, nothing, url)
      }
    }
    const [fire] = (await api.app.fires.list({ schedule: 'bank.vault' })).items
    const runs = `/api/v1/runs?schedule=bank.vault&dueAt=${fire!.dueAt}&nonce=${fire!.nonce}&limit=1`
    assert.deepEqual((await may('GET', runs)).body, nothing)
    const buckets = await may('GET', '/api/v1/schedules/bank.vault/buckets?from=0&to=1000')
    assert.equal(codeOf(buckets), '404 SCHEDULE_NOT_FOUND')
  })

  test('comes in pages that lead to everything visible, by cursors that only the server can read', async (context) => {
    const api = await fleetOf(context)
    const may = as(api)
    const { app } = api
    const keyOf = (item: { name?: string; schedule?: string; nonce?: string; id?: string }): string =>
      `${item.name ?? item.schedule ?? item.id} ${item.nonce ?? ''}`
    await app.schedules.pause('shop.report')
    const isSeen = ({ schedule }: { schedule: string }): boolean => isVisible(schedule)
    const expected: Readonly<Record<string, readonly string[]>> = {
      schedules: ['shop.mail ', 'shop.report '],
      fires: (await app.fires.list()).items.filter(isSeen).map(keyOf),
      runs: (await app.runs.list()).items.filter(isSeen).map(keyOf),
      activity: (await app.activity.list()).items.filter(({ subject }) => isVisible(subject.name)).map(keyOf),
    }
    for (const [list, wanted] of Object.entries(expected)) {
      assert.ok(wanted.length >= 1, list)
      const found: string[] = []
      const lengths = new Set<number>()
      let after = ''
      for (let pages = 0; pages < 100; pages++) {
        const { body } = await may('GET', `/api/v1/${list}?limit=1${after}`)
        found.push(...body.items.map(keyOf))
        if (body.next === null) break
        assert.match(body.next, /^[\w-]+$/)
        assert.ok(!Buffer.from(body.next, 'base64url').toString('latin1').includes('shop'), list)
        lengths.add(body.next.length)
        after = `&after=${body.next}`
      }
      assert.deepEqual(found, wanted, list)
      assert.equal(lengths.size, 1, 'the length of a cursor says nothing about the name in it')
    }
  })

  test('refuses a cursor of another list, of a caller who sees everything, or that was changed', async (context) => {
    const api = await fleetOf(context)
    const may = as(api)
    const { next } = (await may('GET', '/api/v1/schedules?limit=1')).body
    const { next: plain } = (await api.ask('GET', '/api/v1/schedules?limit=2')).body
    const changed = `${next.slice(0, -4)}AAAA`
    for (const [list, after] of [
      ['fires', next],
      ['schedules', plain],
      ['schedules', changed],
      ['schedules', ''],
      ['schedules', '["bank.vault"]'],
    ] as const) {
      const asked = await may('GET', `/api/v1/${list}?after=${encodeURIComponent(after)}`)
      assert.equal(codeOf(asked), '400 CURSOR_INVALID', `${list} ${after}`)
      assert.ok(!JSON.stringify(asked.body).includes(SECRET))
    }
    // Lists whose own cursors look alike.
    const seal = new Seal(null)
    assert.equal(seal.open('runs', seal.close('fires', 'a')), null)
    assert.equal(seal.open('fires', seal.close('fires', 'a')), 'a')
  })

  test('continues in another process that has the same cursorSecret, and only there', async (context) => {
    const api = await fleetOf(context)
    const [one, other, stranger] = ['s'.repeat(16), 's'.repeat(16), undefined].map((cursorSecret) =>
      as(api, PARTIAL, { cursorSecret }),
    )
    const { next } = (await one!('GET', '/api/v1/fires?limit=1')).body
    assert.equal((await other!('GET', `/api/v1/fires?limit=1&after=${next}`)).status, 200)
    assert.equal(codeOf(await stranger!('GET', `/api/v1/fires?limit=1&after=${next}`)), '400 CURSOR_INVALID')
    assert.throws(() => createHandler(api.app, { cursorSecret: 'short' }), { code: 'OPTION_INVALID' })
  })

  test('does not repeat what another caller was answered about a hidden schedule', async (context) => {
    const api = await fleetOf(context)
    const access = (request: Request): Decision => (request.headers.has('x-ops') ? 'operate' : PARTIAL)
    const handler = createHandler(api.app, { access, logger: false })
    const pause = (headers: Record<string, string>): Promise<Asked> =>
      ask(handler, 'POST', '/api/v1/schedules/bank.vault/pause', {
        body: {},
        headers: { 'idempotency-key': 'one', ...headers },
      })
    assert.equal((await pause({ 'x-ops': '1' })).status, 200)
    assert.equal(codeOf(await pause({})), '404 SCHEDULE_NOT_FOUND')
    assert.equal((await pause({ 'x-ops': '1' })).headers.get('idempotency-replayed'), 'true')
  })

  test('has event ids that do not count hidden events, and resumes after them', async (context) => {
    const api = await fleetOf(context)
    const { app } = api
    const handler = createHandler(app, { access: () => PARTIAL, logger: false })
    context.after(() => handler.close())
    const open = async (headers: Record<string, string> = {}): Promise<EventReader> =>
      new EventReader(await handler(new Request('http://localhost/api/v1/events', { headers })))
    const events = await open()
    await events.until('ready')
    await app.schedules.resume('bank.vault')
    await app.schedules.trigger('bank.vault', { dedupe: 'more' })
    await app.schedules.trigger('shop.mail', { dedupe: 'more' })
    const { id } = await events.until('run.ended')
    assert.match(id!, /^[\w-]{300,}$/)
    await app.schedules.trigger('shop.report', { dedupe: 'more' })
    const resumed = await open({ 'last-event-id': id! })
    await resumed.until('ready')
    assert.equal((await resumed.until('run.ended')).data.run.schedule, 'shop.report')
    const forged = await open({ 'last-event-id': 'abc-1' })
    await forged.until('reset')
    for (const one of [events, resumed, forged]) await one.cancel()
  })
})

describe('what a caller who sees only some schedules may do', () => {
  test('is to create schedules of visible jobs, not of others', async (context) => {
    const api = await fleetOf(context)
    const may = as(api, { ...PARTIAL, level: 'read', rights: { edit: true, run: true } })
    const put = (body: object, headers = {}): Promise<Asked> =>
      may('PUT', '/api/v1/schedules/shop.own', { body, headers })
    for (const job of ['bank.vault', 'bank.nothing']) {
      const refused = [
        await put({ job }),
        await put({ job }, { 'if-none-match': '*' }),
        await put({ job }, { 'if-match': '*' }),
      ]
      assert.deepEqual(refused.map(codeOf), Array(3).fill('403 ACCESS_RIGHT_MISSING'), job)
    }
    assert.equal(await api.app.schedules.find('shop.own'), null)
    const { status, body } = await put({ job: 'shop.vault' })
    assert.deepEqual([status, body.warnings], [200, ['No live instance has the job "shop.vault".']])
    assert.equal((await put({ job: 'shop.mail' })).status, 200)
  })
})

test('no caller steers a schedule that cronce keeps for itself; it can be removed by force', async (context) => {
  const { app, ask: may } = apiOf(context)
  app.job('shop.mail', { every: '1d' }, () => {})
  await app.start()
  await app.lock('door', () => {})
  const lock = '/api/v1/schedules/cronce%3Alock%3Adoor'
  const [fire] = (await app.fires.list({ schedule: 'cronce:lock:door' })).items
  for (const [method, path, body] of [
    ['POST', `${lock}/trigger`, {}],
    ['POST', `${lock}/pause`, {}],
    ['POST', `${lock}/skip-next`, { dueAt: 0 }],
    ['POST', `${lock}/backfill`, { from: 0, to: 1 }],
    ['POST', `${lock}/deliver`, { dueAt: 0 }],
    ['POST', `/api/v1/fires/cronce%3Alock%3Adoor/${fire!.dueAt}/retry?nonce=${fire!.nonce}`, { force: true }],
    ['PUT', lock, { job: 'shop.mail' }],
    ['DELETE', lock],
  ] as const) {
    const asked = await may(method, path, body === undefined ? {} : { body })
    assert.equal(codeOf(asked), '400 NAME_RESERVED', `${method} ${path}`)
  }
  assert.equal(await app.lock('door', () => 'got it'), 'got it')
  assert.equal((await may('DELETE', `${lock}?force=true`)).status, 204)
  assert.equal(await app.lock('door', () => 'got it'), 'got it')
})

describe('a visible source', () => {
  /** A source whose lists have no end and nothing visible. */
  function endless() {
    const read = { pages: 0 }
    const list = async () => {
      read.pages++
      return { items: [{ name: 'bank.vault', schedule: 'bank.vault', retirements: [], subject: {} }], next: 'more' }
    }
    const part = { list, find: async () => null }
    const parts = { schedules: part, fires: part, runs: part, activity: part, steps: {}, alerts: {}, deployments: {} }
    const store = { check: async () => ({ now: 1_000_000_000_000 }) }
    const source = { ...parts, store, instances: { list: async () => [] } } as unknown as Source
    return { read, source }
  }

  test('bounds what a request reads in search of something to see', async () => {
    const { read, source } = endless()
    const { schedules, fires, runs } = await overviewOf(
      visibleSource(source, isVisible, new Seal(null)),
      source.instances,
    )
    assert.deepEqual([schedules.cut, fires.cut, runs.cut], [true, true, true])
    assert.ok(read.pages <= 25, `${read.pages}`)
  })

  test('reports that nothing was read in buckets if it found nothing in time', async () => {
    const { read, source } = endless()
    const visible = visibleSource(source, isVisible, new Seal(null))
    const { cut, readFrom } = await bucketsOf(visible, { schedule: 'shop.mail', from: 0, to: 10, buckets: 2 })
    assert.deepEqual([cut, readFrom], [true, 10])
    assert.ok(read.pages <= 20, `${read.pages}`)
  })

  test('does not reveal on which hosts the job of a retired schedule goes on', async () => {
    const trigger = async (): Promise<never> => {
      throw new CronceError('SCHEDULE_RETIRED', 'It is retired.', { hint: 'Name one: shop.mail@vault.' })
    }
    const find = async () => ({ name: 'shop.mail', retirements: [] })
    const rest = { fires: {}, runs: {}, steps: {}, activity: {}, alerts: {}, deployments: {}, instances: {}, store: {} }
    const source = { schedules: { find, trigger }, ...rest } as unknown as Source
    await assert.rejects(visibleSource(source, isVisible, new Seal(null)).schedules.trigger('shop.mail'), {
      code: 'SCHEDULE_RETIRED',
      hint: 'GET /api/v1/schedules lists those that you see.',
    })
  })

  test('does not reveal what a job was renamed to if that name is hidden', async () => {
    const view = {
      name: 'shop.mail',
      retirements: [
        { from: 1, renamedTo: 'bank.vault' },
        { from: 2, renamedTo: 'shop.post' },
      ],
    }
    const trigger = async (): Promise<never> => {
      throw new CronceError('SCHEDULE_RETIRED', 'It was renamed to bank.vault.', { hint: 'Use bank.vault.' })
    }
    const deliver = async () => ({ fire: { schedule: 'bank.vault' } })
    const get = async () => view
    const schedules = { get, find: get, list: async () => ({ items: [view], next: null }), trigger, deliver }
    const rest = { fires: {}, runs: {}, steps: {}, activity: {}, alerts: {}, deployments: {}, instances: {}, store: {} }
    const visible = visibleSource({ schedules, ...rest } as unknown as Source, isVisible, new Seal(null))
    const retirements = [{ from: 1 }, { from: 2, renamedTo: 'shop.post' }]
    assert.deepEqual((await visible.schedules.get('shop.mail')).retirements, retirements)
    assert.deepEqual((await visible.schedules.list()).items[0]!.retirements, retirements)
    await assert.rejects(visible.schedules.trigger('shop.mail'), {
      code: 'SCHEDULE_RETIRED',
      message: 'It was renamed to (hidden).',
      hint: 'Use (hidden).',
    })
    await assert.rejects(visible.schedules.deliver('shop.mail', { dueAt: 0 }), { code: 'SCHEDULE_NOT_FOUND' })
  })
})
