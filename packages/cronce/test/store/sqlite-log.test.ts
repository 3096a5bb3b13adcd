import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadDriver, statement } from '../../src/store/sqlite/driver.ts'
import { connect } from '../../src/store/sqlite/open.ts'
import { Writer } from '../../src/store/sqlite/writer.ts'
import { afterwards, tempFolder } from './sqlite-kit.ts'

const READER = fileURLToPath(new URL('sqlite-log-reader.ts', import.meta.url))
const LOG_BYTES = 1_000_000
const TEXT = 'x'.repeat(50_000)
const DEADLINE_MS = 120_000

async function texts(context: TestContext) {
  const file = join(await tempFolder(context), 'texts.db')
  const db = connect(await loadDriver(), file)
  afterwards(context, () => db.close())
  db.exec('create table texts (text text)')
  const writer = new Writer(db, file, 10_000, LOG_BYTES)
  afterwards(context, () => writer.idle())
  const write = () => writer.write((on) => statement(on, 'insert into texts values (?)').run(TEXT))
  return { file, write, logBytes: () => statSync(`${file}-wal`).size }
}

async function startReader(context: TestContext, file: string): Promise<void> {
  const reader = fork(READER, [file])
  afterwards(context, async () => {
    const gone = once(reader, 'exit')
    reader.disconnect()
    await gone
  })
  await once(reader, 'message')
}

test('the log is truncated again and again although there is always a reader', async (context) => {
  const { file, write, logBytes } = await texts(context)
  await startReader(context, file)
  const end = performance.now() + DEADLINE_MS
  let cuts = 0
  for (let before = 0; cuts < 3 && performance.now() < end; ) {
    await write()
    const now = logBytes()
    if (now < before) cuts++
    before = now
  }
  assert.equal(cuts, 3)
})

test('writes go on during a long read, and the log is truncated after it', async (context) => {
  const { file, write, logBytes } = await texts(context)
  const reader = connect(await loadDriver(), file)
  afterwards(context, () => reader.close())
  reader.exec('begin')
  statement(reader, 'select count(*) as value from texts').get()
  for (let written = 0; written < 60; written++) await write()
  const long = logBytes()
  assert.ok(long > 2 * LOG_BYTES, `${long} bytes`)

  reader.exec('commit')
  const end = performance.now() + DEADLINE_MS
  while (logBytes() >= long && performance.now() < end) {
    await write()
    await sleep(20)
  }

  assert.ok(logBytes() <= LOG_BYTES, `${logBytes()} bytes`)
})
