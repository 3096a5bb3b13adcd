import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { describe, test } from 'node:test'
import { loopbackAccess, serve } from '../src/index.ts'
import { apiOf, eventually } from './kit.ts'
import { EventReader } from './kit-events.ts'

/** Sends bytes as they are, and gives back all that comes until the other side closes. */
async function raw(port: number, text: string): Promise<string> {
  const socket = openSocket(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

function line(method: string, target: string, ...headers: readonly string[]): string {
  return [`${method} ${target} HTTP/1.1`, 'connection: close', ...headers, '', ''].join('\r\n')
}

describe('a server of its own', () => {
  test('answers on loopback only requests that name this machine', async (context) => {
    const { handler } = apiOf(context, { access: loopbackAccess() })
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    assert.equal((await fetch(`${served.url}/api/v1/store`)).status, 200)
    assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const rebound = await raw(served.port, line('GET', '/api/v1/store', 'host: evil.example'))
    assert.match(rebound, /^HTTP\/1\.1 401 /)
  })

  test('survives malformed requests', async (context) => {
    const { handler } = apiOf(context)
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    const status = async (text: string): Promise<string> => (await raw(served.port, text)).split(' ')[1] ?? ''
    const host = 'host: localhost'
    assert.equal(await status(line('TRACE', '/healthz', host)), '405')
    assert.equal(await status(line('GET', '/healthz', 'host: a b')), '400')
    assert.equal(await status(line('GET', '/healthz', 'host: evil/path')), '400')
    assert.equal(await status(line('GET', '//evil.example/healthz', host)), '404')
    assert.equal(await status(line('GET', 'http://evil.example/healthz', host)), '200', 'a proxy asks like this')
    assert.equal(await status(line('OPTIONS', '*', host)), '404')
    assert.equal(await status(line('GET', '/healthz')), '400', 'no host')
    assert.equal(await status('nonsense\r\n\r\n'), '400')
    assert.equal(await status(line('GET', '/healthz', host, `x: ${'x'.repeat(20_000)}`)), '431')
    const smuggled = line(
      'POST',
      '/api/v1/schedules/s/trigger',
      host,
      'content-length: 5',
      'transfer-encoding: chunked',
    )
    assert.equal(await status(smuggled), '400')
    const huge = line(
      'POST',
      '/api/v1/schedules/s/trigger',
      host,
      'content-type: application/json',
      'content-length: 999999999',
    )
    assert.equal(await status(huge), '413', 'before anything of it was sent')
    assert.equal((await fetch(`${served.url}/healthz`)).status, 200)
  })

  test('notices a client that leaves a stream, and ends all streams when it closes', async (context) => {
    const { handler } = apiOf(context)
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    const leaving = new AbortController()
    const left = new EventReader(await fetch(`${served.url}/api/v1/events`, { signal: leaving.signal }))
    const staying = new EventReader(await fetch(`${served.url}/api/v1/events`))
    await Promise.all([left.until('ready'), staying.until('ready')])
    assert.equal(handler.listening, 2)
    leaving.abort()
    await eventually(async () => handler.listening === 1)
    await served.close()
    assert.equal(await staying.next(), null)
    assert.equal(handler.listening, 0)
    await assert.rejects(fetch(`${served.url}/healthz`))
  })

  test('reports which address is in use', async (context) => {
    const { handler } = apiOf(context)
    const served = await serve(handler, { port: 0 })
    context.after(() => served.close())
    const error = { code: 'ADDRESS_IN_USE', message: `Another process listens on 127.0.0.1:${served.port} already.` }
    await assert.rejects(serve(handler, { port: served.port }), error)
    await assert.rejects(serve(handler, { host: '192.0.2.1', port: 0 }), { code: 'LISTEN_FAILED' })
  })
})
