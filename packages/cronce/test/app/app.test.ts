import assert from 'node:assert/strict'
import { test } from 'node:test'
import { surround } from '../../src/app/surroundings.ts'
import { type CronceOptions, cronce } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { testKit } from '../../src/testing/test-kit.ts'
import { createFleet, type Declare, NEW_YEAR } from '../engine/fleet.ts'

test('middleware goes around every run, the first one outermost, and sees what the handler returns and throws', async () => {
  const kit = testKit()
  const app = kit.app()
  const seen: unknown[] = []
  for (const name of ['outer', 'inner']) {
    app.use(async (run, next) => {
      seen.push(`${name} before ${run.fire.schedule}`)
      try {
        const value = await next()
        seen.push(`${name} after ${value}`)
        return `${name}(${value})`
      } catch (error) {
        seen.push(`${name} caught ${(error as Error).message}`)
        throw error
      }
    })
  }
  app
    .job('good', '1 0 * * *', () => 'value')
    .job('bad', '2 0 * * *', () => {
      throw new Error('no')
    })
  await app.start()
  await kit.advance('3m')
  assert.deepEqual(seen, [
    'outer before good',
    'inner before good',
    'inner after value',
    'outer after inner(value)',
    'outer before bad',
    'inner before bad',
    'inner caught no',
    'outer caught no',
  ])
  const { items } = await app.runs.list()
  assert.deepEqual(
    items.map(({ state, result }) => [state, result]),
    [
      ['failed', null],
      ['succeeded', 'outer(inner(value))'],
    ],
  )
  await app.stop()
})

test('a logger gets failures as errors and dangers as warnings, and nothing about success', async () => {
  const kit = testKit()
  const lines: string[] = []
  const logger = {
    error: (message: string) => lines.push(`error ${message}`),
    warn: (message: string) => lines.push(`warn ${message}`),
  }
  const app = kit.app({ logger })
  app
    .job('good', '1 0 * * *', () => {})
    .job('bad', '2 0 * * *', () => {
      throw new Error('out of paper')
    })
  await app.start()
  await kit.advance('3m')
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /^error bad \(due 2027-01-01T00:02:00.000Z\) failed: Error: out of paper\n/)
  await app.stop()
})

test('the log shows what an exactly-once handler threw after its transaction, and that another one had no transaction', async () => {
  const kit = testKit()
  const lines: string[] = []
  const app = kit.app({ logger: { error: (line) => lines.push(line), warn: (line) => lines.push(line) } })
  app
    .job('late', { cron: '1 0 * * *', guarantee: 'exactly-once' }, async (run) => {
      await run.transaction(() => {})
      throw new Error('mail server is down')
    })
    .job('none', { cron: '2,3 0 * * *', guarantee: 'exactly-once' }, () => {})
  await app.start()
  await kit.advance('5m')
  assert.equal(lines.length, 2)
  assert.match(
    lines[0]!,
    /^late \(due 2027-01-01T00:01:00.000Z\) succeeded with its transaction, but its handler failed afterwards: Error: mail server is down\n[\s\S]*\nIt is not run again\.$/,
  )
  assert.match(lines[1]!, /^Job "none" is exactly-once, but its run did not commit a run\.transaction: /)
  await app.stop()
})

test('the compiler refuses an async transaction on SQLite, and on no other store', () => {
  // Only compiled: nothing here runs.
  const declare = () => {
    const lite = cronce({ store: sqlite(':memory:') })
    lite.job('sync', {}, async (run) => {
      const rows: number = await run.transaction((tx) => tx.prepare('select 1').all().length)
      await run.transaction((tx) => tx.exec('delete from invoices'))
      // @ts-expect-error async
      await run.transaction(async (tx) => tx.exec('delete from invoices'))
      return rows
    })
    cronce({ store: memory() }).job('async', {}, async (run) => {
      const value: number = await run.transaction(async (tx) => {
        tx.set('paid', true)
        return 5
      })
      return value
    })
    cronce({ store: 'sqlite:x' }).job('unknown', {}, (run) => run.transaction(async () => 5))
  }
  assert.equal(typeof declare, 'function')
})

test('a schedule for a job that is not there is warned about, with the nearest name', async () => {
  const kit = testKit()
  const lines: string[] = []
  const app = kit.app({ logger: { error: (line) => lines.push(line), warn: (line) => lines.push(line) } })
  app.job('billing', {}, () => {})
  await app.schedules.create('x', { job: 'biling', every: '1h' })
  assert.deepEqual(lines, ['No live instance has the job "biling"; did you mean billing?'])
  await app.stop()
})

test('a logger that throws, and listeners that throw or reject, do no harm', async () => {
  const kit = testKit()
  const logger = {
    error: () => {
      throw new Error('disk full')
    },
    warn: () => {
      throw new Error('disk full')
    },
  }
  const app = kit.app({ logger })
  const heard: string[] = []
  app.on('*', () => {
    throw new Error('listener')
  })
  app.on('run.ended', async () => {
    throw new Error('listener')
  })
  app.on('run.ended', ({ outcome }) => heard.push(outcome))
  app.job('bad', { every: '1m', retry: 1 }, (run) => {
    if (run.attempt === 1) throw new Error('no')
  })
  await app.start()
  await kit.advance('30s')
  assert.deepEqual(heard, ['failed', 'succeeded'])
  await app.stop()
})

test('an error that a listener throws is logged', async () => {
  const kit = testKit()
  const errors: string[] = []
  const app = kit.app({ logger: { error: (message) => errors.push(message), warn: () => {} } })
  app.on('run.started', () => {
    throw new Error('listener')
  })
  app.job('good', '1 0 * * *', () => {})
  await app.start()
  await kit.advance('2m')
  assert.deepEqual(errors, ['A listener of run.started threw: Error: listener'])
  await app.stop()
})

test('a removed listener receives nothing more', async () => {
  const kit = testKit()
  const app = kit.app().job('good', '* * * * *', () => {})
  let heard = 0
  const off = app.on('run.started', () => ++heard)
  await app.start()
  await kit.advance('10s')
  off()
  await kit.advance('5m')
  assert.equal(heard, 1)
  await app.stop()
})

test('an app is started once, and jobs are declared before', async () => {
  const kit = testKit()
  const app = kit.app().job('good', '* * * * *', () => {})
  const starting = app.start()
  const late = { code: 'ALREADY_STARTED' }
  await assert.rejects(app.start(), late)
  assert.throws(() => app.job('late', '* * * * *', () => {}), late)
  assert.throws(() => app.use((_, next) => next()), late)
  await starting
  await assert.rejects(app.runDue(), late)
  await app.stop()
  app.job('later', '* * * * *', () => {})
  assert.throws(() => app.job('later', '* * * * *', () => {}), { code: 'JOB_EXISTS' })
})

test('an app that is stopped while it starts does not go on', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) => app.job('bill', '* * * * *', () => {}))
  await fleet.world.until(member.app.stop())
  const before = fleet.handled.length
  const restore = member.link.disturb(() => ({ kind: 'throws' }))
  const starting = member.app.start()
  await fleet.advance('30s')
  const stopping = member.app.stop()
  await fleet.world.until(stopping)
  await fleet.world.until(starting)
  restore()
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, before)
  assert.deepEqual(
    (await fleet.operator.instances.list()).map(({ state }) => state),
    ['left'],
  )
  fleet.end()
})

test('an app requires a store', () => {
  for (const store of [undefined, '', null]) {
    assert.throws(() => cronce({ store } as CronceOptions), { code: 'STORE_MISSING' })
  }
  assert.throws(
    () => cronce({ store: 'oracle://user:secret@host' }),
    (error: Error & { code?: unknown }) => {
      assert.equal(error.code, 'STORE_UNKNOWN')
      return !error.message.includes('secret')
    },
  )
})

test('runDue runs what is due, waits for it, and leaves', async () => {
  const kit = testKit()
  const declare = () =>
    kit
      .app()
      .job('good', { cron: '* * * * *', misfire: 'all' }, () => {})
      .job('bad', '*/2 * * * *', () => {
        throw new Error('no')
      })
  // As the first request, it declares the jobs, and runs what is due at that moment.
  assert.deepEqual(await declare().runDue(), { started: 2, succeeded: 1, failed: 1 })
  await kit.advance('4m30s')
  const app = declare()
  assert.deepEqual(await app.runDue(), { started: 5, succeeded: 4, failed: 1 })
  assert.deepEqual(await app.runDue(), { started: 0, succeeded: 0, failed: 0 })
  const states = (await app.instances.list()).map(({ state }) => state)
  assert.deepEqual(new Set(states), new Set(['left']))
})

test('runDue does not leave due fires to peers that may be dead', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app) => {
    for (let job = 0; job < 8; job++) app.job(`job-${job}`, '1 0 * * *', () => {})
  }
  const called = await fleet.add(declare)
  await fleet.world.until(called.app.stop())
  const crashed = await fleet.addMany(8, declare)
  await fleet.advance('50s')
  for (const member of crashed) member.crash()
  await fleet.advance('10s')
  const summary = await fleet.world.until(called.app.runDue())
  assert.equal(summary.succeeded, 8)
})

test('runDue that fails leaves nothing behind', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) => app.job('bill', '* * * * *', () => {}))
  await fleet.world.until(member.app.stop())
  member.link.fail('due', { kind: 'throws' })
  await assert.rejects(fleet.world.until(member.app.runDue()), { code: 'ECONNRESET' })
  await fleet.advance('10m')
  const states = (await fleet.operator.instances.list()).map(({ state }) => state)
  assert.deepEqual(new Set(states), new Set(['left']))
  assert.equal((await fleet.world.until(member.app.runDue())).succeeded, 1)
  fleet.end()
})

test('a value that cannot be converted to text, thrown or rejected by a listener, does no harm', async () => {
  const kit = testKit()
  const app = kit.app({ logger: { error: () => Promise.reject(new Error('disk full')), warn: () => {} } })
  app.on('run.started', () => {
    throw Object.create(null)
  })
  app.on('run.started', () => Promise.reject(Object.create(null)))
  let ran = 0
  app.job('good', '1 0 * * *', () => void ran++)
  await app.start()
  await kit.advance('2m')
  assert.equal(ran, 1)
  await app.stop()
})

test('stop() ends even if the store cannot be closed and peers cannot be notified', async () => {
  const kit = testKit()
  const { open } = kit.store
  const broken = Object.assign(Object.create(kit.store) as typeof kit.store, {
    open: async (options: Parameters<typeof open>[0]) =>
      Object.assign(await open(options), { close: () => Promise.reject(Object.create(null)) }),
  })
  const warn = (): void => {
    throw new Error('disk full')
  }
  const app = cronce({ store: broken, logger: { error: warn, warn }, signals: false }).job('good', {}, () => {})
  await app.start()
  await app.stop()
  assert.equal(app.instance, null)
})

test('an app that is stopped while its store opens, and started again, is one instance', async () => {
  const kit = testKit()
  const { open } = kit.store
  const slow = Promise.withResolvers<void>()
  let opened = 0
  const own = Object.assign(kit.store, {
    open: async (options: Parameters<typeof open>[0]) => {
      if (opened++ === 0) await slow.promise
      return open(options)
    },
  })
  const app = cronce({ store: own, logger: false, signals: false }).job('good', '* * * * *', () => {})
  const first = app.start()
  await kit.advance('1s')
  const stopping = app.stop()
  await kit.advance('10s')
  await stopping
  await app.start()
  slow.resolve()
  await kit.advance('1m')
  await first
  assert.deepEqual([opened, kit.events.filter(({ type }) => type === 'instance.joined').length], [2, 1])
  assert.ok(kit.events.every(({ type }) => type !== 'store.failed'))
  await app.stop()
})

test('runDue whose store fails meanwhile lets what it has begun finish', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) =>
    app.job('pay', { cron: '1 0 * * *', guarantee: 'at-most-once' }, () => clock.sleep(20_000)),
  )
  await fleet.world.until(member.app.stop())
  await fleet.add((app) => app.job('other', '0 5 * * *', () => {}), { app: 'other' })
  await fleet.advance('90s')
  let looks = 0
  member.link.disturb(({ name }) => (name === 'due' && ++looks === 2 ? { kind: 'throws' } : null))
  await assert.rejects(fleet.world.until(member.app.runDue()), { code: 'ECONNRESET' })
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(
    items.map(({ state }) => state),
    ['succeeded'],
  )
  fleet.end()
})

test('runDue that is stopped leaves once', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) => app.job('pay', '1 0 * * *', () => clock.sleep(5_000)))
  await fleet.world.until(member.app.stop())
  await fleet.advance('90s')
  const running = member.app.runDue()
  await fleet.advance('1s')
  await fleet.world.until(member.app.stop())
  assert.equal((await fleet.world.until(running)).succeeded, 1)
  assert.equal(fleet.events('instance.left').length, 2)
  fleet.end()
})

test('a schedule for one instant cleans up after itself, and its record stays', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app) => app.job('remind', {}, () => {}))
  await fleet.operator.schedules.create('remind-ann', { job: 'remind', at: NEW_YEAR + 60_000, input: { who: 'ann' } })
  await fleet.advance('2m')
  assert.equal(fleet.handled.length, 1)
  assert.equal(await fleet.operator.schedules.find('remind-ann'), null)
  const { items } = await fleet.operator.fires.list({ schedule: 'remind-ann' })
  assert.deepEqual(
    items.map(({ state }) => state),
    ['succeeded'],
  )
  // The name is free, and tokens go on growing.
  await fleet.operator.schedules.create('remind-ann', { job: 'remind', at: NEW_YEAR + 180_000 })
  await fleet.advance('2m')
  assert.ok(fleet.handled[1]!.token > fleet.handled[0]!.token)
  fleet.end()
})

test('a job with a schema gets what the schema makes of its input; what does not fit fails without a retry', async () => {
  const kit = testKit()
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof value === 'number' ? { value: value * 2 } : { issues: [{ message: 'must be a number' }] },
      types: undefined as unknown as { input: number; output: number },
    },
  }
  const seen: unknown[] = []
  const app = kit.app().job('double', { schema, input: 21, cron: '1 0 * * *' }, (run) => void seen.push(run.fire.input))
  await app.start()
  await kit.advance('2m')
  assert.deepEqual(seen, [42])
  await assert.rejects(app.schedules.trigger('double', { input: 'x' }), { code: 'INPUT_INVALID' })
  await app.stop()
})

test('the kit continues when a handler sleeps in virtual time, and spends its patience once', {
  timeout: 120_000,
}, async () => {
  const kit = testKit({ patience: 500 })
  const app = kit.app().job('slow', '1 0 * * *', () => kit.clock.sleep(6 * 3_600_000))
  await app.start()
  await kit.advance('1d')
  const { items } = await app.runs.list()
  assert.deepEqual(
    items.map(({ durationMs }) => durationMs),
    [6 * 3_600_000],
  )
  await app.stop()
})

test('deciding about many schedules does not hold the event loop: what is decided by then is claimed first', async () => {
  const kit = testKit()
  // As if every decision took a while, but less than makes the answer to a claim too old to start by.
  let spentMs = 0
  const mono = (): number => {
    spentMs += 3
    return kit.clock.mono() + spentMs
  }
  const wall = (): number => kit.clock.wall() + spentMs
  const clock = { wall, sleep: kit.clock.sleep, pause: kit.clock.pause, mono, boot: mono }
  const claims: number[] = []
  const source: StoreSource<MemoryTransaction> = {
    name: 'memory',
    async open(options) {
      const store = await kit.store.open(options)
      const apply: typeof store.apply = (changes, how) => {
        if (how?.claimant !== undefined) claims.push(changes.length)
        return store.apply(changes, how)
      }
      return { ...store, apply }
    },
  }
  const app = cronce({ store: surround(source, { clock }), logger: false, signals: false, concurrency: 100 })
  for (let job = 0; job < 40; job++) app.job(`job-${job}`, '1 0 * * *', () => {})
  await app.start()
  await kit.advance('2m')
  assert.equal((await app.fires.list({ outcome: 'succeeded', limit: 100 })).items.length, 40)
  assert.ok(Math.max(...claims) < 20, `${claims}`)
  await Promise.all([app.stop(), kit.advance('1m')])
})
