import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '../../src/signature.ts'
import { isPublicAddress } from '../../src/target/http/address.ts'
import { httpHandler } from '../../src/target/http/http-handler.ts'
import type { HttpOptions } from '../../src/target/http/http-options.ts'
import { redirected } from '../../src/target/http/redirect.ts'
import { answers, endpoint, targetRun } from './http-run.ts'

const SECRET = 'whsec_do-not-use-this-one'
const REFUSED = { name: 'CronceError', code: 'TARGET_ADDRESS_REFUSED', retryable: false }

function call(options: HttpOptions): Promise<unknown> {
  return httpHandler('report', options)(targetRun())
}

test('addresses that are not of the public internet are known as such', () => {
  const inside = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%lo',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ]
  for (const address of inside) assert.equal(isPublicAddress(address), false, address)
  const outside = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '172.32.0.1', '192.0.1.1', '2606:4700::1111', '2a00:1450::1']
  for (const address of outside) assert.equal(isPublicAddress(address), true, address)
})

test('an endpoint inside is not called, however its address is spelled', async (context) => {
  const { origin, arrived } = await endpoint(context, answers(200))
  const { port } = new URL(origin)
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '017700000001',
    '127.1',
    '0',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    'localhost',
    'LOCALHOST',
    '①②⑦.0.0.1',
  ]
  for (const host of hosts) await assert.rejects(call({ url: `http://${host}:${port}/` }), REFUSED, host)
  await assert.rejects(call({ url: 'http://169.254.169.254/latest/meta-data/' }), REFUSED)
  assert.equal(arrived.length, 0)
})

test('an exception by host holds for that host only, one by network for every name that leads there', async (context) => {
  const { origin, host, arrived } = await endpoint(context, answers(200))
  const { port } = new URL(origin)
  const reaches = async (url: string, allowPrivate: HttpOptions['allowPrivate']): Promise<boolean> => {
    const before = arrived.length
    const error = await call({ url, allowPrivate }).catch((caught: unknown) => caught)
    const came = arrived.length > before
    assert.equal((error as { code?: string }).code, came ? undefined : REFUSED.code)
    return came
  }
  const named = `http://localhost:${port}`
  assert.equal(await reaches(origin, [host]), true)
  assert.equal(await reaches(origin, ['127.0.0.1']), true)
  assert.equal(await reaches(origin, ['0x7f.1']), true)
  assert.equal(await reaches(origin, ['127.0.0.1:1']), false)
  assert.equal(await reaches(origin, ['127.0.0.0/8']), true)
  assert.equal(await reaches(origin, ['10.0.0.0/8']), false)
  assert.equal(await reaches(origin, true), true)
  assert.equal(await reaches(origin, false), false)
  assert.equal(await reaches(named, [host]), false)
  assert.equal(await reaches(named, [`localhost:${port}`]), true)
  assert.equal(await reaches(named, ['127.0.0.0/8']), true)
})

test('a redirect to an address inside is refused, and nothing arrives there', async (context) => {
  const second = await endpoint(context, answers(200), '127.0.0.2')
  // Not every machine has IPv6; requests to it are refused anyway.
  const sixth = await endpoint(context, answers(200), '::1').catch(() => ({ origin: 'http://[::1]:1', arrived: [] }))
  const local = await endpoint(context, answers(200))
  const { port } = new URL(local.origin)
  const places = [
    second.origin,
    sixth.origin,
    local.origin,
    `http://localhost:${port}`,
    `http://2130706433:${port}/`,
    `//localhost:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
  ]
  let location = ''
  const first = await endpoint(context, (_, response) => response.writeHead(307, { location }).end())
  for (location of places) {
    await assert.rejects(call({ url: first.origin, allowPrivate: [first.host], redirects: 5 }), REFUSED, location)
  }
  assert.equal(first.arrived.length, places.length)
  assert.deepEqual(
    [second, sixth, local].map(({ arrived }) => arrived.length),
    [0, 0, 0],
  )
})

test('redirects are followed as often as allowed, with method, body and proof; beyond that they are a failure', async (context) => {
  const { origin, host, arrived } = await endpoint(context, ({ path }, response) => {
    const left = Number(path.slice(1))
    if (left > 0) response.writeHead(308, { location: `/${left - 1}` }).end()
    else response.end('there')
  })
  const options = { allowPrivate: [host], secret: SECRET, headers: { authorization: 'Bearer x' } } as const
  assert.deepEqual(await call({ ...options, url: `${origin}/2`, redirects: 2 }), { status: 200, body: 'there' })
  const { method, path, headers, body } = arrived.at(-1)!
  assert.deepEqual([method, path, headers.authorization], ['POST', '/0', 'Bearer x'])
  await verify({ headers, body }, { secret: SECRET })
  await assert.rejects(call({ ...options, url: `${origin}/3`, redirects: 2 }), {
    code: 'HTTP_REDIRECT_REFUSED',
    retryable: false,
  })
  await assert.rejects(call({ ...options, url: `${origin}/1` }), { code: 'HTTP_STATUS', retryable: false })
})

test('another origin is shown neither secrets of yours nor proof of ours', async (context) => {
  const other = await endpoint(context, answers(202))
  const first = await endpoint(context, answers(307, { location: `${other.origin}/next` }))
  const url = first.origin.replace('//', '//ada:secret@')
  const headers = { 'X-Api-Key': 'k3y', cookie: 'a=b', accept: 'text/plain' }
  const callback = { url: 'https://cron.example.com', within: '1h' } as const
  const allowPrivate = [first.host, other.host]
  const result = await call({ url, headers, callback, secret: SECRET, allowPrivate, redirects: 1 })
  // It does not know where to call back: its answer is all that will come.
  assert.deepEqual(result, { status: 202, body: null })

  const seen = other.arrived[0]!
  assert.deepEqual(
    ['authorization', 'x-api-key', 'cookie', 'cronce-signature', 'cronce-callback'].map((name) => seen.headers[name]),
    Array(5).fill(undefined),
  )
  assert.deepEqual([seen.headers.accept, seen.headers['cronce-schedule']], ['text/plain', 'nightly'])
  assert.equal(first.arrived[0]!.headers['x-api-key'], 'k3y')
  await assert.rejects(verify(seen, { secret: SECRET }), { code: 'SIGNATURE_MISSING' })
})

test('a redirect never gives up TLS, changes the protocol, or makes a GET of a POST', () => {
  const from = { url: new URL('https://example.com/a'), method: 'POST', headers: { 'x-key': '1' }, body: null }
  const to = (status: number, location: string, method = 'POST') =>
    redirected({ ...from, method }, { status, headers: { location } })
  const refused = { code: 'HTTP_REDIRECT_REFUSED', retryable: false }
  assert.throws(() => to(307, 'http://example.com/a'), refused)
  assert.throws(() => to(307, 'file:///etc/passwd'), refused)
  assert.throws(() => to(307, 'https://'), refused)
  for (const status of [301, 302, 303]) {
    assert.throws(() => to(status, '/b'), refused)
    assert.equal(to(status, '/b', 'GET')?.url.href, 'https://example.com/b')
  }
  assert.equal(to(304, '/b'), null)
  assert.equal(to(307, 'https://u:p@example.com/b')?.url.href, 'https://example.com/b')

  const plain = { ...from, url: new URL('http://example.com/a') }
  const moved = (location: string) => redirected(plain, { status: 308, headers: { location } })?.headers
  assert.deepEqual(moved('https://example.com/a'), { 'x-key': '1' })
  assert.deepEqual(moved('https://example.com:8443/a'), {})
  assert.deepEqual(moved('http://example.com:81/a'), {})
  assert.deepEqual(moved('https://www.example.com/a'), {})
})
