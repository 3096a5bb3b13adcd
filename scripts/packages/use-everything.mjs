/** A user's program, for check-packages.ts: it imports every entry of the packed library and runs every kind of target. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { CronceError, cronce } from 'cronce'
import { sentry } from 'cronce/check-in'
import { cron } from 'cronce/cron'
import { etcd } from 'cronce/etcd'
import { memory } from 'cronce/memory'
import { metrics } from 'cronce/metrics'
import { createTask, setup, shutdown } from 'cronce/node-cron'
import { otel } from 'cronce/otel'
import { postgres } from 'cronce/postgres'
import { redis } from 'cronce/redis'
import { sqlite } from 'cronce/sqlite'
import { testKit } from 'cronce/testing'
import { zookeeper } from 'cronce/zookeeper'

// One class of errors, whichever entry throws.
const options = { namespace: 'a', adopt: false, production: false, warn() {} }
await assert.rejects(async () => cron('nonsense'), CronceError)
await assert.rejects(async () => cronce({}), CronceError)
await assert.rejects(async () => sentry({}, { slug: 'billing' }), CronceError)
await assert.rejects(async () => sqlite(''), CronceError)
await assert.rejects(async () => postgres(1).open(options), CronceError)
await assert.rejects(async () => redis(1).open(options), CronceError)
await assert.rejects(async () => etcd(1), CronceError)
await assert.rejects(async () => zookeeper(1), CronceError)

// An app of `cronce` recognizes the store of `cronce/testing`, and lives in its time.
const kit = testKit({ now: '2027-01-01T00:30:00Z' })
const tested = cronce({ store: kit.store, signals: false, logger: false })
let fires = 0
tested.job('hourly', '0 * * * *', () => {
  fires++
})
await tested.start()
await kit.advance('3h')
await tested.stop()
assert.equal(fires, 3)

// The programs that the library starts by path are in the package.
writeFileSync('task.mjs', 'export default () => "done"')
const app = cronce({ store: 'memory:', signals: false, logger: false })
app.job('thread', { file: './task.mjs', isolate: 'thread' })
app.job('process', { file: './task.mjs', isolate: 'process' })
app.job('command', { command: [process.execPath, '--version'] })
const outcomes = new Map()
const measured = metrics(app)
otel(app)
app.on('run.ended', ({ job, outcome }) => outcomes.set(job, outcome))
await app.start()
for (const job of ['thread', 'process', 'command']) await app.schedules.trigger(job)
while (outcomes.size < 3) await new Promise((resolve) => setTimeout(resolve, 20))
await app.stop()
assert.deepEqual([...outcomes.values()], ['succeeded', 'succeeded', 'succeeded'])
assert.match(measured.text(), /^cronce_runs_total\{job_name="thread",reason="completed",outcome="succeeded"\} 1$/m)

writeFileSync('background.mjs', 'export const task = () => "done"')
setup({ store: memory() })
const background = createTask('0 0 1 1 *', './background.mjs', { name: 'background' })
await background.start()
assert.equal(await background.execute(), 'done')
await shutdown()
console.log('everything works')
