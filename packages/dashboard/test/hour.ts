/**
 * `npm run test:hour`: whether the page grows. It follows a real fleet for an hour (`--minutes N`), on one screen after the other, and must not
 * keep more memory at the end than after its first tenth. Too long for the tests; `dashboard-long.test.ts` has 10,000 events of one screen.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { launchBrowser, type Tab } from './browser.ts'
import { startFleet } from './fleet.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } })
const MINUTE_MS = 60_000
const minutes = Number(values.minutes)
const SCREENS = ['#/', '#/schedules', '#/schedules/one', '#/fires', '#/timeline?span=5m', '#/fleet', '#/activity']
const STAY_MS = 20_000
const JOBS = ['one', 'two', 'three', 'four', 'five']
/** What a collection leaves differs by this much from look to look. */
const SLACK_BYTES = 1_000_000
const PARTS = 10

const endings: (() => Promise<void>)[] = []
const fleet = await startFleet({ after: (work) => void endings.push(work) }, (app) => {
  for (const name of JOBS) app.job(name, { every: '1s', retention: '10m' }, (run) => run.log.info(`at work on ${name}`))
})
const browser = await launchBrowser()
try {
  const tab = await browser.open()
  await tab.goto(`${fleet.url}/`)
  await tab.untilText('Live')
  const heaps: number[] = []
  for (let part = 1; part <= PARTS; part++) {
    heaps.push(await follow(tab, (minutes / PARTS) * MINUTE_MS))
    console.log(
      `${((part * minutes) / PARTS).toFixed(1)} min: ${(heaps.at(-1)! / 1e6).toFixed(2)} MB, ${tab.requests.length} requests`,
    )
  }
  for (const problem of tab.problems) console.error(problem)
  const [first, last] = [heaps[0]!, heaps.at(-1)!]
  process.exitCode = last > first + SLACK_BYTES || tab.problems.length > 0 ? 1 : 0
} finally {
  await browser.close()
  for (const end of endings) await end()
}

/** The heap afterwards, on the first screen. */
async function follow(tab: Tab, ms: number): Promise<number> {
  const until = performance.now() + ms
  for (let index = 0; performance.now() < until; index++) {
    await tab.evaluate(`location.hash = '${SCREENS[index % SCREENS.length]}'`)
    await sleep(Math.min(STAY_MS, Math.max(0, until - performance.now())))
  }
  await tab.evaluate(`location.hash = '#/'`)
  await tab.untilText('Needs attention')
  return tab.heapBytes()
}
