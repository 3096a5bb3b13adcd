import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type Server, startPgbouncer, startPostgres } from '../../../../scripts/servers/index.ts'
import { postgres } from '../../src/postgres.ts'
import type { Session } from '../../src/store/postgres/database.ts'
import { Liveness } from '../../src/store/postgres/liveness.ts'
import type { ConnectOptions } from '../../src/store/postgres/open.ts'
import { wakeChannel } from '../../src/store/postgres/wake-channel.ts'
import { WakeUp } from '../../src/store/wake-up.ts'
import { join as joinFleet, running } from '../../src/testing/conformance/bench.ts'
import { asking, ECHO, eventually, openFor, startWorker } from './postgres-connection-kit.ts'
import { afterwards } from './sqlite-kit.ts'

let server: Server

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

after(() => server.stop())

async function sessionOf(context: TestContext, options: Partial<ConnectOptions> = {}): Promise<Session> {
  const session = await openFor(context, server.url, options).session()
  assert.ok(session)
  return session
}

/** The server ends the sessions whose last statement matches this. */
async function terminate(context: TestContext, like: string): Promise<void> {
  const database = openFor(context, server.url)
  const sql = `select count(pg_terminate_backend(pid))::text as answer from pg_stat_activity where pid <> pg_backend_pid() and query like '${like}'`
  assert.notEqual(await database.ask(asking(sql), []), '0')
}

describe('a session', () => {
  test('receives notifications, also after it was lost', async (context) => {
    const database = openFor(context, server.url)
    const session = (await database.session())!
    const heard: string[] = []
    const changes: string[] = []
    session.onChange((change) => changes.push(change))
    const stop = await session.listen('Ne"ws', (payload) => heard.push(payload))
    await database.script(`notify "Ne""ws", 'first'`)
    await eventually('it heard', () => heard.length === 1)
    await terminate(context, 'listen "Ne""ws"')
    await eventually('it is back', () => changes.includes('back'))
    await database.script(`notify "Ne""ws", 'second'`)
    await eventually('it heard again', () => heard.length === 2)
    stop()
    await session.hold(100n)
    await database.script(`notify "Ne""ws", 'third'`)
    await session.release(100n)
    assert.deepEqual(heard, ['first', 'second'])
    assert.deepEqual(changes, ['lost', 'back'])
  })

  test('takes its locks again after the server was killed', async (context) => {
    const [holder, watcher] = [await sessionOf(context), await sessionOf(context)]
    await holder.hold(1n)
    assert.deepEqual(await watcher.freed([1n], 0), [])
    await server.kill()
    await eventually('it is lost', () => !holder.isHolding())
    await server.restart()
    await eventually('it is held again', () => holder.isHolding())
    await eventually('the other is back', () => watcher.isHolding())
    assert.deepEqual(await watcher.freed([1n], 100), [])
  })

  test('notices that a process was killed', async (context) => {
    const watcher = await sessionOf(context)
    const worker = startWorker(context, { task: 'hold', url: server.url, lock: '2' })
    assert.equal(await worker.said(), true)
    assert.deepEqual(await watcher.freed([2n], 0), [], 'it is held')
    const freed = watcher.freed([2n], 60_000)
    worker.process.kill('SIGKILL')
    assert.deepEqual(await freed, [2n])
    assert.deepEqual(await watcher.freed([2n], 0), [2n], 'it still is when asked again')
  })

  test('notices it of any that it watches', async (context) => {
    const [watcher, holder] = [await sessionOf(context), await sessionOf(context)]
    const locks = [20n, 21n, 22n]
    for (const lock of locks) await holder.hold(lock)
    assert.deepEqual(await watcher.freed(locks, 0), [])
    const freed = watcher.freed(locks, 60_000)
    await holder.release(21n)
    assert.deepEqual(await freed, [21n])
  })

  test('concludes nothing from a lock that it never saw held', async (context) => {
    const [watcher, holder] = [await sessionOf(context), await sessionOf(context)]
    assert.deepEqual(await watcher.freed([3n], 50), [])
    await holder.hold(3n)
    await holder.release(3n)
    assert.deepEqual(await watcher.freed([3n], 50), [])
  })

  test('nor from one that it saw held on an earlier session', async (context) => {
    const [watcher, holder] = [await sessionOf(context), await sessionOf(context)]
    await watcher.listen('watcher', () => {})
    await holder.hold(4n)
    await watcher.freed([4n], 0)
    await terminate(context, '%pg_try_advisory_lock_shared%')
    await eventually('it is lost', () => !watcher.isHolding())
    await holder.release(4n)
    await eventually('it is back', () => watcher.isHolding())
    assert.deepEqual(await watcher.freed([4n], 50), [])
  })

  test('does not take other connections that ask for the holder', async (context) => {
    const watchers = await Promise.all(Array.from({ length: 4 }, () => sessionOf(context)))
    const rounds = Array.from({ length: 25 }, () => Promise.all(watchers.map((watcher) => watcher.freed([5n], 0))))
    assert.deepEqual((await Promise.all(rounds)).flat(2), [])
  })

  test('waits for one that waits for it, and the server sees no deadlock', async (context) => {
    const [first, second] = [await sessionOf(context), await sessionOf(context)]
    await first.hold(6n)
    await second.hold(7n)
    assert.deepEqual(await Promise.all([first.freed([7n], 1_500), second.freed([6n], 1_500)]), [[], []])
    assert.doesNotMatch(await readFile(join(server.directory, 'server.log'), 'utf8'), /deadlock/)
  })

  test('lets the vacuum horizon move while it waits and waits', async (context) => {
    const database = openFor(context, server.url)
    const [watcher, holder] = [await sessionOf(context), await sessionOf(context)]
    await holder.hold(8n)
    const waiting = watcher.freed([8n], 60_000)
    const horizon = `select coalesce(min(backend_xmin::text::bigint), 0)::text as answer
                       from pg_stat_activity where query like '%pg_advisory_lock_shared(8)%' and pid <> pg_backend_pid()`
    const pinned = async (): Promise<number> => Number(await database.ask(asking(horizon), []))
    await eventually('it waits', async () => (await pinned()) > 0)
    const old = await pinned()
    await database.script('select pg_current_xact_id()')
    await eventually('it holds back less', async () => (await pinned()) > old)
    await holder.release(8n)
    assert.deepEqual(await waiting, [8n])
  })

  test('is not ended by limits that were meant for statements', async (context) => {
    const database = openFor(context, server.url)
    await database.script(
      "create role careful login password 'careful'; alter role careful set statement_timeout = '50ms'",
    )
    const version = Number(await database.ask(asking("select current_setting('server_version_num') as answer"), []))
    if (version >= 140_000) await database.script("alter role careful set idle_session_timeout = '50ms'")
    const url = new URL(server.url)
    url.username = url.password = 'careful'
    const [holder, watcher] = [await sessionOf(context), (await openFor(context, url.href).session())!]
    const changes: string[] = []
    watcher.onChange((change) => changes.push(change))
    await holder.hold(11n)
    assert.deepEqual(await watcher.freed([11n], 200), [])
    await new Promise((resolve) => setTimeout(resolve, 150))
    assert.deepEqual(changes, [])
  })

  test('ends a wait when it is closed', async (context) => {
    const database = openFor(context, server.url)
    const [watcher, holder] = [(await database.session())!, await sessionOf(context)]
    await holder.hold(9n)
    const waiting = watcher.freed([9n], 600_000)
    await database.close()
    assert.deepEqual(await waiting, [])
  })
})

describe('behind PgBouncer', () => {
  for (const poolSize of [1, 2]) {
    test(`in transaction mode with ${poolSize}, there is none, and one warning about it`, async (context) => {
      const bouncer = await startPgbouncer({ upstream: server, poolSize })
      afterwards(context, () => bouncer.stop())
      const warnings: string[] = []
      const database = openFor(context, bouncer.url, { warn: (code) => warnings.push(code) })
      assert.deepEqual(await Promise.all([database.session(), database.session()]), [null, null])
      assert.deepEqual(warnings, ['STORE_POOLED'])
      const direct = openFor(context, bouncer.url, { directUrl: server.url })
      assert.ok(await direct.session(), 'a way around it')
      const without = openFor(context, bouncer.url, { session: false })
      assert.equal(await without.session(), null)
      const answers = await Promise.all(['a', 'b', 'c'].map((text) => database.ask(ECHO, [text])))
      assert.deepEqual(answers, ['a', 'b', 'c'])
    })
  }

  test('in session mode, it works like a direct one', async (context) => {
    const bouncer = await startPgbouncer({ upstream: server, poolSize: 4, mode: 'session' })
    afterwards(context, () => bouncer.stop())
    const session = (await openFor(context, bouncer.url).session())!
    const watcher = await sessionOf(context)
    await session.hold(10n)
    assert.equal(session.isHolding(), true)
    assert.deepEqual(await watcher.freed([10n], 0), [])
    await session.release(10n)
    assert.deepEqual(await watcher.freed([10n], 0), [10n])
  })
})

describe('liveness', () => {
  test('looks at new instances a few times, and then asks nothing while none is busy', async (context) => {
    const [first, second] = [openFor(context, server.url), openFor(context, server.url)]
    let asked = 0
    const session = (): ReturnType<typeof first.session> => {
      asked++
      return first.session()
    }
    const own = new Liveness({ session }, 'cronce', 'idle')
    await own.hold('own')
    await new Liveness(second, 'cronce', 'idle').hold('other')
    for (let looks = 0; looks < 3; looks++) assert.deepEqual(await own.probe(['other'], () => false), [])
    const before = asked
    for (let looks = 0; looks < 5; looks++) assert.deepEqual(await own.probe(['other'], () => false), [])
    assert.equal(asked, before)
  })

  test('notices the death of an instance that it saw only before that held runs', async (context) => {
    const [first, second] = [openFor(context, server.url), openFor(context, server.url)]
    const own = new Liveness(first, 'cronce', 'young')
    await own.hold('own')
    await new Liveness(second, 'cronce', 'young').hold('other')
    assert.deepEqual(await own.probe(['other'], () => false), [])
    await second.close()
    assert.deepEqual(await own.probe(['other'], () => true), ['other'])
  })

  test('reports instances whose session has ended, and those of another namespace', async (context) => {
    const [first, second] = [openFor(context, server.url), openFor(context, server.url)]
    const [own, other] = [new Liveness(first, 'cronce', 'n'), new Liveness(second, 'cronce', 'n')]
    assert.equal(own.isHolding(), null)
    await own.hold('own')
    await other.hold('other')
    assert.deepEqual([own.isHolding(), other.isHolding()], [true, true])
    // The first look sees it held; probing continues until an instance dies.
    const probed = own.probe(['other', 'unknown'], () => true)
    await eventually('it is looked at', async () => {
      const sql = "select count(*)::text as answer from pg_locks where locktype = 'advisory' and not granted"
      return (await first.ask(asking(sql), [])) !== '0'
    })
    await second.close()
    assert.deepEqual(await probed, ['other'])
    assert.deepEqual(await new Liveness(first, 'cronce', 'm').probe(['other'], () => false), [])
  })

  test('is watched by peers that came after it had begun', async (context) => {
    const source = postgres(server.url, { migrate: 'auto' })
    const open = () => source.open({ namespace: 'newcomers', adopt: false, production: false, warn: () => {} })
    const holder = await open()
    await joinFleet(holder, 'holder')
    await running(holder, 'a', { instance: 'holder' })
    const newcomer = await open()
    context.after(() => newcomer.close())
    await joinFleet(newcomer, 'newcomer')
    const probed = newcomer.probe(['holder'])
    const database = openFor(context, server.url)
    const waiting = "select count(*)::text as answer from pg_locks where locktype = 'advisory' and not granted"
    await eventually('it is looked at', async () => (await database.ask(asking(waiting), [])) !== '0')
    await holder.close()
    assert.deepEqual(await probed, ['holder'])
  })

  test('reports no death while it has no session itself', async () => {
    assert.deepEqual(await new Liveness({ session: async () => null }, 'cronce', 'n').probe(['a'], () => true), [])
  })
})

describe('wake-ups', () => {
  test('reach all of the namespace, and report which instance is busy', async (context) => {
    const database = openFor(context, server.url)
    const [own, same, another] = ['n', 'n', 'm'].map(
      (namespace) => new WakeUp(wakeChannel('cronce', namespace), () => database.session()),
    )
    let [woken, wokenElsewhere] = [0, 0]
    same!.watch(() => woken++)
    another!.watch(() => wokenElsewhere++)
    const notify = (payload: string) => database.script(`select pg_notify('${own!.channel}', '${payload}')`)
    await eventually('it listens', async () => {
      await notify(own!.busyPayload('me', false))
      return same!.isBusy('me')
    })
    assert.equal(woken, 0)
    await notify(own!.busyPayload('you', true))
    await eventually('it woke', () => woken === 1)
    assert.equal(same!.isBusy('you'), true)
    await notify('')
    await eventually('it woke again', () => woken === 2)
    assert.deepEqual([wokenElsewhere, another!.isBusy('me'), own!.isBusy('me')], [0, false, false])
  })

  test('reports a lost session, and wakes when it is back: a notification may have been missed', async (context) => {
    const database = openFor(context, server.url)
    const wakeUp = new WakeUp(wakeChannel('cronce', 'lost'), () => database.session())
    const hints: string[] = []
    wakeUp.watch((hint) => hints.push(hint))
    await eventually('it listens', async () =>
      terminate(context, `listen "${wakeUp.channel}"`).then(
        () => true,
        () => false,
      ),
    )
    await eventually('it is back', () => hints.length === 2)
    assert.deepEqual(hints, ['doubt', 'wake'])
  })

  test('without a session reach those of this process', async () => {
    const wakeUp = new WakeUp('channel', async () => null)
    const woken = new Promise((resolve) => wakeUp.watch(resolve))
    wakeUp.ring()
    assert.equal(await woken, 'wake')
  })
})
