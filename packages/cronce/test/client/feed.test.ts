import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce, type FeedEntry } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { until } from '../processes/fleet.ts'

/** The entries until `count` have come, or a while has passed. */
async function collect(feed: AsyncIterable<FeedEntry>, count: number, stop: AbortController): Promise<string[]> {
  const told: string[] = []
  for await (const entry of feed) {
    if (entry.kind === 'gap') told.push('gap')
    else if (entry.kind === 'fire.ended') told.push(`${entry.kind} ${entry.fire.schedule} ${entry.fire.reason}`)
    else told.push(`${entry.kind} ${entry.run.schedule} ${entry.run.state}`)
    if (told.length >= count) stop.abort()
  }
  return told
}

test('a feed reports every start and end of a run, and every fire that never ran, once', async (context) => {
  const store = memory()
  const started = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const slow = (): Promise<void> => {
    started.resolve()
    return finished.promise
  }
  const worker = cronce({ store, signals: false, logger: false })
    .job('slow', {}, slow)
    .job('quick', {}, () => {})
  await worker.start()
  context.after(() => worker.stop())
  const observer = cronce({ store, signals: false, logger: false })
  context.after(() => observer.stop())

  await worker.schedules.trigger('slow')
  await started.promise
  // A start of the millisecond in which the feed begins would be reported as well.
  const startedAt = Date.now()
  await until('a later millisecond', async () => Date.now() > startedAt)

  const stop = new AbortController()
  const giveUp = setTimeout(() => stop.abort(), 120_000)
  context.after(() => clearTimeout(giveUp))
  const ready = Promise.withResolvers<void>()
  const told = collect(observer.feed({ interval: '100ms', signal: stop.signal, onReady: ready.resolve }), 4, stop)
  await ready.promise
  await worker.schedules.trigger('slow')
  await worker.schedules.trigger('quick')
  await until('it has ended', async () => (await worker.runs.list({ outcome: 'succeeded' })).items.length === 1)
  finished.resolve()

  assert.deepEqual((await told).sort(), [
    'fire.ended slow overlap',
    'run.ended quick succeeded',
    'run.ended slow succeeded',
    'run.started quick succeeded',
  ])
})

test('a feed from an earlier instant begins with what happened since', async (context) => {
  const store = memory()
  const app = cronce({ store, signals: false, logger: false }).job('quick', {}, () => {})
  await app.start()
  context.after(() => app.stop())
  const from = Date.now()
  await app.schedules.trigger('quick')
  await until('it has ended', async () => (await app.runs.list({ outcome: 'succeeded' })).items.length === 1)
  const stop = new AbortController()
  const told = await collect(app.feed({ from, interval: '100ms', signal: stop.signal }), 2, stop)
  assert.deepEqual(told, ['run.started quick succeeded', 'run.ended quick succeeded'])
})
