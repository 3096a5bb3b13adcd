import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { audit } from '../src/audit.ts'
import { treeOf } from '../src/discover/tree.ts'
import { htmlReport } from '../src/report/html.ts'
import { STYLE } from '../src/report/html-style.ts'
import { RULES } from '../src/rules/rules.ts'

async function html(files: Readonly<Record<string, string>>): Promise<string> {
  const tree = treeOf(files)
  const { findings, project } = await audit(tree)
  const schedules = project.all('schedule')
  return htmlReport(
    {
      tree,
      rules: RULES,
      schedules,
      findings,
      fingerprints: new Map(),
      suppressed: 1,
      inBaseline: 0,
      unreadable: [],
      notices: [],
    },
    '1.2.3',
  )
}

const BAD = {
  'ecosystem.config.js': "module.exports = { apps: [{ name: '<b>web</b>', script: 'server.js', instances: 'max' }] }\n",
  'server.js': "import cron from 'node-cron'\ncron.schedule('* * * * *', () => poll('<script>alert(1)</script>'))\n",
}

test('the page has figures, findings by rule with their lines, and the schedules', async () => {
  const page = await html(BAD)
  assert.match(page, /<b class="is-error">FLT002<\/b>/)
  assert.match(page, /<code>ecosystem\.config\.js:1<\/code>/)
  assert.match(page, /<mark> +1 {2}module\.exports/)
  assert.match(page, /<td><code>server\.js:2<\/code><\/td><td>node-cron<\/td><td>every minute/)
  assert.match(page, /1 finding suppressed with a reason\./)
})

test('text of the target is text on the page', async () => {
  const page = await html(BAD)
  assert.doesNotMatch(page, /<script|<b>web/)
  assert.match(page, /&lt;script&gt;alert/)
})

test('the page loads nothing', async () => {
  const page = await html(BAD)
  assert.match(page, /default-src 'none'/)
  assert.doesNotMatch(page, /<link|<img|src=|@import|url\(/)
})

test('colors and fonts are those of the dashboard', () => {
  const tokens = readFileSync(new URL('../../dashboard/ui/style/tokens.css', import.meta.url), 'utf8')
  const pairs = [...STYLE.matchAll(/(--[\w-]+): ([^;]+);/g)].filter(([, name]) => name !== '--tone')
  assert.ok(pairs.length > 20)
  for (const [pair] of pairs) assert.ok(tokens.includes(pair), pair)
})
