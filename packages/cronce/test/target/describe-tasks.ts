import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { CronceEvent, JobOptions, Run, Target } from '../../src/index.ts'
import { type Ended, endOf, eventually, folderFor, linesOf, openApp, runToEnd, TASK } from './kit.ts'
import type { TaskInput } from './task.ts'

const FAST = { backoff: { base: 1, jitter: 0 } }

/** What holds for tasks wherever they are. */
export function describeTasks(isolate: 'thread' | 'process'): void {
  const options: JobOptions & Target = { file: TASK, isolate }
  const input = (does: TaskInput['does'], file?: string) => ({ does, ...(file === undefined ? {} : { file }) })

  describe(`a task in a ${isolate}`, { concurrency: 2, timeout: 600_000 }, () => {
    test('receives the same run as a function', async (context) => {
      const app = openApp(context)
      let seen: unknown
      app.use((run: Run, next) => {
        const { fire, attempt, token, instance, previous, idempotencyKey } = run
        const keys = [idempotencyKey(), idempotencyKey('step')]
        seen = { fire, attempt, token: `bigint ${token}`, instance, previous, keys }
        return next()
      })
      const { run } = await runToEnd(app, options, input('look'))
      assert.equal(run.error, null)
      assert.deepEqual(run.result, seen)
    })

    test('writes into the log of the run and reports its progress', async (context) => {
      const { fire, run } = await runToEnd(openApp(context), options, input('tell'))
      assert.equal(fire.state, 'succeeded')
      assert.deepEqual(linesOf(run, 'info').toSorted(), ['plainly', 'to stdout'])
      assert.deepEqual(linesOf(run, 'warn'), ['to stderr'])
      assert.deepEqual([...linesOf(run, 'debug'), ...linesOf(run, 'error')], ['in detail', 'alas'])
      assert.equal(run.progress?.fraction, 0.75)
      assert.equal(run.progress?.message, 'soon')
    })

    test('loses none of its output when its handler returns', async (context) => {
      const { run } = await runToEnd(openApp(context), options, input('chatter'))
      const numbers = linesOf(run, 'info').map((line) => Number(line.split(' ')[0]))
      assert.deepEqual(
        numbers,
        Array.from({ length: 2_000 }, (_, index) => index + 1),
      )
    })

    test('fails with the thrown error, and is not run again if the error rules it out', async (context) => {
      const { runs, run } = await runToEnd(openApp(context), { ...options, retry: 3 }, input('throw'))
      assert.equal(runs.length, 1)
      const { name, message, code, stack } = run.error ?? {}
      assert.deepEqual([name, message, code], ['RangeError', 'out of paper', 'PAPER_OUT'])
      assert.match(stack ?? '', /task\.ts/)
    })

    test('fails when it ends without an answer, however that comes, and the scheduler goes on', async (context) => {
      const app = openApp(context)
      const deeds = ['exit', 'exitWell', 'crash', 'reject', 'fill', 'forget'] as const
      for (const does of deeds) app.job(does, { ...options, memoryMb: 32, input: input(does) })
      app.job('well', { ...options, input: input('look') })
      await app.start()
      const ends = new Map<string, Ended>()
      for (const does of deeds) ends.set(does, await endOf(app, (await app.schedules.trigger(does)).fire))
      for (const does of deeds) assert.equal(ends.get(does)?.run.error?.code, 'TARGET_EXITED', does)
      const messageOf = (does: string): string => ends.get(does)?.run.error?.message ?? ''
      assert.match(messageOf('exit'), /exited with 7 before/)
      assert.match(messageOf('exitWell'), /exited with 0 before/)
      assert.match(messageOf('crash'), /uncaught on purpose/)
      assert.match(messageOf('reject'), /nor this/)
      assert.match(messageOf('forget'), /exited with 0 before/)
      const { fire } = await app.schedules.trigger('well')
      assert.equal((await endOf(app, fire)).fire.state, 'succeeded')
    })

    test('that computes without a pause is ended when its time is over', async (context) => {
      const app = openApp(context)
      const overran: CronceEvent[] = []
      app.on('run.overran', (event) => overran.push(event))
      const { fire, run } = await runToEnd(app, { ...options, timeout: { run: '2s', grace: '2s' } }, input('loop'))
      assert.deepEqual([fire.state, fire.reason], ['failed', 'timeout'])
      assert.equal(run.error?.code, 'RUN_TIMEOUT')
      // It was not given up: it ended in time.
      assert.deepEqual(overran, [])
    })

    test('that obeys its signal and then does not end is ended in the same time', async (context) => {
      const app = openApp(context)
      const overran: CronceEvent[] = []
      app.on('run.overran', (event) => overran.push(event))
      const { fire } = await runToEnd(app, { ...options, timeout: { run: '2s', grace: '2s' } }, input('dawdle'))
      assert.notEqual(fire.state, 'open')
      // Its answer has bought it no time.
      assert.deepEqual(overran, [])
    })

    test('receives an abort, with its reason', async (context) => {
      const app = openApp(context)
      app.job('work', { ...options, input: input('obey') })
      await app.start()
      const { fire } = await app.schedules.trigger('work')
      await eventually(async () => {
        const { items } = await app.runs.list({ schedule: 'work' })
        return items[0] !== undefined && linesOf(items[0], 'info').includes('waiting') ? true : null
      })
      await app.fires.cancel(fire, { note: 'wrong file' })
      const ended = await endOf(app, fire)
      assert.equal(ended.fire.state, 'cancelled')
      const heard = linesOf(ended.run, 'info').at(-1) ?? ''
      assert.match(heard, /^CronceError RUN_CANCELLED: An operator cancelled the run\./)
      assert.equal(ended.run.error?.message, heard.slice(heard.indexOf(': ') + 2))
    })

    test('is refused a step within itself', async (context) => {
      const { run } = await runToEnd(openApp(context), options, input('nestStep'))
      assert.equal(run.error?.code, 'STEP_NESTED')
    })

    test('does a step once, over all of its runs', async (context) => {
      const file = join(await folderFor(context), 'charges')
      const { fire, runs, run } = await runToEnd(
        openApp(context),
        { ...options, retry: { attempts: 1, ...FAST } },
        input('once', file),
      )
      assert.equal(fire.state, 'succeeded')
      assert.equal(runs[0]?.error?.message, 'after the charge')
      assert.deepEqual(run.result, { receipt: 17 })
      assert.equal(await readFile(file, 'utf8'), 'charged by 1\n')
    })

    test('repeats a failed step, and gets its error', async (context) => {
      const { runs, run } = await runToEnd(
        openApp(context),
        { ...options, retry: { attempts: 1, ...FAST } },
        input('failStep'),
      )
      assert.deepEqual([runs[0]?.error?.name, runs[0]?.error?.message], ['TypeError', 'refused'])
      assert.equal(run.result, 'charged')
    })

    test('that dies in a step leaves it unknown', async (context) => {
      const { runs, run } = await runToEnd(
        openApp(context),
        { ...options, retry: { attempts: 1, ...FAST } },
        input('dieInStep'),
      )
      assert.deepEqual(
        runs.map(({ error }) => error?.code),
        ['TARGET_EXITED', 'STEP_UNKNOWN'],
      )
      assert.equal(run.reason, 'step-unknown')
    })

    test('is refused what a function would be, and transactions', async (context) => {
      const app = openApp(context)
      app.job('much', { ...options, input: input('keepTooMuch') })
      app.job('transact', { ...options, input: input('transact') })
      app.job('none', { file: new URL('./no-task.ts', import.meta.url), isolate, retry: 3 })
      await app.start()
      const codeOf = async (name: string): Promise<unknown> => {
        const { run, runs } = await endOf(app, (await app.schedules.trigger(name)).fire)
        return [run.error?.code, runs.length]
      }
      assert.deepEqual(await codeOf('much'), ['STEP_RESULT_INVALID', 1])
      assert.deepEqual(await codeOf('transact'), ['TRANSACTION_ISOLATED', 1])
      assert.deepEqual(await codeOf('none'), ['HANDLER_MISSING', 1])
    })

    test('ends with its handler, and what is not JSON is cut from its result', async (context) => {
      const app = openApp(context)
      app.job('linger', { ...options, input: input('linger') })
      app.job('circle', { ...options, input: input('circle') })
      await app.start()
      const linger = await endOf(app, (await app.schedules.trigger('linger')).fire)
      assert.equal(linger.run.result, 'and returns')
      const circle = await endOf(app, (await app.schedules.trigger('circle')).fire)
      assert.equal(circle.fire.state, 'succeeded')
      assert.match(String(circle.run.result), /^\[cut: .*circular/)
    })

    test('needs a file that is there when the job is declared', (context) => {
      const app = openApp(context)
      const declare = (file: string | URL) => () => app.job('work', { file, isolate })
      assert.throws(declare('./not-there.js'), { code: 'FILE_MISSING', message: /not-there\.js for job "work"/ })
      assert.throws(declare(new URL('.', import.meta.url)), { code: 'FILE_MISSING' })
      assert.throws(declare(new URL('https://example.com/a.js')), { code: 'OPTION_INVALID' })
      assert.throws(declare(''), { code: 'OPTION_INVALID' })
    })
  })
}
