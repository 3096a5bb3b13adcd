import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAlertmanager } from '../../../../scripts/servers/index.ts'
import { type AlertMessage, alertmanager } from '../../src/alerts.ts'
import { cronce } from '../../src/app/cronce.ts'
import { surround } from '../../src/app/surroundings.ts'
import { memory } from '../../src/store/memory/memory.ts'

const LONGEST_MS = 120_000

interface Notification {
  readonly status: string
  readonly alerts: readonly {
    readonly status: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }[]
}

test('a real Alertmanager has our alert while it fires, reports it once, and its end once', async (context) => {
  const notified: Notification[] = []
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    notified.push(JSON.parse(Buffer.concat(chunks).toString()) as Notification)
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  context.after(() => receiver.close())
  await using server = await startAlertmanager(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
  const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = performance.now() + LONGEST_MS; !(await isSo()); ) {
      assert.ok(performance.now() < end, `waited in vain until ${what}: ${JSON.stringify(notified)}`)
      await sleep(100)
    }
  }
  const open = async (): Promise<readonly { labels: Record<string, string> }[]> =>
    (await (await fetch(`${server.url}/api/v2/alerts`)).json()) as { labels: Record<string, string> }[]
  let isBroken = true
  const app = cronce({
    store: surround(memory(), { settings: { watchMs: 200 } }),
    ...{ app: 'shop', logger: false, signals: false },
    watch: { silent: false, missed: false, late: false },
    alerts: { channels: [alertmanager({ url: server.url })], gather: 0 },
  })
  app.job('report', '* * * * * *', () => {
    if (isBroken) throw new Error('no')
  })
  context.after(() => app.stop())
  await app.start()

  await until('it tells of the alert', () => notified.length > 0)
  const labels = { alertname: 'cronce_failing', severity: 'critical', app: 'shop', namespace: 'default' }
  assert.deepEqual(
    (await open()).map((alert) => alert.labels),
    [labels],
  )
  isBroken = false
  await until('it tells of the end', () => notified.length > 1)
  await until('nothing is open', async () => (await open()).length === 0)
  assert.deepEqual(
    notified.map(({ status, alerts }) => [status, ...alerts.map((alert) => alert.labels)]),
    [
      ['firing', labels],
      ['resolved', labels],
    ],
  )
  assert.match(notified[0]!.alerts[0]!.annotations['description']!, /^- report: \d+ fires in a row failed/)
  assert.equal(notified[0]!.alerts[0]!.annotations['command'], 'cronce show report')
})

test('a real Alertmanager takes a test message, and closes it by itself', async (context) => {
  const receiver = createServer((_, response) => void response.end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  context.after(() => receiver.close())
  await using server = await startAlertmanager(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
  const channel = alertmanager({ url: server.url })
  const at = Date.now()
  const message: AlertMessage = {
    ...({
      id: 'a',
      kind: 'test',
      alert: 'a',
      app: 'shop',
      namespace: 'default',
      rule: 'test',
      severity: 'warning',
    } as const),
    ...({ state: 'firing', firstAt: at, lastAt: at, subjects: [], count: 0 } as const),
    ...{ title: 'a test', text: 'This is a test.', command: 'cronce alerts', url: 'https://ops.example.com/cronce' },
  }
  await channel.send(message, { signal: AbortSignal.timeout(LONGEST_MS) })
  const answer = await fetch(`${server.url}/api/v2/alerts`)
  const [alert] = (await answer.json()) as { labels: Record<string, string>; endsAt: string; generatorURL: string }[]
  assert.equal(alert!.labels['alertname'], 'cronce_test')
  assert.equal(alert!.generatorURL, 'https://ops.example.com/cronce')
  assert.ok(Date.parse(alert!.endsAt) - at <= 6 * 60_000)
})
