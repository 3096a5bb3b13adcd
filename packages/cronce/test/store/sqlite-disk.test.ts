import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { applyAll, collect, loadOne } from '../../src/testing/conformance/bench.ts'
import { beat, creation, definition, schedule } from '../../src/testing/conformance/samples.ts'
import { afterwards, openFor, tempFolder } from './sqlite-kit.ts'

/** A disk of 4 MB, or why it is not available. */
async function smallDisk(context: TestContext): Promise<{ folder: string } | { reason: string }> {
  const folder = await tempFolder(context)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    return { reason: `a small disk can't be mounted here: ${(error as Error).message.split('\n')[0]}` }
  }
  afterwards(context, () => execFileSync('umount', [folder]))
  return { folder }
}

test('a full disk costs nothing that was written, and the store goes on when there is space again', async (context) => {
  const disk = await smallDisk(context)
  if ('reason' in disk) {
    context.skip(disk.reason)
    return
  }
  const { folder } = disk
  const file = join(folder, 'full.db')
  const store = await openFor(context, file)
  await store.beat(beat('i', { join: true }))
  const ballast = join(folder, 'ballast')
  await writeFile(ballast, Buffer.alloc(1_000_000))
  const written: string[] = []
  const large = definition({ input: 'x'.repeat(20_000) })
  const fill = async () => {
    for (let number = 0; number < 1_000; number++) {
      const id = `s${String(number).padStart(4, '0')}`
      await applyAll(store, [creation(schedule(id, { definition: large }))])
      written.push(id)
    }
  }
  await assert.rejects(fill(), { code: 'STORE_FULL', notApplied: true })
  assert.ok((await statfs(folder)).bavail < 20, 'the disk was full')
  assert.ok(written.length > 10)

  const found = await collect((page) => store.listSchedules(page))
  assert.deepEqual(
    found.map(({ id }) => id),
    written,
  )
  await rm(ballast)
  await applyAll(store, [creation(schedule('afterwards'))])
  assert.notEqual(await loadOne(store, 'afterwards'), null)
  assert.equal((await store.beat(beat('i'))).alive, true)
})
