import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Answer, FunctionProcess, proveFunction, SECRET, scratchFor } from './functions.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('recipes for platforms that start the code for each delivery', { concurrency: 2, timeout: 300_000 }, () => {
  test('AWS Lambda and EventBridge: deliveries to several functions, one killed in the run, are one fire', async (context) => {
    const scratch = scratchFor(context)
    const event = {
      ...{ version: '0', id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa', source: 'aws.events', detail: {} },
      ...{ 'detail-type': 'Scheduled Event', time: new Date(Date.now() - 1_000).toISOString() },
      resources: ['arn:aws:events:us-east-1:123456789012:rule/report'],
    }
    await proveFunction(scratch, 'lambda.ts', event)
    // An event that cronce can't read makes the handler throw.
    const wrong = scratch.call('lambda.ts', { nothing: 'useful' })
    assert.equal(await wrong.closed, 1)
    assert.match(wrong.output, /FIRE_UNNAMED/)
  })

  test('Cloud Run and Cloud Scheduler: one container is killed in the run, another one gets SIGTERM in it', async (context) => {
    const { env, fires } = scratchFor(context)
    const start = async () => {
      const file = join(ROOT, 'examples/serverless/cloud-run.ts')
      const container = new FunctionProcess(file, [], { ...env, PORT: '0', CRONCE_FIRE_TOKEN: SECRET })
      context.after(() => container.kill('SIGKILL'))
      const [, url] = await container.printed(/listening on (http:\S+)/)
      return { container, url: new URL('/fires', url) }
    }
    const headersFor = (at: Date) => ({
      authorization: `Bearer ${SECRET}`,
      'x-cloudscheduler': 'true',
      'x-cloudscheduler-jobname': 'report',
      'x-cloudscheduler-scheduletime': at.toISOString(),
    })
    const first = await start()
    const headers = headersFor(new Date(Date.now() - 2_000))
    const interrupted = fetch(first.url, { method: 'POST', headers }).catch(() => null)
    await first.container.printed(/^began \d+, attempt 1$/m)
    await first.container.kill('SIGKILL')
    assert.equal(await interrupted, null)
    const second = await start()
    const again = await fetch(second.url, { method: 'POST', headers })
    assert.deepEqual(await stateIn(again), [200, 'succeeded'])
    const third = fetch(second.url, { method: 'POST', headers: headersFor(new Date(Date.now() - 1_000)) })
    await second.container.printed(/attempt 2\n(?:.*\n)*?began \d+, attempt 1$/m)
    const ended = second.container.kill('SIGTERM')
    assert.deepEqual(await stateIn(await third), [200, 'succeeded'])
    assert.equal(await ended, 0)
    assert.deepEqual(
      (await fires()).map(({ state, attempt }) => [state, attempt]),
      [
        ['succeeded', 1],
        ['succeeded', 2],
      ],
    )
  })
})

async function stateIn(answer: Response): Promise<readonly [status: number, state: string | undefined]> {
  const { fire } = (await answer.json()) as Answer
  return [answer.status, fire?.state]
}
