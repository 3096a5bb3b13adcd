import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { readHttpOptions } from '../../src/target/http/http-options.ts'

const URL_OK = 'https://example.com/jobs'
const SECRET = 'whsec_do-not-use-this-one'

function refused(options: unknown, code: string, message: RegExp): void {
  assert.throws(() => readHttpOptions(options, {}), { name: 'CronceError', code, message })
}

test('only addresses of http and https are taken, and what is wrong with one does not repeat it', () => {
  for (const url of [
    undefined,
    null,
    7,
    '',
    'example.com',
    '/path',
    'ftp://x/',
    'file:///etc/passwd',
    'data:,x',
    'http://',
  ]) {
    refused({ url }, 'OPTION_INVALID', /http\.url/)
  }
  assert.throws(
    () => readHttpOptions({ url: 'htp:/k3y' }, {}),
    (error: Error) => !error.message.includes('k3y'),
  )
  assert.equal(readHttpOptions({ url: new URL(URL_OK) }, {}).url.href, URL_OK)
})

test('a user or password that is not encoded is refused by name, and not repeated', () => {
  for (const url of [
    'https://ada:k3y%@example.com/',
    'https://k3y%zz@example.com/',
    'https://ada:k3y%ff@example.com/',
  ]) {
    assert.throws(
      () => readHttpOptions({ url }, {}),
      (error: Error & { code?: string; hint?: string }) =>
        error.code === 'OPTION_INVALID' && /http\.url/.test(error.message) && !inspect(error).includes('k3y'),
    )
  }
  const { headers } = readHttpOptions({ url: 'https://ada:50%25@example.com/' }, {})
  assert.deepEqual(headers, { authorization: `Basic ${Buffer.from('ada:50%').toString('base64')}` })
})

test('options that there are not, and values that make no sense, are refused by name', () => {
  refused({ url: URL_OK, methode: 'GET' }, 'OPTION_UNKNOWN', /http\.methode/)
  refused({ url: URL_OK, method: 'TRACE' }, 'OPTION_INVALID', /http\.method/)
  refused({ url: URL_OK, redirects: 6 }, 'OPTION_INVALID', /http\.redirects/)
  refused({ url: URL_OK, maxResponse: 0 }, 'OPTION_INVALID', /http\.maxResponse/)
  refused({ url: URL_OK, maxResponse: 1e9 }, 'OPTION_INVALID', /http\.maxResponse/)
  refused({ url: URL_OK, method: 'GET', body: 'x' }, 'OPTION_CONFLICT', /GET has no body/)
  refused('https://example.com', 'OPTION_INVALID', /http/)
})

test('headers of ours and of the connection are not for users to set, in any case', () => {
  const names = [
    'cronce-fire-id',
    'Cronce-Signature',
    'CRONCE-anything',
    'Idempotency-Key',
    'User-Agent',
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Proxy-Authorization',
  ]
  for (const name of names) refused({ url: URL_OK, headers: { [name]: 'x' } }, 'OPTION_INVALID', /not yours to set/)
})

test('a header cannot smuggle anything in: no line breaks, only ASCII, only valid names', () => {
  for (const value of ['a\r\nx: y', 'a\nb', 'a\rb', 'a\0b', 'ü', '日本']) {
    refused({ url: URL_OK, headers: { 'x-a': value } }, 'OPTION_INVALID', /http\.headers\.x-a/)
  }
  for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'ü']) {
    refused({ url: URL_OK, headers: { [name]: 'x' } }, 'OPTION_INVALID', /http\.headers/)
  }
  refused({ url: URL_OK, headers: { 'x-a': 1 } }, 'OPTION_INVALID', /http\.headers\.x-a/)
  refused({ url: URL_OK, headers: ['x'] }, 'OPTION_INVALID', /http\.headers/)
})

test('a secret comes from the options or from the environment, and a missing variable is reported when the job is declared', () => {
  assert.equal(readHttpOptions({ url: URL_OK }, {}).secrets, null)
  assert.deepEqual(readHttpOptions({ url: URL_OK, secret: SECRET }, {}).secrets, [SECRET])
  const environment = { NEW: `${SECRET}2`, OLD: SECRET, EMPTY: '', SHORT: 'abc' }
  const read = (secretEnv: unknown) => readHttpOptions({ url: URL_OK, secretEnv }, environment)
  assert.deepEqual(read(['NEW', 'OLD']).secrets, [`${SECRET}2`, SECRET])
  for (const name of ['GONE', 'EMPTY', 'SHORT']) assert.throws(() => read(name), { code: 'SECRET_INVALID' })
  assert.throws(() => read(7), { code: 'OPTION_INVALID' })
  refused({ url: URL_OK, secret: SECRET, secretEnv: 'OLD' }, 'OPTION_CONFLICT', /secretEnv/)
})

test('a call-back needs a secret, an address and a time', () => {
  const callback = { url: 'https://cron.example.com', within: '2h' }
  refused({ url: URL_OK, callback }, 'OPTION_CONFLICT', /needs a secret/)
  assert.equal(readHttpOptions({ url: URL_OK, secret: SECRET, callback }, {}).callback?.withinMs, 7_200_000)
  const wrong = [
    {},
    { url: 'x', within: '1h' },
    { ...callback, within: 0 },
    { url: `${callback.url}?a=b`, within: '1h' },
  ]
  for (const one of wrong) refused({ url: URL_OK, secret: SECRET, callback: one }, 'OPTION_INVALID', /http\.callback/)
})

test('exceptions are hosts, hosts with a port and networks, and nothing else', () => {
  for (const wrong of [
    ['10.0.0.0/33'],
    ['::/129'],
    ['*.internal'],
    ['a b'],
    [''],
    ['http://x/'],
    ['1.2.3/8'],
    [7],
    'x',
    1,
  ]) {
    refused({ url: URL_OK, allowPrivate: wrong }, 'OPTION_INVALID', /http\.allowPrivate/)
  }
  readHttpOptions(
    { url: URL_OK, allowPrivate: ['10.0.0.0/8', 'fd00::/8', 'jobs.internal', 'localhost:3000', '[::1]:80'] },
    {},
  )
})
