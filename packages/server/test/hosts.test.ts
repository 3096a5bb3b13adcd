import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { fastifyPlugin, koaMiddleware, toNode } from '../src/index.ts'
import { type Api, apiOf, eventually } from './kit.ts'
import { EventReader } from './kit-events.ts'

const BASE = '/ops/cronce'

async function listen(context: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Everything that a host must get right: paths, bodies, errors, streams, and noticing clients that leave. */
async function judge(url: string, { app, handler }: Api, own: string | null): Promise<void> {
  const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  await app.schedules.put('a/b ü', { job: 'work' })
  app.job('work', {}, () => 'done')
  await app.start()

  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] }
  assert.equal(document.servers[0]!.url, new URL(url).pathname)
  const schedule = await fetch(`${url}/api/v1/schedules/${encodeURIComponent('a/b ü')}`)
  assert.equal(((await schedule.json()) as { name: string }).name, 'a/b ü')
  const head = await fetch(`${url}/api/v1/schedules`, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
  const unknown = await fetch(`${url}/api/v1/nothing`)
  assert.equal(unknown.status, 404)
  assert.equal(((await unknown.json()) as { error: { code: string } }).error.code, 'ROUTE_UNKNOWN')

  const stream = new AbortController()
  const events = new EventReader(await fetch(`${url}/api/v1/events`, { signal: stream.signal }))
  await events.until('ready')
  const path = `/api/v1/schedules/${encodeURIComponent('a/b ü')}/trigger`
  const triggered = await post(path, '{"input":{"text":"ü"}}', { 'idempotency-key': 'k' })
  assert.equal(triggered.status, 200, await triggered.clone().text())
  const { fire } = (await triggered.json()) as { fire: { input: unknown } }
  assert.deepEqual(fire.input, { text: 'ü' })
  assert.equal((await post(path, '')).status, 200, 'no body is an empty one')
  assert.equal((await post(path, 'x=1', { 'content-type': 'application/x-www-form-urlencoded' })).status, 415)
  assert.equal((await post(path, '{"input":')).status, 400)
  const large = await post(path, JSON.stringify({ input: 'x'.repeat(2_000_000) }))
  assert.equal(large.status, 413)
  assert.equal((await events.until('run.ended')).data.run.state, 'succeeded')
  stream.abort()
  await eventually(async () => handler.listening === 0)
  if (own !== null) assert.equal(await (await fetch(own)).text(), 'the host itself')
}

type NextRoute = Record<'GET' | 'POST' | 'PUT' | 'DELETE', (request: Request, more: unknown) => Promise<Response>>

describe('the handler is mounted in', { concurrency: 4 }, () => {
  test('node:http, which strips nothing', async (context) => {
    const api = apiOf(context, { basePath: BASE })
    const url = await listen(context, createServer(toNode(api.handler)))
    await judge(`${url}${BASE}`, api, null)
  })

  test('Express, behind its parser of JSON, which strips the base', async (context) => {
    const api = apiOf(context)
    const host = express()
    // Else it prints what it could not read.
    host.set('env', 'test')
    host.use(express.json())
    host.use(express.urlencoded())
    host.use(BASE, toNode(api.handler))
    host.get('/', (_request, response) => void response.send('the host itself'))
    const url = await listen(context, createServer(host))
    await judge(`${url}${BASE}`, api, url)
  })

  test('Express at its root, where what is not below the base path is left to the others', async (context) => {
    const api = apiOf(context, { basePath: BASE })
    const host = express()
    host.use(toNode(api.handler))
    host.get('/', (_request, response) => void response.send('the host itself'))
    const url = await listen(context, createServer(host))
    await judge(`${url}${BASE}`, api, url)
  })

  test('Fastify, whose parsers it does not use', async (context) => {
    const api = apiOf(context)
    const host = fastify()
    context.after(() => host.close())
    await host.register(fastifyPlugin(api.handler), { prefix: BASE })
    host.get('/', async () => 'the host itself')
    host.post('/parsed', async ({ body }) => body)
    const url = await host.listen({ port: 0, host: '127.0.0.1' })
    await judge(`${url}${BASE}`, api, url)
    const headers = { 'content-type': 'application/json' }
    const parsed = await fetch(`${url}/parsed`, { method: 'POST', headers, body: '{"a":1}' })
    assert.deepEqual(await parsed.json(), { a: 1 }, 'the host has kept its own')
  })

  test('Koa', async (context) => {
    const api = apiOf(context, { basePath: BASE })
    const host = new Koa()
    host.use(koaMiddleware(api.handler))
    host.use((inner) => {
      inner.body = 'the host itself'
    })
    const url = await listen(context, createServer(host.callback()))
    await judge(`${url}${BASE}`, api, url)
  })

  test('Koa below something that strips the base, as koa-mount does', async (context) => {
    const api = apiOf(context)
    const middleware = koaMiddleware(api.handler)
    const host = new Koa()
    host.use((inner, next) => {
      inner.path = inner.path.slice(BASE.length)
      return middleware(inner, next)
    })
    const url = await listen(context, createServer(host.callback()))
    await judge(`${url}${BASE}`, api, null)
  })

  test('Nest on Express, with a global prefix', async (context) => {
    const api = apiOf(context)
    class Root {}
    Module({})(Root)
    const host = await NestFactory.create(Root, { logger: false })
    context.after(async () => {
      host.getHttpServer().closeAllConnections()
      await host.close()
    })
    host.setGlobalPrefix('ops')
    host.use(BASE, toNode(api.handler))
    await host.listen(0, '127.0.0.1')
    await judge(`${await host.getUrl()}${BASE}`, api, null)
  })

  test('Hono, and everything else that speaks Request and Response', async (context) => {
    const api = apiOf(context, { basePath: BASE })
    const host = new Hono()
    host.all(`${BASE}/*`, ({ req }) => api.handler(req.raw))
    host.get('/', ({ text }) => text('the host itself'))
    // Over a socket, by our own adapter: Hono's is not needed for that.
    const handler = Object.assign(async (request: Request) => host.fetch(request), {
      basePath: '',
      listening: 0,
      close: () => {},
    })
    const url = await listen(context, createServer(toNode(handler)))
    await judge(`${url}${BASE}`, api, url)
  })

  test('Next, whose route handlers are given a second argument', async (context) => {
    const { app, handler } = apiOf(context, { basePath: '/api/cronce' })
    await app.schedules.create('s', { job: 'j' })
    // app/api/cronce/[...path]/route.ts
    const route: NextRoute = { GET: handler, POST: handler, PUT: handler, DELETE: handler }
    const more = { params: Promise.resolve({ path: ['api', 'v1', 'schedules', 's'] }) }
    const url = 'https://example.com/api/cronce/api/v1/schedules/s'
    assert.equal((await route.GET(new Request(url), more)).status, 200)
    assert.equal((await route.DELETE(new Request(url, { method: 'DELETE' }), more)).status, 204)
  })
})
