import assert from 'node:assert/strict'
import type { Change } from '../../model/change.ts'
import type { RunRecord } from '../../model/record.ts'
import type { ChangeResult, Store, Transaction } from '../../store/store.ts'
import {
  applyAll,
  applyOne,
  type Bench,
  bury,
  create,
  firesOf,
  isDoneSoon,
  join,
  loadOne,
  type Rule,
  running,
  runsOf,
} from './bench.ts'
import {
  after,
  app,
  change,
  claim,
  creation,
  endedLine,
  firesOfEnds,
  HOUR_MS,
  NOON,
  reopening,
  schedule,
  settlement,
  waiting,
  withFires,
} from './samples.ts'

/** Write the text, then settle as told. */
function writing(
  { under }: Bench,
  run: RunRecord,
  text: string,
  over: Partial<Transaction<unknown, string>> = {},
): Transaction<unknown, string> {
  return {
    schedule: run.schedule,
    token: run.token,
    work: (tx) => {
      const written = under.database?.write(tx, text)
      return written instanceof Promise ? written.then(() => text) : text
    },
    settle: (state) => settlement(state, run),
    ...over,
  }
}

/** Texts of this rule only: the user's table knows no namespaces. */
async function written(bench: Bench): Promise<string[]> {
  const texts = (await bench.under.database?.read()) ?? []
  return texts.filter((text) => text.startsWith(bench.namespace))
}

/** Apply one change in a transaction of the user's and, before that is committed, another one beside it. Answers which was written. */
async function raceWithTransaction(
  { store, open, under }: Bench,
  inside: Change,
  beside: Change,
): Promise<'inside' | 'beside'> {
  const other = await open()
  let besideIt: Promise<ChangeResult> | undefined
  const isCommitted = await under
    .database!.transaction(async (tx) => {
      assert.deepEqual(await applyOne(store, inside, { tx }), { kind: 'applied' })
      besideIt = applyOne(other, beside)
      await isDoneSoon(besideIt)
    })
    // A store may also let the other one go first, and refuse the commit.
    .then(
      () => true,
      () => false,
    )
  const isBeside = (await besideIt)?.kind === 'applied'
  assert.notEqual(isCommitted, isBeside, isCommitted ? 'both were written' : 'neither was written')
  return isCommitted ? 'inside' : 'beside'
}

export function transactionRules(rule: Rule): void {
  rule(
    'a store without transactions reports it',
    async ({ store }) => {
      await join(store, 'i')
      const { run } = await running(store, 's', { instance: 'i' })
      const worked: string[] = []
      const { schedule, token } = run
      const transaction = { schedule, token, work: () => worked.push('no'), settle: () => null }
      await assert.rejects(store.transact(transaction), { code: 'STORE_CANNOT_TRANSACT' })
      assert.deepEqual(worked, [])
    },
    'no-transactions',
  )

  rule(
    'work and settlement are committed together',
    async (bench) => {
      const { store, namespace, now } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const at = await now()
      const answer = await store.transact(writing(bench, run, `${namespace} paid`))
      assert.ok(answer.kind === 'committed')
      assert.equal(answer.value, `${namespace} paid`)
      assert.ok(answer.now >= at)
      const settled = settlement(state, run)
      assert.deepEqual(await loadOne(store, 's'), after(settled))
      assert.deepEqual(await firesOf(store), firesOfEnds(settled))
      assert.equal((await runsOf(store))[0]?.ending?.outcome, 'succeeded')
    },
    'transactions',
  )

  rule(
    'settle is handed the state as it is, the time, and what the work came to',
    async (bench) => {
      const { store, now } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const moved = change(state, { fired: 7 })
      await applyAll(store, [moved])
      const at = await now()
      const seen: unknown[] = []
      await store.transact(
        writing(bench, run, 'text', {
          settle: (current, time, value) => {
            seen.push(current, value)
            assert.ok(time >= at)
            return settlement(current, run)
          },
        }),
      )
      assert.deepEqual(seen, [after(moved), 'text'])
      assert.equal((await loadOne(store, 's'))?.version, after(moved).version + 1)
    },
    'transactions',
  )

  rule(
    'work that throws leaves nothing behind, and its error arrives as it was thrown',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const thrown = new Error('declined')
      const settles: string[] = []
      const transaction = writing(bench, run, 'text', {
        work: () => {
          throw thrown
        },
        settle: () => {
          settles.push('settled')
          return null
        },
      })
      await assert.rejects(store.transact(transaction), (error) => error === thrown)
      assert.deepEqual([await loadOne(store, 's'), settles], [state, []])
      assert.equal((await store.transact(writing(bench, run, 'text'))).kind, 'committed', 'the store goes on')
    },
    'transactions',
  )

  rule(
    'a settlement that is refused is stale, and nothing is written',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      assert.deepEqual(await store.transact(writing(bench, run, 'text', { settle: () => null })), { kind: 'stale' })
      assert.deepEqual(await loadOne(store, 's'), state)
    },
    'transactions',
  )

  rule(
    'a run is settled by one transaction, sent twice',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { run } = await running(store, 's', { instance: 'i' })
      assert.equal((await store.transact(writing(bench, run, 'text'))).kind, 'committed')
      const before = await loadOne(store, 's')
      assert.deepEqual(await store.transact(writing(bench, run, 'text')), { kind: 'stale' })
      assert.deepEqual(await loadOne(store, 's'), before)
    },
    'transactions',
  )

  rule(
    'the work of a run that is not live does not start',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      await applyAll(store, [settlement(state, run)])
      const worked: string[] = []
      const work = () => {
        worked.push('worked')
        return 'text'
      }
      assert.deepEqual(await store.transact(writing(bench, run, 'text', { work })), { kind: 'stale' })
      assert.deepEqual(worked, [])
    },
    'transactions',
  )

  rule(
    'work whose settlement the store refuses is rolled back',
    async (bench) => {
      const { store, namespace } = bench
      await join(store, 'i')
      const { state, run } = await running(store, 's', { instance: 'i' })
      const refused = writing(bench, run, `${namespace} refused`, {
        settle: (seen) => ({ ...settlement(seen, run), version: seen.version + 1 }),
      })
      await assert.rejects(store.transact(refused))
      assert.deepEqual([await written(bench), await loadOne(store, 's')], [[], state])
    },
    'database',
  )

  rule(
    'a run of a removed schedule or of no schedule is stale',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { run } = await running(store, 's', { instance: 'i' })
      const ghost = { ...run, schedule: 'ghost' }
      assert.deepEqual(await store.transact(writing(bench, ghost, 'text')), { kind: 'stale' })
    },
    'transactions',
  )

  rule(
    "the user's own writes are committed with the settlement, or not at all",
    async (bench) => {
      const { store, namespace } = bench
      await join(store, 'i')
      const { run } = await running(store, 's', { instance: 'i' })
      await store.transact(writing(bench, run, `${namespace} refused`, { settle: () => null }))
      const failing = writing(bench, run, `${namespace} thrown`, {
        settle: () => {
          throw new Error('no')
        },
      })
      await assert.rejects(store.transact(failing))
      assert.deepEqual(await written(bench), [])
      await store.transact(writing(bench, run, `${namespace} committed`))
      await store.transact(writing(bench, run, `${namespace} stale`))
      assert.deepEqual(await written(bench), [`${namespace} committed`])
    },
    'database',
  )

  for (const [how, stop] of [
    ['its instance is declared dead', (store: Store) => bury(store, 'i')],
    [
      'its run is ended',
      async (store: Store, run: RunRecord) => applyAll(store, [settlement((await loadOne(store, 's'))!, run)]),
    ],
  ] as const) {
    rule(
      `work in progress is not committed if ${how} meanwhile`,
      async (bench) => {
        const { store, open, namespace } = bench
        const other = await open()
        await join(store, 'i')
        const { run } = await running(store, 's', { instance: 'i' })
        let stopping: Promise<void> | undefined
        let isStopped = false
        const work = async (tx: unknown) => {
          await bench.under.database!.write(tx, `${namespace} late`)
          stopping = stop(other, run)
          isStopped = await isDoneSoon(stopping)
          return 'text'
        }
        const answer = await store.transact(writing(bench, run, 'text', { work }))
        await stopping?.catch(() => {})
        // A store may also let the transaction go first, and keep the others waiting. Or the others are merely slow.
        if (isStopped) assert.equal(answer.kind, 'stale')
        assert.deepEqual(await written(bench), answer.kind === 'stale' ? [] : [`${namespace} late`])
      },
      'waiting-transactions',
    )
  }

  rule(
    "changes in the user's own transaction are committed by its owner",
    async (bench) => {
      const { store, open, namespace } = bench
      const database = bench.under.database!
      const before = await create(store, schedule('s'))
      const fires = [
        waiting(NOON, { nonce: 'order' }),
        endedLine('s', NOON + 1, { number: 1, expiresAt: NOON + HOUR_MS }),
      ]
      const triggered = withFires(change(before, { fired: 1 }), fires)
      await database.transaction(async (tx) => {
        await database.write(tx, `${namespace} order`)
        const { results } = await store.apply([creation(schedule('new')), triggered], { tx })
        assert.deepEqual(results, [{ kind: 'applied' }, { kind: 'applied' }])
        const { schedules } = await store.load(['new', 's'], { tx })
        const fired = Object.fromEntries(schedules.map((state) => [state.id, state.fired]))
        assert.deepEqual(fired, { new: 0, s: 1 }, 'it sees what it wrote')
      })
      assert.deepEqual(await written(bench), [`${namespace} order`])
      const other = await open()
      assert.equal((await loadOne(other, 's'))?.fired, 1)
      assert.notEqual(await loadOne(other, 'new'), null)
      assert.equal((await firesOf(other)).length, 2)
    },
    'database',
  )

  for (const [what, prepare] of [
    ['change', async (store: Store) => change(await create(store, schedule('s')), { fired: 1 })],
    ['creation', async () => creation(schedule('s', { fired: 1 }))],
  ] as const) {
    rule(
      `of a ${what} in an open transaction and one beside it, exactly one is written`,
      async (bench) => {
        const { store } = bench
        const inside = await prepare(store)
        const beside = { ...inside, state: { ...after(inside), fired: 2 } }
        const won = await raceWithTransaction(bench, inside, beside)
        assert.equal((await loadOne(store, 's'))?.fired, won === 'inside' ? 1 : 2)
      },
      'waiting-transactions',
    )
  }

  rule(
    'of a claim in an open transaction and one beside it, no more get in than the limit allows',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const wanted = { instance: 'i', slots: ['group:mail'] }
      // Another run had the place before: the store knows the limit.
      const { state, run } = await running(store, 'earlier', wanted)
      await applyAll(store, [settlement(state, run)])
      const [inside, beside] = [await create(store, schedule('a')), await create(store, schedule('b'))]
      await raceWithTransaction(bench, claim(inside, wanted), claim(beside, wanted))
      assert.equal((await runsOf(store, { outcome: 'open' })).length, 1)
    },
    'waiting-transactions',
  )

  rule(
    'of a change that depends on an app, in an open transaction, and a save beside it, one comes first',
    async ({ store, open, under }) => {
      const other = await open()
      await store.saveApp(app('shop'))
      const changed = change(await create(store, schedule('s')), { fired: 1 })
      let saving: Promise<boolean> | undefined
      const isCommitted = await under
        .database!.transaction(async (tx) => {
          await applyAll(store, [changed], { tx, app: { name: 'shop', version: 1 } })
          // What was written before the save is seen by a read after it.
          saving = other
            .saveApp(app('shop', { version: 2 }))
            .then(async (isSaved) => isSaved && (await loadOne(other, 's'))?.fired === 1)
          await isDoneSoon(saving)
        })
        .then(
          () => true,
          () => false,
        )
      assert.equal(await saving, isCommitted)
    },
    'waiting-transactions',
  )

  rule(
    "changes in the user's own transaction go when it is rolled back",
    async (bench) => {
      const { store, namespace } = bench
      const database = bench.under.database!
      const before = await create(store, schedule('s'))
      const thrown = new Error('rolled back')
      const failing = database.transaction(async (tx) => {
        await database.write(tx, `${namespace} order`)
        const line = endedLine('s', NOON, { number: 1, expiresAt: NOON + HOUR_MS })
        const triggered = withFires(change(before, { fired: 1 }), [waiting(NOON + 1), line])
        await applyAll(store, [creation(schedule('new')), triggered, reopening(after(triggered), line)], { tx })
        throw thrown
      })
      await assert.rejects(failing, (error) => error === thrown)
      assert.deepEqual([await written(bench), await firesOf(store)], [[], []])
      assert.deepEqual((await store.load(['new', 's'])).schedules, [before])
    },
    'database',
  )

  rule(
    "a change that is refused in the user's own transaction leaves it usable",
    async (bench) => {
      const { store, now } = bench
      const before = await create(store, schedule('s'))
      const at = await now()
      await bench.under.database!.transaction(async (tx) => {
        const stale = { ...change(before), version: 7 }
        const early = change(before, {}, { notBefore: at + HOUR_MS })
        const { results } = await store.apply([stale, early, creation(schedule('new'))], { tx })
        assert.deepEqual(results, [{ kind: 'conflict' }, { kind: 'early' }, { kind: 'applied' }])
      })
      assert.notEqual(await loadOne(store, 'new'), null)
      assert.deepEqual(await applyOne(store, change(before)), { kind: 'applied' })
    },
    'database',
  )

  rule(
    'changes may also be made in the transaction of a run, and go with it',
    async (bench) => {
      const { store } = bench
      await join(store, 'i')
      const { run } = await running(store, 's', { instance: 'i' })
      // Not awaited by the work: where transactions are synchronous, all of it has been done when apply returns.
      const pending: Promise<unknown>[] = []
      const creating = (id: string, over: Partial<Transaction<unknown, string>>) =>
        writing(bench, run, 'text', {
          work: (tx) => {
            const applied = applyAll(store, [creation(schedule(id))], { tx })
            pending.push(applied)
            return bench.under.database!.isSynchronous ? 'text' : applied.then(() => 'text')
          },
          ...over,
        })
      assert.deepEqual(await store.transact(creating('lost', { settle: () => null })), { kind: 'stale' })
      assert.equal((await store.transact(creating('kept', {}))).kind, 'committed')
      await Promise.all(pending)
      assert.equal(await loadOne(store, 'lost'), null)
      assert.notEqual(await loadOne(store, 'kept'), null)
    },
    'database',
  )
}
