import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from 'cronce'
import { startRedis } from '../../../scripts/servers/index.ts'
import { running, scratch } from './fixtures/service/running.ts'

const ADDRESS = /dashboard.* is at (\S+)\/#token=([0-9a-f]{48})/

async function statusOf(url: string, token = '', init: RequestInit = {}): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) }
  return (await fetch(url, { ...init, headers, signal: AbortSignal.timeout(120_000) })).status
}

async function untilStatus(status: number, url: string, token: string): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if ((await statusOf(url, token)) === status) return
    await sleep(100)
  }
  assert.fail(`${url} did not answer ${status} in two minutes`)
}

describe('cronce dashboard', () => {
  test('serves the page to all, the data to the printed address, and changes nothing unless a flag allows it', async (context) => {
    const folder = scratch(context)
    const app = cronce({ store: `sqlite:${join(folder, 'cronce.db')}`, signals: false, logger: false })
    app.job('nightly', '0 3 * * *', () => {})
    await app.start()
    await app.stop()
    for (const [flags, expected] of [
      [[], 403],
      [['--operate'], 200],
    ] as const) {
      const service = running(['dashboard', '--listen', '127.0.0.1:0', ...flags], { cwd: folder })
      context.after(() => service.end('SIGKILL'))
      const [, url, token] = await service.until(ADDRESS)
      assert.equal(await statusOf(`${url}/`), 200)
      assert.equal(await statusOf(`${url}/api/v1/schedules`), 401)
      assert.equal(await statusOf(`${url}/api/v1/schedules/nightly`, token), 200)
      const pause = { method: 'POST', body: '{}' }
      assert.equal(await statusOf(`${url}/api/v1/schedules/nightly/pause`, token, pause), expected)
      assert.equal(await service.end('SIGTERM'), 0)
    }
  })

  test('starts while the store is down, reports it, and shows the data once the store is up', async (context) => {
    const redis = await startRedis()
    context.after(() => redis.stop())
    await redis.kill()
    const service = running(['dashboard', '--listen', '127.0.0.1:0', '--store', redis.url])
    context.after(() => service.end('SIGKILL'))
    const [, url, token] = await service.until(ADDRESS)
    assert.equal(await statusOf(`${url}/`), 200)
    assert.equal(await statusOf(`${url}/api/v1/store`, token), 503)
    await redis.restart()
    await untilStatus(200, `${url}/api/v1/store`, token!)
  })
})

describe('cronce dashboard --audit', () => {
  test('gives the page the report in the file, as it is when it is asked for', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'cronce.db'), '')
    const service = running(['dashboard', '--listen', '127.0.0.1:0', '--audit', 'audit.sarif'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    const [, url, token] = await service.until(ADDRESS)
    const look = async () => {
      const answer = await fetch(`${url}/api/v1/audit`, { headers: { authorization: `Bearer ${token}` } })
      return (await answer.json()) as { report: unknown; problem: string | null }
    }
    assert.match((await look()).problem!, /no file/)
    writeFileSync(join(folder, 'audit.sarif'), '{ "runs": [] }')
    assert.deepEqual((await look()).report, { runs: [] })
  })
})

describe('cronce dashboard --json', () => {
  test('prints one object with the address', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'cronce.db'), '')
    const service = running(['dashboard', '--listen', '127.0.0.1:0', '--json'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    await service.until(/"url"[\s\S]*\}\n/)
    const { url, level } = JSON.parse(service.stdout())
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{48}$/)
    assert.equal(level, 'read')
  })
})

describe('cronce start --dashboard', () => {
  test('serves it beside the API, and wants an address', async (context) => {
    const folder = scratch(context)
    writeFileSync(join(folder, 'jobs.mjs'), 'export default (app) => { app.job("tick", { every: "1s" }, () => {}) }')
    const refused = running(['start', 'jobs.mjs', '--dashboard'], { cwd: folder })
    assert.equal(await refused.ended, 2)
    assert.match(refused.stderr(), /--dashboard needs an address/)
    const flags = ['--listen', '127.0.0.1:0', '--dashboard', '--environment', 'production']
    const service = running(['start', 'jobs.mjs', ...flags], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    const [, url, token] = await service.until(ADDRESS)
    assert.match(await (await fetch(`${url}/`)).text(), /production/)
    await untilStatus(200, `${url}/api/v1/schedules/tick`, token!)
    assert.equal(await statusOf(`${url}/healthz`), 200)
  })

  test('dev prints the address, and its token stays the same when a file changes', async (context) => {
    const folder = scratch(context)
    const file = join(folder, 'jobs.mjs')
    writeFileSync(file, 'export default (app) => { app.job("tick", { every: "1s" }, () => {}) }')
    const service = running(['dev', 'jobs.mjs'], { cwd: folder })
    context.after(() => service.end('SIGKILL'))
    const [, , token] = await service.until(ADDRESS)
    await service.until(/runs the jobs/)
    writeFileSync(file, 'export default (app) => { app.job("tock", { every: "1s" }, () => {}) }')
    await service.until(new RegExp(`has changed[\\s\\S]*#token=${token}[\\s\\S]*runs the jobs`))
    await service.end('SIGTERM')
  })
})
