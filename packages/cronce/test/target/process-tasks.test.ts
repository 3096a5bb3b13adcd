import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownOptions } from '../../src/target/isolate/node-options.ts'
import { describeTasks } from './describe-tasks.ts'
import { linesOf, openApp, runToEnd, TASK } from './kit.ts'

describeTasks('process')

test('a process loses none of its output when it exits', { timeout: 600_000 }, async (context) => {
  const options = { file: TASK, isolate: 'process' } as const
  const { run } = await runToEnd(openApp(context), options, { does: 'chatterAndExit' })
  assert.equal(run.error?.code, 'TARGET_EXITED')
  assert.equal(linesOf(run, 'info').length, 2_000)
})

test('a process has the options of its scheduler, but for those about being watched, tested or evaluated', () => {
  const options = ['--import', 'tsx', '--inspect-brk=9229', '--conditions=dev', '--watch-path', './src', '-r', './a.js']
  assert.deepEqual(ownOptions([...options, '--test', '-e', 'start()']), [
    '--import',
    'tsx',
    '--conditions=dev',
    '-r',
    './a.js',
  ])
})
