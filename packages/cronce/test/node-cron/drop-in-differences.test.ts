import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import nodeCron from 'node-cron'
import cron, { type RunCoordinator } from '../../src/node-cron.ts'
import { type Api, follow, recording, slotsPass, until, whileHealthy } from './drop-in-kit.ts'

const EACH_SECOND = '* * * * * *'
const SLOT_TIMEOUT = { timeout: 600_000 }

/** Where the two differ on purpose: what each of them answers. A row here is a row in docs/node-cron.md. */
interface Difference {
  readonly script: (api: Api) => Promise<unknown>
  readonly its: unknown
  readonly ours: unknown
  /** It is about what all tasks of the process have in common. */
  readonly isAlone?: boolean
}

const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'a listener of once() is called once': {
    async script(api) {
      let called = 0
      const task = api.createTask('0 0 1 1 *', () => {}, { logger: recording() })
      task.once('execution:finished', () => void called++)
      for (let count = 0; count < 3; count++) await task.execute()
      void task.destroy()
      return called
    },
    its: 3,
    ours: 1,
  },
  'maxExecutions counts runs that fail': {
    async script(api) {
      let runs = 0
      const fail = (): void => {
        runs++
        throw new Error('always')
      }
      const task = api.schedule(EACH_SECOND, fail, { maxExecutions: 1, logger: recording() })
      await until(() => runs > 0, 'it ran')
      await slotsPass(api, 2)
      const status = task.getStatus()
      void task.destroy()
      return { more: runs > 1, status }
    },
    its: { more: true, status: 'idle' },
    ours: { more: false, status: 'destroyed' },
  },
  'maxExecutions holds also when runs overlap': {
    async script(api) {
      let runs = 0
      const slow = (): Promise<void> => {
        runs++
        return slotsPass(api, 2)
      }
      const task = api.schedule(EACH_SECOND, slow, { maxExecutions: 1, logger: recording() })
      await until(() => task.getStatus() === 'destroyed', 'it was destroyed')
      return runs > 1
    },
    its: true,
    ours: false,
  },
  'the status is running as long as any run is': {
    async script(api) {
      const isLong = Promise.withResolvers<void>()
      let [begun, ended] = [0, 0]
      const work = async (): Promise<void> => {
        if (begun++ !== 1) await isLong.promise
        ended++
      }
      const task = api.schedule(EACH_SECOND, work, { logger: recording() })
      await until(() => ended === 1, 'the short one ended')
      const status = task.getStatus()
      void task.destroy()
      isLong.resolve()
      return status
    },
    its: 'idle',
    ours: 'running',
  },
  'a coordinator that is set later counts for tasks that there are': {
    async script(api) {
      let asked = 0
      const early: RunCoordinator = { shouldRun: () => false }
      const late: RunCoordinator = { shouldRun: () => ++asked > 0 }
      api.setRunCoordinator(early)
      const task = api.schedule(EACH_SECOND, () => {}, { distributed: true, name: 'late', logger: recording() })
      api.setRunCoordinator(late)
      const seen = follow(task, ['execution:finished', 'execution:skipped'])
      await until(() => seen.length > 0, 'a slot came')
      api.setRunCoordinator(undefined)
      void task.destroy()
      return { asked: asked > 0, seen: seen[0] }
    },
    its: { asked: false, seen: 'execution:skipped idle not-elected' },
    ours: { asked: true, seen: 'execution:finished idle scheduled' },
    isAlone: true,
  },
  'a task that was destroyed has no next run': {
    async script(api) {
      const task = api.schedule('0 0 1 1 *', () => {}, { logger: recording() })
      void task.destroy()
      return task.getNextRun() === null
    },
    its: false,
    ours: true,
  },
  'a distributed task without a coordinator emits a failure, since a store may come in the same turn': {
    async script(api) {
      const logger = recording()
      try {
        const task = api.schedule(EACH_SECOND, () => {}, { distributed: true, name: 'undecided', logger })
        const seen = follow(task)
        await until(() => seen.length > 0, 'it was told')
        void task.destroy()
        return { seen: seen[0], told: logger.told.length }
      } catch (error) {
        return (error as Error).message.slice(0, 54)
      }
    },
    its: 'node-cron: a `distributed` task needs NODE_CRON_RUN se',
    ours: { seen: 'task:failed stopped', told: 1 },
    isAlone: true,
  },
  'the random delay comes before the start is emitted, and a task that is stopped in it is not started': {
    async script(api) {
      const options = { maxRandomDelay: 900, logger: recording() }
      let [isTurnOver, isDelayed, runs] = [false, false, 0]
      const work = (): void => {
        isDelayed ||= isTurnOver
        runs++
      }
      const task = api.createTask(EACH_SECOND, work, options)
      task.on('execution:started', () => {
        isTurnOver = false
        setImmediate(() => {
          isTurnOver = true
        })
      })
      void task.start()
      await until(() => runs >= 4, 'some ran')
      void task.destroy()
      return { isDelayedAfterStart: isDelayed }
    },
    its: { isDelayedAfterStart: true },
    ours: { isDelayedAfterStart: false },
  },
}

cron.setLogger(recording())
const { NODE_CRON_RUN: designated, ...environment } = process.env
if (designated !== undefined) process.env = environment

for (const alone of [true, false]) {
  const which = alone ? 'as a whole' : 'for a task'
  describe(`The drop-in differs from node-cron on purpose, ${which}`, { concurrency: !alone }, () => {
    after(() => cron.shutdown())

    for (const [title, { script, its, ours, isAlone = false }] of Object.entries(DIFFERENCES)) {
      if (isAlone !== alone) continue
      it(title, SLOT_TIMEOUT, async () => {
        const answers = await whileHealthy(() => Promise.all([script(nodeCron as Api), script(cron)]))
        assert.deepEqual(answers, [its, ours])
      })
    }
  })
}

it('A logger that throws does no harm: the failed run is reported, and has ended', SLOT_TIMEOUT, async () => {
  const fail = (): never => {
    throw new Error('the logger fails')
  }
  const logger = { info: fail, warn: fail, error: fail, debug: fail }
  const task = cron.createTask(EACH_SECOND, () => Promise.reject(new Error('the task fails')), { logger })
  const seen = follow(task, ['execution:failed'])
  task.on('execution:failed', fail)
  await assert.rejects(task.execute(), { message: 'the task fails' })
  void task.start()
  await until(() => seen.length >= 2, 'a slot failed, too')
  assert.equal(task.getStatus(), 'idle')
  await cron.shutdown()
  assert.match(seen[1]!, /^execution:failed .*the task fails$/)
})
