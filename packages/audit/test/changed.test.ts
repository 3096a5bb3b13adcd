import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '../src/command.ts'
import { changedLines, onChanged } from '../src/decide/changed.ts'

const folder = mkdtempSync(join(tmpdir(), 'cronce-audit-git-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false']
  execFileSync('git', ['-C', folder, ...identity, ...args], { stdio: 'ignore' })
}

async function rulesAndLines(...args: readonly string[]): Promise<readonly string[]> {
  let out = ''
  await runCommand(['--format', 'json', ...args], {
    folder,
    version: '1',
    out: (text) => (out += text),
    error: () => {},
  })
  const { findings } = JSON.parse(out) as { findings: { rule: string; place: { path: string; line: number } }[] }
  return findings
    .filter(({ rule }) => /^FLT/.test(rule))
    .map(({ rule, place }) => `${rule} ${place.path}:${place.line}`)
}

const OLD = "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n"

test('only findings on changed lines, new files, and units that a change multiplies', async () => {
  writeFileSync(join(folder, 'a.js'), OLD)
  writeFileSync(
    join(folder, 'ecosystem.config.js'),
    "module.exports = { apps: [{ script: 'a.js', name: 'a',\n instances: 1 }] }\n",
  )
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  assert.deepEqual(await rulesAndLines('--changed', 'HEAD'), [])
  writeFileSync(join(folder, 'a.js'), `${OLD}cron.schedule('30 * * * *', () => send())\n`)
  writeFileSync(join(folder, 'b.js'), OLD)
  assert.deepEqual(await rulesAndLines('--changed', 'HEAD'), ['FLT001 a.js:3', 'FLT001 b.js:2'])
  git('checkout', '-q', 'a.js')
  rmSync(join(folder, 'b.js'))
  writeFileSync(
    join(folder, 'ecosystem.config.js'),
    "module.exports = { apps: [{ script: 'a.js', name: 'a',\n instances: 4 }] }\n",
  )
  assert.deepEqual(await rulesAndLines('--changed', 'HEAD'), ['FLT001 a.js:2', 'FLT002 ecosystem.config.js:2'])
})

test('an unknown commit, and one that looks like an option, are wrong usage', async () => {
  for (const ref of ['no-such-branch', '--output=x']) {
    let error = ''
    const io = { folder, version: '1', out: () => {}, error: (text: string) => (error += text) }
    assert.equal(await runCommand([`--changed=${ref}`], io), 2)
    assert.match(error, /git cannot compare with/)
  }
})

test('hunks name the lines of the new file; one that only removes touches the line before it', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,2 +3,2 @@\n@@ -9,3 +7,0 @@\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n'
  const changed = changedLines(diff, ['z'])
  assert.deepEqual([...changed.get('x')!].sort(), [3, 4, 7])
  assert.equal(changed.get('z'), null)
  const at = (path: string, line: number) => ({ rule: 'A', level: 'info', message: '', place: { path, line } }) as const
  assert.deepEqual(onChanged([at('x', 4), at('x', 5), at('z', 99), at('y', 1)], changed), [at('x', 4), at('z', 99)])
})
