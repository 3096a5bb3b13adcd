import assert from 'node:assert/strict'
import { ending } from '../../model/outcome.ts'
import type { HistoryRecord, ListedRecord, RunRecord } from '../../model/record.ts'
import { listLine } from '../../model/views.ts'
import type { EndPage, Store } from '../../store/store.ts'
import { applyAll, create, isDoneSoon, join, type Rule } from './bench.ts'
import {
  after,
  change,
  claim,
  claimAgain,
  creation,
  DAY_MS,
  definition,
  endedLine,
  HOUR_MS,
  JOB,
  missedRange,
  NOON,
  removal,
  reopening,
  runOf,
  schedule,
  settlement,
  withFires,
} from './samples.ts'

const LIMIT = 1_000

async function position(store: Store): Promise<string> {
  const { items, next, complete } = await store.listEnds({ after: null, limit: LIMIT })
  assert.deepEqual([items, complete], [[], true], 'a reader begins with nothing')
  return next
}

async function endsSince(store: Store, position: string, limit = LIMIT): Promise<EndPage> {
  return store.listEnds({ after: position, limit })
}

/** What ended, in the order of names. */
function namesOf(ends: readonly ListedRecord[]): string[] {
  return ends.map(nameOf).sort()
}

function nameOf({ schedule, dueAt, run }: ListedRecord): string {
  return run === null ? `fire ${schedule} ${dueAt}` : `run ${schedule} ${run.token}`
}

function runName({ schedule, token }: RunRecord): string {
  return `run ${schedule} ${token}`
}

function skipped(id: string, dueAt: number, over: Partial<HistoryRecord> = {}): HistoryRecord {
  return endedLine(id, dueAt, { number: 1, expiresAt: dueAt + DAY_MS, ending: ending('overlap'), ...over })
}

/** What a feed is made of: see `Store.listEnds`. */
export function endRules(rule: Rule): void {
  rule(
    'ends are listed after the position that came before them, and not after the one that came with them',
    async ({ store }) => {
      await join(store, 'i')
      const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
      const begun = await position(store)
      await applyAll(store, [claimed])
      const open = await endsSince(store, begun)
      assert.deepEqual([open.items, open.complete], [[], true], 'a run that has not ended')
      await applyAll(store, [settlement(after(claimed), runOf(claimed))])
      const ended = await endsSince(store, open.next)
      assert.deepEqual([namesOf(ended.items), ended.complete], [[runName(runOf(claimed))], true])
      assert.deepEqual(
        namesOf((await endsSince(store, begun)).items),
        [runName(runOf(claimed))],
        'from an earlier position',
      )
      assert.deepEqual((await endsSince(store, ended.next)).items, [], 'only once')
    },
  )

  rule('an end comes with its whole record', async ({ store }) => {
    await join(store, 'i')
    const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
    await applyAll(store, [claimed])
    const run = runOf(claimed)
    const log = [{ at: NOON, level: 'info', message: 'half' } as const]
    await store.annotate([{ schedule: 's', token: run.token, progress: null, log, logCut: false }])
    const begun = await position(store)
    const settled = settlement(after(claimed), run)
    const missed = missedRange('t', NOON, 5)
    const made = creation(schedule('t'))
    await applyAll(store, [settled, made, withFires(change(after(made)), [missed])])
    const { items } = await endsSince(store, begun)
    const notes = { progress: null, log, logCut: false }
    assert.deepEqual(new Set(items), new Set([listLine(missed), listLine(settled.history[0]!, notes)]))
  })

  rule('positions follow the order of commits, whatever times the records say', async ({ store }) => {
    await join(store, 'i')
    const claimed = claim(await create(store, schedule('s')), { instance: 'i', dueAt: NOON - 90 * DAY_MS })
    const ahead = skipped('s', NOON + 90 * DAY_MS, { endedAt: NOON + 90 * DAY_MS })
    const skip = withFires(change(after(claimed)), [ahead])
    await applyAll(store, [claimed, skip])
    const begun = await position(store)
    await applyAll(store, [settlement(after(skip), runOf(claimed))])
    assert.deepEqual(namesOf((await endsSince(store, begun)).items), [runName(runOf(claimed))])
  })

  rule(
    'a fire that ends with its run is not listed beside it; one that ends for another reason is',
    async ({ store }) => {
      await join(store, 'i')
      const first = claim(await create(store, schedule('s')), { instance: 'i' })
      const second = claim(after(first), { instance: 'i', dueAt: NOON + HOUR_MS })
      await applyAll(store, [first, second])
      const begun = await position(store)
      const how = { how: ending('crashed'), fireEnds: ending('crash-budget') }
      const crashed = settlement(after(second), runOf(second), how)
      await applyAll(store, [crashed, settlement(after(crashed), runOf(first))])
      const expected = [`fire s ${NOON + HOUR_MS}`, runName(runOf(first)), runName(runOf(second))]
      assert.deepEqual(namesOf((await endsSince(store, begun)).items), expected.sort())
    },
  )

  rule('a run that ends while its fire goes on is listed, and its fire is not', async ({ store }) => {
    await join(store, 'i')
    const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
    const begun = await position(store)
    const failed = settlement(after(claimed), runOf(claimed), { how: ending('error'), fireEnds: null })
    await applyAll(store, [claimed, failed])
    const page = await endsSince(store, begun)
    assert.deepEqual([namesOf(page.items), page.complete], [[runName(runOf(claimed))], true])
    const again = claimAgain(after(failed), { instance: 'i' })
    await applyAll(store, [again, settlement(after(again), runOf(again))])
    assert.deepEqual(namesOf((await endsSince(store, page.next)).items), [runName(runOf(again))])
  })

  rule('a run stays ended although its fire is opened again', async ({ store }) => {
    await join(store, 'i')
    const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
    const begun = await position(store)
    const settled = settlement(after(claimed), runOf(claimed))
    await applyAll(store, [claimed, settled, reopening(after(settled), settled.history[0]!)])
    const page = await endsSince(store, begun)
    assert.deepEqual([namesOf(page.items), page.complete], [[runName(runOf(claimed))], true])
  })

  rule('a line that is rewritten is listed as it is now', async ({ store }) => {
    await join(store, 'i')
    const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
    const lost = settlement(after(claimed), runOf(claimed), { how: ending('crashed') })
    await applyAll(store, [claimed, lost])
    const begun = await position(store)
    const known = settlement(after(claimed), runOf(claimed), { result: 'known again' })
    await applyAll(store, [change(after(lost), {}, { rewrites: known.history })])
    assert.deepEqual((await endsSince(store, begun)).items, [listLine(known.history[0]!)])
  })

  rule('a fire that ends while it waits is listed, also in another round', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const before = await position(store)
    const first = withFires(change(state), [skipped('s', NOON)])
    await applyAll(store, [first])
    const opened = reopening(after(first), skipped('s', NOON))
    const begun = await position(store)
    await applyAll(store, [opened])
    for (const from of [before, begun]) {
      const page = await endsSince(store, from)
      assert.deepEqual([page.items, page.complete], [[], true], 'it is open again')
    }
    const over = { round: 2, attempt: 1, number: 2, ending: ending('cancelled-by-operator') }
    const cancelled = skipped('s', NOON, over)
    await applyAll(store, [change(after(opened), { ended: 2, open: [] }, { history: [cancelled] })])
    for (const from of [before, begun]) {
      const page = await endsSince(store, from)
      assert.deepEqual([page.items, page.complete], [[listLine(cancelled)], true])
    }
  })

  rule('ends whose records were erased before they were read are missing, and the page says so', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const begun = await position(store)
    const ended = withFires(change(state), [skipped('s', NOON)])
    await applyAll(store, [ended])
    await applyAll(store, [removal(after(ended))])
    while ((await store.prune(LIMIT, 's')).deleted > 0);
    const page = await endsSince(store, begun)
    assert.deepEqual([page.items, page.complete], [[], false])
    const rest = await endsSince(store, page.next)
    assert.deepEqual([rest.items, rest.complete], [[], true], 'it says so once')
  })

  rule('ends whose records were pruned before they were read are missing, and the page says so', async ({ store }) => {
    await join(store, 'i')
    const begun = await position(store)
    const claimed = claim(await create(store, schedule('s')), { instance: 'i' })
    await applyAll(store, [claimed])
    const { now } = await store.load([])
    await applyAll(store, [settlement(after(claimed), runOf(claimed), { expiresAt: now - 1 })])
    const read = await endsSince(store, begun)
    assert.equal((await store.prune(10)).deleted, 1)
    const missed = await endsSince(store, begun)
    assert.deepEqual([missed.items, missed.complete], [[], false])
    const followed = await endsSince(store, read.next)
    assert.deepEqual([followed.items, followed.complete], [[], true], 'it was read before')
  })

  rule('a refused change ends nothing', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const begun = await position(store)
    const late = withFires(change(state), [skipped('s', NOON)])
    await applyAll(store, [change(state)])
    await store.apply([late])
    const page = await endsSince(store, begun)
    assert.deepEqual([page.items, page.complete], [[], true])
  })

  rule('more ends than the limit are not complete, and the position goes on behind all of them', async ({ store }) => {
    const state = await create(store, schedule('s'))
    const begun = await position(store)
    const lines = Array.from({ length: 450 }, (_, index) => skipped('s', NOON + index, { number: index + 1 }))
    await applyAll(store, [withFires(change(state), lines)])
    const all = await endsSince(store, begun, 450)
    assert.deepEqual([all.items.length, all.complete], [450, true])
    for (const limit of [449, 200, 1]) {
      const cut = await endsSince(store, begun, limit)
      assert.deepEqual([cut.items.length, cut.complete], [limit, false])
      const rest = await endsSince(store, cut.next)
      assert.deepEqual([rest.items, rest.complete], [[], true])
    }
  })

  rule('namespaces share no ends', async ({ store, open }) => {
    const other = await open('conformance-ends-elsewhere')
    const begun = await position(store)
    const job = { definition: definition({ job: JOB }) }
    const elsewhere = withFires(change(await create(other, schedule('s', job))), [skipped('s', NOON)])
    await other.apply([elsewhere])
    const page = await endsSince(store, begun)
    assert.deepEqual([page.items, page.complete], [[], true])
  })

  rule('every process reads the same ends', async ({ store, open }) => {
    const other = await open()
    const state = await create(store, schedule('s'))
    const begun = await position(other)
    await applyAll(store, [withFires(change(state), [skipped('s', NOON)])])
    assert.equal((await endsSince(other, begun)).items.length, 1)
    assert.equal((await endsSince(store, begun)).items.length, 1, 'positions are not bound to who asked for them')
  })

  rule(
    'an end in a transaction that commits late is listed after it, and one that is rolled back never is',
    async ({ store, under }) => {
      const [first, second] = [await create(store, schedule('s')), await create(store, schedule('t'))]
      const entered = Promise.withResolvers<void>()
      const mayCommit = Promise.withResolvers<void>()
      const begun = await position(store)
      const late = under.database!.transaction(async (tx) => {
        await applyAll(store, [withFires(change(first), [skipped('s', NOON)])], { tx })
        entered.resolve()
        await mayCommit.promise
      })
      await entered.promise
      // Some stores let no other caller write meanwhile.
      const other = applyAll(store, [withFires(change(second), [skipped('t', NOON)])])
      const isWritten = await isDoneSoon(other)
      const between = await endsSince(store, begun)
      // If it was not written so soon, it may have been by now.
      const isSeen = isWritten || between.items.length > 0
      assert.deepEqual(namesOf(between.items), isSeen ? [`fire t ${NOON}`] : [])
      mayCommit.resolve()
      await Promise.all([late, other])
      const rest = await endsSince(store, between.next)
      assert.deepEqual(
        namesOf([...between.items, ...rest.items]),
        [`fire s ${NOON}`, `fire t ${NOON}`],
        'each of them once',
      )
      const rolledBack = under.database!.transaction(async (tx) => {
        const { schedules } = await store.load(['s'], { tx })
        await applyAll(store, [withFires(change(schedules[0]!), [skipped('s', NOON + 1, { number: 2 })])], { tx })
        throw new Error('never mind')
      })
      await assert.rejects(rolledBack, /never mind/)
      assert.deepEqual((await endsSince(store, rest.next)).items, [])
    },
    'database',
  )
}
