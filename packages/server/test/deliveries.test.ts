import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { connect } from 'cronce'
import { type Delivery, signCallback, verify } from 'cronce/signature'
import { createHandler, serve } from '../src/index.ts'
import { apiOf, ask, codeOf } from './kit.ts'

const TOKEN = 'delivery-token-0123456789'

test('deliveries of external schedulers need their own token, and none of the API', async (context) => {
  const { app, ask } = apiOf(context, { access: () => 'none', fires: { token: TOKEN } })
  app.job('nightly', {}, () => {})
  await app.start()
  const body = { schedule: 'nightly', id: 'event-1' }
  assert.equal(codeOf(await ask('POST', '/api/v1/fires', { body })), '401 FIRE_AUTH_INVALID')
  const headers = { authorization: `Bearer ${TOKEN}`, origin: 'https://scheduler.example' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('POST', '/api/v1/fires', { body, headers })))
  assert.equal(answers.filter(({ body: answer }) => answer.created).length, 1)
  assert.equal((await app.fires.list({ schedule: 'nightly' })).items.length, 1)
  const unknown = await ask('POST', '/api/v1/fires', { body: { schedule: 'nigthly', id: '1' }, headers })
  assert.equal(codeOf(unknown), '404 SCHEDULE_NOT_FOUND')
  const large = await ask('POST', '/api/v1/fires', { text: 'x'.repeat(100_000), headers })
  assert.equal(codeOf(large), '413 BODY_TOO_LARGE')
})

test('an endpoint that accepted its work reports by a signed call-back how it ended', async (context) => {
  const { app, handler, ask } = apiOf(context, { access: () => 'none', callbacks: { secret: TOKEN } })
  const served = await serve(handler, { port: 0 })
  context.after(() => served.close())
  const { promise: delivered, resolve } = Promise.withResolvers<{ delivery: Delivery; callback: string }>()
  const endpoint = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    const delivery = await verify({ headers: incoming.headers, body }, { secret: TOKEN })
    outgoing.writeHead(202).end()
    resolve({ delivery, callback: String(incoming.headers['cronce-callback']) })
  })
  await new Promise<void>((listening) => endpoint.listen(0, '127.0.0.1', listening))
  context.after(() => void endpoint.close())
  const { port } = endpoint.address() as AddressInfo
  app.job('long work', {
    http: {
      url: `http://127.0.0.1:${port}/`,
      secret: TOKEN,
      allowPrivate: true,
      callback: { url: `${served.url}/api/v1`, within: '1m' },
    },
  })
  await app.start()
  await app.schedules.trigger('long work')
  const { delivery, callback } = await delivered
  assert.equal(callback, `${served.url}/api/v1/callbacks/long%20work/${delivery.token}`)
  const path = new URL(callback).pathname
  const forged = await ask('POST', path, { body: { outcome: 'succeeded' } })
  assert.equal(codeOf(forged), '401 SIGNATURE_MISSING')
  const signed = await signCallback(delivery, { outcome: 'succeeded', result: { rows: 3 } }, { secret: TOKEN })
  const elsewhere = await ask('POST', '/api/v1/callbacks/long%20work/1', { headers: signed.headers, text: signed.body })
  assert.equal(codeOf(elsewhere), '401 SIGNATURE_INVALID', 'a signature is for one run')
  for (let times = 0; times < 2; times++) assert.equal((await fetch(callback, signed)).status, 200)
  const run = await app.runs.get('long work', delivery.token)
  assert.deepEqual([run.state, run.result], ['succeeded', { rows: 3 }])
})

test('a handler of a connection receives nothing, and reports it', async (context) => {
  const client = await connect({ store: 'memory:' })
  context.after(() => client.close())
  const handler = createHandler(client)
  assert.equal(codeOf(await ask(handler, 'POST', '/api/v1/fires')), '501 DELIVERIES_UNSUPPORTED')
  assert.equal(codeOf(await ask(handler, 'POST', '/api/v1/callbacks/s/1')), '501 DELIVERIES_UNSUPPORTED')
})

test('a client without proof that sends its body slowly, or not at all, blocks no other, and is not a fault of the server', async (context) => {
  const faults: string[] = []
  const logger = { error: (message: string) => faults.push(message) }
  const { app, handler, ask } = apiOf(context, { concurrency: 2, callbacks: { secret: TOKEN }, logger })
  await app.start()
  const signature = `t=${Math.floor(Date.now() / 1_000)},v1=${'a'.repeat(64)}`
  const slow = () => {
    const { promise: broken, reject: breakOff } = Promise.withResolvers<never>()
    let isSent = false
    const body = new ReadableStream({
      async pull(controller) {
        if (isSent) await broken
        isSent = true
        controller.enqueue(new TextEncoder().encode('{'))
      },
    })
    const headers = {
      ...{ 'content-type': 'application/json', 'cronce-signature': signature, 'cronce-namespace': 'default' },
      ...{ 'cronce-schedule': 'park', 'cronce-token': '17592186044417' },
    }
    const url = 'http://localhost/api/v1/callbacks/park/17592186044417'
    const answer = handler(new Request(url, { method: 'POST', headers, body, duplex: 'half' }))
    return { breakOff: () => breakOff(new Error('aborted')), code: async () => codeOf(await read(await answer)) }
  }
  const [first, second] = [slow(), slow()]
  assert.equal(codeOf(await ask('GET', '/api/v1/schedules')), '200', 'an operator is served')
  const third = slow()
  assert.equal(await first.code(), '503 OVERLOADED', 'the oldest gives way to a newcomer')
  second.breakOff()
  assert.equal(await second.code(), '400 BODY_INVALID')
  assert.equal(await third.code(), '400 BODY_INVALID', 'it did not come in time')
  const { body, headers } = { body: '{}', headers: { 'cronce-signature': signature } }
  assert.match(codeOf(await ask('POST', '/api/v1/callbacks/park/1', { text: body, headers })), /^401 /)
  assert.deepEqual(faults, [])
})

async function read(response: Response) {
  return { status: response.status, body: await response.json(), headers: response.headers }
}
