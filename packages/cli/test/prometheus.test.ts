import assert from 'node:assert/strict'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'cronce'
import { startPrometheus } from '../../../scripts/servers/index.ts'
import { running, scratch } from './fixtures/service/running.ts'

const METRICS = '0123456789abcdef-metrics'
const OPERATE = '0123456789abcdef-operate'
const RULES = new URL('../../../ops/prometheus/cronce.rules.yml', import.meta.url)

const JOBS = `
let calls = 0
export default (app) => {
  app.job('often', { every: '200ms' }, () => {})
  app.job('flaky', { every: '500ms', retry: { attempts: 1, backoff: { base: '50ms' } } }, () => {
    if (++calls % 3 !== 0) throw new Error('no')
  })
}
`

const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

test('a Prometheus that scrapes three processes knows what the store has on record', { skip }, async (context) => {
  const folder = scratch(context)
  writeFileSync(join(folder, 'jobs.mjs'), JOBS)
  writeFileSync(join(folder, 'package.json'), '{ "name": "shop" }')
  const env = { CRONCE_METRICS_TOKEN: METRICS, CRONCE_OPERATE_TOKEN: OPERATE, CRONCE_DEPLOYMENT: 'v1' }
  const services = [1, 2, 3].map(() =>
    running(['start', 'jobs.mjs', '--store', 'sqlite:cronce.db', '--listen', '127.0.0.1:0'], { cwd: folder, env }),
  )
  for (const service of services) context.after(() => service.end('SIGKILL'))
  const urls = await Promise.all(services.map(async (service) => (await service.until(/The HTTP API is at (\S+)/))[1]!))
  const status = async (path: string, token: string) =>
    (await fetch(urls[0]! + path, { headers: { authorization: `Bearer ${token}` } })).status
  assert.deepEqual([await status('/metrics', METRICS), await status('/metrics', 'wrong-token-0123456')], [200, 401])
  assert.equal(await status('/api/v1/schedules', METRICS), 403)

  const rules = join(folder, 'cronce.rules.yml')
  copyFileSync(RULES, rules)
  const hosts = urls.map((url) => new URL(url).host)
  const scrape = (name: string, path: string, targets: readonly string[]) => `
  - job_name: ${name}
    metrics_path: ${path}
    authorization: { credentials: ${METRICS} }
    static_configs: [{ targets: ${JSON.stringify(targets)} }]`
  const config = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${rules}]
scrape_configs:${scrape('cronce', '/metrics', hosts)}${scrape('cronce-fleet', '/metrics/fleet', hosts.slice(0, 1))}
`
  const prometheus = await startPrometheus({ config })
  context.after(() => prometheus.stop())
  const ask = async (query: string): Promise<readonly { metric: Record<string, string>; value: number }[]> => {
    const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`)
    const { data } = (await answer.json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] }
    }
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }
  const until = async (query: string, is: (value: number) => boolean): Promise<number> => {
    for (let tries = 0; tries < 240; tries++) {
      const value = (await ask(query))[0]?.value
      if (value !== undefined && is(value)) return value
      await sleep(500)
    }
    throw new Error(`It did not come to that: ${query} is ${JSON.stringify(await ask(query))}`)
  }

  await until('sum(up)', (value) => value === 4)
  await until('max(cronce_instances{state="live"})', (value) => value === 3)
  await until('sum(cronce_fires_total{outcome="succeeded",job_name="often"})', (value) => value > 30)
  await until('count(sum by (instance) (cronce_runs_total) > 0)', (value) => value >= 2)
  // The label of Prometheus and ours do not meet.
  const [series] = await ask('cronce_fires_total{job_name="often"}')
  const { job: group, exported_job: renamed } = series!.metric
  assert.deepEqual([group, renamed], ['cronce', undefined])

  const client = await connect({ store: `sqlite:${join(folder, 'cronce.db')}`, logger: false })
  context.after(() => client.close())
  for (const name of ['often', 'flaky']) await client.schedules.pause(name)
  const open = async () =>
    (await Promise.all(['often', 'flaky'].map((name) => client.schedules.get(name)))).flatMap((view) => view.open)
  while ((await open()).some(({ token }) => token !== null)) await sleep(100)
  const recorded = new Map<string, number>()
  for await (const { job, state, range } of client.fires.all()) {
    if (state === 'open') continue
    const key = `${job} ${state}`
    recorded.set(key, (recorded.get(key) ?? 0) + (range?.count ?? 1))
  }
  for (const [key, count] of recorded) {
    const [job, outcome] = key.split(' ')
    await until(`sum(cronce_fires_total{job_name="${job}",outcome="${outcome}"})`, (value) => value === count)
  }
  await until('max(cronce_schedules{job_name="often",state="paused"})', (value) => value === 1)

  // A killed process is no longer scraped, and the store reports that it has died.
  await services[2]!.end('SIGKILL')
  await until('max(cronce_instances{state="live"})', (value) => value === 2)
  await until('sum(up{job="cronce"})', (value) => value === 2)
})
