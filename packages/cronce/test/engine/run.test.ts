import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobOnlyOptions } from '../../src/app/job.ts'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Fleet, type Member, NEW_YEAR, type Tx } from './fleet.ts'

const DUE = NEW_YEAR + 60_000
const FIRE = { schedule: 'bill', dueAt: DUE }

async function fleetWith(
  options: JobOnlyOptions & { readonly cron?: string },
  handle: (run: Run<unknown, Tx>, member: Member) => unknown,
  count = 2,
): Promise<Fleet> {
  const fleet = await createFleet()
  const job = { cron: '1 0 * * *', ...options }
  await fleet.addMany(count, (app, member) => app.job('bill', job, (run) => handle(run, member)))
  return fleet
}

test('a failed run is retried after growing pauses, as often as the job allows, and then has failed', async () => {
  const backoff = { base: '10s', factor: 3, jitter: 0 } as const
  const fleet = await fleetWith({ retry: { attempts: 3, backoff } }, () => {
    throw new Error('no')
  })
  await fleet.advance('10m')
  const starts = fleet.handled.map(({ startedAt }) => startedAt - DUE)
  assert.deepEqual(
    starts.map((ms) => Math.floor(ms / 1_000)),
    [0, 10, 40, 130],
  )
  assert.deepEqual(
    fleet.handled.map(({ attempt }) => attempt),
    [1, 2, 3, 4],
  )
  const fire = await fleet.operator.fires.get(FIRE)
  assert.deepEqual([fire.state, fire.reason, fire.detail, fire.attempt], ['failed', 'error', 'no', 4])
  assert.equal(fleet.events('run.retried').length, 3)
  fleet.end()
})

test('a retry that succeeds ends the fire', async () => {
  const fleet = await fleetWith({ retry: 5 }, (run) => {
    if (run.attempt < 3) throw new Error('no')
    return 'at last'
  })
  await fleet.advance('10m')
  const fire = await fleet.operator.fires.get(FIRE)
  assert.deepEqual([fire.state, fire.attempt], ['succeeded', 3])
  fleet.end()
})

test('errors that retry.if rejects, and errors with retryable: false, are not retried', async () => {
  const final = Object.assign(new Error('gone'), { retryable: false })
  const cases: [unknown, number][] = [
    [new Error('again'), 3],
    [new Error('never'), 1],
    [final, 1],
    ['just a text', 3],
    [undefined, 3],
  ]
  for (const [error, runs] of cases) {
    const retry = { attempts: 2, if: (thrown: unknown) => (thrown as Error | undefined)?.message !== 'never' }
    const fleet = await fleetWith({ retry }, () => {
      throw error
    })
    await fleet.advance('5m')
    assert.equal(fleet.handled.length, runs, String(error))
    assert.equal((await fleet.operator.fires.get(FIRE)).state, 'failed')
    fleet.end()
  }
})

test('a retry.if that throws does not prevent the retry', async () => {
  const retry = {
    attempts: 1,
    if: () => {
      throw new Error('oops')
    },
  }
  const fleet = await fleetWith({ retry }, () => {
    throw new Error('no')
  })
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, 2)
  fleet.end()
})

test('a step that was done is not done again by a later attempt, which gets its result', async () => {
  let charged = 0
  const results: unknown[] = []
  const fleet = await fleetWith({ retry: 2 }, async (run) => {
    results.push(await run.once('charge', () => ({ id: ++charged })))
    if (run.attempt === 1) throw new Error('after the step')
  })
  await fleet.advance('5m')
  assert.deepEqual([charged, results], [1, [{ id: 1 }, { id: 1 }]])
  fleet.end()
})

test('a step that failed is done again by a later attempt', async () => {
  let tries = 0
  const fleet = await fleetWith({ retry: 2 }, (run) =>
    run.once('charge', () => {
      if (++tries === 1) throw new Error('declined')
    }),
  )
  await fleet.advance('5m')
  assert.equal(tries, 2)
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  fleet.end()
})

test('a step whose run died in the middle of it is unknown: an error, until an operator resolves it', async () => {
  let charged = 0
  const results: unknown[] = []
  const fleet = await fleetWith({}, async (run, member) => {
    results.push(
      await run.once('charge', async () => {
        charged++
        member.crash()
        await member.delivered()
      }),
    )
  })
  await fleet.advance('5m')
  assert.equal(charged, 1)
  const fire = await fleet.operator.fires.get(FIRE)
  assert.deepEqual([fire.state, fire.reason, fire.attempt], ['failed', 'step-unknown', 2])
  await fleet.operator.steps.resolve(FIRE, 'charge', { result: 'paid' })
  await fleet.operator.fires.retry(FIRE)
  await fleet.advance('1m')
  assert.deepEqual([charged, results], [1, ['paid']])
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  fleet.end()
})

test('a step whose run died in the middle of it is done again where the job, or the step, allows it', async () => {
  for (const [unknownStep, rerun] of [
    ['rerun', undefined],
    ['fail', true],
  ] as const) {
    let charged = 0
    const fleet = await fleetWith({ unknownStep }, (run, member) =>
      run.once(
        'charge',
        async () => {
          if (++charged > 1) return
          member.crash()
          await member.delivered()
        },
        { rerun },
      ),
    )
    await fleet.advance('5m')
    assert.equal(charged, 2)
    assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
    fleet.end()
  }
})

test('a step of unknown outcome names the commands that resolve it and run the fire again', async () => {
  let charged = 0
  const fleet = await fleetWith({}, (run, member) =>
    run.once('charge card', async () => {
      if (++charged > 1) return
      member.crash()
      await member.delivered()
    }),
  )
  await fleet.advance('5m')
  const due = new Date(DUE).toISOString()
  const commands = `cronce step resolve ${FIRE.schedule} "charge card" ${due} --failed (or --result JSON), then cronce retry ${FIRE.schedule} ${due}.`
  const { reason, detail } = await fleet.operator.fires.get(FIRE)
  assert.equal(reason, 'step-unknown')
  assert.ok(detail?.endsWith(commands), `${detail}`)
  fleet.end()
})

test('the same step twice at the same time is one step', async () => {
  let charged = 0
  const fleet = await fleetWith({}, async (run, { clock }) => {
    const charge = () => run.once('charge', () => clock.sleep(1_000).then(() => ++charged))
    assert.deepEqual(await Promise.all([charge(), charge()]), [1, 1])
    assert.equal(await charge(), 1)
  })
  await fleet.advance('5m')
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  fleet.end()
})

test('a step needs a name that can be kept, and a result that can', async () => {
  const codes: unknown[] = []
  const fleet = await fleetWith({}, async (run) => {
    const steps: readonly (readonly [name: string, result: unknown])[] = [
      ['', 1],
      ['x'.repeat(201), 1],
      ['charge a\u0000b', 1],
      ['charge \ud800', 1],
      ['big', 'x'.repeat(70_000)],
      ['odd', () => {}],
    ]
    for (const [step, result] of steps) {
      await run.once(step, () => result).catch((error: { code?: unknown }) => codes.push(error.code))
    }
  })
  await fleet.advance('5m')
  const [named, kept] = [Array(4).fill('STEP_INVALID'), Array(2).fill('STEP_RESULT_INVALID')]
  assert.deepEqual(codes, [...named, ...kept])
  fleet.end()
})

test('the key for a gateway is the same for every attempt, and another for every fire and step', async () => {
  const keys: string[] = []
  const fleet = await fleetWith({ cron: '1,2 0 * * *', retry: 1 }, (run) => {
    keys.push(run.idempotencyKey(), run.idempotencyKey('refund'))
    if (run.attempt === 1) throw new Error('no')
  })
  await fleet.advance('5m')
  assert.equal(keys.length, 8)
  assert.equal(new Set(keys).size, 4)
  assert.deepEqual(keys.slice(0, 2), keys.slice(2, 4))
  fleet.end()
})

test('progress and log are kept with the run, while it runs and afterwards', async () => {
  const fleet = await fleetWith({}, async (run, { clock }) => {
    run.progress(0.5, 'half')
    run.log('begun')
    await clock.sleep(30_000)
    run.log.warn('slow')
    run.progress(50)
    run.progress(60)
  })
  await fleet.advance('1m10s')
  const during = (await fleet.operator.runs.list()).items[0]!
  assert.deepEqual([during.progress?.fraction, during.progress?.message], [0.5, 'half'])
  assert.deepEqual(
    during.log.map(({ level, message }) => [level, message]),
    [['info', 'begun']],
  )
  await fleet.advance('1m')
  const after = (await fleet.operator.runs.list()).items[0]!
  assert.equal(after.state, 'succeeded')
  assert.equal(after.progress?.fraction, 1)
  assert.deepEqual(
    after.log.map(({ message }) => message),
    ['begun', 'slow', 'run.progress(50) was recorded as 1: it takes a fraction from 0 to 1; write 0.5.'],
  )
  fleet.end()
})

test('a log is kept up to its limit, and marks that it was cut', async () => {
  const fleet = await fleetWith({}, (run) => {
    run.log('x'.repeat(10_000))
    for (let line = 0; line < 10_000; line++) run.log(`line ${line}`)
  })
  await fleet.advance('5m')
  const { log, logCut } = (await fleet.operator.runs.list()).items[0]!
  const size = log.reduce((sum, { message }) => sum + message.length, 0)
  assert.ok(size > 60_000 && size <= 65_536, `${size}`)
  assert.equal(log[0]!.message.length, 4_096)
  assert.equal(logCut, true)
  fleet.end()
})

test('what a run reported before its transaction is kept', async () => {
  const fleet = await fleetWith({ guarantee: 'exactly-once' }, async (run) => {
    run.log('counting')
    await run.transaction((tx) => tx.set('paid', true))
  })
  await fleet.advance('5m')
  const { state, log } = (await fleet.operator.runs.list()).items[0]!
  assert.deepEqual([state, log.map(({ message }) => message)], ['succeeded', ['counting']])
  fleet.end()
})

test('a thousand notes a second are one write a second', async () => {
  const fleet = await fleetWith({}, async (run, { clock }) => {
    for (let note = 0; note < 100; note++) {
      run.progress(note / 100)
      await clock.sleep(100)
    }
  })
  await fleet.advance('5m')
  const writes = fleet.members.reduce((sum, { link }) => sum + (link.calls.get('annotate') ?? 0), 0)
  assert.ok(writes >= 9 && writes <= 12, `${writes} writes`)
  fleet.end()
})

test('a run that is overtaken does not take a run of another schedule with the same token along', async () => {
  const fleet = await createFleet()
  const job = { cron: '1 0 * * *', timeout: { run: '1h', grace: 0 } } as const
  const member = await fleet.add((app, { clock }) => {
    for (const name of ['bill', 'mail']) {
      app.job(name, job, async (run) => {
        run.progress(0.5)
        // It ignores its signal, so a second run of its fire would overlap with it.
        await clock.sleep(30_000)
      })
    }
  })
  await fleet.advance('1m')
  const [bill, mail] = ['bill', 'mail'].map((name) => fleet.handled.find(({ schedule }) => schedule === name))
  assert.equal(bill!.token, mail!.token)
  member.link.deaf = true
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('3s')
  assert.deepEqual(
    fleet.events('run.fenced').map(({ schedule, refused }) => [schedule, refused]),
    [
      ['bill', 'progress'],
      ['bill', 'settle'],
    ],
  )
  assert.deepEqual([bill!.signal.aborted, mail!.signal.aborted], [true, false])
  await fleet.advance('1m')
  assert.equal(fleet.handled.length, 2)
  const fire = await fleet.operator.fires.get({ schedule: 'mail', dueAt: DUE })
  assert.deepEqual([fire.state, fire.attempt], ['succeeded', 1])
  fleet.end()
})

test('a result is kept as JSON; one that is too large, or is not JSON, is marked', async () => {
  const results = [{ rows: 3 }, undefined, 'x'.repeat(20_000), Symbol('no')]
  const fleet = await fleetWith({ cron: '1-4 0 * * *' }, () => results.shift())
  await fleet.advance('5m')
  const kept = (await fleet.operator.runs.list()).items.map(({ result }) => result).reverse()
  assert.deepEqual(kept.slice(0, 2), [{ rows: 3 }, null])
  for (const marked of kept.slice(2)) assert.match(String(marked), /^\[cut: /)
  fleet.end()
})

test('a run knows what came before it', async () => {
  const seen: unknown[] = []
  const fleet = await fleetWith({ cron: '1-4 0 * * *' }, (run) => {
    const { dueAt, succeededDueAt, sinceSuccessMs } = run.previous
    seen.push([dueAt, succeededDueAt, sinceSuccessMs])
    if (run.fire.dueAt === DUE + 60_000) throw new Error('no')
  })
  await fleet.advance('4m')
  assert.deepEqual(seen, [
    [null, null, null],
    [DUE, DUE, 60_000],
    [DUE + 60_000, DUE, 120_000],
    [DUE + 120_000, DUE + 120_000, 60_000],
  ])
  fleet.end()
})

test('a second transaction of a run is refused, and so is one after the work threw only if that was committed', async () => {
  const codes: unknown[] = []
  const fleet = await fleetWith({ guarantee: 'exactly-once' }, async (run) => {
    await run.transaction(undefined as never).catch((error: Error) => codes.push(error.message))
    await run
      .transaction(() => {
        throw new Error('undone')
      })
      .catch((error: Error) => codes.push(error.message))
    await run.transaction((tx) => tx.set('paid', true))
    await run.transaction(() => {}).catch((error: { code?: unknown }) => codes.push(error.code))
  })
  await fleet.advance('5m')
  assert.deepEqual(codes, [
    'run.transaction needs a function, but was given undefined.',
    'undone',
    'TRANSACTION_REPEATED',
  ])
  assert.deepEqual([...fleet.source.data.effects], [['paid', true]])
  fleet.end()
})

test('an error after the transaction is reported, and the fire has succeeded', async () => {
  const fleet = await fleetWith({ guarantee: 'exactly-once', retry: 3 }, async (run) => {
    await run.transaction((tx) => tx.set('paid', true))
    throw new Error('mail server is down')
  })
  await fleet.advance('5m')
  assert.deepEqual(
    fleet.events('run.failedLate').map(({ attempt, error }) => [attempt, error.message]),
    [[1, 'mail server is down']],
  )
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  assert.deepEqual(fleet.events('run.untransacted'), [])
  fleet.end()
})

test('an exactly-once run that ends without a transaction is reported once for its job', async () => {
  const fleet = await fleetWith({ guarantee: 'exactly-once', cron: '1-4 0 * * *' }, () => {})
  await fleet.advance('5m')
  const reported = fleet.events('run.untransacted')
  assert.deepEqual(new Set(reported.map(({ instance }) => instance)).size, reported.length)
  assert.ok(reported.length > 0)
  fleet.end()
})

test('a handler that does not wait for its transaction is not settled without it', async () => {
  const fleet = await fleetWith({ guarantee: 'exactly-once' }, (run, { clock }) => {
    void run.transaction(async (tx) => {
      await clock.sleep(30_000)
      tx.set('paid', true)
    })
    return 'returned early'
  })
  await fleet.advance('5m')
  assert.deepEqual([...fleet.source.data.effects], [['paid', true]])
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  assert.deepEqual(fleet.events('run.fenced'), [])
  fleet.end()
})

test('a transaction that hangs when its run is given up is fenced, and the fire is run again', async () => {
  const fleet = await fleetWith(
    { guarantee: 'exactly-once', timeout: { run: '10s', grace: '5s' }, retry: 1 },
    (run, { clock }) =>
      run.transaction(async (tx) => {
        if (run.attempt === 1) await clock.sleep(120_000)
        tx.set(`paid by ${run.attempt}`, true)
      }),
  )
  await fleet.advance('10m')
  assert.deepEqual([...fleet.source.data.effects], [['paid by 2', true]])
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  fleet.end()
})

test('reports of a handler after its end are not kept, and cost nothing', async () => {
  const fleet = await createFleet()
  const runs: Run<unknown, Tx>[] = []
  const member = await fleet.add((app) => app.job('bill', { every: '1s' }, (run) => void runs.push(run)))
  await fleet.advance('10s')
  for (const run of runs) {
    run.log('late')
    run.progress(1)
  }
  await fleet.advance('10s')
  assert.ok(runs.length >= 20)
  assert.equal(member.link.calls.get('annotate'), undefined)
  fleet.end()
})

test('a result whose problem cannot even be described ends its run', async () => {
  const fleet = await createFleet()
  await fleet.add((app) =>
    app.job('bill', '1 0 * * *', () => ({
      toJSON() {
        throw Object.create(null)
      },
    })),
  )
  await fleet.advance('2m')
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(
    items.map(({ state }) => state),
    ['succeeded'],
  )
  fleet.end()
})

test('a handler ends when its promise does, also where the application has replaced the global Promise', async (context) => {
  const { Promise: original } = globalThis
  globalThis.Promise = class extends (original as new (...args: never[]) => object) {} as unknown as PromiseConstructor
  context.after(() => {
    globalThis.Promise = original
  })
  const fleet = await createFleet()
  let running = 0
  let most = 0
  await fleet.add((app, { clock }) =>
    app.job('slow', { every: '1s' }, async () => {
      most = Math.max(most, ++running)
      await clock.sleep(2_500)
      running--
    }),
  )
  await fleet.advance('20s')
  assert.equal(most, 1, 'one at a time')
  fleet.end()
})
