import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createDashboard } from '@cronce/dashboard'
import { serve } from '@cronce/server'
import { type Cronce, cronce } from 'cronce'
import { testKit } from 'cronce/testing'
import { startRedis } from '../../../scripts/servers/index.ts'
import { type Browser, launchBrowser, type Tab, type TabShape } from './browser.ts'
import { examine } from './examine.ts'
import { eventually, startFleet } from './fleet.ts'

const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`

/** What takes long; `dashboard.test.ts` has a smaller one of each. */
let browser: Browser

before(async () => {
  browser = await launchBrowser()
})
after(async () => {
  await browser.close()
})

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

/** What these fleets run: fires that succeed, fail once, and are written to do harm. */
function declare(app: Cronce): void {
  app.job('heartbeat', { every: '1s' }, () => {})
  app.job('quiet', {}, () => {})
  app.job('flaky', { retry: { attempts: 1, backoff: { base: '1ms' } } }, (run) => {
    if (run.attempt === 1) throw new Error('The card service is away')
  })
  app.job('hostile', { retry: 0 }, (run) => {
    run.log.warn(HOSTILE)
    throw new Error(HOSTILE)
  })
}

async function openFleet(context: TestContext, shape: TabShape = {}) {
  const fleet = await startFleet({ after: (work) => context.after(work) }, declare)
  const tab = await browser.open(shape)
  context.after(() => tab.close())
  await tab.goto(`${fleet.url}/`)
  await tab.untilText('Needs attention')
  return { ...fleet, tab }
}

async function visit(tab: Tab, hash: string, text: string): Promise<void> {
  await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await tab.untilText(text)
}

async function serveApp(context: TestContext, app: Pick<Cronce, never>): Promise<string> {
  const served = await serve(createDashboard(app as Cronce, { access: () => 'read', logger: false }), { port: 0 })
  context.after(() => served.close())
  return served.url
}

describe('in a browser, at length', () => {
  test('draws only the rows in sight of 5,000 schedules, and finds the last one', async (context) => {
    const app = cronce({ store: 'memory:', signals: false, logger: false })
    const served = await serve(createDashboard(app, { access: () => 'read', logger: false }), { port: 0 })
    context.after(async () => {
      await served.close()
      await app.stop()
    })
    for (let first = 0; first < 5_000; first += 500) {
      const names = Array.from({ length: 500 }, (_, index) => `job-${String(first + index).padStart(4, '0')}`)
      await Promise.all(names.map((name) => app.schedules.put(name, { job: 'import', every: '1h' })))
    }
    const tab = await browser.open()
    context.after(() => tab.close())
    await tab.goto(`${served.url}/#/schedules`)
    await tab.untilText('5,000 schedules')
    const rows = (): Promise<number> => tab.evaluate(`document.querySelectorAll('.virtual li').length`)
    assert.ok((await rows()) < 60, `${await rows()} rows are drawn`)
    await tab.evaluate(`document.querySelector('.virtual').scrollTop = 1e9`)
    await tab.untilText('job-4999')
    assert.ok((await rows()) < 60, `${await rows()} rows are drawn`)
    await tab.evaluate(`document.querySelector('.filter input').focus()`)
    await tab.type('4321')
    await tab.untilText('1 of 5,000 schedules')
    assert.deepEqual(tab.problems, [])
  })

  test('survives a store that is killed and restarted under an open page', async (context) => {
    const redis = await startRedis()
    context.after(() => redis.stop())
    const app = cronce({ store: redis.url, signals: false, logger: false })
    const served = await serve(createDashboard(app, { access: () => 'read', logger: false }), { port: 0 })
    context.after(async () => {
      await served.close()
      await app.stop()
    })
    await app.schedules.put('import', { job: 'import', every: '1h' })
    const tab = await browser.open()
    context.after(() => tab.close())
    await tab.goto(`${served.url}/#/schedules`)
    await tab.untilText('1 schedule')
    await redis.kill()
    await visit(tab, '#/schedules/import', 'STORE_')
    await redis.restart()
    await tab.until(
      `(document.querySelector('.notice button')?.click(), document.body.innerText.includes('guarantee'))`,
    )
  })

  test('draws more than 2,000 runs on a canvas, and opens the one that is clicked', async (context) => {
    const kit = testKit({ now: Date.now() - 3 * 3_600_000, patience: 1 })
    const app = kit.app()
    for (const name of ['one', 'two', 'three']) app.job(name, { every: '10s' }, () => kit.clock.sleep(4_000))
    await app.start()
    await kit.advance('3h')
    const url = await serveApp(context, app as unknown as Cronce)
    const tab = await browser.open()
    context.after(async () => {
      await tab.close()
      const stopping = app.stop()
      await kit.advance('1m')
      await stopping
    })
    await tab.goto(`${url}/#/timeline?span=6h`)
    await tab.until(`document.querySelector('.gantt canvas')?.getAttribute('aria-label') !== undefined`)
    await tab.until(`Number.parseInt(document.querySelector('.gantt canvas').getAttribute('aria-label')) > 2000`)
    assert.equal(await tab.evaluate(`document.querySelectorAll('.gantt svg').length`), 0)
    await tab.evaluate(`{
      const canvas = document.querySelector('.gantt canvas')
      const box = canvas.getBoundingClientRect()
      const at = { clientX: box.left + box.width * 0.6, clientY: box.top + 8, bubbles: true }
      canvas.dispatchEvent(new MouseEvent('click', at))
    }`)
    await tab.until(`location.hash.startsWith('#/fires/')`)
    assert.deepEqual(tab.problems, [])
  })

  for (const isDark of [false, true]) {
    test(`all screens pass axe and have enough contrast in the ${isDark ? 'dark' : 'light'} theme`, async (context) => {
      const { tab, apps } = await openFleet(context, { isDark })
      await apps[0].schedules.trigger('flaky', { dedupe: 'order-7', author: 'grace', note: 'for the operator log' })
      await eventually(async () => (await apps[0].fires.list({ outcome: 'succeeded' })).items.length > 3)
      await examine({ tab, apps })
    })
  }

  test('hostile names, notes, inputs, results, logs and errors stay texts on every screen', async (context) => {
    const { tab, apps } = await openFleet(context)
    const corpus = [
      HOSTILE,
      `"><svg onload="document.title='taken'">`,
      `javascript:document.title='taken'`,
      '{{7*7}}<%= 7 %>',
      '\u202Eevil\u2066',
    ]
    for (const text of corpus) {
      const name = text.slice(0, 100)
      await apps[0].schedules.put(
        name,
        { job: 'hostile', every: '1d', input: { text } },
        { author: text.slice(0, 60), note: text },
      )
      const { fire } = await apps[0].schedules.trigger(name, { author: text.slice(0, 60), note: text, input: { text } })
      await eventually(async () => (await apps[0].fires.get(fire)).endedAt !== null)
      await tab.evaluate(`location.hash = '#/schedules/' + ${JSON.stringify(encodeURIComponent(name))}`)
      await tab.until(`document.querySelector('h1')?.textContent.includes(${JSON.stringify(name.slice(0, 20))})`)
      const query = new URLSearchParams({ nonce: fire.nonce })
      await tab.evaluate(
        `location.hash = ${JSON.stringify(`#/fires/${encodeURIComponent(name)}/${fire.dueAt}?${query}`)}`,
      )
      await tab.untilText('Verdict')
      await tab.clickText('main button', 'Show input')
    }
    for (const [hash, text] of [
      ['#/schedules', 'schedules'],
      ['#/fires', 'Outcome'],
      ['#/activity', 'Operator log'],
      ['#/timeline?span=5m', 'by instance'],
      ['#/calendar', 'by hour'],
    ] as const) {
      await visit(tab, hash, text)
      assert.equal(
        await tab.evaluate(
          `document.querySelectorAll('#app img, #app script, #app [onload], #app a[href^=javascript]').length`,
        ),
        0,
      )
    }
    for (const text of corpus) await apps[0].schedules.remove(text.slice(0, 100))
    assert.deepEqual(tab.problems, [])
    assert.notEqual(await tab.evaluate('document.title'), 'taken')
  })

  test('without a stream of events, the page reads again what it shows, now and then', async (context) => {
    const { tab, apps } = await openFleet(context)
    await visit(tab, '#/schedules/quiet', 'guarantee')
    await tab.press('l')
    await tab.untilText('Paused')
    await tab.evaluate(`{
      const real = window.fetch
      window.fetch = (url, init) => String(url).endsWith('/events') ? Promise.reject(new Error('refused')) : real(url, init)
    }`)
    await tab.press('l')
    await tab.untilText('Reconnecting')
    await apps[0].schedules.pause('quiet', { note: 'seen without a stream' })
    await tab.untilText('seen without a stream')
    await apps[0].schedules.resume('quiet')
    assert.deepEqual(tab.problems, [])
  })

  test('a tab in the background asks for nothing for more than a minute, and reads again in front', async (context) => {
    const { tab, apps } = await openFleet(context)
    await visit(tab, '#/schedules/quiet', 'guarantee')
    await tab.untilText('Live')
    const show = await tab.hide()
    await tab.until(`document.querySelector('.live').classList.contains('is-hidden')`)
    const before = tab.requests.length
    const since = await tab.evaluate<number>('performance.now()')
    await tab.until(`performance.now() > ${since + 80_000}`)
    assert.deepEqual(tab.requests.slice(before), [])
    await apps[0].schedules.pause('quiet', { note: 'while it was hidden' })
    await show()
    await tab.untilText('while it was hidden')
    await eventually(async () => tab.requests.slice(before).some((one) => one.endsWith('/api/v1/access')))
    await apps[0].schedules.resume('quiet')
    assert.deepEqual(tab.problems, [])
  })

  test('more rows are added to those that are there, and only new fires that match the filter are counted', async (context) => {
    const { tab, apps } = await openFleet(context)
    await apps[0].schedules.put('many', { job: 'quiet', every: '1d' })
    for (let index = 0; index < 60; index++) await apps[0].schedules.trigger('many', { dedupe: `order-${index}` })
    await eventually(
      async () =>
        (await apps[0].fires.list({ schedule: 'many', outcome: 'succeeded', limit: 100 })).items.length === 60,
    )
    await apps[0].schedules.trigger('hostile', { dedupe: 'once' })
    await visit(tab, '#/fires?schedule=many', 'many')
    await tab.until(`document.querySelectorAll('table.fires tbody tr').length === 50`)
    await tab.evaluate(`{
      window.least = 50
      new MutationObserver(() => {
        window.least = Math.min(window.least, document.querySelectorAll('table.fires tbody tr').length)
      }).observe(document.getElementById('main'), { childList: true, subtree: true })
    }`)
    await tab.click('[data-more]')
    await tab.until(`document.querySelectorAll('table.fires tbody tr').length === 60`)
    assert.equal(await tab.evaluate('window.least'), 50, 'the rows were away for a moment')
    await visit(tab, '#/fires?outcome=failed', 'hostile')
    const due = (await apps[0].schedules.get('heartbeat')).last.dueAt!
    await eventually(async () => (await apps[0].schedules.get('heartbeat')).last.dueAt! > due + 3_000)
    assert.equal(await tab.evaluate(`document.querySelector('.pill')`), null)
    await apps[0].schedules.trigger('hostile', { dedupe: 'again' })
    await tab.until(`document.querySelector('.pill')?.textContent.startsWith('1')`)
    await apps[0].schedules.remove('many')
    assert.deepEqual(tab.problems, [])
  })

  test('two tabs that pause the same schedule leave it paused', async (context) => {
    const { tab: first, apps, url } = await openFleet(context)
    const second = await browser.open()
    context.after(() => second.close())
    await second.goto(`${url}/`)
    await second.untilText('Needs attention')
    await apps[0].schedules.put('tenant.c', { job: 'quiet', every: '1d' })
    for (const [tab, note] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      await visit(tab, '#/schedules/tenant.c', 'guarantee')
      await tab.click('button[data-action=pause]')
      await fill(tab, 'input[name=note]', note)
    }
    await first.click('dialog button[type=submit]')
    await first.untilText('by ada: first')
    await second.click('dialog button[type=submit]')
    await second.untilText('by ada: second')
    assert.equal((await apps[0].schedules.get('tenant.c')).state, 'paused')
    await apps[0].schedules.remove('tenant.c')
    assert.deepEqual([...first.problems, ...second.problems], [])
  })

  test('a page that has followed 10,000 events keeps no more memory than after 2,000', async (context) => {
    const kit = testKit()
    const app = kit.app()
    app.job('busy', { every: '1s' }, () => {})
    await app.start()
    const url = await serveApp(context, app as unknown as Cronce)
    const tab = await browser.open()
    context.after(async () => {
      await tab.close()
      const stopping = app.stop()
      await kit.advance('1m')
      await stopping
    })
    await tab.goto(`${url}/#/schedules/busy`)
    await tab.untilText('Live')
    const follow = async (seconds: number): Promise<number> => {
      for (let gone = 0; gone < seconds; gone += 100) {
        const dueAt = kit.now() + 100_000
        await kit.advance('100s')
        await tab.until(`document.querySelector('.clock time') !== null`)
        await eventually(async () => (await app.schedules.get('busy')).last.dueAt! >= dueAt - 1_000)
      }
      return tab.heapBytes()
    }
    const early = await follow(1_000)
    const late = await follow(4_000)
    context.diagnostic(
      `${Math.round(early / 1_024)} kB after 2,000 events, ${Math.round(late / 1_024)} kB after 10,000`,
    )
    assert.ok(late < early * 1.5 + 2_000_000, `${early} bytes became ${late}`)
    assert.deepEqual(tab.problems, [])
  })
})
