import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { type AlertChannel, type AlertMessage, alertmanager, pagerDuty, slack, webhook } from '../../src/alerts.ts'
import { cronce } from '../../src/app/cronce.ts'
import type { CronceOptions } from '../../src/app/options.ts'
import { verifySignature } from '../../src/signature.ts'
import { memory } from '../../src/store/memory/memory.ts'
import { MessageRefused } from '../../src/watch/channel.ts'

const FIRED: AlertMessage = {
  ...{ id: 'm1', kind: 'firing', alert: 'default/shop/failing/1', app: 'shop', namespace: 'default', rule: 'failing' },
  ...{ severity: 'critical', state: 'firing', firstAt: Date.UTC(2027, 0, 1), lastAt: Date.UTC(2027, 0, 1), count: 1 },
  subjects: [{ name: 'a<b', text: '3 fires in a row failed', sinceAt: Date.UTC(2027, 0, 1) }],
  ...{
    title: 'cronce firing: failing, a<b (app shop)',
    text: '- a<b: 3 fires in a row failed',
    command: 'cronce show a',
  },
  url: 'https://ops.example/cronce',
}
const RESOLVED: AlertMessage = {
  ...FIRED,
  ...{ id: 'm2', kind: 'resolved', state: 'resolved', lastAt: Date.UTC(2027, 0, 1, 1) },
}
const TEST: AlertMessage = { ...FIRED, id: 'm3', kind: 'test', rule: 'test', alert: 'm3', subjects: [], count: 0 }

interface Got {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function receiver(context: TestContext, status = 200): Promise<{ readonly url: string; readonly got: Got[] }> {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    const body = await new Response(request as never).text()
    got.push({ path: request.url!, headers: request.headers, body })
    response.writeHead(status).end('the receiver says something')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got }
}

async function send(channel: AlertChannel, message: AlertMessage): Promise<void> {
  await channel.send(message, { signal: new AbortController().signal })
}

describe('channels', () => {
  test('slack: one text, with what means something to Slack escaped', async (context) => {
    const { url, got } = await receiver(context)
    await send(slack({ url: `${url}/services/T/B/x` }), FIRED)
    const { text } = JSON.parse(got[0]!.body)
    assert.match(text, /^:red_circle: \*cronce firing: failing, a&lt;b/)
    assert.match(text, /`cronce show a`\nhttps:\/\/ops\.example\/cronce$/)
    assert.equal(got[0]!.path, '/services/T/B/x')
  })

  test('slack: names that end code, mention a channel or look like a link stay text', async (context) => {
    const { url, got } = await receiver(context)
    const command = "cronce show '<!channel> a`b'"
    await send(slack({ url }), { ...FIRED, title: 'failing, <!channel> a`b', command })
    const { text } = JSON.parse(got[0]!.body)
    assert.match(text, /\ncronce show '&lt;!channel&gt; a`b'\n/)
    assert.doesNotMatch(text, /[<>]/)
  })

  test('webhook: signed, with an idempotency key', async (context) => {
    const { url, got } = await receiver(context)
    const secret = 'at least 16 characters'
    await send(webhook({ url, secret }), FIRED)
    const { headers, body } = got[0]!
    await verifySignature({ headers, body }, { secret })
    assert.deepEqual(JSON.parse(body), FIRED)
    assert.equal(headers['idempotency-key'], 'm1')
    await assert.rejects(verifySignature({ headers, body: `${body} ` }, { secret }), { code: 'SIGNATURE_INVALID' })
  })

  test('pagerDuty: trigger and resolve one incident', async (context) => {
    const { url, got } = await receiver(context)
    const channel = pagerDuty({ routingKey: 'abc123', url })
    await send(channel, FIRED)
    await send(channel, RESOLVED)
    const [first, second] = got.map(({ body }) => JSON.parse(body))
    assert.deepEqual([first.event_action, second.event_action], ['trigger', 'resolve'])
    assert.deepEqual([first.routing_key, first.payload.severity, first.payload.source], ['abc123', 'critical', 'shop'])
    assert.equal(first.dedup_key, second.dedup_key)
    const name = 'n'.repeat(255)
    await send(channel, { ...FIRED, alert: `${name}/${name}/failing/1` })
    const long = JSON.parse(got[2]!.body).dedup_key
    assert.equal(long.length, 255, 'as long as PagerDuty takes')
    assert.ok(long.endsWith('/failing/1'))
  })

  test('alertmanager: an alert that lasts, and then ends', async (context) => {
    const { url, got } = await receiver(context)
    const channel = alertmanager({ url: `${url}/`, headers: { authorization: 'Bearer x' } })
    await send(channel, FIRED)
    await send(channel, RESOLVED)
    const [[first], [second]] = got.map(({ body }) => JSON.parse(body))
    assert.equal(got[0]!.path, '/api/v2/alerts')
    assert.equal(got[0]!.headers.authorization, 'Bearer x')
    assert.deepEqual(first.labels, second.labels)
    assert.equal(first.labels.alertname, 'cronce_failing')
    assert.equal(first.startsAt, '2027-01-01T00:00:00.000Z')
    assert.ok(Date.parse(first.endsAt) > Date.now() + 3_600_000)
    assert.equal(second.endsAt, '2027-01-01T01:00:00.000Z')
  })

  test('a test message leaves nothing open', async (context) => {
    const { url, got } = await receiver(context)
    await send(pagerDuty({ routingKey: 'abc123', url }), TEST)
    const events = got.map(({ body }) => JSON.parse(body))
    assert.deepEqual(
      events.map(({ event_action, dedup_key }) => [event_action, dedup_key]),
      [
        ['trigger', 'm3'],
        ['resolve', 'm3'],
      ],
    )
    await send(alertmanager({ url }), TEST)
    const [alert] = JSON.parse(got[2]!.body)
    assert.ok(Date.parse(alert.endsAt) <= Math.max(Date.now(), TEST.firstAt) + 5 * 60_000)
  })

  test('a rejection of the message itself is final', async (context) => {
    const sentTo = async (status: number) => send(slack({ url: (await receiver(context, status)).url }), FIRED)
    for (const status of [400, 413, 422]) await assert.rejects(sentTo(status), MessageRefused)
    for (const status of [401, 404, 429, 500]) {
      await assert.rejects(sentTo(status), (error) => !(error instanceof MessageRefused))
    }
  })

  test('an error names neither the address nor the answer', async (context) => {
    const { url } = await receiver(context, 404)
    await assert.rejects(send(slack({ url: `${url}/SECRET` }), FIRED), { message: 'The receiver answered 404.' })
    const gone = send(slack({ url: 'http://127.0.0.1:1/SECRET' }), FIRED)
    await assert.rejects(gone, { message: /^The receiver can't be reached \([A-Z_a-z]+\)\.$/ })
  })
})

describe('options that are refused when the app is made', () => {
  const refused = (options: Omit<CronceOptions, 'store'> | object, code: string, message: RegExp): void => {
    assert.throws(
      () => cronce({ store: memory(), ...options }),
      (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, code, error.message)
        assert.match(error.message, message)
        assert.ok(error.hint)
        return true
      },
    )
  }

  test('channels', () => {
    refused({ alerts: { channels: 'slack' } }, 'OPTION_INVALID', /alerts\.channels/)
    refused({ alerts: { channels: ['slack'] } }, 'OPTION_INVALID', /alerts\.channels\.0/)
    refused({ alerts: { channels: [{ name: 'a b', send() {} }] } }, 'OPTION_INVALID', /alerts\.channels\.0/)
    const twice = { name: 'ops', send: () => {} }
    refused({ alerts: { channels: [twice, twice] } }, 'OPTION_INVALID', /"ops"/)
    refused({ alerts: { chanels: [] } }, 'OPTION_UNKNOWN', /alerts\.chanels/)
    refused({ alerts: { repeat: '1s' } }, 'OPTION_INVALID', /alerts\.repeat/)
    refused({ alerts: { publicUrl: 'ops.example' } }, 'OPTION_INVALID', /alerts\.publicUrl/)
  })

  test('thresholds', () => {
    refused({ watch: { overdue: '1ms' } }, 'OPTION_INVALID', /watch\.overdue/)
    refused({ watch: { failing: 0 } }, 'OPTION_INVALID', /watch\.failing/)
    refused({ watch: { silent: '26h' } }, 'OPTION_INVALID', /watch\.silent/)
    refused({ watch: { silent: { maxAge: '3y' } } }, 'OPTION_INVALID', /watch\.silent\.maxAge/)
    refused({ watch: { missed: 'soon' } }, 'OPTION_INVALID', /watch\.missed/)
    refused({ watch: { missed: { skips: 51 } } }, 'OPTION_INVALID', /watch\.missed\.skips/)
    refused({ watch: { missed: { skip: 5 } } }, 'OPTION_UNKNOWN', /watch\.missed\.skip/)
    refused({ watch: { overdu: '5m' } }, 'OPTION_UNKNOWN', /watch\.overdu/)
    refused({ watch: { duplicate: true } }, 'OPTION_INVALID', /watch\.duplicate/)
    const app = cronce({ store: memory() })
    const job = () => app.job('report', { watch: { failing: 5_000 } }, () => {})
    assert.throws(job, { code: 'OPTION_INVALID', message: /Job "report".*watch\.failing/s })
    const ofApps = () => app.job('report', { watch: { clock: 5 } } as never, () => {})
    assert.throws(ofApps, { code: 'OPTION_UNKNOWN' })
  })

  test('channels of cronce/alerts, without repeating what may be a secret', () => {
    const hidden = (make: () => unknown, code: string): void => {
      assert.throws(make, (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, code)
        assert.doesNotMatch(`${error.message} ${error.hint}`, /hunter2/)
        return true
      })
    }
    hidden(() => slack({ url: 'hunter2' }), 'OPTION_INVALID')
    hidden(() => slack({ url: undefined }), 'OPTION_INVALID')
    hidden(() => slack({ url: 'https://a:hunter2@slack.example' }), 'OPTION_INVALID')
    hidden(() => webhook({ url: 'ftp://ops.example/hunter2', secret: 'at least 16 characters' }), 'OPTION_INVALID')
    hidden(() => webhook({ url: 'https://ops.example', secret: 'hunter2' }), 'SECRET_INVALID')
    hidden(() => pagerDuty({ routingKey: 'hunter2 ' }), 'OPTION_INVALID')
    hidden(() => alertmanager({ url: 'https://ops.example', headers: 'hunter2' as never }), 'OPTION_INVALID')
    hidden(() => slack({ url: 'https://ops.example', chanel: 'x' } as never), 'OPTION_UNKNOWN')
    hidden(() => slack({ url: 'https://ops.example', filter: 'critical' as never }), 'OPTION_INVALID')
  })
})
