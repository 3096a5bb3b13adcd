import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'cronce'
import { COMMANDS } from '../src/commands/index.ts'
import { ask, MAIN } from './cronce.ts'

describe('completion', () => {
  let folder: string
  let env: Record<string, string>
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cronce-completion-'))
    const CRONCE_STORE = `sqlite:${join(folder, 'jobs.db')}`
    const client = await connect({ store: CRONCE_STORE })
    for (const name of ['billing', 'billing:eu', 'two words'])
      await client.schedules.create(name, { job: 'any', every: '1d' })
    await client.close()
    const bin = join(folder, 'cronce')
    writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
    chmodSync(bin, 0o755)
    const { PATH = '' } = process.env
    env = { CRONCE_STORE, PATH: `${folder}${delimiter}${PATH}`, HOME: folder, NODE_NO_WARNINGS: '1' }
  })
  after(() => rmSync(folder, { recursive: true }))
  const words = async (...typed: string[]): Promise<string[]> => {
    const { stdout, stderr, status } = await ask(['__complete', '--', ...typed], env)
    assert.deepEqual([stderr, status], ['', 0])
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\t')[0]!)
  }

  test('knows commands, flags, values and names in the store', async () => {
    assert.deepEqual(await words('desc'), ['describe'])
    assert.deepEqual(await words('help', 'desc'), ['describe'])
    assert.deepEqual(await words('list', '--ut'), ['--utc'])
    assert.deepEqual(await words('list', '--utc', '--ut'), [])
    assert.deepEqual(await words('list', '--state', 'p'), ['paused'])
    assert.deepEqual(await words('list', '--state=p'), ['--state=paused'])
    assert.deepEqual(await words('list', '-o', 'js'), ['json', 'jsonl'])
    assert.deepEqual(await words('migrate', 'st'), ['status'])
    assert.deepEqual(await words('describe', 'bill'), ['billing', 'billing:eu'])
    assert.deepEqual(await words('describe', '--tz', 'UTC', 'two'), ['two words'])
    assert.deepEqual(await words('describe', 'billing', ''), [])
    assert.deepEqual(await words('nonsense', ''), [])
    const { stdout } = await ask(['__complete', '--', ''], env)
    assert.equal(stdout.split('\n').length - 1, COMMANDS.filter(({ hidden }) => !hidden).length)
  })

  test('prints nothing instead of an error', async () => {
    for (const store of ['sqlite:/nowhere/at/all.db', 'nonsense', '']) {
      const answer = await ask(['__complete', '--', 'describe', ''], { CRONCE_STORE: store })
      assert.deepEqual(answer, { status: 0, stdout: '', stderr: '' })
    }
  })

  test('works in bash, names with blanks and colons included', () => {
    const complete = (line: string): string => {
      const script = `source <(cronce completion bash); COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _cronce; printf '%s\\n' "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }).trimEnd()
    }
    assert.equal(complete('cronce expl'), 'explain')
    assert.equal(complete("cronce describe ''"), 'billing\nbilling:eu\ntwo\\ words')
  })

  const noFish = spawnSync('fish', ['--version']).error === undefined ? false : 'fish is not installed'
  test('works in fish', { skip: noFish }, () => {
    const script = 'cronce completion fish | source; complete -C "cronce describe bill"'
    assert.equal(execFileSync('fish', ['-c', script], { env, encoding: 'utf8' }), 'billing\nbilling:eu\n')
  })

  test('has a script for each shell, and asks which one is meant', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'pwsh']) {
      const { status, stdout } = await ask(['completion', shell])
      assert.deepEqual([status, /cronce __complete -- /.test(stdout)], [0, true])
    }
    const { status, stderr } = await ask(['completion', 'bsh'])
    assert.equal(status, 2)
    assert.match(stderr, /Did you mean bash\?\nhint: Choose one of: bash, zsh, fish, pwsh\./)
  })
})
