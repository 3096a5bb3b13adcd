import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compileFixture, until, writeProgram } from './kit.ts'

async function health(url: string): Promise<readonly [status: number, body: Record<string, unknown>]> {
  const response = await fetch(`${url}/api/health`)
  return [response.status, (await response.json()) as Record<string, unknown>]
}

/** The health indicator and the dashboard, with the Nest that programs in this folder import. */
export function judgeWeb(folder: string): void {
  let web: typeof import('./fixtures/web.ts')
  before(async () => {
    web = await import(pathToFileURL(writeProgram(folder, 'web.js', compileFixture('web'))).href)
  })
  for (const platform of ['express', 'fastify'] as const)
    describe(`Nest on ${platform}`, () => {
      test('the health indicator tells terminus whether the instance is live', async () => {
        const { url, app, close } = await web.listen(platform)
        const live = { cronce: { status: 'up', instance: app.instance } }
        assert.deepEqual(await health(url), [200, { status: 'ok', info: live, error: {}, details: live }])
        await app.stop()
        const down = { cronce: { status: 'down', message: 'The app has not started, or was stopped.' } }
        assert.deepEqual(await health(url), [503, { status: 'error', info: {}, error: down, details: down }])
        await close()
      })

      test('the dashboard is mounted by one line, works, and does not hold up the end of the application', async () => {
        const { url, app, close } = await web.listen(platform)
        const page = await fetch(`${url}/ops/cronce/`)
        const html = await page.text()
        assert.equal(page.status, 200)
        const [script] = /assets\/[\w.-]+\.js/.exec(html)!
        assert.equal((await fetch(`${url}/ops/cronce/${script}`)).status, 200)
        const events = await fetch(`${url}/ops/cronce/api/v1/events`)
        const triggered = await fetch(`${url}/ops/cronce/api/v1/schedules/greet/trigger`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        assert.equal(triggered.status, 200, await triggered.text())
        await until('the run that a person asked for', async () => {
          const { items } = await app.fires.list({ schedule: 'greet' })
          return items[0]?.state === 'succeeded'
        })
        await close()
        assert.match(await events.text(), /^event: ready$/m, 'the stream has ended')
      })
    })
}
