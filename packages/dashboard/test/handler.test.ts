import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { cronce } from 'cronce'

const MOST = { js: 60_000, css: 15_000 } as const

function handlerOf(options: DashboardOptions = { access: () => 'read' }) {
  const handler = createDashboard(cronce({ store: 'memory:', signals: false, logger: false }), options)
  return (path: string, headers: Record<string, string> = {}) =>
    handler(new Request(`http://localhost${path}`, { headers }))
}

async function assetsOf(get: ReturnType<typeof handlerOf>, base = ''): Promise<readonly string[]> {
  const html = await (await get(`${base}/`)).text()
  return [...html.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map((match) => match[1]!)
}

describe('the page', () => {
  test('names all that it loads relative to itself, and forbids everything else', async () => {
    const get = handlerOf()
    const page = await get('/')
    const html = await page.text()
    assert.equal(page.status, 200)
    assert.ok(!/(?:src|href)="(?!assets\/)/.test(html), 'a URL is not relative')
    assert.ok(!/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/.test(html), 'something is inline')
    const policy = page.headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
    assert.ok(!policy.includes('unsafe'))
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
  })

  test('is small: what a first visit loads is within its budget', async () => {
    const get = handlerOf()
    const sizes = { js: 0, css: 0 }
    for (const path of await assetsOf(get)) {
      if (path.endsWith('.svg')) continue
      const response = await get(`/${path}`, { 'accept-encoding': 'gzip, br' })
      assert.equal(response.headers.get('content-encoding'), 'gzip')
      sizes[path.endsWith('.css') ? 'css' : 'js'] += (await response.arrayBuffer()).byteLength
    }
    assert.ok(sizes.js > 1_000 && sizes.js <= MOST.js, `${sizes.js} bytes of JavaScript`)
    assert.ok(sizes.css > 1_000 && sizes.css <= MOST.css, `${sizes.css} bytes of CSS`)
  })

  test('is kept by browsers under names that change with the contents, and sent plain to those that want it so', async () => {
    const get = handlerOf()
    const path = (await assetsOf(get)).find((one) => one.endsWith('.js'))!
    assert.match(path, /-[A-Z0-9]{8}\.js$/)
    const plain = await get(`/${path}`)
    const packed = await get(`/${path}`, { 'accept-encoding': 'gzip' })
    assert.match(plain.headers.get('cache-control')!, /immutable/)
    assert.equal(plain.headers.get('content-encoding'), null)
    const [one, other] = [await plain.arrayBuffer(), await packed.arrayBuffer()]
    assert.deepEqual(Buffer.from(one), gunzipSync(Buffer.from(other)))
  })

  test('stands under any base path, and wants a slash at its end', async () => {
    const get = handlerOf({ access: () => 'read', basePath: '/ops/cronce' })
    assert.equal((await get('/ops/cronce/')).status, 200)
    const bare = await get('/ops/cronce')
    assert.deepEqual([bare.status, bare.headers.get('location')], [308, 'cronce/'])
    const [asset] = await assetsOf(get, '/ops/cronce')
    assert.equal((await get(`/ops/cronce/${asset}`)).status, 200)
    assert.equal((await get('/ops/cronce/api/v1/access')).status, 200)
    assert.equal((await get('/ops/cronce/assets/none.js')).status, 404)
  })

  test('is closed without an access function, and the API too', async () => {
    const get = handlerOf({})
    const page = await get('/')
    assert.equal(page.status, 403)
    assert.match(await page.text(), /closed/)
    assert.equal((await get('/api/v1/schedules')).status, 403)
  })

  test('carries the environment as data', async () => {
    const label = '"><script>alert(1)</script>'
    const html = await (await handlerOf({ access: () => 'read', environment: { label, tone: 'notice' } })('/')).text()
    assert.ok(!html.includes('<script>alert'))
    assert.throws(() => handlerOf({ environment: '' }), { code: 'OPTION_INVALID' })
    assert.throws(() => handlerOf({ enviroment: 'x' } as DashboardOptions), { code: 'OPTION_UNKNOWN' })
  })
})
