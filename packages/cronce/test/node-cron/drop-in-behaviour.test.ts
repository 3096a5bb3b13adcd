import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import nodeCron from 'node-cron'
import cron, { type TaskContext } from '../../src/node-cron.ts'
import { type Api, follow, recording, slotsPass, until, whileHealthy } from './drop-in-kit.ts'

/** Compiles: code that is written for node-cron's types has what it needs. */
const asItsType: import('node-cron').NodeCron = cron
const PACKAGES: Readonly<Record<string, Api>> = { nodeCron: nodeCron as Api, ours: asItsType as Api }
const EACH_SECOND = '* * * * * *'
const LIMIT = { timeout: 600_000 }

/** A script that both packages play: what it answers must be the same. */
const SCRIPTS: Readonly<Record<string, (api: Api) => Promise<unknown>>> = {
  async 'a slot emits its start, runs, and emits its end'(api) {
    const order: string[] = []
    const logger = recording()
    const task = api.createTask(EACH_SECOND, () => void order.push(`function ${task.getStatus()}`), { logger })
    const seen = follow(task)
    task.on('execution:started', () => void order.push('started'))
    task.on('execution:finished', () => void order.push('finished'))
    const before = [task.getStatus(), task.getNextRun(), task.msToNext(), task.isBusy(), task.lastRun()]
    void task.start()
    const started = [task.getStatus(), task.getNextRun() instanceof Date, typeof task.msToNext()]
    await until(() => seen.length >= 3, 'a slot ran')
    void task.stop()
    const stopped = [task.getStatus(), task.getNextRun()]
    void task.destroy()
    return { before, started, stopped, seen: seen.slice(0, 3), order: order.slice(0, 3), told: logger.told }
  },

  async 'a run that throws emits its failure while it counts as running, and is logged'(api) {
    const logger = recording()
    const task = api.createTask(EACH_SECOND, () => Promise.reject(new Error('broken')), { logger })
    const seen = follow(task)
    void task.start()
    await until(() => seen.length >= 3, 'a slot failed')
    const status = task.getStatus()
    const last = task.lastRun()
    void task.destroy()
    return {
      seen: seen.slice(0, 3),
      status,
      told: logger.told[0],
      error: last?.error?.message,
      dated: last?.date instanceof Date,
    }
  },

  async 'the function receives its slot, in local time too, and the execution'(api) {
    const contexts: TaskContext[] = []
    const options = { timezone: 'Asia/Kolkata', name: 'in context', logger: recording() }
    const task = api.schedule(EACH_SECOND, (context) => void contexts.push(context), options)
    await until(() => contexts.length > 0, 'it ran')
    void task.destroy()
    const { date, dateLocalIso, triggeredAt, execution, reason } = contexts[0]!
    return {
      whole: date.getTime() % 1_000,
      form: dateLocalIso.replace(/\d/g, '9'),
      same: new Date(dateLocalIso).getTime() === date.getTime(),
      triggered: triggeredAt instanceof Date && triggeredAt >= date,
      task: contexts[0]!.task === task,
      execution: [execution?.reason, execution?.startedAt instanceof Date, execution?.finishedAt instanceof Date],
      id: execution?.id.length,
      reason,
    }
  },

  async 'noOverlap: a slot that comes while the last one runs is not run'(api) {
    const logger = recording()
    const overlapped = Promise.withResolvers<void>()
    const task = api.createTask(EACH_SECOND, () => overlapped.promise, { noOverlap: true, logger })
    const seen = follow(task)
    task.on('execution:overlap', () => overlapped.resolve())
    // Another slot may come before the run has heard that it is to end.
    const told = (): string[] => seen.filter((event, index) => event !== seen[index - 1]).slice(0, 5)
    void task.start()
    await until(() => told().length >= 5, 'the one after it ran')
    void task.destroy()
    return { seen: told(), told: logger.told[0] }
  },

  async 'without noOverlap it runs, and the overlap is emitted'(api) {
    const isTold = (): boolean => seen.length >= 4
    const task = api.createTask(EACH_SECOND, () => until(isTold, 'a second one began'), { logger: recording() })
    const seen = follow(task)
    void task.start()
    await until(isTold, 'a second one began')
    void task.destroy()
    return seen.slice(0, 4)
  },

  async 'after maxExecutions runs the task is destroyed'(api) {
    const task = api.createTask(EACH_SECOND, () => 'done', { maxExecutions: 2, logger: recording() })
    const left = [task.runsLeft()]
    const seen = follow(task)
    task.on('execution:finished', () => void left.push(task.runsLeft()))
    void task.start()
    await until(() => seen.includes('task:destroyed destroyed'), 'it was destroyed')
    await slotsPass(api, 2)
    return { seen, left: [...left, task.runsLeft()], known: api.getTask(task.id), status: task.getStatus() }
  },

  async 'a run continues when its task is stopped, and emits its end'(api) {
    const work = Promise.withResolvers<string>()
    const task = api.createTask(EACH_SECOND, () => work.promise, { logger: recording() })
    const seen = follow(task)
    void task.start()
    await until(() => task.isBusy(), 'it ran')
    void task.stop()
    work.resolve('late')
    await until(() => seen.length >= 4, 'it finished')
    const status = task.getStatus()
    void task.destroy()
    return { seen: seen.slice(0, 4), status, result: task.lastRun()?.result }
  },

  async 'a task is stopped and started as often as one likes, and nothing is made up for the time between'(api) {
    let runs = 0
    const work = (): Promise<void> => {
      runs++
      return sleep(200)
    }
    const task = api.createTask(EACH_SECOND, work, { logger: recording() })
    const seen = follow(task, ['task:started', 'task:stopped', 'task:destroyed', 'execution:missed'])
    void task.start()
    void task.start()
    await until(() => runs > 0, 'it ran')
    void task.stop()
    void task.stop()
    const before = runs
    await slotsPass(api, 2)
    const meanwhile = runs - before
    void task.start()
    const atOnce = runs - before
    await until(() => runs > before, 'it ran again')
    const again = runs - before
    await until(() => task.isBusy(), 'it ran once more')
    void task.stop()
    void task.start()
    await until(() => runs >= before + 3, 'it went on in the same turn')
    void task.destroy()
    void task.destroy()
    void task.start()
    const events = seen.map((event) => event.split(' ')[0])
    return { events, meanwhile, atOnce, again, status: task.getStatus() }
  },

  async 'execute() runs it at once in every state, and gives its result or throws its error'(api) {
    const logger = recording()
    const reasons: unknown[] = []
    const task = api.createTask('0 0 1 1 *', ({ execution }) => reasons.push(execution?.reason), {
      maxExecutions: 1,
      logger,
    })
    const seen = follow(task)
    const results = [await task.execute(), await task.execute()]
    const last = task.lastRun()?.result
    void task.start()
    results.push(await task.execute())
    void task.destroy()
    results.push(await task.execute())
    const failing = api.createTask('0 0 1 1 *', () => Promise.reject(new Error('no')), { logger })
    const error = await failing.execute().then(null, (thrown: Error) => thrown.message)
    void failing.destroy()
    return {
      reasons,
      results,
      last,
      seen,
      left: task.runsLeft(),
      error,
      told: logger.told,
      failed: failing.lastRun()?.error?.message,
    }
  },

  async 'a listener that throws or rejects is logged, and affects nothing else'(api) {
    const logger = recording()
    let called = 0
    const removed = (): void => {
      called = -1
    }
    const task = api.createTask('0 0 1 1 *', () => 1, { logger })
    task.on('execution:started', () => {
      throw new Error('thrown')
    })
    task.on('execution:started', () => Promise.reject(new Error('rejected')))
    task.on('execution:started', () => void called++)
    task.on('execution:started', removed)
    task.off('execution:started', removed)
    await task.execute()
    await until(() => logger.told.length >= 2, 'both were logged')
    void task.destroy()
    return { called, told: logger.told.toSorted() }
  },

  async 'a coordinator is asked once for a slot, and receives its end after all listeners'(api) {
    const order: string[] = []
    const keys: string[] = []
    const runCoordinator = {
      shouldRun(key: string, ttlMs: number) {
        order.push(`asked ${task.getStatus()} ${ttlMs}`)
        keys.push(key)
        return true
      },
      onComplete: (key: string) => void order.push(`completed ${key === keys[0]}`),
    }
    const options = { distributed: true, name: 'asked', runCoordinator, maxExecutions: 1, logger: recording() }
    const task = api.createTask(EACH_SECOND, () => void order.push('function'), options)
    for (const event of ['execution:started', 'execution:finished', 'execution:maxReached', 'task:destroyed'] as const)
      task.on(event, () => void order.push(event))
    void task.start()
    await until(() => order.at(-1)?.startsWith('completed') === true, 'it was told')
    return { order, key: keys[0]?.replace(/\d/g, '9') }
  },

  async 'a slot that a coordinator denies, or fails at, is skipped'(api) {
    const answers: (() => boolean | Promise<boolean>)[] = [
      () => false,
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('thrown')
      },
    ]
    let runs = 0
    const logger = recording()
    const runCoordinator = { shouldRun: () => (answers.shift() ?? (() => false))() }
    const options = { distributed: true, name: 'denied', runCoordinator, distributedLease: 5, logger }
    const task = api.createTask(EACH_SECOND, () => void runs++, options)
    const seen = follow(task)
    void task.start()
    await until(() => seen.length >= 4, 'three were skipped')
    void task.destroy()
    return { runs, seen: seen.slice(0, 4), told: logger.told.slice(0, 2) }
  },

  async 'tasks are known by their id until they are destroyed'(api) {
    const named = api.createTask('0 0 1 1 *', () => {}, { name: 'named' })
    const nameless = api.createTask('0 0 1 1 *', () => {})
    const known = [api.getTask(named.id) === named, api.getTasks().get(nameless.id) === nameless, api.getTask('?')]
    const names = [named.name, nameless.name === nameless.id, named.getPattern(), named.runsLeft()]
    void named.destroy()
    void nameless.destroy()
    return { known, names, after: [api.getTask(named.id), api.getTasks().has(nameless.id)] }
  },

  async 'what can not be a task is refused'(api) {
    const refused = (make: () => unknown): string | null => {
      try {
        make()
        return null
      } catch (error) {
        return (error as Error).message
      }
    }
    return [
      refused(() => api.schedule('60 * * * *', () => {})),
      refused(() => api.createTask('* * * *', () => {})),
      refused(() => api.createTask(5 as unknown as string, () => {})),
      refused(() => api.createTask('* * * * *', () => {}, { distributed: true })),
      refused(() => api.schedule('0 0 L-30 2 *', () => {})),
    ]
  },
}

describe('The drop-in does as node-cron does', { concurrency: true }, () => {
  cron.setLogger(recording())
  after(() => cron.shutdown())

  for (const [title, script] of Object.entries(SCRIPTS)) {
    it(title, LIMIT, async () => {
      const [its, ours] = await whileHealthy(() => Promise.all([script(nodeCron as Api), script(cron)]))
      assert.deepEqual(ours, its)
    })
  }
})

describe('shutdown() of both', () => {
  for (const [name, api] of Object.entries(PACKAGES)) {
    it(`waits for what runs and destroys all tasks (${name})`, LIMIT, async () => {
      await api.shutdown()
      const logger = recording()
      const task = api.schedule(EACH_SECOND, () => sleep(300, 'whole'), { logger })
      const idle = api.createTask('0 0 1 1 *', () => {})
      await until(() => task.isBusy(), 'it ran')
      await api.shutdown()
      assert.equal(task.lastRun()?.result, 'whole')
      assert.deepEqual([task.getStatus(), idle.getStatus(), api.getTasks().size], ['destroyed', 'destroyed', 0])
    })
  }
})

it('shutdown(ms) aborts what still runs before the time is up, so that it takes no longer', LIMIT, async () => {
  const order: string[] = []
  const task = cron.schedule(EACH_SECOND, ({ run }) => onceAborted(run?.signal), {
    noOverlap: true,
    logger: recording(),
  })
  const onceAborted = async (signal: AbortSignal | undefined): Promise<void> => {
    await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
    order.push('aborted')
  }
  await until(() => task.isBusy(), 'it runs')
  const timeIsUp = sleep(2_000).then(() => order.push('time is up'))
  await Promise.all([timeIsUp, cron.shutdown(2_000)])
  assert.deepEqual(order, ['aborted', 'time is up'])
})

describe('A slot that comes too late', () => {
  after(() => cron.shutdown())

  it('is missed once the next one has come, with any tolerance', LIMIT, async () => {
    const watched = Object.values(PACKAGES).flatMap((api) =>
      [true, false].map((noOverlap) => {
        const options = { missedExecutionTolerance: 60_000, noOverlap, logger: recording() }
        const [dates, missed]: [number[], number[]] = [[], []]
        const task = api.schedule(EACH_SECOND, ({ date }) => void dates.push(date.getTime()), options)
        task.on('execution:missed', ({ date }) => void missed.push(date.getTime()))
        return { task, dates, missed }
      }),
    )
    await until(() => watched.every(({ dates }) => dates.length > 0), 'all ran')
    const first = Math.ceil(Date.now() / 1_000) * 1_000
    while (Date.now() < first + 3_100);
    const outdated = [first, first + 1_000, first + 2_000]
    await until(
      () => watched.every(({ missed, dates }) => Math.max(...missed, ...dates) > first + 3_000),
      'all went on',
    )
    for (const { task, dates, missed } of watched) {
      void task.destroy()
      assert.deepEqual(
        missed.filter((date) => outdated.includes(date)),
        outdated,
      )
      assert.deepEqual(
        dates.filter((date) => outdated.includes(date)),
        [],
      )
    }
  })

  it('is reported as missed, not run, and logged if there is no listener', LIMIT, async () => {
    const watched = Object.values(PACKAGES).map((api) => {
      const logger = recording()
      const [dates, missed]: [number[], number[]] = [[], []]
      const task = api.createTask(EACH_SECOND, ({ date }) => void dates.push(date.getTime()), { logger })
      task.on('execution:missed', ({ date }) => void missed.push(date.getTime()))
      const unheard = recording()
      const other = api.createTask(EACH_SECOND, () => {}, { logger: unheard })
      for (const one of [task, other]) void one.start()
      return { dates, missed, logger, unheard, tasks: [task, other] }
    })
    await until(() => watched.every(({ dates }) => dates.length > 0), 'all ran')
    const blockedUntil = Date.now() + 3_600
    while (Date.now() < blockedUntil);
    await until(
      () => watched.every(({ missed, unheard }) => missed.length > 0 && unheard.told.length > 0),
      'it was told',
    )
    for (const { dates, missed, logger, unheard, tasks } of watched) {
      for (const task of tasks) void task.destroy()
      assert.match(unheard.told[0]!, /^warn missed execution at/)
      assert.deepEqual(logger.told, [])
      assert.deepEqual(
        dates.filter((date) => missed.includes(date)),
        [],
      )
    }
  })
})
