import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Tab } from './browser.ts'
import type { Fleet } from './fleet.ts'

const LOW_CONTRASTS = readFileSync(new URL('low-contrasts.js', import.meta.url), 'utf8')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The contrast is judged by `low-contrasts.js`, which also knows colors that are mixed. */
const OPTIONS = { rules: { 'color-contrast': { enabled: false } }, resultTypes: ['violations'] }

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Those that differ most. */
export const MAIN_SCREENS = ['#/', '#/schedules?q=h', '#/fires/']

/** Looks at screens with axe, and at the contrast of every text. */
export async function examine(
  { tab, apps }: Pick<Fleet, 'apps'> & { readonly tab: Tab },
  only: readonly string[] | null = null,
): Promise<void> {
  const fire = (await apps[0].fires.list({ schedule: 'flaky' })).items[0]!
  await tab.evaluate(`${AXE}; void 0`)
  for (const [hash, text] of [
    ['#/', 'Needs attention'],
    ['#/schedules?q=h', 'All that match'],
    ['#/schedules/heartbeat', 'guarantee'],
    ['#/schedules/heartbeat?range=24h', 'latest'],
    [`#/fires/flaky/${fire.dueAt}?nonce=order-7`, 'Verdict'],
    ['#/fires', 'heartbeat'],
    ['#/timeline?span=5m', 'by instance'],
    ['#/calendar', 'by hour'],
    ['#/fleet', 'Deployments of shop'],
    ['#/alerts', 'Alerts'],
    ['#/activity', 'Operator log'],
    ['#/audit', 'No report is loaded'],
  ] as const) {
    if (only !== null && !only.some((one) => (one.length > 2 ? hash.startsWith(one) : hash === one))) continue
    await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await tab.untilText(text)
    const { violations } = await tab.evaluate<{ violations: readonly Finding[] }>(
      `axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations }) => ({ violations }))`,
    )
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    assert.deepEqual(
      serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`),
      [],
      hash,
    )
    assert.deepEqual(await tab.evaluate(LOW_CONTRASTS), [], hash)
  }
}
