import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, type FeedEntry, type FeedOptions, type FireView } from 'cronce'
import { EventHub, type HubSettings } from '../src/events/hub.ts'
import { openStream } from '../src/events/stream.ts'
import { bearerAccess } from '../src/index.ts'
import type { Source } from '../src/source.ts'
import { apiOf, eventually } from './kit.ts'
import { EventReader } from './kit-events.ts'

function get(path: string, headers: Record<string, string> = {}): Request {
  return new Request(`http://localhost${path}`, { headers })
}

describe('the stream of events', () => {
  test('sends runs and fires that end without a run, by schedule and job', async (context) => {
    const { app, handler } = apiOf(context)
    app.job('work', {}, () => 'done')
    app.job('other', {}, () => {})
    await app.start()
    const all = new EventReader(await handler(get('/api/v1/events')))
    const mine = new EventReader(await handler(get('/api/v1/events?schedule=work')))
    const byJob = new EventReader(await handler(get('/api/v1/events?job=work')))
    for (const reader of [all, mine, byJob]) assert.equal((await reader.next())?.kind, 'ready')
    await app.schedules.trigger('other')
    const other = await all.until('run.ended')
    assert.deepEqual([other.data.run.schedule, other.data.run.log], ['other', undefined])
    await app.schedules.trigger('work')
    for (const reader of [mine, byJob]) {
      const started = await reader.next()
      assert.deepEqual([started?.kind, started?.data.run.schedule], ['run.started', 'work'])
      const ended = await reader.until('run.ended')
      assert.deepEqual([ended.data.run.state, ended.data.run.result], ['succeeded', 'done'])
      await reader.cancel()
    }
    handler.close()
    while ((await all.next()) !== null);
  })

  test('goes on behind the last event that was seen, and sends reset when it cannot', async (context) => {
    const { app, handler } = apiOf(context)
    app.job('work', {}, () => {})
    await app.start()
    const first = new EventReader(await handler(get('/api/v1/events')))
    await first.until('ready')
    await app.schedules.trigger('work')
    const { id } = await first.until('run.started')
    await first.cancel()
    const second = new EventReader(await handler(get('/api/v1/events', { 'last-event-id': id })))
    assert.deepEqual((await second.next())?.kind, 'ready')
    assert.equal((await second.next())?.kind, 'run.ended')
    await second.cancel()
    for (const unknown of ['abc-1', 'nonsense', `${id}0000`, `${id.split('-')[0]}-99`]) {
      const third = new EventReader(await handler(get('/api/v1/events', { 'last-event-id': unknown })))
      assert.equal((await third.next())?.kind, 'reset', unknown)
      await third.cancel()
    }
  })

  test('is limited to a number of concurrent streams', async (context) => {
    const { handler } = apiOf(context, { streams: 2 })
    const readers = [0, 1].map(async () => new EventReader(await handler(get('/api/v1/events'))))
    const full = await Promise.all(readers).then(() => handler(get('/api/v1/events')))
    assert.deepEqual([full.status, full.headers.get('retry-after')], [503, '1'])
    await (await readers[0]!).cancel()
    const again = new EventReader(await handler(get('/api/v1/events')))
    assert.equal((await again.next())?.kind, 'ready')
  })

  test('leaves streams for other tokens, however many one token opens', async (context) => {
    const tokens = ['reader-token-0123456789', 'other-token-0123456789']
    const [greedy, other] = tokens.map((token) => ({ authorization: `Bearer ${token}` }))
    for (const [options, most] of [
      [{ streams: 8 }, 2],
      [{ streams: 3 }, 1],
      [{ streams: 8, streamsPerPrincipal: 3 }, 3],
    ] as const) {
      const { handler } = apiOf(context, { ...options, access: bearerAccess({ read: tokens }) })
      const readers = []
      for (let opened = 0; opened < most; opened++) {
        readers.push(new EventReader(await handler(get('/api/v1/events', greedy))))
      }
      const full = await handler(get('/api/v1/events', greedy))
      assert.deepEqual([full.status, full.headers.get('retry-after')], [429, '30'])
      const { error } = (await full.json()) as { error: { code: string } }
      assert.equal(error.code, 'PRINCIPAL_STREAMS_FULL')
      const another = new EventReader(await handler(get('/api/v1/events', other)))
      assert.equal((await another.next())?.kind, 'ready')
      await readers[0]!.cancel()
      const again = new EventReader(await handler(get('/api/v1/events', greedy)))
      assert.equal((await again.next())?.kind, 'ready')
    }
  })

  test('counts callers whom the access function does not name together, and only against all streams', async (context) => {
    const { handler } = apiOf(context, { streams: 4, streamsPerPrincipal: 1, access: () => 'read' })
    for (let opened = 0; opened < 4; opened++) new EventReader(await handler(get('/api/v1/events')))
    assert.equal((await handler(get('/api/v1/events'))).status, 503)
  })
})

/** A feed that emits given entries. */
async function madeUp(
  context: { after(fn: () => Promise<void>): void },
  settings: Partial<HubSettings> = {},
): Promise<{
  hub: EventHub
  say: (count: number) => void
  fail: () => void
  feeds: () => number
  /** From now on a feed is ready only when this is called. */
  hold: () => () => void
}> {
  let baseline: Promise<void> = Promise.resolve()
  const client = await connect({ store: 'memory:' })
  let feeds = 0
  let said: FeedEntry[] = []
  let hasFailed = false
  let wake = (): void => {}
  async function* feed({ signal, onReady }: FeedOptions = {}): AsyncGenerator<FeedEntry> {
    feeds++
    await baseline
    onReady?.()
    signal?.addEventListener('abort', () => wake())
    while (signal?.aborted !== true) {
      if (hasFailed) {
        hasFailed = false
        throw new Error('the feed broke')
      }
      const entries = said
      said = []
      yield* entries
      await new Promise<void>((resolve) => {
        wake = resolve
        if (said.length > 0 || hasFailed) resolve()
      })
    }
    feeds--
  }
  const source = { ...client, feed } as Source
  const hub = new EventHub(source, {
    streams: 100,
    streamsPerPrincipal: 100,
    ring: 5_000,
    lingerMs: 0,
    heartbeatMs: 10_000,
    beatsMost: 1_000_000,
    retryMs: 20,
    onError: () => {},
    ...settings,
  })
  context.after(async () => {
    hub.close()
    await client.close()
  })
  const fire = { schedule: 's', job: 'j' } as FireView
  return {
    hub,
    feeds: () => feeds,
    hold() {
      const held = Promise.withResolvers<void>()
      baseline = held.promise
      return held.resolve
    },
    say(count) {
      for (let at = 0; at < count; at++) said.push({ kind: 'fire.ended', at, fire })
      wake()
    },
    fail() {
      hasFailed = true
      wake()
    },
  }
}

const SEEN = { isVisible: null, seal: null, hasPayloads: true, redact: new Set<string>() }
const OPTIONS = { principal: '', lastEventId: null, schedule: undefined, job: undefined, ...SEEN }

describe('the hub behind it', () => {
  test('reads one feed for all clients, and only while one is connected', async (context) => {
    const { hub, feeds } = await madeUp(context)
    const aborts = [new AbortController(), new AbortController(), new AbortController()]
    const streams = await Promise.all(aborts.map(({ signal }) => openStream(hub, { ...OPTIONS, signal })))
    await eventually(async () => feeds() === 1)
    assert.equal(hub.listening, 3)
    aborts[0]!.abort()
    await streams[1]!.body!.cancel()
    assert.deepEqual([hub.listening, hub.running], [1, true])
    aborts[2]!.abort()
    await eventually(async () => !hub.running && feeds() === 0)
    assert.equal(hub.listening, 0)
    const late = await openStream(hub, { ...OPTIONS, signal: AbortSignal.abort() })
    assert.equal(hub.listening, 0)
    assert.equal(await late.text(), '')
  })

  test('drops a client that reads too slowly, and keeps nothing for it', async (context) => {
    const { hub, say } = await madeUp(context, { ring: 100 })
    const slow = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    const fast = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    await fast.until('ready')
    for (let round = 0; round < 10; round++) {
      say(50)
      for (let count = 0; count < 50; count++) assert.equal((await fast.next())?.kind, 'fire.ended')
    }
    const seen: string[] = []
    for (let event = await slow.next(); event !== null; event = await slow.next()) seen.push(event.kind)
    assert.equal(seen[0], 'ready')
    assert.ok(seen.length < 500, `${seen.length} of 501`)
    assert.equal(hub.listening, 1)
  })

  test('sends heartbeats while nothing happens, and drops a client that does not read them', async (context) => {
    const { hub } = await madeUp(context, { heartbeatMs: 20 })
    const reader = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    await reader.until('ready')
    void reader.next()
    await eventually(async () => reader.beats >= 3)
    await openStream(hub, { ...OPTIONS, signal: new AbortController().signal })
    await eventually(async () => hub.listening === 1)
  })

  test('ends a stream after a while, so that access is decided anew; its reader goes on behind the last event', async (context) => {
    const { hub } = await madeUp(context, { heartbeatMs: 20, beatsMost: 3, lingerMs: 600_000 })
    const signal = new AbortController().signal
    const reader = new EventReader(await openStream(hub, { ...OPTIONS, signal }))
    await reader.until('ready')
    const reading = reader.next()
    await eventually(async () => hub.listening === 0)
    assert.equal(await reading, null)
    const again = new EventReader(await openStream(hub, { ...OPTIONS, signal, lastEventId: reader.lastId }))
    assert.equal((await again.next())?.kind, 'ready', 'it goes on, without a reset')
    await again.cancel()
  })

  test('restarts when the feed breaks, and reports that events may be missing', async (context) => {
    const broken: unknown[] = []
    const { hub, say, fail } = await madeUp(context, { onError: (error) => broken.push(error) })
    const reader = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    await reader.until('ready')
    say(1)
    await reader.until('fire.ended')
    fail()
    assert.equal((await reader.next())?.kind, 'reset')
    say(1)
    assert.equal((await reader.next())?.kind, 'fire.ended')
    assert.equal(broken.length, 1)
  })

  test('sends ready, and reset after the feed broke, only once the feed knows where it begins', async (context) => {
    const { hub, fail, hold } = await madeUp(context)
    const isReady = hold()
    const seen: string[] = []
    const opened = openStream(hub, { ...OPTIONS, signal: new AbortController().signal })
    void opened.then(() => seen.push('opened'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(seen.length, 0)
    isReady()
    const reader = new EventReader(await opened)
    await reader.until('ready')
    const isReadyAgain = hold()
    fail()
    const reset = reader.next().then((event) => seen.push(event!.kind))
    // A newcomer reads the lists now; what ends before the feed begins again is in the reset that follows.
    const newcomer = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    await newcomer.until('ready')
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.deepEqual(seen, ['opened'])
    isReadyAgain()
    await reset
    assert.deepEqual(seen, ['opened', 'reset'])
    assert.equal((await newcomer.next())?.kind, 'reset')
  })

  test('a quiet stream advances its id with the events of others, so that it can go on after a break', async (context) => {
    const { hub, say } = await madeUp(context, { ring: 100, heartbeatMs: 20 })
    const never = new AbortController().signal
    const quiet = new EventReader(await openStream(hub, { ...OPTIONS, schedule: 'other', signal: never }))
    const busy = new EventReader(await openStream(hub, { ...OPTIONS, signal: never }))
    const { id: firstId } = await quiet.until('ready')
    void quiet.next()
    await busy.until('ready')
    for (let round = 0; round < 5; round++) {
      say(50)
      for (let count = 0; count < 50; count++) assert.equal((await busy.next())?.kind, 'fire.ended')
    }
    await eventually(async () => quiet.lastId.endsWith('-250'))
    const options = { ...OPTIONS, schedule: 'other', signal: never }
    const again = new EventReader(await openStream(hub, { ...options, lastEventId: quiet.lastId }))
    assert.equal((await again.next())?.kind, 'ready')
    const stale = new EventReader(await openStream(hub, { ...options, lastEventId: firstId }))
    assert.equal((await stale.next())?.kind, 'reset')
  })

  test('cuts nothing short: thousands of entries arrive in order', async (context) => {
    const { hub, say } = await madeUp(context)
    const reader = new EventReader(await openStream(hub, { ...OPTIONS, signal: new AbortController().signal }))
    await reader.until('ready')
    say(4_000)
    for (let at = 0; at < 4_000; at++) assert.equal((await reader.next())?.data.at, at)
  })
})
