import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { bearerAccess, serve } from '@cronce/server'
import { type Cronce, cronce } from 'cronce'
import { testKit } from 'cronce/testing'
import { type Browser, launchBrowser, type Tab, type TabShape } from './browser.ts'
import { examine, MAIN_SCREENS } from './examine.ts'
import { eventually, type Fleet, startFleet } from './fleet.ts'

const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
const SECRET = 'card-4242'
const OPERATORS = /Run now|Pause|Resume|Skip next|Backfill|Drain|Cancel|Run it again|Remove/

let browser: Browser
let fleet: Fleet
const endings: (() => Promise<void>)[] = []

before(async () => {
  const [launched, started] = await Promise.all([
    launchBrowser(),
    startFleet({ after: (work) => void endings.push(work) }, declare),
  ])
  browser = launched
  fleet = started
  await prepare(fleet)
})
after(async () => {
  await browser.close()
  for (const end of endings) await end()
})

/** What the fleets of these tests run: fires that succeed, fail once, fail, and are written to do harm. */
function declare(app: Cronce): void {
  app.job('heartbeat', { every: '1s' }, (run) => run.log.info('still here'))
  app.job('nightly', { cron: '30 2 * * *', tz: 'Europe/Berlin' }, () => {})
  app.job('flaky', { retry: { attempts: 1, backoff: { base: '1ms' } } }, async (run) => {
    await run.once('charge', async () => ({ amount: 12 }))
    if (run.attempt === 1) throw new Error('The card service is away')
    return { paid: true }
  })
  app.job('quiet', {}, () => {})
  app.job('hostile', { retry: 0 }, (run) => {
    run.log.warn(HOSTILE)
    throw new Error(HOSTILE)
  })
}

interface Opened extends Fleet {
  readonly tab: Tab
}

/** Fires of every kind. */
async function prepare({ apps: [app] }: Fleet): Promise<void> {
  await app.schedules.trigger('flaky', { dedupe: 'order-7', author: 'grace', note: HOSTILE })
  await app.schedules.trigger('hostile', { dedupe: HOSTILE.slice(0, 60) })
  await eventually(async () => (await app.fires.list({ schedule: 'flaky', outcome: 'succeeded' })).items.length === 1)
  await eventually(async () => (await app.fires.list({ schedule: 'hostile', outcome: 'failed' })).items.length === 1)
  await eventually(async () => (await app.fires.list({ schedule: 'heartbeat', outcome: 'succeeded' })).items.length > 3)
}

/** A tab that shows the first screen; with options, as another user or at another path. */
async function open(context: TestContext, options?: DashboardOptions, shape: TabShape = {}): Promise<Opened> {
  const url = options === undefined ? fleet.url : await fleet.serve(options)
  const tab = await browser.open(shape)
  context.after(() => tab.close())
  await tab.goto(`${url}${options?.basePath ?? ''}/`)
  await tab.untilText('Needs attention')
  return { ...fleet, url, tab }
}

/** What a person types into a field. */
async function fill(tab: Tab, selector: string, text: string): Promise<void> {
  const field = `document.querySelector(${JSON.stringify(selector)})`
  await tab.until(`${field} !== null`)
  await tab.evaluate(`{
    const field = ${field}
    field.value = ${JSON.stringify(text)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
}

async function visit(tab: Tab, hash: string, text: string): Promise<void> {
  await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await tab.untilText(text)
}

/** The keys `g` and another one. On a busy machine they may be too far apart. */
async function goTo(tab: Tab, key: string, hash: string): Promise<void> {
  await eventually(async () => {
    await tab.press('g')
    await tab.press(key)
    return (await tab.evaluate('location.hash')) === hash
  })
}

/** No error in the console, nothing that the policy forbids, no request to anywhere else, no script of a name or note. */
async function demandCalm({ tab, url }: Pick<Opened, 'tab' | 'url'>): Promise<void> {
  assert.deepEqual(tab.problems, [])
  assert.deepEqual(
    tab.requests.filter((one) => !one.startsWith(`${url}/`) && !/^(blob|data):/.test(one)),
    [],
  )
  assert.notEqual(await tab.evaluate('document.title'), 'taken')
}

describe('in a browser', () => {
  test('the overview shows figures, the next fires and the health of store and fleet', async (context) => {
    const opened = await open(context)
    const text = await opened.tab.text()
    for (const part of ['Fires in 24 h', 'Failed', 'Missed', 'Late, 95th percentile', '2 live', 'sqlite'])
      assert.ok(text.includes(part), `${part} is not shown:\n${text}`)
    await opened.tab.until(`document.querySelector('.slots .bar.is-succeeded') !== null`)
    const failed = await opened.tab.evaluate<string>(`document.querySelector('.figure.is-failed .value').textContent`)
    assert.equal(failed, '1')
    await opened.tab.click('.figure.is-failed')
    await opened.tab.untilText('hostile')
    assert.match(await opened.tab.evaluate('location.hash'), /outcome=failed/)
    await demandCalm(opened)
  })

  test('schedules have a strip of their fires, follow the keyboard, and are filtered by what is in the address', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await visit(tab, '#/schedules', 'heartbeat')
    await tab.until(`document.querySelectorAll('.strip .bar.is-succeeded').length >= 2`)
    await tab.until(`document.querySelector('.strip .bar.is-failed') !== null`)
    await tab.untilText('At 02:30')
    await tab.press('j')
    await tab.press('j')
    await tab.until(`document.querySelectorAll('.row[data-chosen=true]').length === 1`)
    assert.equal(await tab.evaluate(`document.querySelector('.row[data-chosen=true] a').textContent`), 'heartbeat')
    await tab.press('Enter')
    await tab.untilText('Next fires')
    assert.equal(await tab.evaluate('location.hash'), '#/schedules/heartbeat')
    await goTo(tab, 's', '#/schedules')
    await tab.until(`document.querySelector('.filter input[type=search]') !== null`)
    await tab.press('/')
    await tab.until(`document.activeElement.type === 'search'`)
    await tab.type('job:night')
    await tab.untilText('1 of 5 schedules')
    assert.match(await tab.evaluate('location.hash'), /q=job%3Anight/)
    await demandCalm(opened)
  })

  test('the palette and the help open with the keyboard', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await tab.press('Control+k')
    await tab.until(`document.querySelector('dialog[open] input') !== null`)
    await tab.type('nightly')
    await tab.until(`document.querySelector('.choices button')?.textContent.startsWith('nightly')`)
    await tab.press('Enter')
    await tab.until(`location.hash === '#/schedules/nightly'`)
    await tab.until(`document.querySelector('dialog[open]') === null`)
    await tab.press('?')
    await tab.untilText('next and previous row')
    await tab.press('Escape')
    await tab.until(`document.querySelector('dialog[open]') === null`)
    await demandCalm(opened)
  })

  test('a schedule is paused with a note and run now, and the store has both under the name that access gave', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await visit(tab, '#/schedules/nightly', 'Europe/Berlin')
    await tab.untilText('guarantee')
    await tab.press('p')
    await tab.untilText('Recorded as ada')
    await tab.evaluate(`document.querySelector('dialog input[name=note]').focus()`)
    await tab.type('Night shift is off')
    await tab.click('dialog button[type=submit]')
    await tab.untilText('by ada: Night shift is off')
    const paused = await apps[1].schedules.get('nightly')
    assert.deepEqual([paused.state, paused.pause?.author, paused.pause?.note], ['paused', 'ada', 'Night shift is off'])
    await tab.click('button[data-action=resume]')
    await tab.click('dialog button[type=submit]')
    await tab.until(`document.querySelector('button[data-action=pause]') !== null`)
    assert.equal((await apps[1].schedules.get('nightly')).state, 'active')
    await tab.click('button[data-action=run]')
    await tab.click('dialog button[type=submit]')
    const fire = await eventually(
      async () => (await apps[1].fires.list({ schedule: 'nightly', outcome: 'succeeded' })).items[0] ?? false,
    )
    assert.deepEqual([fire.kind, fire.asked?.author], ['manual', 'ada'])
    await tab.untilText('1 new')
    await tab.click('.pill')
    await tab.until(`[...document.querySelectorAll('table .tag')].some((tag) => tag.textContent === 'manual')`)
    await demandCalm(opened)
  })

  test('the proof of a fire has its attempts, tokens, steps and the verdict of the checker', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const { items } = await apps[0].fires.list({ schedule: 'flaky' })
    const runs = (await apps[0].runs.list({ schedule: 'flaky' })).items
    await visit(tab, `#/fires/flaky/${items[0]!.dueAt}?nonce=order-7`, 'Verdict')
    await tab.untilText('Sound')
    const text = await tab.text()
    for (const { token, instance } of runs) assert.ok(text.includes(token) && text.includes(instance))
    for (const part of [
      'in 2 attempts',
      'Step charge',
      'The card service is away',
      'Triggered by grace',
      'are rejected from now on',
    ])
      assert.ok(text.includes(part), `${part} is not shown:\n${text}`)
    assert.equal(await tab.evaluate(`document.querySelectorAll('.waterfall .bar').length`), 3)
    assert.ok(!text.includes('"paid"'), 'the result is hidden until it is asked for')
    await tab.evaluate(
      `[...document.querySelectorAll('button')].find((one) => one.textContent === 'Show result').click()`,
    )
    await tab.untilText('"paid": true')
    await tab.evaluate(
      `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.exported = text }); return '#' }`,
    )
    await tab.evaluate(
      `[...document.querySelectorAll('button')].find((one) => one.textContent.includes('Export')).click()`,
    )
    const evidence = JSON.parse(await tab.until<string>('window.exported'))
    assert.deepEqual([evidence.fire.nonce, evidence.runs.length, evidence.verdict.isSound], ['order-7', 2, true])
    await demandCalm(opened)
  })

  test('a fire of the rule is recomputed by the second cron engine, and a record that lies is not sound', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const { updatedAt } = await apps[0].schedules.get('heartbeat')
    // Due times within a second of the definition may be of another one.
    const oldest = await eventually(async () => {
      const { items } = await apps[0].fires.list({
        schedule: 'heartbeat',
        outcome: 'succeeded',
        from: updatedAt + 2_000,
      })
      return items.at(-1) ?? false
    })
    await visit(tab, `#/fires/heartbeat/${oldest.dueAt}`, 'Sound')
    await tab.untilText('recomputed by a second cron engine')
    // The same page, told by the API that the run of this fire failed.
    await tab.evaluate(`{
      const real = window.fetch
      window.fetch = async (url, init) => {
        const response = await real(url, init)
        if (!String(url).includes('/runs?')) return response
        const text = (await response.text()).replaceAll('"succeeded"', '"failed"').replaceAll('"completed"', '"error"')
        return new Response(text, { status: 200, headers: { 'content-type': 'application/json' } })
      }
    }`)
    await visit(tab, '#/schedules', 'Schedules')
    await visit(tab, `#/fires/heartbeat/${oldest.dueAt}`, 'Not sound')
    await tab.untilText('its last run did not')
  })

  test('texts of others stay texts', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const { items } = await apps[0].fires.list({ schedule: 'hostile' })
    const query = new URLSearchParams({ nonce: items[0]!.nonce })
    await visit(tab, `#/fires/hostile/${items[0]!.dueAt}?${query}`, 'Verdict')
    await tab.until(`document.querySelector('.log')?.textContent.includes('<script>')`)
    await visit(tab, '#/fires?schedule=flaky', 'flaky')
    assert.equal(await tab.evaluate(`document.querySelectorAll('img, #app script').length`), 0)
    await demandCalm(opened)
  })

  test('a user who may only read sees no action, and the API refuses one too', async (context) => {
    const opened = await open(context, { access: () => 'read' })
    const { tab, url } = opened
    const buttons = (): Promise<string> =>
      tab.evaluate(`[...document.querySelectorAll('main button')].map((one) => one.textContent).join()`)
    for (const [hash, text] of [
      ['#/schedules/heartbeat', 'guarantee'],
      ['#/schedules?q=heart', '1 of 5'],
      ['#/fleet', 'Deployments of shop'],
      [
        `#/fires/heartbeat/${(await opened.apps[0].fires.list({ schedule: 'heartbeat' })).items.at(-1)!.dueAt}`,
        'Verdict',
      ],
    ] as const) {
      await visit(tab, hash, text)
      assert.doesNotMatch(await buttons(), OPERATORS)
      await tab.press('p')
      await tab.press('r')
      assert.equal(await tab.evaluate(`document.querySelector('dialog[open]')`), null)
    }
    const answer = await fetch(`${url}/api/v1/schedules/heartbeat/pause`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(answer.status, 403)
    await demandCalm(opened)
  })

  test('every screen works at 360 px: nothing is wider than the page', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await tab.resize(360, 740)
    const fire = (await apps[0].fires.list({ schedule: 'flaky' })).items[0]!
    for (const [hash, text] of [
      ['#/', 'Needs attention'],
      ['#/schedules', 'heartbeat'],
      ['#/schedules/heartbeat', 'guarantee'],
      [`#/fires/flaky/${fire.dueAt}?nonce=order-7`, 'Verdict'],
      ['#/fires', 'heartbeat'],
      ['#/timeline?span=5m', 'by instance'],
      ['#/calendar', 'by hour'],
      ['#/fleet', 'Deployments of shop'],
      ['#/audit', 'No report is loaded'],
    ] as const) {
      await visit(tab, hash, text)
      const width = await tab.evaluate<number>(
        `Math.max(document.documentElement.scrollWidth, document.getElementById('main').scrollWidth)`,
      )
      assert.ok(width <= 360, `${hash} is ${width} px wide`)
    }
    await demandCalm(opened)
  })

  test('works behind a proxy that rewrites the path', async (context) => {
    const opened = await open(context, { basePath: '/inside' })
    const proxy = createServer((incoming, outgoing) => {
      const path = incoming.url!.replace(/^\/public\/ops/, '/inside')
      const onward = ask(`${opened.url}${path}`, { method: incoming.method!, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on('error', () => outgoing.destroy())
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    context.after(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const tab = await browser.open()
    context.after(() => tab.close())
    await tab.goto(`${url}/public/ops/`)
    await tab.untilText('Needs attention')
    await tab.untilText('Live')
    await visit(tab, '#/schedules/nightly', 'guarantee')
    await tab.press('p')
    await tab.click('dialog button[type=submit]')
    await tab.untilText('Paused')
    assert.equal((await opened.apps[0].schedules.get('nightly')).state, 'paused')
    await opened.apps[0].schedules.resume('nightly')
    await demandCalm({ tab, url: `${url}/public/ops` })
  })

  test('wants a token where the server does, takes it from the address, and forgets it there', async (context) => {
    const token = 'a-token-of-enough-characters'
    const url = await fleet.serve({ access: bearerAccess({ read: token }) })
    const stranger = await browser.open()
    context.after(() => stranger.close())
    await stranger.goto(`${url}/`)
    await stranger.untilText('Sign in')
    await stranger.evaluate(`document.querySelector('input[name=token]').focus()`)
    await stranger.type(token)
    await stranger.press('Enter')
    await stranger.untilText('Needs attention')
    const guest = await browser.open()
    context.after(() => guest.close())
    await guest.goto(`${url}/#token=${token}`)
    await guest.untilText('Needs attention')
    await guest.untilText('Live')
    assert.ok(!(await guest.evaluate<string>('location.href')).includes('token'))
    await demandCalm({ tab: guest, url })
  })

  test('the stream of events is closed while it is paused, and one tab has one', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await tab.untilText('Live')
    await visit(tab, '#/schedules', 'heartbeat')
    await visit(tab, '#/schedules/heartbeat', 'guarantee')
    assert.equal(tab.requests.filter((one) => one.endsWith('/events')).length, 1)
    await tab.press('l')
    await tab.untilText('Paused')
    // What was asked for before the pause may still be under way in the first stretch.
    await eventually(async () => {
      const before = tab.requests.length
      const due = (await opened.apps[0].schedules.get('heartbeat')).last.dueAt!
      await eventually(async () => (await opened.apps[0].schedules.get('heartbeat')).last.dueAt! > due + 2_000)
      return tab.requests.length === before
    })
    await tab.press('l')
    await tab.untilText('Live')
    assert.equal(tab.requests.filter((one) => one.endsWith('/events')).length, 2)
    await demandCalm(opened)
  })

  test('shows what the watchdog reports, mutes it, and shows who did so', async (context) => {
    const kit = testKit()
    const app = kit.app({ app: 'shop', alerts: {} })
    app.job('report', { every: '1m' }, () => {
      throw new Error('The provider is away')
    })
    await app.start()
    await kit.advance('10m')
    await app.schedules.pause('report', { note: 'the provider repairs it', author: 'ada' })
    const served = await serve(createDashboard(app, { access: () => 'operate', logger: false }), { port: 0 })
    const tab = await browser.open()
    context.after(async () => {
      await tab.close()
      await served.close()
      await app.stop()
    })
    await tab.goto(`${served.url}/`)
    await visit(tab, '#/activity', 'the provider repairs it')
    await visit(tab, '#/alerts', 'fires in a row failed')
    await tab.evaluate(
      `[...document.querySelectorAll('main button')].find((one) => one.textContent === 'Mute').click()`,
    )
    await tab.click('dialog button[type=submit]')
    await tab.untilText('failing is muted')
    assert.deepEqual(
      (await app.alerts.mutes()).map(({ subject }) => subject),
      ['failing'],
    )
    const line = (await app.activity.list()).items.find(({ action }) => action === 'mute')
    assert.deepEqual([line?.subject.name, line?.origin], ['failing', 'dashboard'])
    await tab.click('[data-unmute=failing]')
    await tab.untilText('failing is not muted any more')
    assert.deepEqual(await app.alerts.mutes(), [])
    await demandCalm({ tab, url: served.url })
  })

  test('a user with some rights sees their buttons and no others, and the API refuses the others too', async (context) => {
    const rights = { run: true, pause: true, seeInput: false }
    const opened = await open(context, {
      access: () => ({ level: 'read', author: 'grace', rights, visible: (name) => name !== 'hostile' }),
    })
    const { tab, url, apps } = opened
    await apps[0].schedules.put('tenant.a', { job: 'quiet', every: '1d', input: { card: SECRET } })
    await visit(tab, '#/schedules/tenant.a', 'guarantee')
    await tab.untilText('you do not have the right seeInput')
    const names = await tab.evaluate(`[...document.querySelectorAll('[data-action]')].map((one) => one.dataset.action)`)
    assert.deepEqual(names, ['run', 'pause', 'skip'])
    await visit(tab, '#/schedules?q=tenant', '1 of 5 schedules')
    assert.ok(!(await tab.text()).includes('hostile'))
    assert.deepEqual(
      await tab.evaluate(`[...document.querySelectorAll('[data-bulk]')].map((one) => one.dataset.bulk)`),
      ['pause', 'resume', 'run'],
    )
    await visit(tab, '#/fleet', 'Deployments of shop')
    assert.equal(await tab.evaluate(`document.querySelectorAll('[data-action]').length`), 0)
    const send = (path: string, method = 'POST'): Promise<Response> =>
      fetch(`${url}/api/v1/schedules/${path}`, { method, headers: { 'content-type': 'application/json' } })
    assert.equal((await send('tenant.a/backfill')).status, 403)
    assert.equal((await send('tenant.a', 'DELETE')).status, 403)
    assert.equal((await send('hostile/trigger')).status, 404)
    assert.ok(!(await (await send('tenant.a', 'GET')).text()).includes(SECRET))
    await apps[0].schedules.remove('tenant.a')
    await demandCalm(opened)
  })

  test('a schedule that no code declares is edited, copied as code and removed; two tabs do not overwrite each other', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await apps[0].schedules.put('tenant.b', { job: 'quiet', cron: '0 3 * * *', tz: 'UTC', input: { a: 1 }, retry: 2 })
    const other = await browser.open()
    context.after(() => other.close())
    await other.goto(`${opened.url}/#/schedules/tenant.b`)
    await other.untilText('guarantee')
    await other.click('button[data-action=edit]')
    await other.until(`document.querySelector('dialog textarea') !== null`)
    await visit(tab, '#/schedules/tenant.b', 'guarantee')
    await tab.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
    await tab.clickText('main button', 'Copy as code')
    const code =
      "app.schedules.put('tenant.b', { job: 'quiet', cron: '0 3 * * *', tz: 'UTC', input: { a: 1 }, retry: { attempts: 2 } })"
    assert.equal(await tab.until('window.copied'), `await ${code}`)
    await tab.click('button[data-action=edit]')
    await fill(tab, 'input[name=rule]', '30 4 * * *')
    await fill(tab, 'textarea[name=input]', '{ "a": 2 }')
    await fill(tab, 'input[name=note]', 'later')
    await tab.click('dialog button[type=submit]')
    await tab.untilText('At 04:30')
    const edited = await apps[1].schedules.get('tenant.b')
    assert.deepEqual(
      [edited.trigger, edited.input, edited.policy.retry.attempts],
      [{ kind: 'cron', expression: '30 4 * * *', tz: 'UTC' }, { a: 2 }, 2],
    )
    const [line] = (await apps[0].activity.list({ schedule: 'tenant.b' })).items
    assert.deepEqual([line?.author, line?.note, line?.origin], ['ada', 'later', 'dashboard'])
    await fill(other, 'input[name=rule]', '0 5 * * *')
    await other.click('dialog button[type=submit]')
    await other.untilText('SCHEDULE_CHANGED')
    assert.equal((await apps[0].schedules.get('tenant.b')).revision, edited.revision)
    await tab.click('button[data-action=remove]')
    await tab.click('dialog button[type=submit]')
    await tab.until(`location.hash === '#/schedules'`)
    assert.equal(await apps[0].schedules.find('tenant.b'), null)
    await demandCalm(opened)
  })

  test('all schedules that match are paused after a preview of their names', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const names = Array.from({ length: 10 }, (_, index) => `bulk.${index}`)
    for (const name of names) await apps[0].schedules.put(name, { job: 'quiet', every: '1d' })
    await apps[0].schedules.pause('bulk.9', { note: 'before' })
    await visit(tab, '#/schedules?q=bulk', '10 of 15 schedules')
    await tab.click('[data-bulk=pause]')
    await tab.untilText('Pause: 9 schedules')
    await tab.untilText('and 1 more')
    await fill(tab, 'dialog input[name=note]', 'all of them')
    await tab.click('dialog button[type=submit]')
    await tab.untilText('Pause: 9 schedules done.')
    const notes = await Promise.all(names.map(async (name) => (await apps[1].schedules.get(name)).pause?.note))
    assert.deepEqual(notes, [...Array(9).fill('all of them'), 'before'])
    for (const name of names) await apps[0].schedules.remove(name)
    await demandCalm(opened)
  })

  test('a stretch is backfilled after its fires were counted', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await apps[0].schedules.put('late', { job: 'quiet', every: '1h' })
    await visit(tab, '#/schedules/late', 'guarantee')
    await tab.click('button[data-action=backfill]')
    await tab.until(`document.querySelector('dialog button[type=submit]').disabled`)
    const hour = 3_600_000
    const last = Math.floor(Date.now() / hour) * hour
    // As the browser of these tests shows it.
    const local = (at: number): string =>
      new Date(at).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' }).replace(' ', 'T')
    await fill(tab, 'input[name=from]', local(last - 3 * hour))
    await fill(tab, 'input[name=to]', local(last - hour))
    await tab.click('dialog input[name=force]')
    await tab.clickText('dialog button', 'Preview')
    await tab.untilText('3 due times: 3 to run')
    await tab.clickText('dialog button[type=submit]', 'Run 3 fires')
    const done = await eventually(async () => {
      const { items } = await apps[1].fires.list({ schedule: 'late', outcome: 'succeeded' })
      return items.length === 3 && items
    })
    assert.deepEqual(
      done.map(({ kind, asked }) => [kind, asked?.author]),
      Array(3).fill(['backfill', 'ada']),
    )
    await apps[0].schedules.remove('late')
    await demandCalm(opened)
  })

  test('a SARIF report is read in the browser, and a broken one is named as such', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await visit(tab, '#/audit', 'No report is loaded')
    const give = (text: string): Promise<void> =>
      tab.evaluate(`{
        const files = new DataTransfer()
        files.items.add(new File([${JSON.stringify(text)}], 'audit.sarif'))
        const input = document.querySelector('input[type=file]')
        input.files = files.files
        input.dispatchEvent(new Event('change', { bubbles: true }))
      }`)
    const region = { startLine: 12 }
    const physicalLocation = { artifactLocation: { uri: 'src/jobs.ts' }, region }
    const results = [
      { ruleId: 'overlap', level: 'error', message: { text: HOSTILE }, locations: [{ physicalLocation }] },
    ]
    const rules = [{ id: 'overlap', shortDescription: { text: 'Two runs at a time' } }]
    const before = tab.requests.length
    await give(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'any', rules } }, results }] }))
    await tab.untilText('src/jobs.ts:12')
    await tab.untilText('Two runs at a time')
    await give('{ "runs": 7')
    await tab.until(`document.querySelector('.notice.is-error') !== null`)
    assert.deepEqual(
      tab.requests.slice(before).filter((one) => !one.includes('/api/v1/')),
      [],
    )
    await demandCalm(opened)
  })

  test('a tab in the background closes its stream, and goes on when it is in front again', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await tab.untilText('Live')
    const show = await tab.hide()
    await tab.until(`document.visibilityState === 'hidden'`)
    await tab.until(`document.querySelector('.live').classList.contains('is-hidden')`)
    const before = tab.requests.length
    const due = (await apps[0].schedules.get('heartbeat')).last.dueAt!
    await eventually(async () => (await apps[0].schedules.get('heartbeat')).last.dueAt! > due + 1_000)
    assert.deepEqual(tab.requests.slice(before), [], 'a page that is hidden asks for nothing')
    await show()
    await tab.untilText('Live')
    await demandCalm(opened)
  })

  test('the keyboard alone reaches a schedule, its action and the way back', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    await tab.press('Tab')
    await tab.until(`document.activeElement.classList.contains('skip')`)
    await tab.press('Enter')
    await tab.until(`document.activeElement.id === 'main'`)
    assert.doesNotMatch(await tab.evaluate('location.hash'), /main/)
    await goTo(tab, 's', '#/schedules')
    await tab.untilText('At 02:30')
    const chosen = `document.querySelector('.row[data-chosen=true] a')?.textContent`
    for (const name of ['flaky', 'heartbeat', 'hostile', 'nightly']) {
      await tab.press('j')
      await tab.until(`${chosen} === '${name}'`)
    }
    await tab.press('p')
    await tab.until(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
    await tab.press('Escape')
    await tab.until(`document.querySelector('dialog[open]') === null`)
    await tab.press('Enter')
    await tab.untilText('guarantee')
    await tab.press('p')
    await tab.until(`document.querySelector('dialog[open]') !== null`)
    for (let tries = 0; tries < 12; tries++) {
      if ((await tab.evaluate('document.activeElement.name')) === 'note') break
      await tab.press('Tab')
    }
    await tab.type('by keyboard')
    await tab.press('Enter')
    await tab.untilText('by ada: by keyboard')
    await apps[0].schedules.resume('nightly')
    await goTo(tab, 'o', '#/')
    await tab.untilText('Needs attention')
    await demandCalm(opened)
  })

  test('a key that is pressed as soon as a screen is shown counts', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await tab.evaluate(`new MutationObserver((_, observer) => {
      if (!document.body.innerText.includes('guarantee')) return
      observer.disconnect()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true }))
    }).observe(document.body, { childList: true, subtree: true, characterData: true }) ?? null`)
    await visit(tab, '#/schedules/nightly', 'guarantee')
    await tab.until(`document.querySelector('dialog[open]') !== null`)
    await demandCalm(opened)
  })

  test('Escape leads from a fire to where it was opened, from a schedule to the list, and leaves fields and dialogs first', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const due = (await apps[0].fires.list({ schedule: 'flaky' })).items[0]!.dueAt
    await visit(tab, '#/schedules?q=fla', '1 of 5 schedules')
    await tab.press('/')
    await tab.until(`document.activeElement.type === 'search'`)
    await tab.press('Escape')
    await tab.until(`document.activeElement.type !== 'search'`)
    await visit(tab, '#/schedules/flaky', 'guarantee')
    await visit(tab, `#/fires/flaky/${due}?nonce=order-7`, 'Verdict')
    await tab.press('?')
    await tab.until(`document.querySelector('dialog[open]') !== null`)
    await tab.press('Escape')
    await tab.until(`document.querySelector('dialog[open]') === null`)
    await tab.press('Escape')
    await tab.until(`location.hash === '#/schedules/flaky'`)
    await tab.press('Escape')
    await tab.until(`location.hash === '#/schedules?q=fla'`)
    await tab.press('Escape')
    await visit(tab, '#/fires?outcome=failed', 'hostile')
    await visit(tab, `#/fires/flaky/${due}?nonce=order-7`, 'Verdict')
    await tab.press('Escape')
    await tab.until(`location.hash === '#/fires?outcome=failed'`)
    await demandCalm(opened)
  })

  test('the fleet shows who claimed which share, and a schedule the deployments that declare it', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await visit(tab, '#/fleet', 'Deployments of shop')
    const shares = `[...document.querySelectorAll('meter[aria-label^=Share]')].map((one) => one.value)`
    await tab.until(`${shares}.length === 2`)
    const sum = (await tab.evaluate<number[]>(shares)).reduce((total, share) => total + share, 0)
    assert.ok(Math.abs(sum - 1) < 0.001, `the shares are ${sum} in all`)
    await visit(tab, '#/schedules/nightly', 'v1 (active)')
    await visit(tab, '#/schedules/no-such', 'There is no such schedule')
    assert.equal(await tab.evaluate(`document.querySelectorAll('.large-strip').length`), 0)
  })

  test('Escape twice in one task leads two steps back', async (context) => {
    const opened = await open(context)
    const { tab, apps } = opened
    const due = (await apps[0].fires.list({ schedule: 'flaky' })).items[0]!.dueAt
    await visit(tab, '#/schedules?q=fla', '1 of 5 schedules')
    await visit(tab, '#/schedules/flaky', 'guarantee')
    await visit(tab, `#/fires/flaky/${due}?nonce=order-7`, 'Verdict')
    await tab.evaluate(`{
      const press = () => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
      press()
      press()
    }`)
    await tab.untilText('1 of 5 schedules')
    assert.equal(await tab.evaluate('location.hash'), '#/schedules?q=fla')
    await demandCalm(opened)
  })

  test('an outage of the store is a banner with its code, and the page goes on afterwards', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await tab.evaluate(`{
      window.real = window.fetch
      const error = { code: 'STORE_UNREACHABLE', message: 'The store does not answer.', hint: null }
      window.fetch = async () => new Response(JSON.stringify({ error }), { status: 503 })
    }`)
    await visit(tab, '#/schedules/heartbeat', 'STORE_UNREACHABLE')
    // In one step: with the store back, the page may read again by itself first.
    await tab.until(`(() => {
      const button = document.querySelector('main .notice button')
      if (button?.textContent.trim() !== 'Try again') return false
      window.fetch = window.real
      button.click()
      return true
    })()`)
    await tab.untilText('guarantee')
    await demandCalm(opened)
  })

  test('each figure leads to the list of what it counts, and the late runs are those behind the percentile', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    const failed = await tab.until<string>(`document.querySelector('.figure.is-failed .value').textContent`)
    await tab.click('.figure.is-failed')
    await tab.until(`document.querySelectorAll('table.fires tbody tr').length === ${Number(failed)}`)
    await visit(tab, '#/', 'Needs attention')
    const late = `[...document.querySelectorAll('.figure')].find((one) => one.textContent.includes('95th')).getAttribute('href')`
    const href = await tab.evaluate<string>(late)
    assert.match(href, /late=\d+/)
    await visit(tab, href, 'after it could')
    await tab.until(`document.querySelectorAll('main table tbody tr').length > 0`)
    await visit(tab, '#/fires?late=3000000', 'No run was as late as that')
    await tab.clickText('main button', 'all fires')
    await tab.untilText('heartbeat')
    await demandCalm(opened)
  })

  test('the keys g and u lead to the audit, and a phone finds the zone and the theme in the palette', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await goTo(tab, 'u', '#/audit')
    await tab.resize(360, 740)
    await visit(tab, '#/schedules/nightly', 'guarantee')
    const choose = async (words: string): Promise<void> => {
      await tab.click('.search')
      await tab.until(`document.querySelector('dialog[open] input') !== null`)
      await tab.type(words)
      await tab.clickText('.choices button', words)
      await tab.until(`document.querySelector('dialog[open]') === null`)
    }
    await choose('Times in UTC')
    await tab.until(`localStorage.getItem('cronce-zone') === 'utc'`)
    await choose('Dark theme')
    await tab.until(`document.documentElement.dataset.theme === 'dark'`)
    await demandCalm(opened)
  })

  test('very long names stay within the page, and their strips are read in as many requests as they need', async (context) => {
    const opened = await open(context, undefined, { width: 1_280, height: 860 })
    const { tab, apps } = opened
    const long = 'x'.repeat(200)
    const names = [long, ...Array.from({ length: 12 }, (_, index) => `${'漢'.repeat(190)}${index}`)]
    for (const name of names) {
      await apps[0].schedules.put(name, { job: 'quiet', every: '1d' })
      await apps[0].schedules.trigger(name, { dedupe: 'one' })
    }
    await eventually(async () => (await apps[0].fires.list({ job: 'quiet', outcome: 'succeeded' })).items.length >= 13)
    const fire = (await apps[0].fires.list({ schedule: long })).items[0]!
    await visit(tab, '#/schedules?q=漢', '12 of 18 schedules')
    await tab.until(`document.querySelectorAll('.strip .bar.is-succeeded').length === 12`)
    for (const width of [1_280, 360]) {
      await tab.resize(width, 860)
      for (const [hash, text] of [
        [`#/schedules/${long}`, 'guarantee'],
        [`#/fires/${long}/${fire.dueAt}?nonce=one`, 'Verdict'],
        ['#/', 'Needs attention'],
      ] as const) {
        await visit(tab, hash, text)
        const over = await tab.evaluate<number>(
          `document.getElementById('main').scrollWidth - document.getElementById('main').clientWidth`,
        )
        assert.ok(over <= 0, `${hash.slice(0, 20)} is ${over} px too wide at ${width} px`)
      }
    }
    await visit(tab, `#/fires/${long}/${fire.dueAt}?nonce=one`, 'Verdict')
    await tab.until(`document.querySelector('.waterfall text')?.getBoundingClientRect().height >= 11`)
    for (const name of names) await apps[0].schedules.remove(name)
    await demandCalm(opened)
  })

  test('what could not be read is named, and not shown as nothing', async (context) => {
    const opened = await open(context)
    const { tab } = opened
    await tab.evaluate(`{
      const real = window.fetch
      const error = { code: 'STORE_TIMEOUT', message: 'The store did not answer.', hint: null }
      window.fetch = (url, init) => /alerts|strips|runs[?]|instances/.test(String(url))
        ? Promise.resolve(new Response(JSON.stringify({ error }), { status: 503 })) : real(url, init)
    }`)
    await visit(tab, '#/fires', 'heartbeat')
    await visit(tab, '#/', 'Alerts could not be read')
    assert.ok(!(await tab.text()).includes('Nothing does.'))
    await visit(tab, '#/schedules', 'The strips of the latest fires could not be read')
    await visit(tab, '#/fleet', 'The claims of the past hour could not be read')
    await demandCalm(opened)
  })

  test('a run that goes on shows its progress and its log as they grow, and a redacted value never', async (context) => {
    const app = cronce({ store: 'memory:', signals: false, logger: false, drain: '1s' })
    const steps = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    app.job('import', {}, async (run) => {
      run.log.info('opened the file')
      run.progress(0.25, 'a quarter')
      await steps[0]!.promise
      run.log.info('<b>read the file</b>')
      run.progress(0.75, 'three quarters')
      await steps[1]!.promise
      return { card: SECRET, rows: 7 }
    })
    await app.start()
    const options: DashboardOptions = { access: () => 'operate', logger: false, redact: ['card'] }
    const served = await serve(createDashboard(app, options), { port: 0 })
    const tab = await browser.open()
    context.after(async () => {
      await tab.close()
      await served.close()
      await app.stop()
    })
    const { fire } = await app.schedules.trigger('import', { input: { card: SECRET } })
    await tab.goto(`${served.url}/#/fires/import/${fire.dueAt}?nonce=${fire.nonce}`)
    await tab.untilText('25 % a quarter')
    await tab.untilText('opened the file')
    steps[0]!.resolve()
    await tab.untilText('<b>read the file</b>')
    await tab.untilText('75 % three quarters')
    steps[1]!.resolve()
    await tab.untilText('Sound')
    await tab.until(`document.querySelector('progress') === null`)
    await tab.clickText('main button', 'Show input')
    await tab.clickText('main button', 'Show result')
    await tab.untilText('"rows": 7')
    assert.equal((await tab.text()).split('[redacted]').length, 3)
    assert.ok(!(await tab.text()).includes(SECRET))
    await demandCalm({ tab, url: served.url })
  })

  test('a user whose access is withdrawn sees nothing more, and goes on where access comes back', async (context) => {
    let level: 'read' | 'metrics' | 'none' = 'read'
    const opened = await open(context, { access: () => level })
    const { tab } = opened
    for (const [withdrawn, text] of [
      ['metrics', 'You may see the metrics only'],
      ['none', 'Sign in'],
    ] as const) {
      await visit(tab, '#/schedules/nightly', 'guarantee')
      level = withdrawn
      await visit(tab, '#/schedules/heartbeat', text)
      await tab.until(
        `document.querySelector('main .card') === null && document.querySelector('main h1 .badge') === null`,
      )
      level = 'read'
      await tab.clickText('main button', 'Open')
      await tab.untilText('guarantee')
    }
  })

  test('the report of the server is shown until the user opens another one', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-audit-'))
    context.after(() => rmSync(folder, { recursive: true }))
    const audit = join(folder, 'audit.sarif')
    const reportOf = (text: string): string =>
      JSON.stringify({ runs: [{ results: [{ ruleId: 'overlap', message: { text } }] }] })
    writeFileSync(audit, reportOf(`from the build ${HOSTILE}`))
    const opened = await open(context, { audit })
    const { tab } = opened
    await visit(tab, '#/audit', 'from the build')
    await tab.untilText('The report of the server, written')
    await tab.evaluate(`{
      const files = new DataTransfer()
      files.items.add(new File([${JSON.stringify(reportOf('from a file'))}], 'other.sarif'))
      const input = document.querySelector('input[type=file]')
      input.files = files.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }`)
    await tab.untilText('from a file')
    assert.ok(!(await tab.text()).includes('from the build'))
    await tab.clickText('main button', 'Close this report')
    await tab.untilText('from the build')
    writeFileSync(audit, 'no report')
    await visit(tab, '#/', 'Needs attention')
    await visit(tab, '#/audit', 'not JSON')
    await demandCalm(opened)
  })

  test('the main screens are without serious findings of axe, and their text has a contrast of 4.5 or more', async (context) => {
    const opened = await open(context, { environment: 'production' })
    await examine(opened, MAIN_SCREENS)
    await demandCalm(opened)
  })
})
