import assert from 'node:assert/strict'
import type { ActivityRecord } from '../../model/activity.ts'
import type { Store } from '../../store/store.ts'
import { applyOne, create, join, type Rule, running } from './bench.ts'
import { app, change, creation, DAY_MS, endedLine, NOON, removal, schedule, settlement, withFires } from './samples.ts'

const YEAR_MS = 365 * DAY_MS
const LATER = Date.UTC(2100, 0)

function line(id: string, over: Partial<ActivityRecord> = {}): ActivityRecord {
  return {
    id,
    at: NOON,
    action: 'pause',
    origin: 'cli',
    author: 'ada',
    note: null,
    subject: { type: 'schedule', name: 's' },
    changed: {},
    expiresAt: LATER,
    ...over,
  }
}

async function listed(store: Store, more: Partial<Parameters<Store['listActivity']>[0]> = {}): Promise<string[]> {
  const { items } = await store.listActivity({ after: null, limit: 100, ...more })
  return items.map(({ id }) => id)
}

/** The operator log. */
export function activityRules(rule: Rule): void {
  rule(
    'a line of the operator log is listed as it was written, with the change that it is about',
    async ({ store }) => {
      const text = 'because of „ü“ \u0000\n\t"\\ 🚀'
      const made = line('one', { note: text, author: null, changed: { until: NOON, list: [1, null, { a: text }] } })
      const created = creation(schedule('s'), { activity: made })
      assert.equal((await applyOne(store, created)).kind, 'applied')
      const { items, next, now } = await store.listActivity({ after: null, limit: 10 })
      assert.deepEqual(items, [made])
      assert.equal(next, null)
      assert.ok(now > 0)
    },
  )

  rule('a change that is refused leaves no line', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const stale = change({ ...state, version: state.version + 1 }, {}, { activity: line('stale') })
    assert.equal((await applyOne(store, stale)).kind, 'conflict')
    const early = change(state, {}, { activity: line('early'), notBefore: LATER })
    assert.equal((await applyOne(store, early)).kind, 'early')
    const fires = withFires(change(state, {}, { activity: line('full') }), [])
    const full = { ...fires, limits: [{ slot: 'job:x', limit: -1 }] }
    assert.equal((await applyOne(store, full)).kind, 'full')
    assert.deepEqual(await listed(store), [])
  })

  rule('changes of a batch that are refused leave no line beside those that are written', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const written = change(state, {}, { activity: line('written') })
    const late = change(state, {}, { activity: line('late') })
    const other = creation(schedule('t'), { activity: line('other', { at: NOON - 1 }) })
    const { results } = await store.apply([written, late, other])
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['applied', 'conflict', 'applied'],
    )
    assert.deepEqual(await listed(store), ['written', 'other'])
  })

  rule('the end of a run may carry a line, whatever way the store writes it', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const ended = { ...settlement(state, run), activity: line('ended') }
    assert.equal((await applyOne(store, ended)).kind, 'applied')
    assert.deepEqual(await listed(store), ['ended'])
  })

  rule('removing a schedule is logged, and its lines stay', async ({ store }) => {
    const state = await create(store, schedule('s'))
    await applyOne(store, removal(state, { activity: line('removed', { action: 'remove' }) }))
    assert.deepEqual(await listed(store, { schedule: 's' }), ['removed'])
  })

  rule('lines are listed the latest first, by schedule and by time, page by page', async ({ store }) => {
    const lines = Array.from({ length: 7 }, (_, index) =>
      line(`line-${index}`, {
        at: NOON + Math.floor(index / 2),
        subject: index === 3 ? { type: 'instance', name: 's' } : { type: 'schedule', name: index === 4 ? 't' : 's' },
      }),
    )
    for (const activity of [...lines].reverse()) await store.apply([], { activity })
    const ids = lines.map(({ id }) => id).reverse()
    assert.deepEqual(await listed(store), ids)
    assert.deepEqual(
      await listed(store, { schedule: 's' }),
      ids.filter((id) => id !== 'line-3' && id !== 'line-4'),
    )
    assert.deepEqual(await listed(store, { from: NOON + 1, to: NOON + 3 }), ['line-5', 'line-4', 'line-3', 'line-2'])
    const paged: string[] = []
    let after: string | null = null
    do {
      const page = await store.listActivity({ after, limit: 2 })
      paged.push(...page.items.map(({ id }) => id))
      after = page.next
    } while (after !== null)
    assert.deepEqual(paged, ids)
  })

  rule('asking an instance to drain is logged if it is live', async ({ store }) => {
    await join(store, 'i')
    const drain = (instance: string, id: string) =>
      store.mark({ kind: 'drain', instance, drain: true, activity: line(id, { action: 'drain' }) })
    assert.equal(await drain('i', 'drained'), true)
    assert.equal(await drain('nobody', 'refused'), false)
    assert.deepEqual(await listed(store), ['drained'])
  })

  rule('a change of an app is logged if it is written', async ({ store }) => {
    assert.equal(await store.saveApp(app('shop'), line('first')), true)
    assert.equal(await store.saveApp(app('shop'), line('refused')), false)
    assert.equal(await store.saveApp(app('shop', { version: 2 })), true)
    assert.deepEqual(await listed(store), ['first'])
  })

  rule('lines are neither fires nor runs nor ends, and do not count', async ({ store }) => {
    const { next: before } = await store.listEnds({ after: null, limit: 10 })
    const state = await create(store, schedule('s'))
    await applyOne(store, change(state, {}, { activity: line('one') }))
    for (const view of ['fires', 'runs'] as const) {
      assert.deepEqual((await store.listRecords({ view, after: null, limit: 10 })).items, [])
    }
    assert.deepEqual((await store.listEnds({ after: before, limit: 10 })).items, [])
    assert.deepEqual((await store.countFires({ from: 0, to: LATER })).hours, [])
  })

  rule('a line is deleted when its time is up, and not before', async ({ store, now }) => {
    const at = await now()
    await store.apply([], { activity: line('old', { at: at - YEAR_MS, expiresAt: at - 1 }) })
    await store.apply([], { activity: line('young', { at: at - YEAR_MS - 1, expiresAt: at + DAY_MS }) })
    const ended = endedLine('s', at - DAY_MS, { number: 1, expiresAt: at - 1 })
    await applyOne(store, withFires(change(await create(store, schedule('s'))), [ended]))
    assert.deepEqual(await listed(store), ['old', 'young'])
    assert.equal((await store.prune(10)).deleted, 1, 'fires are counted, lines are not')
    assert.deepEqual(await listed(store), ['young'])
  })

  rule('the lines of a schedule are erased with its records', async ({ store }) => {
    const state = await create(store, schedule('s'))
    await applyOne(store, removal(state, { activity: line('removed') }))
    await store.apply([], { activity: line('other', { subject: { type: 'schedule', name: 't' } }) })
    while ((await store.prune(1, 's')).deleted > 0);
    assert.deepEqual(await listed(store), ['other'])
  })

  rule('namespaces have an operator log of their own', async ({ store, open, namespace }) => {
    await store.apply([], { activity: line('one') })
    assert.deepEqual(await listed(await open()), ['one'])
    assert.deepEqual(await listed(await open(`${namespace}-other`)), [])
  })

  rule(
    'a line is committed and rolled back with the user’s transaction',
    async ({ store, under }) => {
      const state = await create(store, schedule('s'))
      const database = under.database!
      const failure = new Error('rolled back')
      const write = (activity: ActivityRecord) =>
        database.transaction(async (tx) => {
          await store.apply([change(state, {}, { activity })], { tx })
          if (activity.id === 'lost') throw failure
        })
      await assert.rejects(write(line('lost')), failure)
      assert.deepEqual(await listed(store), [])
      await write(line('kept'))
      assert.deepEqual(await listed(store), ['kept'])
    },
    'database',
  )
}
