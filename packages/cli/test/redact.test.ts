import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { redactText } from '../src/redact.ts'

test('a password is hidden wherever its URL stands', () => {
  for (const [text, shown] of [
    ['postgres://me:hush@db/app', 'postgres://me:***@db/app'],
    ['at redis+tls://:hu:sh@h:1 and x://a:b@c', 'at redis+tls://:***@h:1 and x://a:***@c'],
    ["'http://u:p@ss@host?a=1'", "'http://u:***@host?a=1'"],
    ['http://h/?a?token=hu?sh&b=2', 'http://h/?a?token=***&b=2'],
    [`x://u:${'p'.repeat(2_000)}@h`, 'x://u:***@h'],
    ['password=hush', 'password=***'],
    ['10:30 a://b c:d@e', '10:30 a://b c:d@e'],
  ] as const) {
    assert.equal(redactText(text), shown)
  }
})

test('no text, however odd, keeps a process busy for long', () => {
  const module = new URL('../src/redact.ts', import.meta.url).href
  for (const piece of ['a.', '?a', 'a://a:', '://a:@', ';a&', 'password=', "a://b:c'"]) {
    const code = `import { redactText } from ${JSON.stringify(module)}; redactText(${JSON.stringify(piece)}.repeat(50_000))`
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      timeout: 120_000,
      encoding: 'utf8',
    })
    assert.deepEqual([status, signal], [0, null], `${piece} ${stderr}`)
  }
})
