import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Cronce, cronce } from 'cronce'
import { type Bench, benchOn, scratch } from './steer-kit.ts'

describe('alerts, mute, unmute', () => {
  let folder: string
  let app: Cronce
  let bench: Bench
  const received: string[] = []
  before(async () => {
    folder = scratch()
    const store = `sqlite:${join(folder, 'alerts.db')}`
    const channels = [({ title }: { readonly title: string }) => void received.push(title)]
    app = cronce({ store, app: 'shop', signals: false, logger: false, alerts: { channels } })
    app.job('report', { cron: '0 3 * * *' }, () => {})
    await app.start()
    bench = await benchOn(store)
  })
  after(async () => {
    await bench.client.close()
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('nothing is wrong at first, and the schedule that holds the alerts is not in lists', async () => {
    const none = await bench.say('alerts')
    assert.deepEqual([none.status, none.stdout, none.stderr], [0, '', 'No alerts.\n'])
    await bench.client.alerts.mute('other')
    const list = await bench.say('list', '-o', 'name')
    assert.equal(list.stdout, 'report\n')
    const json = JSON.parse((await bench.say('alerts', '--all', '--json')).stdout)
    assert.deepEqual(json, { version: 1, items: [], next: null })
    await bench.client.alerts.unmute('other')
  })

  test('mute and unmute a subject', async () => {
    const muted = await bench.say('mute', 'report', '--until', '+2h', '--note', 'being repaired')
    assert.equal(muted.status, 0, muted.stderr)
    assert.match(muted.stdout, /^report is muted in app shop until .* UTC, by ada@desk \(being repaired\)\.\n$/)
    const [mute] = await bench.client.alerts.mutes()
    assert.deepEqual([mute?.subject, mute?.note, mute?.author], ['report', 'being repaired', 'ada@desk'])
    assert.match((await bench.say('alerts')).stderr, /note: report is muted in app shop/)
    assert.equal((await bench.say('unmute', 'report')).stdout, 'report is no longer muted.\n')
    assert.equal((await bench.say('unmute', 'report')).stdout, 'report was not muted.\n')
    assert.deepEqual(JSON.parse((await bench.say('unmute', 'report', '--json')).stdout), { version: 1, unmuted: false })
  })

  test('a test message goes through every channel', async () => {
    const sent = await bench.say('alerts', 'test')
    assert.equal(sent.status, 0, sent.stderr)
    assert.equal(sent.stdout, 'The channels of shop took the message.\n')
    assert.deepEqual(received, ['cronce: test message of app shop'])
  })

  test('mistakes', async () => {
    const mistakes = [
      { args: ['mute'], status: 2, says: /Which subject\?/ },
      { args: ['mute', 'report', '--until', '-2h'], status: 2, says: /is over/ },
      { args: ['mute', 'report', '--app', 'other'], status: 3, says: /The app "other" is not watched/ },
      { args: ['mute', 'reprot'], status: 3, says: /There is no schedule "reprot"\.\nhint: Did you mean report\?/ },
      { args: ['mute', 'clok'], status: 3, says: /no schedule, host or rule "clok"\.\nhint: Did you mean clock\?/ },
      { args: ['mute', 'latancy'], status: 3, says: /hint: Did you mean latency\?/ },
      { args: ['mute', `${hostname()}x`], status: 3, says: new RegExp(`hint: Did you mean ${hostname()}\\?`) },
      { args: ['alerts', 'tset'], status: 2, says: /cronce alerts has no "tset"/ },
    ]
    for (const { args, status, says } of mistakes) {
      const found = await bench.say(...args)
      assert.equal(found.status, status, found.stderr)
      assert.match(found.stderr, says)
    }
    assert.deepEqual(await bench.client.alerts.mutes(), [], 'a mistake mutes nothing')
  })

  test('a rule, a host, a part of the fleet and what app.detect counts can be muted', async () => {
    await app.detect('legacy', { window: '1h' }, () => {})
    for (const subject of ['clock', 'latency', hostname(), 'legacy', 'report']) {
      assert.equal((await bench.say('mute', subject)).status, 0, subject)
      assert.equal((await bench.say('unmute', subject)).status, 0, subject)
    }
  })
})
