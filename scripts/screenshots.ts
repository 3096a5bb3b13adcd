/**
 * `npm run screenshots`: the pictures of docs/dashboard, of `cronce demo` in a real browser. With a folder, all screens are written there: light
 * and dark, for a desktop and a phone, with much data, with none, and with a store or an API that fails.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDashboard } from '@cronce/dashboard'
import { serve } from '@cronce/server'
import { cronce } from 'cronce'
import { type Browser, launchBrowser, type Tab } from '../packages/dashboard/test/browser.ts'

const PROGRAM = join(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'cronce.js')
const [given] = process.argv.slice(2)
const FOLDER = resolve(given ?? join(import.meta.dirname, '..', 'docs', 'dashboard'))
/** The pictures that the documentation shows. */
const KEPT = [
  'overview-light',
  'schedules-dark',
  'schedule-light',
  'fire-light',
  'timeline-light',
  'calendar-light',
  'schedules-phone-dark',
]
/** Long enough for what is loaded late: strips, words. */
const SETTLE_MS = 1_500
/** The demo kills and pauses: afterwards there is a fire that was taken over. Earlier ones are of a schedule that was replaced. */
const takenOverSince = (at: number): string =>
  `[...document.querySelectorAll('tr')].find((row) => row.textContent.includes('succeeded') && Number(row.querySelector('.number')?.textContent) > 1 && /:00 *succeeded/.test(row.textContent) && Number(/billing.(\\d+)/.exec(row.querySelector('td a[href^="#/fires/"]')?.getAttribute('href'))?.[1]) > ${at})?.querySelector('td a[href^="#/fires/"]')?.getAttribute('href')`
let storyEndedAt = 0

type Take = (screen: string, hash: string, text: string) => Promise<void>

const demo = spawn(process.execPath, [PROGRAM, 'demo', '--seconds', '5', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [browser, url] = [await launchBrowser(), await addressOf(demo)]
try {
  mkdirSync(FOLDER, { recursive: true })
  await inAllShapes(browser, '', url, takeAll)
  if (given !== undefined) {
    await withStore('memory:', (address) => inAllShapes(browser, 'empty-', address, takeEmpty))
    await withStore('redis://127.0.0.1:1', (address) => inAllShapes(browser, 'away-', address, takeAway))
    await inAllShapes(browser, 'partial-', url, takePartial)
  }
} finally {
  await browser.close()
  demo.kill('SIGINT')
  await once(demo, 'exit')
}

/** Once the story is over, and a run of the fleet that goes on was taken over. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let address = ''
  let isOver = false
  for await (const line of createInterface({ input: stdout! })) {
    address = /Watch it in a browser: (\S+)/.exec(line)?.[1] ?? address
    if (line.includes('The fleet goes on')) {
      isOver = true
      storyEndedAt = Date.now()
    }
    if (isOver && line.includes('took over')) {
      stdout!.resume()
      return address
    }
  }
  throw new Error('The demo ended before its dashboard could be shown.')
}

async function withStore(store: string, work: (url: string) => Promise<void>): Promise<void> {
  const app = cronce({ store, signals: false, logger: false })
  const served = await serve(createDashboard(app, { access: () => 'operate', logger: false }), { port: 0 })
  await work(`${served.url}/`)
  await served.close()
  await app.stop()
}

async function inAllShapes(
  { open }: Browser,
  prefix: string,
  address: string,
  takes: (take: Take, tab: Tab) => Promise<void>,
): Promise<void> {
  for (const isDark of [false, true]) {
    for (const [width, height] of [
      [1_280, 860],
      [360, 740],
    ] as const) {
      const tab = await open({ width, height, isDark })
      const name = `${width === 360 ? 'phone-' : ''}${isDark ? 'dark' : 'light'}`
      const take: Take = async (screen, hash, text) => {
        if (given === undefined && !KEPT.includes(`${screen}-${name}`)) return
        await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await tab.untilText(text)
        await sleep(SETTLE_MS)
        await tab.screenshot(join(FOLDER, `${prefix}${screen}-${name}.${given === undefined ? 'webp' : 'png'}`))
      }
      await tab.goto(address)
      await takes(take, tab)
      if (prefix === '') for (const problem of tab.problems) console.error(problem)
      await tab.close()
    }
  }
}

async function takeAll(take: Take, tab: Tab): Promise<void> {
  await take('overview', '#/', 'Needs attention')
  await take('schedules', '#/schedules', 'catalog.sync')
  await take('bulk', '#/schedules?q=state:active%20mail', 'All that match')
  await take('schedule', '#/schedules/billing.invoices', 'Next fires')
  await tab.evaluate(`location.hash = '#/fires?schedule=billing'`)
  const fire = await tab.until<string>(`(document.querySelector('.pill')?.click(), ${takenOverSince(storyEndedAt)})`)
  await take('fire', fire, 'Verdict')
  if (given !== undefined) {
    await tab.evaluate(`document.getElementById('main').scrollTo(0, 620)`)
    await take('fire-below', fire, 'Verdict')
  }
  await take('timeline', '#/timeline?span=6h', 'by instance')
  await take('instances', '#/timeline?span=5m&by=instance', 'by instance')
  await take('fleet', '#/fleet', 'Deployments of shop')
  await take('calendar', '#/calendar', 'by hour')
  await take('range', '#/schedules/search.reindex?range=90d', 'Next fires')
  await take('alerts', '#/alerts', 'Alerts')
  await take('activity', '#/activity', 'Operator log')
  await take('audit', '#/audit', 'No report is loaded')
  await take('fires', '#/fires?outcome=failed', 'Outcome')
  if (given === undefined) return
  for (const [name, key, text] of [
    ['help', '?', 'next and previous row'],
    ['pause', 'p', 'Fires that fall due meanwhile'],
  ] as const) {
    await tab.evaluate(`location.hash = '#/schedules/mail.queue'`)
    await tab.untilText('guarantee')
    await tab.press(key)
    await take(name, '#/schedules/mail.queue', text)
    await tab.press('Escape')
  }
}

async function takeEmpty(take: Take, tab: Tab): Promise<void> {
  await tab.untilText('No schedules yet')
  await take('overview', '#/', 'No schedules yet')
  await take('schedules', '#/schedules', 'No schedules yet')
  await take('fires', '#/fires', 'No fires')
  await take('timeline', '#/timeline', 'Nothing ran')
  await take('calendar', '#/calendar', 'by hour')
  await take('fleet', '#/fleet', 'No instance is live')
  await take('alerts', '#/alerts', 'No alert')
  await take('activity', '#/activity', 'No operator')
  await take('missing', '#/schedules/no-such', 'no-such')
}

async function takeAway(take: Take): Promise<void> {
  await take('overview', '#/', 'Try again')
}

/** The API answers some questions, and not others. */
async function takePartial(take: Take, tab: Tab): Promise<void> {
  await tab.untilText('Needs attention')
  await tab.evaluate(`{
    const real = window.fetch
    const error = { code: 'STORE_UNREACHABLE', message: 'The store did not answer within 10 s.', hint: 'Check the connection to the store.' }
    window.fetch = (url, init) => /strips|alerts|counts|runs\\?|deployments|next\\?/.test(String(url))
      ? Promise.resolve(new Response(JSON.stringify({ error }), { status: 503 })) : real(url, init)
  }`)
  await take('schedules', '#/schedules', 'catalog.sync')
  await take('schedule', '#/schedules/mail.queue', 'guarantee')
  await take('overview', '#/', 'Needs attention')
  await take('calendar', '#/calendar', 'by hour')
  await take('fleet', '#/fleet', 'Instances')
  await take('alerts', '#/alerts', 'did not answer')
}
