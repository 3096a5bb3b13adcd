import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startedLine, stoppingLine } from '../../src/app/status-lines.ts'
import { cronce, type StoreSource } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { testKit } from '../../src/testing/test-kit.ts'

function kept() {
  const lines: string[] = []
  const keep = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  return { lines, logger: { error: keep('error'), warn: keep('warn'), info: keep('info') } }
}

test('a start is one line: the jobs, the next due time, the store and the instance', async () => {
  const kit = testKit()
  const { lines, logger } = kept()
  const app = kit.app({ logger })
  app
    .job('late', '0 5 * * *', () => {})
    .job('soon', '0 3 * * *', () => {})
    .job('manual', {}, () => {})
  await app.start()
  assert.equal(lines.length, 1)
  assert.match(
    lines[0]!,
    /^info Started: 3 jobs, next soon at 2027-01-01T03:00:00\.000Z \(in 3 h\), 1 without a schedule \(manual\)\. Store memory.*, instance \S+\.$/,
  )
  assert.ok(lines[0]!.includes(app.instance!))
  await app.stop()
  assert.equal(lines.length, 2, 'the stop is the other one')
})

test('a logger without info, or no logger, gets no line about a start', async () => {
  const kit = testKit()
  const { lines, logger } = kept()
  const app = kit.app({ logger: { error: logger.error, warn: logger.warn } })
  await app.job('a', '0 3 * * *', () => {}).start()
  await app.stop()
  assert.deepEqual(lines, [])
})

test('a line about the next due time is about what the store has, and works without jobs', () => {
  const about = { store: 'memory:', instance: 'i', now: 0, purpose: null, jobs: [] }
  const stored = { id: 'a', nextAt: 3_600_000, pause: null, retiredAt: null }
  assert.equal(startedLine({ ...about, schedules: [] }), 'Started: 0 jobs. Store memory:, instance i.')
  const line = startedLine({ ...about, schedules: [{ ...stored, id: 'b', nextAt: 7_200_000 }, stored] })
  assert.match(line, /^Started: 0 jobs, next a at 1970-01-01T01:00:00\.000Z \(in 1 h\)\./)
  const overdue = startedLine({ ...about, now: 3_630_000, schedules: [stored] })
  assert.match(overdue, /, next a at 1970-01-01T01:00:00\.000Z \(overdue by 30 s\)\./)
  const paused = { at: 0, until: null, note: null, author: null, missed: 'skip' } as const
  for (const idle of [{ nextAt: null }, { pause: paused }, { retiredAt: 0 }]) {
    const schedules = [{ ...stored, ...idle }] as Parameters<typeof startedLine>[0]['schedules']
    assert.equal(startedLine({ ...about, schedules }), 'Started: 0 jobs. Store memory:, instance i.')
  }
})

test('a stop logs what it waits for, and how to stop now', async () => {
  const by = { drainMs: 30_000, signal: 'SIGINT', isTerminal: true } as const
  assert.equal(stoppingLine([], by), null)
  assert.equal(
    stoppingLine(['billing'], by),
    'Stopping: 1 run may finish within 30 s (billing). Press Ctrl-C again to stop now.',
  )
  assert.equal(
    stoppingLine(['billing'], { ...by, isTerminal: false }),
    'Stopping: 1 run may finish within 30 s (billing). Send SIGINT again to stop now.',
    'PM2 sends SIGINT, and has no keyboard',
  )
  assert.equal(
    stoppingLine(['a', 'a', 'b', 'c', 'd', 'e'], { ...by, drainMs: 500, signal: 'SIGTERM' }),
    'Stopping: 6 runs may finish within 500 ms (a, b, c and 2 more). Send SIGTERM again to stop now.',
  )
  const { lines, logger } = kept()
  const app = cronce({ store: 'memory:', logger, signals: false })
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  app.job('billing', {}, () => {
    begun.resolve()
    return gate.promise
  })
  await app.start()
  await app.schedules.trigger('billing')
  await begun.promise
  const stopping = app.stop()
  assert.equal(lines.at(-1), 'info Stopping: 1 run may finish within 30 s (billing).')
  gate.resolve()
  await stopping
  assert.match(lines.at(-1)!, /^info Stopped: instance /)
})

test('a stop that waits for nothing is logged once, and so is each later one of the same app', async () => {
  const { lines, logger } = kept()
  const app = cronce({ store: 'memory:', logger, signals: false })
  app.job('billing', {}, () => {})
  await app.stop()
  assert.equal(lines.length, 0, 'it had not started')
  for (const times of [1, 2]) {
    await app.start()
    const { instance } = app
    await Promise.all([app.stop(), app.stop()])
    const stops = lines.filter((line) => line.startsWith('info Stop'))
    assert.equal(stops.length, times)
    assert.equal(stops.at(-1), `info Stopped: instance ${instance}.`)
  }
})

test('a failed run logs which attempt follows, and the last one that none is left', async () => {
  const kit = testKit()
  const { lines, logger } = kept()
  const app = kit.app({ logger })
  app.job('billing', { cron: '1 0 * * *', retry: { attempts: 1, backoff: { base: '10s', jitter: 0 } } }, () => {
    throw new Error('no money')
  })
  await app.start()
  await kit.advance('3m')
  await app.stop()
  const errors = lines.filter((line) => line.startsWith('error'))
  assert.equal(errors.length, 2)
  assert.match(errors[0]!, /^error billing \(due 2027-01-01T00:01:00\.000Z\) failed: Error: no money\n/)
  const nexts = lines.filter((line) => line.includes('attempt'))
  assert.match(nexts[0]!, /^info billing \(due [^)]*\): attempt 2 follows at 2027-01-01T00:01:10\.\d{3}Z\.$/)
  assert.match(nexts[1]!, /^info billing \(due [^)]*\): no attempt is left after attempt 2\.$/)
  assert.equal(nexts.length, 2)
  for (const line of errors) {
    assert.match(line, /status-lines\.test\.ts/, 'the frames of the application are there')
    assert.doesNotMatch(line, /[\\/]cronce[\\/]src[\\/]|node:internal/, "and the engine's are not")
  }
})

/** A store that can't be reached at first. */
function away(times: number, code: 'STORE_UNREACHABLE' | 'STORE_NOT_MIGRATED' = 'STORE_UNREACHABLE'): StoreSource {
  const source = memory() as StoreSource
  let opened = 0
  return {
    name: 'memory:',
    open(options) {
      if (opened++ < times) throw new StoreError(code, 'There is no server.', { hint: 'Wait.' })
      return source.open(options)
    },
  }
}

test('start rejects when the store is unreachable, waits for it with wait: true, and gives up when stopped', async () => {
  const { lines, logger } = kept()
  await assert.rejects(cronce({ store: away(1), logger, signals: false }).start(), { code: 'STORE_UNREACHABLE' })
  const app = cronce({ store: away(1), logger, signals: false })
  await app.start({ wait: true })
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['warn Waiting for the store', 'info Started'],
  )
  await app.stop()
  const hopeless = cronce({ store: away(1, 'STORE_NOT_MIGRATED'), logger, signals: false })
  await assert.rejects(hopeless.start({ wait: true }), { code: 'STORE_NOT_MIGRATED' })
  const endless = cronce({ store: away(Number.POSITIVE_INFINITY), logger: false, signals: false })
  const starting = endless.start({ wait: true })
  await endless.stop()
  await starting
  assert.equal(endless.instance, null)
})

test('start refuses options that it does not know', async () => {
  const app = cronce({ store: 'memory:', logger: false })
  const start = app.start as (options: unknown) => Promise<void>
  await assert.rejects(start({ wiat: true }), { code: 'OPTION_UNKNOWN', hint: 'Did you mean wait?' })
  await assert.rejects(start({ wait: 'yes' }), { code: 'OPTION_INVALID', hint: 'Write wait: true.' })
})
