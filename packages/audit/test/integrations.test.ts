import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { runCommand } from '../src/command.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'cronce-audit-action-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Step {
  readonly run: string
  readonly env: Readonly<Record<string, string>>
}

const action = parse(readFileSync(join(ROOT, 'packages/audit/action/action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly runs: { readonly steps: readonly Step[] }
}

/** The calls of `npx` that the step makes with these inputs, each as its arguments. */
function callsOf(inputs: Readonly<Record<string, string>>, code = 0): readonly (readonly string[])[] {
  const log = join(folder, 'calls')
  writeFileSync(log, '')
  writeFileSync(
    join(folder, 'npx'),
    `#!/bin/sh\nfor each in "$@"; do printf '%s\\n' "$each"; done >> ${log}\necho >> ${log}\nexit ${code}\n`,
  )
  chmodSync(join(folder, 'npx'), 0o755)
  const { PATH = '' } = process.env
  const [step] = action.runs.steps
  const env = Object.entries(step!.env).map(([name, text]) => {
    const input = /inputs\.([\w-]+)/.exec(text)![1]!
    return [name, inputs[input] ?? action.inputs[input]!.default] as const
  })
  execFileSync('bash', ['-e', '-c', step!.run], {
    env: { ...Object.fromEntries(env), PATH: `${folder}:${PATH}` },
  })
  return readFileSync(log, 'utf8')
    .split('\n\n')
    .filter((call) => call !== '')
    .map((call) => call.split('\n').slice(2))
}

test('the action prints annotations, and fails at the level that is asked for', () => {
  assert.deepEqual(callsOf({}), [['--fail-on', 'error', '--format', 'github', '.']])
})

test('the action passes every input on, and names with spaces stay one argument', () => {
  const calls = callsOf({
    path: 'my app',
    'fail-on': 'info',
    baseline: 'b.json',
    changed: 'origin/main',
    sarif: 'a b.sarif',
  })
  const options = ['--fail-on', 'info', '--baseline', 'b.json', '--changed', 'origin/main']
  assert.deepEqual(calls, [
    [...options, '--format', 'sarif', '--output', 'a b.sarif', 'my app'],
    [...options, '--format', 'github', 'my app'],
  ])
})

test('options of the action and of the pre-commit hook exist', async () => {
  const [hook] = parse(readFileSync(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8')) as [{ readonly entry: string }]
  const used = [action.runs.steps[0]!.run, hook.entry].join(' ').match(/(?<=\s|\()--(?!yes)[a-z-]+/g)
  let help = ''
  await runCommand(['--help'], { folder, version: '1', out: (text) => (help += text), error: () => {} })
  for (const option of used ?? []) assert.ok(help.includes(option), option)
  assert.ok(used!.length > 5)
})
