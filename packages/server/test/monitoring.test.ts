import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { obtain } from '../../../scripts/servers/index.ts'
import { namesIn } from '../../cronce/test/metrics/read-text.ts'
import { apiOf } from './kit.ts'

const ROOT = new URL('../../../', import.meta.url)
const OPS = new URL('ops/', ROOT)
const RULES = 'prometheus/cronce.rules.yml'

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

/** Both expositions, of an app with something in each of them. */
async function expositions(
  context: Parameters<typeof apiOf>[0],
): Promise<{ readonly process: string; readonly fleet: string }> {
  const { ask } = apiOf(context)
  return { process: (await ask('GET', '/metrics')).body, fleet: (await ask('GET', '/metrics/fleet')).body }
}

async function promtool(...args: string[]): Promise<void> {
  const { stdout, stderr, status } = spawnSync(await obtain('promtool'), args, { cwd: OPS })
  assert.equal(status, 0, `${stdout}${stderr}`)
}

test('Prometheus takes the rules, each alert is raised by what it is about, and the example configuration is valid', async () => {
  await promtool('check', 'rules', RULES)
  await promtool('test', 'rules', 'prometheus/cronce.rules.test.yml')
  await promtool('check', 'config', '--syntax-only', 'prometheus/prometheus.yml')
})

test('rules and dashboard use names and labels that are exported, and the dashboard all of the names', async (context) => {
  const { process, fleet } = await expositions(context)
  const exported = new Set([...namesIn(process), ...namesIn(fleet)])
  const bare = (name: string) => (exported.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))
  const usedIn = (text: string) => new Set([...text.matchAll(/\bcronce_[a-z_]+/g)].map(([name]) => bare(name)))
  for (const path of [`ops/${RULES}`, 'ops/prometheus/cronce.rules.test.yml', 'ops/grafana/cronce.json']) {
    const unknown = [...usedIn(read(path))].filter((name) => !exported.has(name))
    assert.deepEqual(unknown, [], path)
  }
  const shown = usedIn(read('ops/grafana/cronce.json'))
  assert.deepEqual(
    [...exported].filter((name) => !shown.has(name)),
    [],
    'not on the dashboard',
  )
  // `job` would be the group of targets, silently.
  for (const path of [`ops/${RULES}`, 'ops/grafana/cronce.json']) {
    assert.doesNotMatch(read(path), /by \([^)]*\bjob\b|\{[^{}]*\bjob=/, path)
  }
})

test('docs/monitoring.md lists every metric with its type and help, and every alert; and there are no others', async (context) => {
  const page = read('docs/monitoring.md')
  const { process, fleet } = await expositions(context)
  for (const [scope, text] of Object.entries({ process, fleet })) {
    const chapter = page.split(`<!-- ${scope} metrics`)[1]!.split('\n\n')[0]!
    const rows = [...chapter.matchAll(/^\| `(cronce_\w+)` \((\w+)\) \|.*\| ([^|]+) \|$/gm)]
    const told = rows.map(([, name, type, help]) => `${name} ${type} ${help}`)
    const help = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map((match) => [match[1], match[2]]))
    const there = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
      ([, name, type]) => `${name} ${type} ${help.get(name!)}`,
    )
    assert.deepEqual(told, there, scope)
  }
  const alerts = [...read(`ops/${RULES}`).matchAll(/alert: (\w+)/g)].map((match) => match[1])
  const rows = [...page.matchAll(/^\| `(Cronce\w+)` \|/gm)].map((match) => match[1])
  assert.deepEqual(rows, alerts)
})

test('the scrape configuration in docs/monitoring.md is that of ops', () => {
  const strip = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^ *#|^global/.test(line))
      .join('\n')
  const [, written = ''] = /```yaml\n([\s\S]*?)```/.exec(read('docs/monitoring.md')) ?? []
  assert.equal(strip(written), strip(read('ops/prometheus/prometheus.yml')))
})
