import assert from 'node:assert/strict'
import type { Json } from '../../model/json.ts'
import { ending } from '../../model/outcome.ts'
import type { HistoryRecord } from '../../model/record.ts'
import type { OpenFire, ScheduleState } from '../../model/schedule.ts'
import { makeToken } from '../../model/token.ts'
import { viewEndedFire } from '../../model/views.ts'
import { applyAll, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  beat,
  cancellation,
  cancelOf,
  change,
  claim,
  creation,
  DAY_MS,
  definition,
  endedLine,
  fire,
  firesOfEnds,
  HOUR_MS,
  keyOf,
  NOON,
  reopening,
  runOf,
  runsOfEnds,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

function deep(levels: number): Json {
  let value: Json = 'bottom'
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { in: value }
  return value
}

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  0.1 + 0.2,
  5e-324,
  1.7976931348623157e308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  '',
  'null',
  '0',
  '{"not":"parsed"}',
  "it's",
  '\\u0000 \\ " \u2028 \u2029',
  'a\u0000b\u0001\u001f\u007f',
  '👩‍👩‍👧‍👦',
  [],
  {},
  [[], {}, [null]],
  { '': 1, ' ': 2, 'a.b': 3, $c: 4, "d'": 5, é: 6, '0': 7 },
  JSON.parse('{"__proto__":{"admin":true},"constructor":1,"toString":null}') as Json,
  [null, [null, { a: null }]],
  '2026-01-01T00:00:00.000Z',
]

const EXTREMES = [0, -1, 1, -8.64e15, 8.64e15, NOON]

/** What was written comes back exactly, to the last own property. */
function same(actual: unknown, expected: unknown, what?: string): void {
  assert.deepStrictEqual(actual, expected, what)
}

export function dataRules(rule: Rule): void {
  rule('any JSON is an input, a result and a step, and comes back exactly', async ({ store }) => {
    await join(store, 'i')
    for (const [index, value] of VALUES.entries()) {
      const what = JSON.stringify(value)
      const state = await create(store, schedule(`s${index}`, { definition: definition({ input: value }) }))
      same(state.definition.input, value, what)
      const claimed = claim(state, { instance: 'i' })
      const own = { input: value, policy: {} }
      const open = after(claimed).open.map((opened) => ({ ...opened, own }))
      await applyAll(store, [{ ...claimed, state: { ...after(claimed), open } }])
      same((await loadOne(store, state.id))?.open[0]?.own, own, what)
      const given = value === null ? { input: value, givenNull: true as const } : { input: value }
      same(await firesOf(store, { schedule: state.id }), [fire(state.id, NOON, { attempt: 1, ...given })], what)
      const { token } = runOf(claimed)
      const step = { fire: keyOf(runOf(claimed)), step: 'a', token }
      await store.step({ kind: 'begin', rerun: false, ...step })
      await store.step({ kind: 'end', failed: false, result: value, ...step })
      same(await store.step({ kind: 'begin', rerun: false, ...step }), { kind: 'done', result: value }, what)
      const settled = settlement({ ...after(claimed), open }, runOf(claimed), { result: value })
      const history = settled.history.map((line) => ({ ...line, ...given }))
      await applyAll(store, [{ ...settled, history }])
      same(
        (await runsOf(store, { schedule: state.id })).map(({ result }) => result),
        [value],
        what,
      )
      same(await firesOf(store, { schedule: state.id }), history.map(viewEndedFire), what)
    }
  })

  rule('rare fields of a record are read back, and absent ones stay absent', async ({ store }) => {
    const asked = { author: 'ann', note: null }
    const said: Partial<HistoryRecord>[] = [{}, { asked }, { givenNull: true }, { asked, givenNull: true }]
    const lines = said.map((more, index) =>
      endedLine('s', NOON + index, { ...more, number: index + 1, expiresAt: NOON + DAY_MS }),
    )
    await applyAll(store, [withFires(change(await create(store, schedule('s'))), lines)])
    same(await firesOf(store, { order: 'earliest' }), lines.map(viewEndedFire))
  })

  rule('so are the rare fields of a listed open fire', async ({ store }) => {
    const asked = { author: 'ann', note: null }
    const own = { input: null, policy: {} }
    const said: Partial<OpenFire>[] = [{}, { asked }, { own }, { asked, own }, { tenant: 'acme' }, { tenant: null }]
    const fires = said.map((more, index) => waiting(NOON + index, more))
    const of = { definition: definition({ tenant: 'umbrella' }) }
    await applyAll(store, [withFires(change(await create(store, schedule('s', of))), fires)])
    const tenant = 'umbrella'
    same(await firesOf(store, { order: 'earliest' }), [
      fire('s', NOON, { tenant }),
      fire('s', NOON + 1, { tenant, asked }),
      fire('s', NOON + 2, { tenant, givenNull: true }),
      fire('s', NOON + 3, { tenant, asked, givenNull: true }),
      fire('s', NOON + 4, { tenant: 'acme' }),
      fire('s', NOON + 5, { tenant: null }),
    ])
  })

  rule('so are the rare fields of a run', async ({ store }) => {
    await join(store, 'i')
    const causes = ['caught-up', 'turn', 'room', 'pause', 'asked', 'recovered', undefined] as const
    for (const [index, cause] of causes.entries()) {
      const id = `s${index}`
      const { state, run } = await running(store, id, { instance: 'i', ...(cause === undefined ? {} : { cause }) })
      const untold = { progress: null, log: [], logCut: false }
      same(await runsOf(store, { schedule: id }), [{ ...run, ...untold }])
      same(run.cause, cause)
      const settled = settlement(state, run)
      await applyAll(store, [settled])
      same(await runsOf(store, { schedule: id }), [{ ...runsOfEnds(settled)[0]!, ...untold }])
      same(runsOfEnds(settled)[0]?.cause, cause)
    }
  })

  rule('so is the request that a run should end', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const cancelled = cancellation(state, run)
    await applyAll(store, [cancelled])
    const cancel = cancelOf(run)
    same(
      (await runsOf(store)).map((one) => one.cancel),
      [cancel],
    )
    await applyAll(store, [settlement(after(cancelled), { ...run, cancel }, { how: ending('cancelled-by-operator') })])
    same(
      (await runsOf(store)).map((one) => one.cancel),
      [cancel],
    )
  })

  rule('so are the rare fields of an open fire', async ({ store }) => {
    const asked = { author: null, note: 'by hand' }
    const giveUp = { at: NOON + DAY_MS, reason: 'retry-too-late' } as const
    const own = { input: { of: 'its own' }, policy: {} }
    const said: Partial<OpenFire>[] = [
      ...[{}, { asked }, { tenant: 'acme' }, { tenant: null }, { asked, tenant: 'acme' }],
      ...[{ giveUp }, { own }, { giveUp, own, asked, tenant: null }],
      ...([{ wait: { cause: 'turn' } }, { wait: { cause: 'room', since: NOON, late: true }, tenant: 'acme' }] as const),
    ]
    const opened = after(claim(schedule('s'), { instance: 'i' })).open[0]!
    const idle = said.map((more, index) => waiting(NOON + index, more))
    await applyAll(store, [withFires(change(await create(store, schedule('s'))), idle)])
    same((await loadOne(store, 's'))?.open, idle)
    const runs = [
      ...[{}, { cause: 'room' }, { parkedUntil: NOON }, { cause: 'turn', parkedUntil: NOON }],
      ...[{ slots: ['job:a'] }, { slots: ['job:a', "group:it's"], cause: 'turn' }],
    ] as const
    const begun = idle.map((fire, index) => {
      const run = { ...opened.run!, token: makeToken(1, index + 1), ...runs[index % runs.length] }
      return { ...fire, attempt: 1, run }
    })
    await applyAll(store, [change((await loadOne(store, 's'))!, { open: begun })])
    same((await loadOne(store, 's'))?.open, begun)
  })

  rule('big and deep data comes back whole', async ({ store }) => {
    await join(store, 'i')
    const big = Array.from({ length: 64 }, (_, line) => `${line} ${'ß→'.repeat(500)}`).join('\n')
    for (const [id, input] of [
      ['big', big],
      ['deep', deep(500)],
      ['wide', Object.fromEntries(Array.from({ length: 2_000 }, (_, key) => [`key ${key}`, key]))],
    ] as const) {
      const { definition: loaded } = await create(store, schedule(id, { definition: definition({ input }) }))
      assert.ok(JSON.stringify(loaded.input) === JSON.stringify(input), `${id} came back as it was`)
    }
    const { run } = await running(store, 's', { instance: 'i' })
    const log = Array.from({ length: 500 }, (_, at) => ({
      at,
      level: 'warn' as const,
      message: `line ${at} ${'x'.repeat(100)}`,
    }))
    await store.annotate([{ schedule: 's', token: run.token, progress: null, log, logCut: false }])
    same((await runsOf(store))[0]?.log, log)
    const { items } = await store.listRecords({ view: 'fires', after: null, limit: 10 })
    same(
      items.map(({ notes }) => notes),
      [null],
    )
  })

  rule('a schedule with a thousand open fires comes back whole', async ({ store }) => {
    await join(store, 'i')
    const { state } = await running(store, 's', { instance: 'i' })
    const fires = Array.from({ length: 1_000 }, (_, index) => waiting(NOON + 1 + index))
    const full = withFires(change(state), fires)
    await applyAll(store, [full])
    same(await loadOne(store, 's'), after(full))
    same((await firesOf(store, { outcome: 'open' })).length, 1_001)
  })

  rule('the closed days of a trigger are kept, in a definition and in a range', async ({ store }) => {
    // The longest list of days that there may be.
    const dates = Array.from({ length: 1_000 }, (_, index) =>
      new Date(NOON + 2 * index * DAY_MS).toISOString().slice(0, 10),
    )
    const calendar = { name: 'Feiertage in Köln', days: dates.join(' '), excluded: 'nearest' } as const
    const trigger = { kind: 'cron', expression: '0 9 * * *', tz: 'Europe/Berlin', calendar } as const
    const state = await create(store, schedule('s', { definition: definition({ trigger }) }))
    same(state.definition.trigger, trigger)
    const excluded = { ...trigger, calendar: { ...calendar, only: 'excluded' } } as const
    const line: HistoryRecord = {
      ...endedLine('s', NOON, { number: 1, expiresAt: NOON + DAY_MS, ending: ending('calendar', 'closed') }),
      range: { untilAt: NOON + HOUR_MS, count: 3, trigger: excluded },
    }
    await applyAll(store, [withFires(change(state), [line])])
    same(await firesOf(store, { schedule: 's' }), [viewEndedFire(line)])
  })

  rule('every instant that a date can be is kept', async ({ store }) => {
    for (const at of EXTREMES) {
      const over: Partial<ScheduleState> = {
        createdAt: at,
        updatedAt: at,
        nextAt: at,
        wakeAt: at,
        trimmedBefore: at,
        last: { dueAt: at, succeededDueAt: at, succeededAt: at },
        definition: definition({ start: at, end: at, trigger: { kind: 'at', at } }),
      }
      const id = `at ${at}`
      const state = await create(store, schedule(id, over))
      same({ ...state, tokens: 0 }, schedule(id, over))
      const line = endedLine(id, at, { number: 1, expiresAt: at, plannedAt: at, readyAt: at, endedAt: at })
      await applyAll(store, [withFires(change(state), [line])])
      same(await firesOf(store, { schedule: id }), [viewEndedFire(line)])
      same(await firesOf(store, { schedule: id, from: at, to: at + 1 }), [viewEndedFire(line)])
      const open = await create(store, schedule(`open ${at}`))
      await applyAll(store, [withFires(change(open), [waiting(at)])])
      same(await firesOf(store, { schedule: open.id, from: at, to: at + 1 }), [fire(open.id, at)])
    }
    const order = (await firesOf(store, { order: 'earliest', outcome: 'succeeded' })).map(({ dueAt }) => dueAt)
    same(
      order,
      [...EXTREMES].sort((one, two) => one - two),
    )
  })

  rule('tokens beyond 2^53 are distinguished to the last digit', async ({ store }) => {
    await join(store, 'i')
    const tokens = [
      '9007199254740992',
      '9007199254740993',
      '9223372036854775806',
      '9223372036854775807',
      makeToken(2 ** 18, 1),
    ]
    const { state, run } = await running(store, 's', { instance: 'i' })
    const started = state.open[0]!.run!
    const fires = tokens.map((token, index) => waiting(NOON + 1 + index, { attempt: 1, run: { ...started, token } }))
    const opened = withFires(change(state), fires)
    await applyAll(store, [opened])
    const runs = fires.map(({ dueAt, run: one }) => ({ token: one!.token, dueAt }))
    for (const { token, dueAt } of runs) {
      same(
        (await runsOf(store, { token })).map((found) => [found.token, found.dueAt]),
        [[token, dueAt]],
      )
      await store.annotate([
        { schedule: 's', token, progress: { fraction: 0, message: token, at: 1 }, log: [], logCut: false },
      ])
    }
    for (const { token } of runs) same((await runsOf(store, { token }))[0]?.progress?.message, token)
    const { held } = await store.beat(beat('i'))
    same(held.map((found) => found.token).sort(), [run.token, ...tokens].sort())
    let settled = opened
    for (const { token, dueAt } of runs) {
      settled = settlement(after(settled), { ...run, token, dueAt })
      await applyAll(store, [settled])
      same(
        (await runsOf(store, { token })).map((found) => [found.token, found.dueAt, found.progress?.message]),
        [[token, dueAt, token]],
      )
    }
  })

  rule('counters hold as much as a token can count', async ({ store }) => {
    const most = 2 ** 44 - 1
    const before = await create(store, schedule('s'))
    const counted = change(before, { tokens: most, fired: most, ended: most, failedInRow: 2 ** 31 })
    await applyAll(store, [counted])
    same(await loadOne(store, 's'), after(counted))
  })

  rule('errors, notes and endings are read back as they were written', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 's', { instance: 'i' })
    const error = { name: '', message: '', code: null, stack: 'at a\n  at b' }
    const how = ending('error', 'it\'s "broken"\n👎')
    const settled = settlement(state, run, { how, error })
    await applyAll(store, [settled])
    const [ended] = await runsOf(store)
    same([ended?.error, ended?.ending], [error, how])
    same(await firesOf(store), firesOfEnds(settled))
  })

  rule('a store changes nothing of what it is handed', async ({ store }) => {
    await join(store, 'i')
    const line = endedLine('s', NOON - 2, { number: 1, expiresAt: NOON + DAY_MS })
    const created = frozen(withFires(creation(schedule('s')), [waiting(NOON - 1)]))
    await applyAll(store, [created, frozen(withFires(change(after(created)), [line]))])
    const claimed = frozen(claim((await loadOne(store, 's'))!, { instance: 'i' }))
    await applyAll(store, [claimed], frozen({ claimant: { instance: 'i', leaseMs: 60_000 }, wake: true }))
    const settled = frozen(settlement(after(claimed), runOf(claimed)))
    await applyAll(store, [settled])
    await applyAll(store, [frozen({ ...reopening(after(settled), line), rewrites: settled.history })])
    await store.beat(frozen(beat('i')))
    same((await runsOf(store)).length, 1)
  })
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) frozen(item)
  return value
}
