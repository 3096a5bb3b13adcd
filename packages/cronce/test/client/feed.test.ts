import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce, type FeedEntry } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

/** What is told until `count` entries have come, or a while has passed. */
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

test('a feed tells what runs begin and end anywhere, and what was never run, each once', async (context) => {
  const store = memory()
  let finish = (): void => {}
  const worker = cronce({ store, signals: false, logger: false })
    .job('slow', {}, () => new Promise<void>((resolve) => (finish = resolve)))
    .job('quick', {}, () => {})
  await worker.start()
  context.after(() => worker.stop())
  const observer = cronce({ store, signals: false, logger: false })
  context.after(() => observer.stop())

  await worker.schedules.trigger('slow')
  const isRunning = async () => (await worker.runs.list({ outcome: 'open' })).items.length === 1
  for (let tries = 0; tries < 200 && !(await isRunning()); tries++) await new Promise((done) => setTimeout(done, 10))

  const stop = new AbortController()
  const giveUp = setTimeout(() => stop.abort(), 20_000)
  context.after(() => clearTimeout(giveUp))
  const told = collect(observer.feed({ interval: '100ms', signal: stop.signal }), 4, stop)
  await new Promise((done) => setTimeout(done, 300))
  await worker.schedules.trigger('slow')
  await worker.schedules.trigger('quick')
  await new Promise((done) => setTimeout(done, 500))
  finish()

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
  await new Promise((done) => setTimeout(done, 500))
  const stop = new AbortController()
  const told = await collect(app.feed({ from, interval: '100ms', signal: stop.signal }), 2, stop)
  assert.deepEqual(told, ['run.started quick succeeded', 'run.ended quick succeeded'])
})
