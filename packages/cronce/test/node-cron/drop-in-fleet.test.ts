import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect } from '../../src/app/connect.ts'
import { cronce } from '../../src/app/cronce.ts'
import { memory } from '../../src/memory.ts'
import { makeNodeCron, type NodeCron } from '../../src/node-cron/drop-in.ts'
import { setLogger, type TaskContext, type TaskOptions } from '../../src/node-cron.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { follow, type Recording, recording, until, whileHealthy } from './drop-in-kit.ts'

const EACH_SECOND = '* * * * * *'
const YEARLY = '0 0 1 1 *'
const LIMIT = { timeout: 600_000 }

interface Fleet {
  readonly source: StoreSource
  readonly client: Connection
  /** Each of them as a process would have it. */
  readonly crons: readonly NodeCron[]
  readonly logger: Recording
}

async function makeFleet(context: TestContext, size: number, unnamed?: 'own' | 'shared'): Promise<Fleet> {
  const source = memory() as StoreSource
  const logger = recording()
  const client = await connect({ store: source, logger: false })
  const crons = Array.from({ length: size }, () => makeNodeCron())
  for (const cron of crons) cron.setup({ store: source, unnamed })
  context.after(async () => {
    await Promise.all(crons.map((cron) => cron.shutdown()))
    await client.close()
  })
  return { source, client, crons, logger }
}

/** The dates of slots that this function was called for. */
function counting(): { readonly dates: number[]; readonly work: (context: { date: Date }) => void } {
  const dates: number[] = []
  return { dates, work: ({ date }) => void dates.push(date.getTime()) }
}

function isDistinct(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length
}

/** Each slot of every second from the first to the last of these, once. What is caught up with may begin in another order. */
function assertComplete(dates: readonly number[]): void {
  const sorted = dates.toSorted((a, b) => a - b)
  const gaps = sorted.slice(1).map((date, index) => date - sorted[index]!)
  assert.deepEqual([...new Set(gaps)], [1_000], `slots: ${sorted}`)
}

describe('Tasks of the drop-in in a fleet', { concurrency: true }, () => {
  setLogger(recording())

  it('with a name run each slot once, and listeners receive slots that other processes run', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 3)
    const { dates, work } = counting()
    const tasks = crons.map((cron) => cron.createTask(EACH_SECOND, work, { name: 'report', logger }))
    const seen = tasks.map((task) => follow(task, ['execution:finished', 'execution:skipped']))
    for (const task of tasks) void task.start()
    await until(() => dates.length >= 3, 'three slots ran')
    const all = (): string[] => seen.flat()
    const skipped = (): number => all().filter((event) => event.includes('not-elected')).length
    await until(() => skipped() >= 4, 'the others were told')
    for (const task of tasks) void task.stop()
    const finished = (): number => all().filter((event) => event.startsWith('execution:finished')).length
    await until(() => finished() === dates.length, 'what was begun is finished')
    assertComplete(dates)
    assert.ok(all().every((event) => event.startsWith('execution:finished') || event.includes('not-elected')))
  })

  it(
    'that have used up maxExecutions are finished once the last process has, and owe nothing when they start again',
    LIMIT,
    async (context) => {
      const { crons, client, logger } = await makeFleet(context, 2)
      const [first, second] = crons as [NodeCron, NodeCron]
      const { dates, work } = counting()
      const state = async (): Promise<string | undefined> => (await client.schedules.find('warmup'))?.state
      const warmUp = (cron: NodeCron) => {
        const task = cron.createTask(EACH_SECOND, work, { name: 'warmup', maxExecutions: 1, logger })
        const seen = follow(task, ['execution:maxReached', 'execution:missed'])
        void task.start()
        return seen
      }
      // Which process gets the first slot is not known: the other one goes on with the next.
      const seen = [warmUp(first), warmUp(second)]
      await until(() => seen.flat().length === 2, 'both processes have used it up')
      await until(async () => (await state()) === 'finished', 'it is finished')
      const count = dates.length
      await sleep(2_500)
      assert.equal(dates.length, count, 'nothing runs')
      const again = warmUp(first)
      await until(() => again.length > 0, 'it ran again')
      assert.deepEqual(
        [...seen.flat(), ...again].map((event) => event.split(' ')[0]),
        Array.from({ length: 3 }, () => 'execution:maxReached'),
      )
      const { items } = await client.fires.list({ schedule: 'warmup' })
      assert.deepEqual([...new Set(items.map(({ state: outcome }) => outcome))], ['succeeded'])
    },
  )

  it('without a name, or not distributed, run in every process, as with node-cron', LIMIT, async (context) => {
    const { crons } = await makeFleet(context, 2)
    const runs: string[] = []
    for (const [index, cron] of crons.entries()) {
      const note = (what: string) => () => void runs.push(`${what} ${index}`)
      cron.schedule(EACH_SECOND, note('nameless'))
      cron.schedule(EACH_SECOND, note('own'), { name: 'own', distributed: false })
    }
    await until(() => new Set(runs).size === 4, 'all ran in both')
  })

  it('without a name can be known by what they are, if that is wanted', LIMIT, async (context) => {
    const { crons, client, logger } = await makeFleet(context, 2, 'shared')
    const dates: number[] = []
    function cleanUp({ date }: { date: Date }): void {
      dates.push(date.getTime())
    }
    for (const cron of crons) cron.schedule(EACH_SECOND, cleanUp, { logger })
    const second = crons[0]!.schedule(EACH_SECOND, cleanUp, { logger })
    const seen = follow(second)
    await until(() => dates.length >= 2 && seen.includes('task:failed stopped'), 'two slots ran')
    assert.ok(isDistinct(dates))
    assert.deepEqual(
      (await client.schedules.list()).items.map(({ name }) => name),
      [`cleanUp (${EACH_SECOND})`],
    )
  })

  it('that are stopped in one process go on in the others, and so do the other tasks there', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 2)
    const runs = { report: [] as number[], other: [] as number[] }
    const tasks = crons.map((cron, index) => {
      cron.schedule(EACH_SECOND, ({ date }) => void runs.other.push(date.getTime()), { name: 'other', logger })
      return cron.schedule(EACH_SECOND, () => void runs.report.push(index), { name: 'report', logger })
    })
    await until(() => runs.report.length >= 1, 'it ran')
    // The one that runs it, as long as it is there.
    const stopped = runs.report.at(-1)!
    void tasks[stopped]!.stop()
    const before = runs.report.length
    await until(() => runs.report.length >= before + 3 && runs.other.length >= 4, 'it ran on')
    assert.deepEqual([...new Set(runs.report.slice(before))], [1 - stopped])
    assertComplete(runs.other)
  })

  it('with noOverlap never run twice at a time, wherever they run', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 3)
    let [at, most, runs] = [0, 0, 0]
    const work = async (): Promise<void> => {
      most = Math.max(most, ++at)
      await sleep(1_300)
      at--
      runs++
    }
    const seen = crons.map((cron) =>
      follow(cron.schedule(EACH_SECOND, work, { name: 'slow', noOverlap: true, logger }), ['execution:overlap']),
    )
    await until(() => runs >= 2 && seen.flat().length >= 1, 'it ran twice')
    assert.equal(most, 1)
    assert.ok(logger.told.includes('warn task still running, new execution blocked by overlap prevention!'))
  })

  it('are caught up when no process was there to run them', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 2)
    const [first, second] = crons as [NodeCron, NodeCron]
    const { dates, work } = counting()
    first.schedule(EACH_SECOND, work, { name: 'durable', logger })
    await until(() => dates.length >= 1, 'it ran')
    await first.shutdown()
    const before = dates.length
    await sleep(2_500)
    assert.equal(dates.length, before)
    second.schedule(EACH_SECOND, work, { name: 'durable', logger })
    await until(() => dates.length >= before + 3, 'it was caught up')
    assertComplete(dates)
  })

  it('with a limit of lateness are reported as missed instead', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 2)
    const [first, second] = crons as [NodeCron, NodeCron]
    const options = { name: 'punctual', missedExecutionTolerance: 0, logger }
    const { dates, work } = counting()
    first.schedule(EACH_SECOND, work, options)
    await until(() => dates.length >= 1, 'it ran')
    await first.shutdown()
    await sleep(3_500)
    const task = second.createTask(EACH_SECOND, work, options)
    const missed: number[] = []
    task.on('execution:missed', ({ date }) => void missed.push(date.getTime()))
    void task.start()
    await until(() => missed.length >= 2, 'they were told')
    assert.ok(isDistinct([...missed, ...dates]))
    assert.ok(!logger.told.some((line) => line.includes('missed')), 'who listens is not warned')
  })

  it('are retried as configured, with the same slot', LIMIT, async (context) => {
    const { crons, logger } = await makeFleet(context, 1)
    const tries: string[] = []
    const work = ({ date, run }: { date: Date; run?: { attempt: number } }): void => {
      tries.push(`${date.toISOString()} ${run?.attempt}`)
      if (run?.attempt === 1) throw new Error('first')
    }
    const options: TaskOptions = { name: 'retried', retry: { attempts: 1, backoff: { base: '100ms' } }, logger }
    const task = crons[0]!.createTask(EACH_SECOND, work, options)
    // Of the first slot only: the next one may begin before the retry does.
    const seen: string[] = []
    const isFirst = ({ date }: TaskContext): boolean => tries[0]?.startsWith(date.toISOString()) === true
    task.on(
      'execution:failed',
      (context) => void (isFirst(context) && seen.push(`failed ${context.execution?.error?.message}`)),
    )
    task.on('execution:finished', (context) => void (isFirst(context) && seen.push('finished')))
    void task.start()
    await until(() => seen.includes('finished'), 'it succeeded')
    void task.stop()
    assert.deepEqual(seen, ['failed first', 'finished'])
    assert.ok(tries.includes(tries[0]!.replace(/1$/, '2')), tries.join())
  })

  it(
    'of one name in one process, or of a name that is taken, are reported as failed; the others go on',
    LIMIT,
    async (context) => {
      const { crons, source, client, logger } = await makeFleet(context, 1)
      const app = cronce({ store: source, signals: false, logger: false }).job('billing', YEARLY, () => {})
      context.after(() => app.stop())
      await app.start()
      const { dates, work } = counting()
      const [cron] = crons as [NodeCron]
      cron.schedule(EACH_SECOND, work, { name: 'fine', logger })
      const doubled = follow(cron.schedule(EACH_SECOND, work, { name: 'fine', logger }))
      const refused = follow(cron.schedule(EACH_SECOND, work, { name: 'billing', logger }))
      await until(() => doubled.length > 0 && refused.length > 0 && dates.length >= 2, 'it was told')
      assert.deepEqual([doubled, refused], [['task:failed stopped'], ['task:failed stopped']])
      assert.ok(isDistinct(dates))
      assert.ok(logger.told.some((line) => line.includes('Two tasks of this process are named "fine"')))
      assert.ok(logger.told.some((line) => line.includes('billing')))
      assert.equal((await client.schedules.get('billing')).job, 'billing')
      assert.notEqual((await client.schedules.get('billing')).app, null)
    },
  )

  it('follow operators: a pause skips slots, a trigger invokes', LIMIT, async (context) => {
    const { crons, client, logger } = await makeFleet(context, 1)
    const task = crons[0]!.createTask(EACH_SECOND, () => 7, { name: 'operated', logger })
    const seen = follow(task, ['execution:finished', 'execution:skipped'])
    void task.start()
    await until(() => seen.length > 0, 'it ran')
    await client.schedules.pause('operated')
    seen.splice(0)
    await client.schedules.trigger('operated')
    await until(() => seen.includes('execution:finished idle invoked'), 'it was invoked')
    await client.schedules.resume('operated', { missed: 'skip' })
    await until(() => seen.includes('execution:finished idle scheduled'), 'it ran again')
  })

  it('that come and go at any time are a few instances, and lose no slot', LIMIT, async (context) => {
    const { crons, client, logger } = await makeFleet(context, 1)
    const [cron] = crons as [NodeCron]
    const { dates, work } = counting()
    cron.schedule(EACH_SECOND, work, { name: 'steady', logger })
    await until(() => dates.length >= 1, 'it ran')
    for (let count = 0; count < 12; count++) {
      cron.schedule(YEARLY, () => {}, { name: `more ${count}`, logger })
      await sleep(40)
    }
    const isFew = async (): Promise<boolean> =>
      (await client.instances.list()).filter(({ state }) => state === 'live').length <= 5
    await until(isFew, 'there are few instances')
    for (const task of [...cron.getTasks().values()].slice(1)) void task.destroy()
    const before = dates.length
    await until(() => dates.length >= before + 3, 'it ran on')
    assertComplete(dates)
  })

  it(
    'are as the release says that started last, whatever else comes and goes in an older one',
    LIMIT,
    async (context) => {
      const { crons, client, logger } = await makeFleet(context, 2)
      const [older, newer] = crons as [NodeCron, NodeCron]
      const expressionOf = async (name: string): Promise<string | undefined> => {
        const trigger = (await client.schedules.find(name))?.trigger
        return trigger?.kind === 'cron' ? trigger.expression : undefined
      }
      const becomes = (name: string, expression: string): Promise<void> =>
        until(async () => (await expressionOf(name)) === expression, `${name} is at ${expression}`)
      older.schedule('1 0 1 1 *', () => {}, { name: 'report', logger })
      older.schedule('1 0 1 1 *', () => {}, { name: 'removed', logger })
      const other = older.schedule('1 0 1 1 *', () => {}, { name: 'other', logger })
      await Promise.all(['report', 'removed', 'other'].map((name) => becomes(name, '1 0 1 1 *')))
      newer.schedule('2 0 1 1 *', () => {}, { name: 'report', logger })
      await becomes('report', '2 0 1 1 *')
      await client.schedules.remove('removed')

      // The others continue in another instance, which recreates what was deleted.
      void other.stop()
      await becomes('removed', '1 0 1 1 *')
      assert.equal(await expressionOf('report'), '2 0 1 1 *')
      older.schedule('3 0 1 1 *', () => {}, { name: 'report again', logger })
      await becomes('report again', '3 0 1 1 *')
      assert.equal(await expressionOf('report'), '2 0 1 1 *')
    },
  )

  it('owe nothing for the time in which they were of the fleet, and no coordinator decided', LIMIT, async (context) => {
    const missed = await whileHealthy(async () => move(await makeFleet(context, 1)))
    assert.deepEqual(missed, [])
  })

  /** The missed reports of a task that a coordinator decides about, then the fleet, then the coordinator again. */
  async function move({ crons, client, logger }: Fleet): Promise<string[]> {
    const [cron] = crons as [NodeCron]
    const always = { shouldRun: () => true }
    const dates: number[] = []
    const shared: number[] = []
    const isShared = async (): Promise<boolean> => (await client.schedules.find('moving')) !== null
    const work = ({ date, run }: TaskContext): void => {
      dates.push(date.getTime())
      if (run?.fire.schedule === 'moving') shared.push(date.getTime())
    }
    cron.setRunCoordinator(always)
    const task = cron.schedule(EACH_SECOND, work, { name: 'moving', distributed: true, logger })
    const missed = follow(task, ['execution:missed'])
    await until(() => dates.length >= 1, 'it ran here')
    assert.equal(await isShared(), false)
    cron.setRunCoordinator(undefined)
    await until(() => shared.length >= 4, 'the fleet ran it')
    cron.setRunCoordinator(always)
    const before = { all: dates.length, shared: shared.length }
    await until(() => dates.length - shared.length >= before.all - before.shared + 2, 'it ran here again')
    await cron.shutdown()
    return missed
  }

  it('wait for a store that cannot be opened yet', LIMIT, async (context) => {
    const real = memory() as StoreSource
    let tries = 0
    const store: StoreSource = {
      name: 'late',
      open: async (options) => {
        if (++tries === 1) throw new Error('not yet')
        return real.open(options)
      },
    }
    const cron = makeNodeCron()
    context.after(() => cron.shutdown())
    cron.setup({ store })
    const { dates, work } = counting()
    cron.schedule(EACH_SECOND, work, { name: 'patient' })
    await until(() => dates.length >= 1, 'it ran')
    assert.ok(tries >= 2)
    assert.throws(() => cron.setup({ store }), { code: 'ALREADY_STARTED' })
  })
})

describe('setup()', () => {
  it('reports at once what is wrong with it', () => {
    const cron = makeNodeCron()
    assert.throws(() => cron.setup({ store: 'mysql://localhost' }), { code: 'STORE_UNKNOWN' })
    assert.throws(() => cron.setup({ unnamed: 'both' as 'own' }), { code: 'OPTION_INVALID' })
    assert.throws(() => cron.setup({ nmaespace: 'x' } as never), { code: 'OPTION_UNKNOWN' })
  })
})
