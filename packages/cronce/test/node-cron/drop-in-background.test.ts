import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import nodeCron from 'node-cron'
import cron, { solvePath } from '../../src/node-cron.ts'
import { type Api, follow, recording, until } from './drop-in-kit.ts'

const FILE = './drop-in-background-task.ts'
const EACH_SECOND = '* * * * * *'
const YEARLY = '0 0 1 1 *'
const LIMIT = { timeout: 600_000 }
const LONG = { startTimeout: 120_000 }

/** A script that both packages play: what it answers must be the same. */
const SCRIPTS: Readonly<Record<string, (api: Api) => Promise<unknown>>> = {
  async 'runs in another process, with its slot and who it is'(api) {
    const options = { name: 'told', noOverlap: true, logger: recording(), ...LONG }
    const task = api.createTask(EACH_SECOND, FILE, options)
    const seen = follow(task, ['task:started', 'execution:started', 'execution:finished'])
    await task.start()
    await until(() => seen.length >= 3, 'it ran')
    const { apart, ...rest } = { ...(task.lastRun()?.result as Record<string, unknown>) }
    await task.stop()
    const status = task.getStatus()
    await task.destroy()
    return { seen: seen.slice(0, 3), isApart: apart !== process.pid, rest, status, end: task.getStatus() }
  },
  async 'fails as it throws there'(api) {
    const logger = recording()
    const task = api.createTask(YEARLY, FILE, { name: 'failing', logger, ...LONG })
    await task.start()
    const error = await task.execute().then(null, (thrown: Error & { code?: string }) => thrown)
    const last = task.lastRun()?.error?.message
    // Its process does not always answer after a failure.
    await Promise.resolve(task.destroy()).catch(() => {})
    return { name: error?.name, message: error?.message, code: error?.code, told: logger.told, last }
  },
  async 'is executed only when it was started, and stopped when its run has ended'(api) {
    const task = api.createTask(YEARLY, FILE, { name: 'slow', logger: recording(), ...LONG })
    const early = await task.execute().then(null, (error: Error) => error.message)
    await task.start()
    const doing = task.execute()
    const ended = await task.stop()
    const result = (await doing) as { reason: string }
    await task.destroy()
    return { early, ended, reason: result.reason, status: task.getStatus() }
  },
}

describe('Background tasks of the drop-in do as those of node-cron', { concurrency: true }, () => {
  cron.setLogger(recording())
  after(() => cron.shutdown())

  for (const [title, script] of Object.entries(SCRIPTS)) {
    it(title, LIMIT, async () => {
      const [its, ours] = await Promise.all([script(nodeCron as Api), script(cron)])
      assert.deepEqual(ours, its)
    })
  }

  it(
    'and differ where the process dies: that is a failed run, and the next slot has a process of its own',
    LIMIT,
    async () => {
      const logger = recording()
      const task = cron.createTask(EACH_SECOND, FILE, { name: 'dying', logger })
      const seen = follow(task, ['execution:failed', 'task:failed'])
      await task.start()
      await until(() => seen.length >= 2, 'two slots failed')
      await task.destroy()
      assert.ok(
        seen.slice(0, 2).every((event) => event.startsWith('execution:failed running scheduled')),
        seen.join(),
      )
      assert.equal((task.lastRun()?.error as { code?: string } | undefined)?.code, 'TARGET_EXITED')
    },
  )

  it('and a missing file is reported when they are started', LIMIT, async () => {
    const logger = recording()
    await assert.rejects(async () => cron.createTask(YEARLY, './no-such-task.ts').start(), { code: 'FILE_MISSING' })
    cron.schedule(YEARLY, './no-such-task.ts', { logger })
    await until(() => logger.told.length > 0, 'it was told')
    assert.match(logger.told[0]!, /^error Failed to start scheduled task: There is no file/)
  })

  it('are found relative to the file that names them', () => {
    assert.equal(solvePath(FILE), new URL(FILE, import.meta.url).href)
    assert.equal(solvePath('file:///a/b.js'), 'file:///a/b.js')
    assert.equal(solvePath('/a/b c.js'), 'file:///a/b%20c.js')
  })
})
