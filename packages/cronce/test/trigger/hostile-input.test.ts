import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronError, cron, type TriggerData, trigger } from '../../src/cron.ts'

// Any input of a form, a file or an attacker: an answer or a CronError, at once.

const LONG: Readonly<Record<string, string>> = {
  stars: '*'.repeat(100_000),
  blanks: ' '.repeat(100_000),
  'a list': `${'1,'.repeat(50_000)}1 * * * *`,
  'a number': `${'0'.repeat(100_000)}1 * * * *`,
  'a large number': `${'9'.repeat(100_000)} * * * *`,
  fields: '* '.repeat(50_000),
  dashes: `1${'-1'.repeat(50_000)} * * * *`,
  steps: `*${'/1'.repeat(50_000)} * * * *`,
  brackets: `${'H('.repeat(50_000)} * * * *`,
  'a macro': `@${'d'.repeat(100_000)}`,
  'a duration': `@every ${'1h'.repeat(50_000)}`,
  'a zone': `CRON_TZ=${'A'.repeat(100_000)} * * * * *`,
  'a name': `* * * ${'JAN'.repeat(33_000)} *`,
}

for (const [what, expression] of Object.entries(LONG)) {
  test(`100 kB of ${what} are refused with a short message`, () => {
    assert.throws(
      () => cron(expression, { seed: 'x' }),
      (error: unknown) => error instanceof CronError && error.message.length < 1000 && (error.hint ?? '').length < 1000,
    )
  })
}

test('what is not a text is refused with its own code', () => {
  const values: unknown[] = [
    null,
    undefined,
    0,
    5,
    Number.NaN,
    true,
    {},
    [],
    ['* * * * *'],
    Symbol('x'),
    5n,
    () => '* * * * *',
  ]
  values.push({ toString: () => '* * * * *' }, new String('* * * * *'))
  for (const value of values) {
    assert.throws(() => cron(value as string), { name: 'CronError', code: 'EXPRESSION_INVALID' })
  }
})

test('an empty text is refused with its own code', () => {
  for (const text of ['', ' ', '\t \t'])
    assert.throws(() => cron(text), { name: 'CronError', code: 'EXPRESSION_EMPTY' })
})

test('characters that look like others are refused', () => {
  const lookalikes = [
    '∗ * * * *',
    '＊ * * * *',
    '* * * * ＭＯＮ',
    '٥ * * * *',
    '１ * * * *',
    '5–10 * * * *',
    '5‐10 * * * *',
    '*／5 * * * *',
    '1，2 * * * *',
  ]
  // Dotless and long letters that fold to ASCII when upper-cased.
  lookalikes.push('* * * * ſUN', '0 0 * * FRıL', '0 0 * * FRı#L', '* * * * \u017fat', '@wee\u212aly')
  lookalikes.push(
    '\ufeff* * * * *',
    '* * * * *\u0000',
    '*\u0000 * * * *',
    '\ud800 * * * *',
    '* * * * 🕐',
    '*\u2028* * * *',
  )
  for (const expression of lookalikes) assert.throws(() => cron(expression), CronError, JSON.stringify(expression))
})

test('stored data that makes no sense is refused', () => {
  const wrong: unknown[] = [
    null,
    undefined,
    5,
    'cron',
    {},
    { kind: 'cron' },
    { kind: 'cron', expression: 5 },
    { kind: 'cron', expression: '60 * * * *' },
    { kind: 'cron', expression: '* * * * *', tz: 'Nowhere' },
    { kind: 'other' },
    { kind: 'every' },
    { kind: 'every', everyMs: 0, anchor: 0 },
    { kind: 'every', everyMs: Number.NaN, anchor: 0 },
    { kind: 'every', everyMs: 1000, anchor: Number.NaN },
    { kind: 'at' },
    { kind: 'at', at: Number.NaN },
  ]
  for (const data of wrong) {
    assert.throws(
      () => trigger(data as TriggerData),
      (error: unknown) => error instanceof Error && 'code' in error,
      JSON.stringify(data),
    )
  }
})

test('names from the prototype of objects mean nothing', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']
  for (const name of names) {
    assert.throws(() => cron(`@${name}`), CronError)
    assert.throws(() => cron(`* * * ${name} *`), CronError)
    assert.throws(() => cron('* * * * *', { dialect: name } as never), CronError)
    assert.throws(() => cron('* * * * *', { dst: name } as never), CronError)
    assert.throws(() => cron('* * * * *', { tz: name }), CronError)
  }
})
