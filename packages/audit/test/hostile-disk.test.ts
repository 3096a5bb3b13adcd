import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { audit } from '../src/audit.ts'
import { EXIT, runCommand } from '../src/command.ts'
import { diskTree } from '../src/discover/disk-tree.ts'

const JOB = "import cron from 'node-cron'\ncron.schedule('0 25 * * *', () => send())\n"

function folder(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const root = mkdtempSync(join(tmpdir(), 'cronce-audit-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

async function errorsIn(root: string): Promise<readonly string[]> {
  const { findings } = await audit(diskTree(root))
  return findings.filter(({ rule }) => rule === 'CRN001').map(({ place }) => `${place.path}:${place.line}`)
}

test('marks of UTF-8, UTF-16 in both orders and line breaks of Windows are read', async (t) => {
  const wide = Buffer.from(`\uFEFF${JOB}`, 'utf16le')
  const root = folder(t, {
    'be.js': Buffer.from(wide).swap16(),
    'bom.js': `\uFEFF${JOB}`,
    'breaks.js': JOB.replaceAll('\n', '\r\n'),
    'le.js': wide,
  })
  assert.deepEqual(await errorsIn(root), ['be.js:2', 'bom.js:2', 'breaks.js:2', 'le.js:2'])
  assert.deepEqual((await audit(diskTree(root))).unreadable, [])
})

test('marks and encodings stay when a file is repaired', async (t) => {
  const lines = "import cron from 'node-cron'\r\ncron.schedule('0 3 * * *', () => send())\r\n"
  const fixed = lines.replace('send())', "send(), { timezone: 'UTC' })")
  const root = folder(t, { 'bom.js': `\uFEFF${lines}`, 'le.js': Buffer.from(`\uFEFF${lines}`, 'utf16le') })
  const io = { folder: root, version: '0', out: () => undefined, error: () => undefined }
  assert.equal(await runCommand(['--fix'], io), EXIT.ok)
  assert.equal(readFileSync(join(root, 'bom.js'), 'utf8'), `\uFEFF${fixed}`)
  assert.equal(readFileSync(join(root, 'le.js'), 'utf16le'), `\uFEFF${fixed}`)
})

test('a folder that is called build holds manifests, and code that was built', async (t) => {
  const root = folder(t, {
    'build/jobs.js': JOB,
    'build/node_modules/a/jobs.yaml': 'on:\n  schedule: []\n',
    'build/templates/cronjob.yaml': 'kind: CronJob\n',
    'src/jobs.js': JOB,
  })
  assert.deepEqual(diskTree(root).paths, ['build/templates/cronjob.yaml', 'src/jobs.js'])
})

test('files that are too large or no text are reported, and the others are read', async (t) => {
  const garbage = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 89) % 256))
  const root = folder(t, {
    'a.js': JOB,
    'binary.ts': garbage,
    'beat-schedule': garbage,
    'bundle.js': `${JOB}${'// x\n'.repeat(210_000)}`,
    'large.js': `${JOB}${'// x\n'.repeat(1_100_000)}`,
    'photo.png': garbage,
  })
  const { unreadable } = await audit(diskTree(root))
  assert.deepEqual(unreadable, [
    { path: 'binary.ts', reason: 'The file is not text.' },
    { path: 'bundle.js', reason: 'The file has more than 1 million characters.' },
    { path: 'large.js', reason: 'The file has more than 5 MB.' },
  ])
  assert.deepEqual(await errorsIn(root), ['a.js:2'])
})

test('code with a zero in a string is text', async (t) => {
  const root = folder(t, { 'a.js': `${JOB}${'// x\n'.repeat(200)}const end = '\0'\n` })
  assert.deepEqual(await errorsIn(root), ['a.js:2'])
})

test('links that lead in a circle are not followed', async (t) => {
  const root = folder(t, { 'src/jobs.js': JOB })
  symlinkSync(root, join(root, 'src/again'))
  symlinkSync(join(root, 'src/self'), join(root, 'src/self'))
  symlinkSync(join(root, 'src/jobs.js'), join(root, 'copy.js'))
  assert.deepEqual(await errorsIn(root), ['src/jobs.js:2'])
})

test('a file and a folder that may not be read do not end the audit', async (t) => {
  const root = folder(t, { 'a.js': JOB, 'closed.js': JOB, 'closed/b.js': JOB })
  chmodSync(join(root, 'closed.js'), 0o000)
  chmodSync(join(root, 'closed'), 0o000)
  const found = await errorsIn(root)
  const { unreadable } = await audit(diskTree(root))
  chmodSync(join(root, 'closed'), 0o755)
  // Root may read everything.
  const isRoot = process.getuid?.() === 0
  assert.deepEqual(found, isRoot ? ['a.js:2', 'closed.js:2', 'closed/b.js:2'] : ['a.js:2'])
  assert.deepEqual(unreadable, isRoot ? [] : [{ path: 'closed.js', reason: 'The file cannot be read: EACCES.' }])
})

test('folders that are nested deeply are bounded', async (t) => {
  const path = 'd/'.repeat(200)
  const root = folder(t, { 'a.js': JOB, [`${path}b.js`]: JOB })
  assert.deepEqual(await errorsIn(root), ['a.js:2'])
})

test('a file that is gone when it is read is no text', async (t) => {
  const root = folder(t, { 'a.js': JOB, 'gone.js': JOB })
  const tree = diskTree(root)
  rmSync(join(root, 'gone.js'))
  const { unreadable } = await audit(tree)
  assert.deepEqual(unreadable, [{ path: 'gone.js', reason: 'The file cannot be read: ENOENT.' }])
})
