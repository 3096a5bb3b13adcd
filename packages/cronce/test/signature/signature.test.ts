import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { deliveryHeaders } from '../../src/signature/delivery.ts'
import { sign, type VerifyOptions, verify, verifySignature } from '../../src/signature.ts'
import { listen } from '../target/listen.ts'

const SECRET = 'whsec_do-not-use-this-one'
const OTHER = 'whsec_another-one-entirely'
const NOW = Date.parse('2027-01-01T03:00:01Z')
const DELIVERY = {
  fireId: 'nightly@2027-01-01T03:00:00.000Z',
  namespace: 'default',
  schedule: 'nightly',
  job: 'report',
  dueAt: Date.parse('2027-01-01T03:00:00Z'),
  attempt: 1,
  token: '17592186044417',
  idempotencyKey: 'cronce_q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJ0',
  callback: null,
} as const
const BODY = '{"input":{"to":"ada"}}'
const OPTIONS: VerifyOptions = { secret: SECRET, now: NOW }

async function signed(secret: string | readonly string[] = SECRET): Promise<Record<string, string>> {
  return { ...(await sign({ headers: deliveryHeaders(DELIVERY), body: BODY }, { secret, now: NOW })) }
}

async function refusedWith(code: string, what: Promise<unknown>): Promise<void> {
  await assert.rejects(what, { name: 'CronceError', code })
}

test('the worked example of the documents: the text that is signed, and its hash by another implementation', async () => {
  const { 'cronce-signature': signature } = await signed()
  assert.equal(signature, 't=1798772401,v1=413033b873bb0150c6ab188177da5c12851c15f0f462de7e61afa7a6892af529')
  const text = [
    '1798772401',
    'cronce-attempt:1',
    'cronce-due:2027-01-01T03:00:00.000Z',
    'cronce-fire-id:nightly@2027-01-01T03:00:00.000Z',
    'cronce-job:report',
    'cronce-namespace:default',
    'cronce-purpose:delivery',
    'cronce-schedule:nightly',
    'cronce-token:17592186044417',
    'idempotency-key:cronce_q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJ0',
    '',
    BODY,
  ].join('\n')
  assert.equal(createHmac('sha256', SECRET).update(text).digest('hex'), signature?.split('v1=')[1])
})

test('a delivery is read from a Request, from Node headers with the raw body, and from an unread incoming message', async (context) => {
  const headers = await signed()
  const expected = { ...DELIVERY, body: BODY }
  const request = new Request('https://example.com/jobs', { method: 'POST', headers, body: BODY })
  assert.deepEqual(await verify(request, OPTIONS), expected)
  assert.deepEqual(await verify({ headers, body: BODY }, OPTIONS), expected)
  assert.deepEqual(await verify({ headers, body: Buffer.from(BODY) }, OPTIONS), expected)

  const received = Promise.withResolvers<unknown>()
  const origin = await listen(
    context,
    createServer((message, response) => {
      received.resolve(verify(message, OPTIONS))
      response.end()
    }),
  )
  await fetch(origin, { method: 'POST', headers, body: BODY })
  assert.deepEqual(await received.promise, expected)
})

test('a request that is changed on the way does not verify: the body, any header of ours, the time', async () => {
  const headers = await signed()
  for (const name of Object.keys(headers).filter((header) => header !== 'cronce-signature')) {
    const changed = { ...headers, [name]: `${headers[name]}0` }
    await refusedWith('SIGNATURE_INVALID', verify({ headers: changed, body: BODY }, OPTIONS))
    const { [name]: _, ...without } = headers
    await refusedWith('SIGNATURE_INVALID', verify({ headers: without, body: BODY }, OPTIONS))
  }
  await refusedWith('SIGNATURE_INVALID', verify({ headers, body: `${BODY} ` }, OPTIONS))
  await refusedWith('SIGNATURE_INVALID', verify({ headers, body: '' }, OPTIONS))
  const added = { ...headers, 'cronce-callback': 'https://evil.example/' }
  await refusedWith('SIGNATURE_INVALID', verify({ headers: added, body: BODY }, OPTIONS))
  const later = { ...headers, 'cronce-signature': headers['cronce-signature']!.replace('t=1798772401', 't=1798772402') }
  await refusedWith('SIGNATURE_INVALID', verify({ headers: later, body: BODY }, OPTIONS))
})

test('what a proxy adds beside our headers is of no matter', async () => {
  const headers = { ...(await signed()), via: '1.1 proxy', 'x-request-id': '4711' }
  assert.equal((await verify({ headers, body: BODY }, OPTIONS)).fireId, DELIVERY.fireId)
})

test('a replay with the id of another fire does not verify, and neither does a text that moves bytes between header and body', async () => {
  const headers = await signed()
  const replayed = { ...headers, 'cronce-fire-id': 'nightly@2027-01-02T03:00:00.000Z' }
  await refusedWith('SIGNATURE_INVALID', verify({ headers: replayed, body: BODY }, OPTIONS))

  const moved = await sign({ headers: { 'cronce-a': '1' }, body: 'x' }, { secret: SECRET, now: NOW })
  const shifted = { 'cronce-signature': moved['cronce-signature']! }
  await refusedWith('SIGNATURE_INVALID', verifySignature({ headers: shifted, body: 'cronce-a:1\n\nx' }, OPTIONS))
})

test('a signature is good for five minutes before and after, or for the tolerance of the receiver', async () => {
  const request = { headers: await signed(), body: BODY }
  const at = (now: number, toleranceMs?: number) => verify(request, { secret: SECRET, now, toleranceMs })
  await at(NOW + 300_000)
  await at(NOW - 300_000)
  await refusedWith('SIGNATURE_EXPIRED', at(NOW + 300_001))
  await refusedWith('SIGNATURE_EXPIRED', at(NOW - 300_001))
  await refusedWith('SIGNATURE_EXPIRED', at(NOW + 1_001, 1_000))
  await at(NOW + 86_400_000, 86_400_000)
  // Without the secret, the error reveals nothing about clocks.
  await refusedWith('SIGNATURE_INVALID', verify(request, { secret: OTHER, now: NOW + 300_001 }))
})

test('secrets are replaced without a gap: the sender signs with both, or the receiver knows both', async () => {
  const both = await signed([OTHER, SECRET])
  assert.equal(both['cronce-signature']!.split('v1=').length, 3)
  assert.equal((await verify({ headers: both, body: BODY }, OPTIONS)).schedule, 'nightly')
  assert.equal((await verify({ headers: both, body: BODY }, { secret: OTHER, now: NOW })).schedule, 'nightly')
  const old = { headers: await signed(SECRET), body: BODY }
  assert.equal((await verify(old, { secret: [OTHER, SECRET], now: NOW })).schedule, 'nightly')
  await refusedWith('SIGNATURE_INVALID', verify(old, { secret: [OTHER], now: NOW }))
})

test('a header that is missing, or no signature at all, is refused', async () => {
  const { 'cronce-signature': signature, ...rest } = await signed()
  await refusedWith('SIGNATURE_MISSING', verify({ headers: rest, body: BODY }, OPTIONS))
  const hex = signature!.split('v1=')[1]!
  const wrong = [
    '',
    't=1798772401',
    `v1=${hex}`,
    `t=,v1=${hex}`,
    `t=-1,v1=${hex}`,
    `t=1798772401,v1=${hex.slice(1)}`,
    `t=1798772401,v1=${hex.toUpperCase()}`,
    `t=1798772401,v0=${hex}`,
    `t=1798772401,t=1798772401,v1=${hex}`,
    `t=1e9,v1=${hex}`,
    `t=1798772401,${'v1=00,'.repeat(10_000)}v1=${hex}`,
  ]
  for (const value of wrong) {
    const headers = { ...rest, 'cronce-signature': value }
    await refusedWith('SIGNATURE_INVALID', verify({ headers, body: BODY }, OPTIONS))
  }
  const future = { ...rest, 'cronce-signature': `${signature},v2=tomorrow` }
  assert.equal((await verify({ headers: future, body: BODY }, OPTIONS)).attempt, 1)
})

test('a secret that is missing, empty or short is refused by both sides, and never repeated in the message', async () => {
  for (const secret of [undefined, null, '', 'hunter2', [], [SECRET, ''], Array(9).fill(SECRET)]) {
    const options = { secret: secret as string, now: NOW }
    await refusedWith('SECRET_INVALID', sign({ body: BODY }, options))
    await refusedWith('SECRET_INVALID', verify({ headers: {}, body: BODY }, options))
  }
  await assert.rejects(sign({ body: '' }, { secret: 'hunter2' }), (error: Error) => !String(error).includes('hunter2'))
})

test('names in any script travel in headers, and come back as they were', async () => {
  for (const schedule of ['日次レポート', 'a b', '100%', 'rapport/ünïcode', '%41', 'emoji 🎉', 'a,b;c="d"']) {
    const delivery = { ...DELIVERY, schedule, fireId: `${schedule}@x` }
    const headers = await sign({ headers: deliveryHeaders(delivery), body: BODY }, { secret: SECRET, now: NOW })
    assert.match(headers['cronce-schedule']!, /^[\x21-\x7e]+$/)
    const request = new Request('https://example.com', { method: 'POST', headers, body: BODY })
    const read = await verify(request, OPTIONS)
    assert.equal(read.schedule, schedule)
    assert.equal(read.fireId, `${schedule}@x`)
  }
})

test('what was signed but is not a delivery is not taken for one', async () => {
  const headers = await sign({ body: BODY }, { secret: SECRET, now: NOW })
  await refusedWith('SIGNATURE_INVALID', verify({ headers, body: BODY }, OPTIONS))
  assert.equal((await verifySignature({ headers, body: BODY }, OPTIONS)).body.length, BODY.length)
  // Not even with all fields of a completion: it may be a delivery to a scheduler.
  const { 'cronce-purpose': _, ...others } = deliveryHeaders(DELIVERY)
  const similar = await sign({ headers: others, body: BODY }, { secret: SECRET, now: NOW })
  await refusedWith('SIGNATURE_INVALID', verify({ headers: similar, body: BODY }, OPTIONS))
})

test('a body that is too long is not read on, and one that was parsed is not guessed at', async () => {
  const headers = await signed()
  let pulled = 0
  const body = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(1_000))
    },
  })
  const request = new Request('https://example.com', { method: 'POST', headers, body, duplex: 'half' })
  await refusedWith('BODY_TOO_LARGE', verify(request, { ...OPTIONS, maxBytes: 10_000 }))
  assert.ok(pulled < 20, `${pulled} pieces were read`)

  const parsed = { headers, body: JSON.parse(BODY) as unknown as string }
  await refusedWith('BODY_NOT_RAW', verify(parsed, OPTIONS))
  const used = new Request('https://example.com', { method: 'POST', headers, body: BODY })
  await used.text()
  await refusedWith('BODY_NOT_RAW', verify(used, OPTIONS))
})

test('bytes that are no text are signed and verified as bytes', async () => {
  const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const headers = await sign({ body }, { secret: SECRET, now: NOW })
  const verified = await verifySignature({ headers, body }, OPTIONS)
  assert.deepEqual([...verified.body], [...body])
})
