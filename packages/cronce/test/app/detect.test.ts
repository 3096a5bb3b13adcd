import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import { surround } from '../../src/app/surroundings.ts'
import { systemClock } from '../../src/clock.ts'
import type { CronceEvent, Execution } from '../../src/model/event.ts'
import { memory } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'

const WORKER = new URL('detect-worker.ts', import.meta.url)

/** Apps on one store, whose clock is set by hand. */
function apps(context: TestContext, wrap: (store: Store) => Store = (store) => store) {
  const clock = { now: Date.UTC(2027, 5, 1, 12) - 5, wall: () => clock.now }
  const source = memory({ clock })
  const events: CronceEvent[] = []
  const warnings: string[] = []
  const calls: string[] = []
  const counted = (store: Store): Store => {
    const count = (name: 'load' | 'apply' | 'listRecords') =>
      (async (...args: never[]) => {
        calls.push(name)
        return (store[name] as (...given: never[]) => Promise<unknown>)(...args)
      }) as never
    return wrap({ ...store, load: count('load'), apply: count('apply'), listRecords: count('listRecords') })
  }
  const open = () => {
    const own = { ...source, open: async (options: never) => counted((await source.open(options)) as Store) }
    const time = { ...systemClock(), boot: () => clock.now }
    surround(own as never, { clock: time })
    const logger = { error: () => {}, warn: (message: string) => void warnings.push(message) }
    const app = cronce({ store: own as never, signals: false, logger })
    app.on('execution.duplicated', (event) => events.push(event))
    context.after(() => app.stop())
    return app
  }
  return { clock, events, warnings, calls, open }
}

test('a second execution within the window is reported with both, also across a full minute', async (context) => {
  const { clock, events, warnings, open } = apps(context)
  const [one, other] = [open(), open()]
  assert.equal(await one.detect('legacy', { window: '1m' }, () => 'first'), 'first')
  clock.now += 10
  assert.equal(await other.detect('legacy', { window: '1m' }, async () => 'second'), 'second')
  assert.equal(events.length, 1)
  const [event] = events
  assert.ok(event?.type === 'execution.duplicated')
  assert.deepEqual([event.name, event.isRefused, event.windowMs], ['legacy', false, 60_000])
  assert.equal(event.second.at - event.first.at, 10)
  assert.notEqual(event.first.instance, event.second.instance)
  assert.deepEqual([event.first.host, event.first.pid], [hostname(), process.pid])
  assert.match(warnings.join(), /legacy is executed more than once within 60 s: .* executed as well/)
})

test('an execution after the window is not detected, and other names are separate', async (context) => {
  const { clock, events, open } = apps(context)
  const [one, other] = [open(), open()]
  await one.detect('legacy', { window: '1m' }, () => {})
  await other.detect('another', { window: '1m' }, () => {})
  clock.now += 60_000
  await other.detect('legacy', { window: '1m' }, () => {})
  clock.now += 60_000
  await one.detect('legacy', { window: '1m' }, () => {})
  assert.deepEqual(events, [])
})

test('a third execution is a duplicate of the first, and a duplicate does not prolong the window', async (context) => {
  const { clock, events, open } = apps(context)
  const [one, other] = [open(), open()]
  await one.detect('legacy', { window: '1m' }, () => {})
  clock.now += 40_000
  await other.detect('legacy', { window: '1m' }, () => {})
  clock.now += 10_000
  await one.detect('legacy', { window: '1m' }, () => {})
  clock.now += 10_000
  await other.detect('legacy', { window: '1m' }, () => {})
  const after = events.map((event) => event.type === 'execution.duplicated' && event.second.at - event.first.at)
  assert.deepEqual(after, [40_000, 50_000])
})

test('a refused duplicate is not executed', async (context) => {
  const { events, open } = apps(context)
  const [one, other] = [open(), open()]
  const options = { window: '1m', action: 'refuse' } as const
  assert.equal(await one.detect('legacy', options, () => 1), 1)
  assert.equal(await other.detect('legacy', options, () => assert.fail('executed twice')), undefined)
  assert.equal(events.length, 1)
})

test('an execution costs one call of the store, after the first one in a process', async (context) => {
  const { clock, calls, open } = apps(context)
  const app = open()
  await app.detect('legacy', { window: '1m' }, () => {})
  calls.length = 0
  for (let minute = 0; minute < 5; minute++) {
    clock.now += 60_000
    await app.detect('legacy', { window: '1m' }, () => {})
  }
  assert.deepEqual(calls, ['apply', 'apply', 'apply', 'apply', 'apply'])
})

test('a store that fails keeps no work from being done, and the error of the work is its own', async (context) => {
  const { warnings, open } = apps(context, (store) => ({ ...store, load: () => Promise.reject(new Error('away')) }))
  const app = open()
  assert.equal(await app.detect('legacy', { window: '1m' }, () => 'done'), 'done')
  assert.equal(await app.detect('legacy', { window: '1m', action: 'refuse' }, () => 'done'), 'done')
  const mine = app.detect('legacy', { window: '1m' }, () => Promise.reject(new Error('mine')))
  await assert.rejects(mine, /mine/)
  assert.match(warnings.join(), /Whether legacy is executed twice is not known this time: .*away/)
})

test('wrong options are refused before the work begins', async (context) => {
  const app = apps(context).open()
  const work = () => assert.fail('begun')
  await assert.rejects(app.detect('legacy', { window: '1ms' }, work), { code: 'OPTION_INVALID' })
  await assert.rejects(app.detect('legacy', { window: '1m', action: 'kill' as 'refuse' }, work), {
    code: 'OPTION_INVALID',
  })
  await assert.rejects(app.detect('legacy', { windows: '1m' } as never, work), { code: 'OPTION_UNKNOWN' })
  await assert.rejects(app.detect('', { window: '1m' }, work), { code: 'NAME_INVALID' })
  await assert.rejects(app.detect('legacy', { window: '1m' }, 'work' as never), { code: 'OPTION_INVALID' })
})

interface Answer {
  readonly pid: number
  readonly executed: number
  readonly found: readonly (readonly [Execution, Execution])[]
}

for (const action of ['report', 'refuse'] as const) {
  test(`three processes that execute the same at the same moment: two duplicates, to ${action}`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-detect-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const children = [1, 2, 3].map(() => fork(WORKER, [`sqlite:${join(folder, 'legacy.db')}`, action]))
    await Promise.all(children.map((child) => once(child, 'message')))
    const answers = children.map(async (child) => {
      const [answer] = await once(child, 'message')
      return answer as Answer
    })
    for (const child of children) child.send('go')
    const told = await Promise.all(answers)
    assert.deepEqual(told.map(({ executed }) => executed).sort(), action === 'report' ? [1, 1, 1] : [0, 0, 1])
    const found = told.flatMap((answer) => answer.found)
    assert.equal(found.length, 2)
    const firsts = new Set(found.map(([first]) => first.pid))
    const pids = children.map(({ pid }) => pid!)
    assert.deepEqual([...firsts, ...found.map(([, second]) => second.pid)].sort(), pids.sort())
    for (const [first, second] of found) assert.ok(first.host === hostname() && second.host === hostname())
  })
}
