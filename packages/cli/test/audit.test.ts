import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { call, cronce } from './cronce.ts'

const folder = mkdtempSync(join(tmpdir(), 'cronce-cli-audit-'))
after(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, 'jobs.js'), "import cron from 'node-cron'\ncron.schedule('0 25 * * *', () => send())\n")

test('cronce audit reports findings and ends with code 10', async () => {
  const { status, stdout } = await cronce(['audit', folder])
  assert.equal(status, 10)
  assert.match(stdout, /^1 schedule in 1 file/)
  assert.match(stdout, /error CRN001 jobs\.js:2/)
})

test('cronce audit passes its flags on', async () => {
  const { status, stdout } = await call('audit', folder, '--format', 'json', '--fail-on', 'error')
  assert.equal(status, 10)
  assert.equal(JSON.parse(stdout).version, 1)
  assert.match((await call('audit', '--explain', 'CRN001')).stdout, /^CRN001 \(error\)/)
})

test('--json is --format json', async () => {
  assert.equal(JSON.parse((await call('audit', folder, '--json')).stdout).summary.schedules, 1)
})

test('cronce audit rejects what it does not know', async () => {
  assert.equal((await call('audit', '--format', 'xml')).status, 2)
  assert.equal((await call('audit', join(folder, 'missing'))).status, 2)
})
