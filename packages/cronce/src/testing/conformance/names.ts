import assert from 'node:assert/strict'
import { ofFire } from '../../store/list-views.ts'
import { applyAll, applyOne, collect, create, firesOf, join, loadOne, type Rule, running, runsOf } from './bench.ts'
import {
  after,
  app,
  beat,
  change,
  claim,
  creation,
  definition,
  fire,
  firesOfEnds,
  keyOf,
  NOON,
  runOf,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

/** Names that caused a bug before. Without U+0000, which some databases can't keep in a text. */
const NAMES: readonly string[] = [
  "Robert'); DROP TABLE schedules;--",
  '"double" `back` \\ slash',
  '%_*?[a-z]{}',
  'a:b|c/d\te\nf\rg',
  ' leading and trailing ',
  'Ünïcödé ñandú',
  '日本語 العربية עברית',
  '👩‍👩‍👧‍👦 🏳️‍🌈',
  'e\u0301 and \u00e9',
  '\u200b\u202e\ufeff',
  '__proto__',
  'constructor',
  'null',
  '0',
  '007',
  '7',
  '-1',
  '1e3',
  'x'.repeat(200),
]

const same: typeof assert.deepStrictEqual = assert.deepStrictEqual

export function nameRules(rule: Rule): void {
  rule(
    'any text is a name: of a schedule, a job, a tenant, a nonce, a step, an instance, an app',
    async ({ store }) => {
      for (const name of NAMES) {
        await join(store, name)
        const state = await create(store, schedule(name, { definition: definition({ job: name, tenant: name }) }))
        same([state.id, state.definition.job, state.definition.tenant], [name, name, name])
        const claimed = claim(state, { instance: name, nonce: name, claim: 1, slots: [name] })
        await applyAll(store, [claimed], { claimant: { instance: name, leaseMs: 60_000 } })
        const { token } = runOf(claimed)
        const listed = fire(name, NOON, { nonce: name, job: name, tenant: name, kind: 'manual', attempt: 1 })
        same(await firesOf(store, { schedule: name, nonce: name, job: name }), [listed], name)
        same(
          (await runsOf(store, { instance: name, job: name })).map((run) => run.schedule),
          [name],
          name,
        )
        same((await loadOne(store, name))?.open[0]?.run?.slots, [name], name)
        const key = keyOf(runOf(claimed))
        same(await store.step({ kind: 'begin', fire: key, step: name, token, rerun: false }), { kind: 'applied' }, name)
        same(
          (await store.listSteps(key)).map(({ step }) => step),
          [name],
        )
        same(
          (await store.beat(beat(name))).held.map((run) => run.schedule),
          [name],
        )
        same(await store.saveApp(app(name)), true)
        same((await store.loadApp(name)).app?.name, name)
        const other = await create(store, schedule(`${name}+`))
        const full = await applyOne(store, claim(other, { instance: name, slots: [name] }))
        same(full, { kind: 'full', slot: name })
        const settled = settlement(after(claimed), runOf(claimed))
        await applyAll(store, [settled])
        same(await firesOf(store, { schedule: name, nonce: name, job: name }), firesOfEnds(settled), name)
        same(await runsOf(store, ofFire(key)), await runsOf(store, { schedule: name, token, instance: name }), name)
        const manual = { nonce: name, kind: 'manual' } as const
        const again = await applyOne(store, withFires(change(after(settled)), [waiting(NOON + 1, manual)]))
        same(again, { kind: 'exists', fire: firesOfEnds(settled)[0] }, name)
      }
      const listed = await collect((page) => store.listSchedules(page), 3)
      same(listed.map(({ id }) => id).sort(), NAMES.flatMap((name) => [name, `${name}+`]).sort())
      for (const name of NAMES) {
        const found = await collect((page) => store.listSchedules({ tenant: name, prefix: name, ...page }))
        same(
          found.map(({ id }) => id),
          [name],
        )
      }
    },
  )

  rule('names that look alike are different names', async ({ store }) => {
    const alike = ['a', 'A', 'a ', ' a', 'á', 'a\u0301', 'ａ', '1', '01', '1.0']
    await applyAll(
      store,
      alike.map((id, fired) => creation(schedule(id, { fired }))),
    )
    for (const [fired, id] of alike.entries()) assert.equal((await loadOne(store, id))?.fired, fired, id)
  })

  rule('names that run together are different names', async ({ store }) => {
    await join(store, 'i')
    const { state, run } = await running(store, 'a', { instance: 'i' })
    const started = state.open[0]!.run!
    const twins = [
      { schedule: 'a', nonce: 'b1', token: '1' },
      { schedule: 'ab', nonce: '1', token: '11' },
      { schedule: 'ab1', nonce: '', token: '1' },
      { schedule: 'ab', nonce: '', token: '111' },
      { schedule: 'ab11', nonce: '', token: '1' },
    ].map((over, number) => ({ ...run, ...over, attempt: number }))
    for (const { schedule: id, nonce, attempt, token } of twins) {
      const before = (await loadOne(store, id)) ?? (await create(store, schedule(id)))
      const run = { ...started, token }
      await applyAll(store, [withFires(change(before), [waiting(NOON, { nonce, attempt, run })])])
      await store.annotate([
        { schedule: id, token, progress: { fraction: 0, message: `${attempt}`, at: 1 }, log: [], logCut: false },
      ])
      for (const step of ['1', '11', `x`]) {
        same(
          await store.step({ kind: 'begin', fire: { schedule: id, dueAt: NOON, nonce }, step, token, rerun: false }),
          { kind: 'applied' },
        )
      }
    }
    for (const twin of twins) {
      const [found, ...others] = await runsOf(store, { schedule: twin.schedule, token: twin.token })
      same([found?.attempt, found?.progress?.message, others], [twin.attempt, `${twin.attempt}`, []])
      same(
        (await firesOf(store, { schedule: twin.schedule, nonce: twin.nonce })).map(({ attempt }) => attempt),
        [twin.attempt],
      )
      same(
        (await store.listSteps(keyOf(twin))).map(({ step, token }) => [step, token]).sort(),
        ['1', '11', 'x'].map((step) => [step, twin.token]),
      )
    }
  })
}
