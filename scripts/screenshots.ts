/**
 * `npm run screenshots`: the pictures of docs/dashboard, of a demo fleet in a real browser. With a folder, all screens are written there, light
 * and dark, for a desktop and a phone.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchBrowser, type Tab } from '../packages/dashboard/test/browser.ts'
import { startDemo } from '../packages/dashboard/test/demo-fleet.ts'

const FOLDER = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'dashboard'))
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
const FIRE = `document.querySelector('td a[href^="#/fires/"]')?.getAttribute('href')`
/** Long enough for what is loaded late: strips, words. */
const SETTLE_MS = 1_500

const demo = await startDemo()
const browser = await launchBrowser()
try {
  mkdirSync(FOLDER, { recursive: true })
  for (const isDark of [false, true]) {
    for (const [width, height] of [
      [1_280, 860],
      [360, 740],
    ] as const) {
      const tab = await browser.open({ width, height, isDark })
      await picture(tab, `${width === 360 ? 'phone-' : ''}${isDark ? 'dark' : 'light'}`)
      for (const problem of tab.problems) console.error(problem)
      await tab.close()
    }
  }
} finally {
  await browser.close()
  await demo.stop()
}

async function picture(tab: Tab, name: string): Promise<void> {
  const take = async (screen: string, hash: string, text: string): Promise<void> => {
    if (process.argv[2] === undefined && !KEPT.includes(`${screen}-${name}`)) return
    await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await tab.untilText(text)
    await sleep(SETTLE_MS)
    await tab.screenshot(join(FOLDER, `${screen}-${name}.png`))
  }
  await tab.goto(`${demo.url}/`)
  await take('overview', '#/', 'Needs attention')
  await take('schedules', '#/schedules', 'catalog.sync')
  await take('schedule', '#/schedules/billing.invoices', 'Next fires')
  await tab.evaluate(`location.hash = '#/fires?schedule=billing.invoices&outcome=succeeded'`)
  await tab.until(FIRE)
  const fire = await tab.evaluate<string>(
    `([...document.querySelectorAll('tr')].find((row) => row.querySelector('.number')?.textContent === '2') ?? document).querySelector('td a[href^="#/fires/"]').getAttribute('href')`,
  )
  await take('fire', fire, 'Verdict')
  await take('timeline', '#/timeline?span=6h', 'by instance')
  await take('fleet', '#/fleet', 'Deployments of shop')
  await take('calendar', '#/calendar', 'by hour')
  await take('range', '#/schedules/search.reindex?range=90d', 'Next fires')
  await take('alerts', '#/alerts', 'Alerts')
  await take('activity', '#/activity', 'Operator log')
  await take('audit', '#/audit', 'No report is loaded')
  await take('fires', '#/fires?outcome=failed', 'Outcome')
}
