import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import * as apply from '../../src/store/sqlite/apply.ts'
import { ENDED, HELD, LIVE, ORPHANS } from '../../src/store/sqlite/instances.ts'
import { ENDS, type Select, selectLines, selectOpen, selectSchedules } from '../../src/store/sqlite/lists.ts'
import * as prune from '../../src/store/sqlite/prune.ts'
import * as schedules from '../../src/store/sqlite/schedules.ts'
import { LIST_STEPS } from '../../src/store/sqlite/steps.ts'
import { afterwards, openStore, tempFolder } from './sqlite-kit.ts'

/** All ways to choose some of these. */
function choices<Item extends object>(filters: { readonly [Name in keyof Item]: Item[Name] }): Partial<Item>[] {
  return Object.entries(filters).reduce<Partial<Item>[]>(
    (made, [name, value]) => made.flatMap((item) => [item, { ...item, [name]: value }]),
    [{}],
  )
}

const PAGES = [null, JSON.stringify([1, 's', 'n', '7'])].map((after) => ({ after, limit: 10 }))
const SCHEDULE_FILTERS = { job: 'j', prefix: 'p', tenant: 't', app: 'a', state: 'paused' as const }
const RECORD_FILTERS = {
  schedule: 's',
  job: 'j',
  tenant: 't',
  outcome: 'failed',
  nonce: 'n',
  instance: 'i',
  token: '7',
  from: 1,
} as const
const VIEWS = ['fires', 'runs'] as const
const ORDERS = ['latest', 'earliest'] as const

function oneFilter(name: string): Partial<typeof RECORD_FILTERS> {
  return { [name]: RECORD_FILTERS[name as keyof typeof RECORD_FILTERS] }
}

const STATEMENTS: readonly string[] = [
  schedules.LOAD,
  schedules.DUE,
  schedules.NEXT,
  schedules.NEWER,
  schedules.HEAD,
  schedules.UPDATE,
  apply.TRIM,
  HELD,
  LIVE,
  ENDED,
  ORPHANS,
  LIST_STEPS,
  prune.EXPIRED,
  prune.GONE,
  prune.FIRES_OF,
  prune.STEPS_OF,
  prune.DELETE_NOTES,
  ...prune.DELETE_FIRE,
]

const LISTS: readonly Select[] = [
  ...[null, JSON.stringify(['s'])].flatMap((after) =>
    choices(SCHEDULE_FILTERS).map((filter) => selectSchedules('default', { ...filter, after, limit: 10 })),
  ),
  ...PAGES.flatMap((page) =>
    choices(RECORD_FILTERS).flatMap((filter) =>
      VIEWS.flatMap((view) =>
        ORDERS.flatMap((order) => {
          const query = { ...filter, ...page, view, order, to: 9 }
          return [...selectLines('default', query), selectOpen('default', query)]
        }),
      ),
    ),
  ),
]

test('nothing is found by reading through a table', async (context) => {
  const file = join(await tempFolder(context), 'plans.db')
  await (await openStore(file)).close()
  const db = new DatabaseSync(file)
  afterwards(context, () => db.close())
  const plan = (sql: string, values: Select['values'] = []) =>
    db
      .prepare(`explain query plan ${sql}`)
      .all(...values)
      .map((row) => String(Object.values(row).at(-1)))
  const bad: string[] = []
  const look = (sql: string, steps: readonly string[]) => {
    // These are no tables: a statement finds them one by one.
    if (steps.some((step) => /^SCAN (?!holders$|newest$|oldest$|taken )/.test(step)))
      bad.push(`${sql}\n  ${steps.join('\n  ')}`)
  }
  for (const sql of STATEMENTS) look(sql, plan(sql))
  for (const { sql, values } of LISTS) look(sql, plan(sql, values))
  assert.deepEqual(bad, [])
  assert.ok(LISTS.length > 300)
})

test('the most frequent queries use all columns of an index', async (context) => {
  const file = join(await tempFolder(context), 'seeks.db')
  await (await openStore(file)).close()
  const db = new DatabaseSync(file)
  afterwards(context, () => db.close())
  for (const [sql, seek] of [
    [schedules.DUE, 'COVERING INDEX cronce_schedules_due (namespace=? AND job=? AND wake_at>? AND wake_at<?)'],
    [schedules.NEXT, 'COVERING INDEX cronce_schedules_due (namespace=? AND job=? AND wake_at>?)'],
    [schedules.LOAD, '(namespace=? AND id=?)'],
    [LIVE, 'INDEX cronce_instances_ended (namespace=? AND ended_at=?)'],
    [HELD, 'INDEX cronce_open_held (namespace=? AND instance=?)'],
    [prune.EXPIRED, 'cronce_history_expiry (namespace=? AND expires_at<?)'],
    [apply.TRIM, 'cronce_history_fire (namespace=? AND schedule=?)'],
  ] as const) {
    const steps = db.prepare(`explain query plan ${sql}`).all()
    const first = steps.map((step) => String(Object.values(step).at(-1))).find((text) => !text.startsWith('CO-ROUTINE'))
    assert.ok(first?.includes(seek), first)
  }
})

test('what is due, and pages by one filter, come in order out of an index: nothing is sorted', async (context) => {
  const file = join(await tempFolder(context), 'order.db')
  await (await openStore(file)).close()
  const db = new DatabaseSync(file)
  afterwards(context, () => db.close())
  const page = { after: null, limit: 10 }
  const lists = [
    ...Object.entries(SCHEDULE_FILTERS).map(([name, value]) => selectSchedules('n', { ...page, [name]: value })),
    ...[{}, ...['schedule', 'job', 'tenant', 'outcome', 'instance', 'from'].map(oneFilter)].flatMap((filter) =>
      VIEWS.flatMap((view) =>
        // Ranges that reach into the stretch are few, and may be sorted.
        ORDERS.map((order) => selectLines('n', { ...page, ...filter, view, order }).at(order === 'latest' ? 0 : -1)!),
      ),
    ),
    selectSchedules('n', page),
  ].map(({ sql }) => sql)
  for (const sql of [schedules.DUE, schedules.NEXT, LIVE, ENDED, ENDS, prune.EXPIRED, apply.TRIM, ...lists]) {
    const steps = db
      .prepare(`explain query plan ${sql}`)
      .all()
      .map((row) => String(Object.values(row).at(-1)))
    // The runs of one fire are sorted by token.
    assert.ok(!steps.some((step) => /TEMP B-TREE FOR (?!LAST TERM)/.test(step)), `${sql}\n  ${steps.join('\n  ')}`)
  }
})

test('the failures of a job are not looked for among all that it did', () => {
  const page = { after: null, limit: 10, job: 'j' }
  for (const outcome of ['failed', 'succeeded'] as const) {
    for (const view of VIEWS) {
      const [lines] = selectLines('n', { ...page, view, outcome })
      assert.match(lines!.sql, outcome === 'failed' ? /cronce_history_outcome/ : /cronce_history_job/)
    }
  }
})

test('what went wrong with a schedule is found by an index, not among all that it did', async (context) => {
  const file = join(await tempFolder(context), 'trouble.db')
  await (await openStore(file)).close()
  const db = new DatabaseSync(file)
  afterwards(context, () => db.close())
  for (const page of PAGES) {
    const query = { ...page, schedule: 's', outcome: 'failed' } as const
    for (const { sql, values } of VIEWS.flatMap((view) => selectLines('n', { ...query, view }))) {
      const steps = db.prepare(`explain query plan ${sql}`).all(...values)
      const texts = steps.map((step) => String(Object.values(step).at(-1)))
      assert.match(texts[0]!, /_trouble \(namespace=\? AND schedule=\? AND outcome=\?/)
      assert.ok(!texts.some((text) => /TEMP B-TREE FOR (?!LAST TERM)/.test(text)), texts.join('\n'))
    }
  }
})
