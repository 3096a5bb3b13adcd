import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { CronceError, connect } from 'cronce'
import { createHandler } from '../src/index.ts'
import { ROUTES } from '../src/routes/all.ts'
import { apiOf, ask, codeOf } from './kit.ts'

const NASTY: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  '',
  '\u0000',
  'x'.repeat(10_000),
  [],
  [[]],
  {},
  { a: { b: 1 } },
]

function deep(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

describe('hostile input', () => {
  test('in the body is refused with a code, and never a fault of ours', async (context) => {
    const { app, ask } = apiOf(context, { bodyLimit: 4_096 })
    await app.schedules.create('s', { job: 'j', every: '1h' })
    const put = async (text: string | Uint8Array<ArrayBuffer>): Promise<string> =>
      codeOf(await ask('PUT', '/api/v1/schedules/s', { text }))
    for (const text of ['{', 'null', '[]', '"text"', '1', '{"job":"j"}x', '{"a":1,}', 'job=j', '\u0000']) {
      assert.equal(await put(text), '400 BODY_INVALID', text)
    }
    assert.equal(await put(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), '400 BODY_INVALID')
    assert.equal(await put(`{"job":"j","input":${deep(100)}}`), '400 INPUT_INVALID')
    assert.equal(await put(deep(2_000)), '400 BODY_INVALID')
    const abyss = apiOf(context, {}, 'memory:')
    await abyss.app.schedules.create('s', { job: 'j' })
    for (const [command, field] of [
      ['trigger', 'input'],
      ['pause', 'note'],
      ['pause', 'until'],
    ] as const) {
      const sent = { text: `{"${field}":${deep(60_000)}}`, headers: { 'idempotency-key': field } }
      const asked = await abyss.ask('POST', `/api/v1/schedules/s/${command}`, sent)
      assert.match(codeOf(asked), /^400 (INPUT|OPTION)_INVALID$/, field)
    }
    assert.equal(await put(`{"job":"${'x'.repeat(5_000)}"}`), '413 BODY_TOO_LARGE')
    assert.equal(await put('{"job":"j","cron":"* * * *"}'), '400 FIELDS_MISCOUNTED')
    assert.equal(await put('{"job":"j","cron":"61 * * * *"}'), '400 VALUE_OUT_OF_RANGE')
    assert.equal(await put('{"job":"j","tz":"Mars/Base"}'), '400 OPTION_CONFLICT')
    for (const name of ['__proto__', 'constructor', 'toString', 'schema', 'jobb']) {
      assert.equal(await put(`{"job":"j","${name}":{}}`), '400 OPTION_UNKNOWN', name)
    }
    const tx = await ask('POST', '/api/v1/schedules/s/trigger', { body: { tx: {} } })
    assert.equal(codeOf(tx), '400 OPTION_UNKNOWN', 'a transaction is for those who are in this process')
    const meant = await ask('POST', '/api/v1/schedules/s/pause', { body: { untill: 1 } })
    assert.equal(meant.body.error.hint, 'Did you mean until?')
    assert.equal((await app.schedules.get('s')).revision, 1, 'nothing of this was written')
  })

  test('of the wrong type in any field of any route is a 4xx', async (context) => {
    const { app, ask } = apiOf(context)
    await app.schedules.create('1', { job: 'j', every: '1h' })
    for (const { method, path, body = {} } of ROUTES.filter((route) => route.body !== undefined)) {
      for (const name of Object.keys(body)) {
        for (const value of NASTY) {
          const whole = method === 'PUT' && name !== 'job' ? { job: 'j', [name]: value } : { [name]: value }
          const asked = await ask(method, path.replaceAll(/:\w+/g, '1'), { body: whole })
          assert.ok(asked.status < 500, `${method} ${path} ${JSON.stringify(whole).slice(0, 80)}: ${codeOf(asked)}`)
        }
      }
    }
  })

  test('in the query of any route is a 4xx', async (context) => {
    const { ask } = apiOf(context)
    const values = [
      '',
      '-1',
      '1e9',
      '99999999999999999',
      'NaN',
      '%00',
      '%ff',
      "';drop table fires;--",
      'x'.repeat(3_000),
    ]
    for (const { method, path, query = {}, type } of ROUTES) {
      if (method !== 'GET' || type !== undefined) continue
      const plain = path.replaceAll(/:\w+/g, '1')
      for (const name of Object.keys(query)) {
        for (const value of values) {
          const { status } = await ask(
            method,
            `${plain}?${name}=${value.startsWith('%') ? value : encodeURIComponent(value)}`,
          )
          assert.ok(status < 500, `${plain}?${name}=${value.slice(0, 40)}: ${status}`)
          // Not every store would find out by itself.
          if (value === '%00') assert.equal(status, 400, `${plain}?${name}=%00`)
        }
        assert.equal(codeOf(await ask(method, `${plain}?${name}=1&${name}=2`)), '400 OPTION_INVALID', 'given twice')
      }
    }
    assert.equal(codeOf(await ask('GET', '/api/v1/schedules?__proto__=1')), '400 OPTION_UNKNOWN')
    assert.equal(codeOf(await ask('GET', '/api/v1/schedules?after=nonsense')), '400 CURSOR_INVALID')
    assert.equal(codeOf(await ask('GET', '/api/v1/schedules?limit=1001')), '400 OPTION_INVALID')
    const dates = ['2027-02-30T00:00:00Z', '2027-01-01', 'yesterday', '9e15']
    for (const date of dates)
      assert.equal(codeOf(await ask('GET', `/api/v1/fires?from=${date}`)), '400 OPTION_INVALID', date)
  })

  test('in the path leads nowhere', async (context) => {
    const { ask } = apiOf(context)
    const tricks: Readonly<Record<string, string>> = {
      '..%2f..%2fhealthz': '404 SCHEDULE_NOT_FOUND',
      '%2e%2e%2fstore': '404 SCHEDULE_NOT_FOUND',
      '..%5c': '404 SCHEDULE_NOT_FOUND',
      '%00': '400 NAME_INVALID',
      'a%0d%0ab': '400 NAME_INVALID',
      '%ff': '400 PATH_INVALID',
      '%': '400 PATH_INVALID',
      '%c0%ae%c0%ae': '400 PATH_INVALID',
      '%ed%a0%80': '400 PATH_INVALID',
      '%20': '400 NAME_INVALID',
      "'%20or%201=1;--": '404 SCHEDULE_NOT_FOUND',
      [encodeURIComponent('x'.repeat(201))]: '400 NAME_INVALID',
      '%25': '404 SCHEDULE_NOT_FOUND',
      '%2525': '404 SCHEDULE_NOT_FOUND',
      '=': '400 NAME_INVALID',
    }
    for (const [part, code] of Object.entries(tricks)) {
      assert.equal(codeOf(await ask('GET', `/api/v1/schedules/${part}`)), code, part)
    }
    for (const path of [
      '/api/v1/schedules/',
      '/api/v1//schedules',
      '/api/v1/schedules//next',
      '/API/v1/schedules',
      '/healthz/',
    ]) {
      assert.equal(codeOf(await ask('GET', path)), '404 ROUTE_UNKNOWN', path)
    }
    for (const token of ['1e3', '-1', '0x10', '9'.repeat(20), 'a']) {
      assert.equal(codeOf(await ask('GET', `/api/v1/runs/s/${token}`)), '400 OPTION_INVALID', token)
    }
    assert.equal(codeOf(await ask('GET', '/api/v1/fires/s/yesterday')), '400 OPTION_INVALID')
  })

  test('that never ends is not read on', async (context) => {
    const { app, handler } = apiOf(context)
    await app.schedules.create('s', { job: 'j' })
    let sent = 0
    let isCancelled = false
    const body = new ReadableStream({
      pull(controller) {
        sent++
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
      cancel() {
        isCancelled = true
      },
    })
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const response = await handler(new Request('http://localhost/api/v1/schedules/s/trigger', init))
    assert.deepEqual([response.status, isCancelled, sent < 8], [413, true, true])
  })
})

describe('a store that fails', () => {
  test('is a 503 that states whether anything was written; an internal fault is a 500 with a number', async (context) => {
    const client = await connect({ store: 'memory:' })
    context.after(() => client.close())
    const said: string[] = []
    const failing = (error: Error) => ({
      ...client,
      instances: { ...client.instances, list: () => Promise.reject(error) },
      store: { check: () => Promise.reject(error) },
      feed: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
    })
    const away = Object.assign(new Error('gone'), { code: 'X' })
    const logger = { error: (message: string): void => void said.push(message) }
    const handler = createHandler(failing(away), { access: () => 'operate', logger })
    const asked = await ask(handler, 'GET', '/api/v1/store')
    assert.equal(codeOf(asked), '500 INTERNAL')
    assert.ok(said.join().includes(asked.body.error.id))
    assert.doesNotMatch(JSON.stringify(asked.body), /gone/)
    const lost = Object.assign(new CronceError('STORE_LOST', 'It is gone.', { hint: 'Wait.' }), { notApplied: true })
    const without = createHandler(failing(lost), { access: () => 'operate' })
    const store = await ask(without, 'GET', '/api/v1/store')
    assert.deepEqual(store.body.error, { code: 'STORE_LOST', message: 'It is gone.', hint: 'Wait.', notApplied: true })
    assert.deepEqual([store.status, store.headers.get('retry-after')], [503, '1'])
    const events = await without(new Request('http://localhost/api/v1/events'))
    assert.equal(events.status, 503)
    assert.equal((await ask(without, 'GET', '/readyz')).status, 503)
    for (const path of ['/healthz', '/livez']) assert.equal((await ask(without, 'GET', path)).status, 200)
  })
})

describe('ten thousand requests at once', () => {
  test('are answered or refused, and each accepted trigger is on record once', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-server-'))
    const { app, handler, ask } = apiOf(context, {}, `sqlite:${join(folder, 'cronce.db')}?ephemeral`)
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    for (let number = 0; number < 8; number++)
      await app.schedules.create(`s${number}`, { job: 'j', overlap: 'queue-all' })
    const counts = new Map<string, number>()
    const accepted = new Set<string>()
    await Promise.all(
      Array.from({ length: 10_000 }, async (_, number) => {
        const isTrigger = number % 2 === 0
        const key = `key-${number}`
        const schedule = `s${number % 8}`
        const url = `http://localhost/api/v1/schedules/${schedule}`
        const headers = { 'content-type': 'application/json', 'idempotency-key': key }
        const trigger = { method: 'POST', headers }
        const response = await handler(isTrigger ? new Request(`${url}/trigger`, trigger) : new Request(url))
        const { error } = (await response.json()) as { error?: { code: string } }
        const code = `${response.status} ${error?.code ?? ''}`.trim()
        counts.set(code, (counts.get(code) ?? 0) + 1)
        if (isTrigger && response.status === 200) accepted.add(`${schedule} ${key}`)
      }),
    )
    assert.equal(
      [...counts.values()].reduce((sum, count) => sum + count, 0),
      10_000,
    )
    assert.deepEqual(
      [...counts.keys()].filter((code) => !/^(200|503 OVERLOADED|503 CONTENTION)$/.test(code)),
      [],
    )
    assert.ok(accepted.size > 0 && counts.get('503 OVERLOADED')! > 9_000, JSON.stringify([...counts]))
    const recorded: string[] = []
    for await (const { schedule, nonce } of app.fires.all()) recorded.push(`${schedule} ${nonce}`)
    assert.equal(new Set(recorded).size, recorded.length)
    for (const one of accepted) assert.ok(recorded.includes(one), one)
    assert.equal((await handler(new Request('http://localhost/readyz'))).status, 200)
    assert.equal((await ask('GET', '/api/v1/schedules/s0')).status, 200, 'all places are free again')
  })
})
