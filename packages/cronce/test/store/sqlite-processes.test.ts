import assert from 'node:assert/strict'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { WakeUp } from '../../src/store/sqlite/wake-up.ts'
import type { Store } from '../../src/store/store.ts'
import { applyAll, collect, loadOne, renewalsOf, runsOf } from '../../src/testing/conformance/bench.ts'
import { beat, creation, schedule } from '../../src/testing/conformance/samples.ts'
import { afterwards, openFor, openStore, startWorker, tempFolder } from './sqlite-kit.ts'

function integrityOf(file: string): unknown {
  const db = new DatabaseSync(file)
  try {
    return Object.values(db.prepare('pragma integrity_check').get()!)[0]
  } finally {
    db.close()
  }
}

async function lockFiles(file: string): Promise<string[]> {
  return (await readdir(`${file}-cronce`)).filter((name) => name.endsWith('.lock'))
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 6_000; look++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail(`waited in vain until ${what}`)
}

test('several processes that make the file at once all get it, and make each schedule once', async (context) => {
  const file = join(await tempFolder(context), 'new.db')
  const names = ['a', 'b', 'c', 'd']
  const workers = names.map((name) => startWorker(context, { task: 'create', file, name }))
  await Promise.all(workers.map(({ ended }) => ended))
  const told = workers.map((worker) => worker.told[0] as string[])
  assert.deepEqual(told.map(([shared]) => shared).sort(), ['applied', 'conflict', 'conflict', 'conflict'])
  assert.deepEqual(
    told.map(([, own]) => own),
    names.map(() => 'applied'),
  )
  const store = await openFor(context, file)
  const schedules = await collect((page) => store.listSchedules(page))
  assert.deepEqual(
    schedules.map(({ id }) => id),
    [...names.map((name) => `of ${name}`), 'shared'],
  )
})

test('of four processes that race for 400 fires, exactly one gets each', async (context) => {
  const file = join(await tempFolder(context), 'race.db')
  const store = await openFor(context, file)
  const ids = Array.from({ length: 400 }, (_, number) => `s${number}`)
  await applyAll(
    store,
    ids.map((id) => creation(schedule(id))),
  )
  const workers = ['a', 'b', 'c', 'd'].map((name) => startWorker(context, { task: 'claim', file, name }))
  await Promise.all(workers.map((worker) => worker.next()))
  for (const worker of workers) worker.process.send('go')
  await Promise.all(workers.map(({ ended }) => ended))
  const won = workers.map(({ told }) => told[1] as string[])
  assert.deepEqual(won.flat().sort(), ids.toSorted())
  assert.ok(won.filter((some) => some.length > 0).length > 1, 'there was a race')
  const runs = await runsOf(store, { outcome: 'open' })
  assert.equal(runs.length, ids.length)
  assert.equal(new Set(runs.map((run) => run.schedule)).size, ids.length)
  const holders = new Map(runs.map((run) => [run.schedule, run.instance]))
  for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
    assert.ok(
      won[index]!.every((id) => holders.get(id) === name),
      'the record names who was told',
    )
  }
  assert.equal(integrityOf(file), 'ok')
})

test('a process killed in the middle of its writes has lost nothing that was acknowledged, and the file is sound', async (context) => {
  const file = join(await tempFolder(context), 'killed.db')
  const store = await openFor(context, file)
  let acknowledged = 0
  for (let round = 0; round < 8; round++) {
    const worker = startWorker(context, { task: 'write', file, name: 'writer' })
    const enough = acknowledged + 5 + round * 7
    await until(
      'it has written',
      async () => Number(worker.told.at(-1) ?? 0) >= enough || worker.process.exitCode !== null,
    )
    await worker.kill()
    acknowledged = Number(worker.told.at(-1))
    const state = await loadOne(store, 'writer')
    // The last one may have been committed without having been reported.
    assert.ok(state !== null && state.fired >= acknowledged && state.fired <= acknowledged + 1)
    assert.equal(state.last.dueAt, state.fired, 'a row is whole')
    assert.equal(state.version, state.fired + 1)
    acknowledged = state.fired
  }
  assert.equal(integrityOf(file), 'ok')
  await applyAll(store, [creation(schedule('afterwards'))])
})

test('a probe names the killed process, and no other', async (context) => {
  const file = join(await tempFolder(context), 'probe.db')
  const store = await openFor(context, file)
  await store.beat(beat('here', { join: true }))
  const killed = startWorker(context, { task: 'hold', file, name: 'killed' })
  const lives = startWorker(context, { task: 'hold', file, name: 'lives' })
  await Promise.all([killed.next(), lives.next()])
  const all = ['here', 'killed', 'lives', 'stranger']
  assert.deepEqual(await store.probe(all), [])
  await killed.kill()
  assert.deepEqual(await store.probe(all), ['killed'])
  assert.deepEqual(await store.probe(all), ['killed'], 'to look changes nothing')
  const renewals = await renewalsOf(store, 'killed')
  assert.equal(await store.mark({ kind: 'dead', instance: 'killed', renewals, hint: true }), true)
  assert.deepEqual(await store.probe(all), [])
  assert.equal((await lockFiles(file)).length, 2, 'the file of the dead is gone')
})

test('a process that was stopped is not dead', async (context) => {
  const file = join(await tempFolder(context), 'stopped.db')
  const store = await openFor(context, file)
  const worker = startWorker(context, { task: 'hold', file, name: 'stopped' })
  await worker.next()
  worker.process.kill('SIGSTOP')
  assert.deepEqual(await store.probe(['stopped']), [])
  const renewals = await renewalsOf(store, 'stopped')
  assert.equal(await store.mark({ kind: 'dead', instance: 'stopped', renewals, hint: true }), true)
  assert.equal((await lockFiles(file)).length, 1, 'it is still held')
})

test('the locks of several stores in one process are their own', async (context) => {
  const file = join(await tempFolder(context), 'many.db')
  const first = await openFor(context, file)
  const second = await openStore(file)
  const elsewhere = await openFor(context, file, { namespace: 'other' })
  await first.beat(beat('one', { join: true }))
  await second.beat(beat('two', { join: true }))
  await elsewhere.beat(beat('two', { join: true }))
  assert.deepEqual(await first.probe(['one', 'two']), [])
  assert.deepEqual(await second.probe(['one', 'two']), [])
  await second.close()
  assert.deepEqual(await first.probe(['one', 'two']), ['two'], 'who closes without leaving is gone')
  assert.deepEqual(await elsewhere.probe(['two']), [])
})

test('an instance that leaves, or learns that it is dead, removes its lock file', async (context) => {
  const file = join(await tempFolder(context), 'leave.db')
  const store = await openFor(context, file)
  await store.beat(beat('leaving', { join: true }))
  await store.beat(beat('dying', { join: true }))
  assert.equal((await lockFiles(file)).length, 2)
  await store.beat(beat('leaving', { state: 'left' }))
  assert.equal((await lockFiles(file)).length, 1)
  const renewals = await renewalsOf(store, 'dying')
  await store.mark({ kind: 'dead', instance: 'dying', renewals, hint: true })
  assert.equal((await store.beat(beat('dying'))).alive, false)
  assert.deepEqual(await lockFiles(file), [])
})

test('pruning removes locks of unknown processes, and spares those that are to be probed', async (context) => {
  const file = join(await tempFolder(context), 'sweep.db')
  const store = await openFor(context, file)
  const known = startWorker(context, { task: 'hold', file, name: 'known' })
  const unknown = startWorker(context, { task: 'hold', file, name: 'unknown' })
  await Promise.all([known.next(), unknown.next()])
  await Promise.all([known.kill(), unknown.kill()])
  const db = new DatabaseSync(file)
  db.exec("delete from cronce_instances where id = 'unknown'")
  db.close()
  await store.prune(10)
  assert.equal((await lockFiles(file)).length, 1)
  assert.deepEqual(await store.probe(['known', 'unknown']), ['known'])
})

test('a store that is open, holds a lock and watches keeps no process from ending', async (context) => {
  const file = join(await tempFolder(context), 'idle.db')
  const worker = startWorker(context, { task: 'idle', file, name: 'idle' })
  await worker.ended
  assert.deepEqual([worker.told, worker.process.exitCode], [['idle'], 0])
  const store = await openFor(context, file)
  assert.deepEqual(await store.probe(['idle']), ['idle'])
})

test('where the system cannot report changes, the file is polled', async (context) => {
  // A missing folder cannot be watched.
  const file = join(await tempFolder(context), 'later', 'signal.wake')
  const wakeUp = new WakeUp(file, 0o600)
  afterwards(context, () => wakeUp.close())
  let told = 0
  wakeUp.watch(() => told++)
  await mkdir(join(file, '..'))
  await until('it was told', async () => {
    new WakeUp(file, 0o600).ring()
    return told > 0
  })
})

test('a write with wake reaches another store on the same file', async (context) => {
  const file = join(await tempFolder(context), 'wake.db')
  const listener = await openFor(context, file)
  const writer: Store = await openFor(context, file)
  const other = await openFor(context, file, { namespace: 'other' })
  const told = { here: 0, elsewhere: 0 }
  listener.watch(() => told.here++)
  other.watch(() => told.elsewhere++)
  // The watch of the system begins a moment after it was asked for.
  let number = 0
  await until('it was told', async () => {
    await writer.apply([creation(schedule(`s${number++}`))], { wake: true })
    return told.here > 0
  })
  assert.equal(told.elsewhere, 0, 'namespaces do not wake each other')
})

test('a lost signal is made up for by the next heartbeat', async (context) => {
  const file = join(await tempFolder(context), 'lost.db')
  const listener: Store = await openFor(context, file)
  const writer: Store = await openFor(context, file)
  await listener.beat(beat('i', { join: true }))
  let told = 0
  listener.watch(() => told++)
  // Without a folder, no signal can be left.
  await rm(`${file}-cronce`, { recursive: true })
  // The echo of its own joining, and of the folder that goes.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = told
  await writer.apply([creation(schedule('loud'))], { wake: true })
  await listener.beat(beat('i'))
  await until('it was told', async () => told > before)
})
