import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cron } from '../src/cron.ts'
import { cronce } from '../src/index.ts'
import { testKit } from '../src/testing/test-kit.ts'
import { counted, kindOf, shellWord, withArticle } from '../src/words.ts'

test('one is singular, everything else is plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'run')),
    ['0 runs', '1 run', '2 runs'],
  )
  assert.equal(counted(1, 'process', 'processes'), '1 process')
  assert.equal(counted(3, 'process', 'processes'), '3 processes')
})

test('a name in a command is one word of a shell', () => {
  const names = ['billing', 'report:ada', 'flaky sync', '$HOME', "it's", 'a "b" c\'d']
  assert.deepEqual(names.map(shellWord), [
    'billing',
    'report:ada',
    '"flaky sync"',
    "'$HOME'",
    '"it\'s"',
    `'a "b" c'\\''d'`,
  ])
})

test('an article fits the sound of its noun', () => {
  const nouns = [
    'job',
    'app',
    'election',
    'instance',
    'object',
    'hour',
    'unit',
    'URL',
    'user',
    'UUID',
    'Uint8Array',
    'umbrella',
    'one-off',
    'Error',
    'Set',
  ]
  assert.deepEqual(nouns.map(withArticle), [
    ...['a job', 'an app', 'an election', 'an instance', 'an object', 'an hour', 'a unit', 'a URL', 'a user', 'a UUID'],
    ...['a Uint8Array', 'an umbrella', 'a one-off', 'an Error', 'a Set'],
  ])
})

test('what was given is named by its type', () => {
  const given = [null, undefined, [], {}, 1, 'a', true, () => {}]
  assert.deepEqual(given.map(kindOf), [
    ...['null', 'undefined', 'an array', 'an object', 'a number', 'a string', 'a boolean', 'a function'],
  ])
})

test('messages about what was given have the right article', async () => {
  const app = testKit().app()
  assert.throws(() => cronce({ store: {} as never }), {
    message: 'The option store must be a URL or a store, but is an object.',
  })
  assert.throws(() => app.elect(''), { message: /can't be the name of an election/ })
  assert.throws(() => cron('* * * * *', { tz: {} as never }), { message: /can't be an object/ })
  assert.throws(() => cron('* * * * *', [] as never), { message: 'Options are an object, not an array.' })
  await assert.rejects(app.schedules.put('s', { job: 'j', input: { error: new Error('x') } as never }), {
    message: /is an Error,/,
  })
})

test('a schedule that is paused after its first failure shows it', async () => {
  const kit = testKit()
  const app = kit.app().job('bill', { pauseAfter: 1 }, () => {
    throw new Error('no funds')
  })
  await app.start()
  await app.schedules.trigger('bill')
  await kit.advance('1m')

  assert.equal((await app.schedules.get('bill')).pause?.note, 'paused after a failed fire')
  await app.stop()
})
