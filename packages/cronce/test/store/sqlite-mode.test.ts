import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type CronceOptions, cronce } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'

const OPTIONS = { skip: process.platform === 'win32' ? 'Windows has no file modes' : false, timeout: 60_000 }

async function folderFor(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-mode-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Mode of everything in the folder while a started app uses the store, and a lock is held. */
async function modesWith(store: CronceOptions['store'], folder: string): Promise<Record<string, string>> {
  const app = cronce({ store, logger: false, signals: false })
  await app.start()
  await app.schedules.put('manual', { job: 'none' })
  const names = await readdir(folder, { recursive: true })
  const modes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mode & 0o777))
  await app.stop()
  const kindOf = (name: string) => name.replace(/[0-9a-f-]+(?=\.(lock|wake)$)/, '*')
  return Object.fromEntries(names.map((name, index) => [kindOf(name), modes[index]!.toString(8)]))
}

/** All kinds of files that there are beside a store. */
function allOf(file: string, mode: string, folderMode: string): Record<string, string> {
  return {
    [file]: mode,
    [`${file}-wal`]: mode,
    [`${file}-shm`]: mode,
    [`${file}-cronce`]: folderMode,
    [`${file}-cronce/*.lock`]: mode,
    [`${file}-cronce/*.wake`]: mode,
  }
}

test('the files of a store are readable by their owner only', OPTIONS, async (context) => {
  const folder = await folderFor(context)

  assert.deepEqual(await modesWith(sqlite(join(folder, 'jobs.db')), folder), allOf('jobs.db', '600', '700'))
})

test('a given mode holds for all files, with any umask', OPTIONS, async (context) => {
  const folder = await folderFor(context)
  const store = sqlite({ file: join(folder, 'jobs.db'), mode: 0o660 })

  assert.deepEqual(await modesWith(store, folder), allOf('jobs.db', '660', '770'))
})

test('a URL may name the mode', OPTIONS, async (context) => {
  const folder = await folderFor(context)

  assert.deepEqual(
    await modesWith(`sqlite:${join(folder, 'jobs.db')}?mode=644`, folder),
    allOf('jobs.db', '644', '755'),
  )
})

test('a file that exists keeps its mode, and its log has the same', OPTIONS, async (context) => {
  const folder = await folderFor(context)
  await writeFile(join(folder, 'jobs.db'), '')
  await chmod(join(folder, 'jobs.db'), 0o640)

  const modes = await modesWith(sqlite(join(folder, 'jobs.db')), folder)

  assert.deepEqual([modes['jobs.db'], modes['jobs.db-wal']], ['640', '640'])
})

test('a file that is made at the end of a link is private, too', OPTIONS, async (context) => {
  const folder = await folderFor(context)
  await symlink('jobs.db', join(folder, 'link.db'))

  const modes = await modesWith(sqlite(join(folder, 'link.db')), folder)

  assert.deepEqual([modes['jobs.db'], modes['jobs.db-wal']], ['600', '600'])
})

test('a mode that no store can work with is refused', () => {
  for (const mode of [0o400, 0o700, -1, 1.5, 0o1600]) {
    assert.throws(() => sqlite({ file: 'jobs.db', mode }), { code: 'STORE_OPTIONS_INVALID' })
  }
  for (const mode of ['rw', '999', '']) {
    assert.throws(() => cronce({ store: `sqlite:jobs.db?mode=${mode}` }), { code: 'STORE_OPTIONS_INVALID' })
  }
})
