import assert from 'node:assert/strict'
import { policyOf } from '../../src/model/policy.ts'
import type { FireRecord, RunRecord } from '../../src/model/record.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { isNewerToken } from '../../src/model/token.ts'
import { otherNamesOf } from '../../src/policy/deploy/job-names.ts'
import { fireKeyText, type MemoryData, runKeyText } from '../../src/store/memory/data.ts'
import { trigger } from '../../src/trigger/from-data.ts'
import { type RecordsIn, recordsIn } from './records-in.ts'

interface Checked {
  readonly source: { readonly data: MemoryData }
  readonly handled: readonly {
    readonly schedule: string
    readonly dueAt: number
    readonly nonce: string
    readonly token: bigint
    readonly startedAt: number
  }[]
}

/**
 * What must hold whatever went wrong: the promises of the library, asked of all that is on record and of all handlers that were
 * called. Retention is longer than any of these tests, so everything that happened is still there.
 */
export function checkPromises({ source, handled }: Checked): void {
  for (const data of source.data.namespaces.values()) {
    const namespace = recordsIn(data)
    const runs = runsByFire(namespace)
    for (const state of namespace.schedules.values()) {
      everyInstantIsOnRecordOnce(state, namespace)
      openFiresAreOpenRecords(state, namespace)
    }
    for (const fire of namespace.fires.values()) fireIsSound(fire, runs.get(fireText(fire)) ?? [], namespace)
    tokensGrow([...namespace.runs.values()])
  }
  const namespace = source.data.namespaces.get('default')
  if (namespace !== undefined) handlersStartedByTheBook(recordsIn(namespace), handled)
}

/** P5, and P1: no instant before the high-water mark is missing or there twice. The names of a renamed job have one series. */
function everyInstantIsOnRecordOnce(state: ScheduleState, { fires, apps }: RecordsIn): void {
  const { definition, nextAt, source } = state
  const app = source.kind === 'code' ? apps.get(source.app) : undefined
  const names = new Set([state.id, ...(app === undefined ? [] : otherNamesOf(app, state.id))])
  if (definition.trigger === null || state.revision !== 1 || state.retiredAt !== null) return
  const timeline = trigger(definition.trigger)
  const records = [...fires.values()].filter(({ schedule, nonce }) => names.has(schedule) && nonce === '')
  const covered = new Map<number, number>()
  const cover = (at: number): void => void covered.set(at, (covered.get(at) ?? 0) + 1)
  for (const { dueAt, range } of records) {
    cover(dueAt)
    if (range === null) continue
    for (let at = timeline.next(dueAt); at !== null && at <= range.untilAt; at = timeline.next(at)) cover(at)
  }
  const first = Math.max(state.createdAt, definition.start ?? 0)
  for (let at = timeline.next(first - 1); at !== null && (nextAt === null || at < nextAt); at = timeline.next(at)) {
    if (definition.end !== null && at >= definition.end) break
    // A new job may have the old name of a renamed one.
    const isElsewhere = state.retirements?.some(({ renamedTo = '' }) =>
      fires.has(fireKeyText({ schedule: renamedTo, dueAt: at, nonce: '' })),
    )
    if (!covered.has(at) && isElsewhere) continue
    // A schedule that was dropped and declared again by another deployment begins from then.
    if (!covered.has(at) && state.retirements?.some(({ from, to }) => at >= from && at <= (to ?? at))) continue
    if (definition.limit !== null && covered.size === definition.limit && !covered.has(at)) break
    assert.equal(covered.get(at) ?? 0, 1, `${state.id} due ${iso(at)} is on record ${covered.get(at) ?? 0} times`)
  }
  for (const [at, count] of covered) assert.equal(count, 1, `${state.id} due ${iso(at)} is on record ${count} times`)
}

function openFiresAreOpenRecords(state: ScheduleState, { fires, runs }: RecordsIn): void {
  const open = new Set(state.open.map((fire) => fireText({ ...fire, schedule: state.id })))
  for (const fire of fires.values()) {
    if (fire.schedule === state.id) assert.equal(fire.ending === null, open.has(fireText(fire)), fireText(fire))
  }
  const running = new Set(state.open.flatMap(({ run }) => (run === null ? [] : [run.token])))
  for (const { schedule, token, ending } of runs.values()) {
    if (schedule === state.id) assert.equal(ending === null, running.has(token), `${schedule} ${token}`)
  }
}

/** P2, P4 and P6, by the store's clock. */
function fireIsSound(fire: FireRecord, runs: readonly RunRecord[], namespace: RecordsIn): void {
  const name = fireText(fire)
  const byToken = runs.toSorted((one, other) => (isNewerToken(one.token, other.token) ? 1 : -1))
  for (const [index, run] of byToken.entries()) {
    assert.ok(run.startedAt >= run.readyAt, `${name} started before its time`)
    if (fire.nonce === '') assert.ok(run.startedAt >= fire.dueAt, `${name} started before it was due`)
    const before = byToken[index - 1]
    if (before === undefined) continue
    assert.ok(before.endedAt !== null && before.endedAt <= run.startedAt, `${name} had two runs at a time`)
    assert.ok(run.attempt > before.attempt, `${name} had two runs of one attempt`)
  }
  const rounds = new Set(runs.map(({ round }) => round))
  for (const round of rounds) {
    const succeeded = runs.filter((run) => run.round === round && run.ending?.outcome === 'succeeded')
    assert.ok(succeeded.length <= 1, `${name} succeeded twice`)
    if (succeeded.length === 1 && round === fire.round) assert.equal(fire.ending?.outcome, 'succeeded', name)
  }
  const state = namespace.schedules.get(fire.schedule)
  if (state === undefined || policyOf(state.definition.policy).guarantee !== 'at-most-once') return
  const begun = runs.filter(({ ending }) => ending?.reason !== 'handed-back')
  assert.ok(begun.length <= rounds.size, `${name} is at-most-once and was started ${begun.length} times`)
}

function tokensGrow(runs: readonly RunRecord[]): void {
  const latest = new Map<string, RunRecord>()
  for (const run of runs.toSorted((one, other) => (isNewerToken(one.token, other.token) ? 1 : -1))) {
    const before = latest.get(run.schedule)
    if (before !== undefined) {
      assert.notEqual(before.token, run.token)
      assert.ok(before.startedAt <= run.startedAt, `${run.schedule}: a later run has a lower token`)
    }
    latest.set(run.schedule, run)
  }
}

/** What really was called, and not only what was written down. */
function handlersStartedByTheBook({ runs, schedules }: RecordsIn, handled: Checked['handled']): void {
  const seen = new Set<string>()
  const once = new Set<string>()
  for (const { schedule, token, dueAt, nonce, startedAt } of handled) {
    const key = `${token} ${schedule}`
    assert.ok(!seen.has(key), `run ${key} was handled twice`)
    seen.add(key)
    assert.ok(startedAt >= dueAt, `${schedule} was called before ${iso(dueAt)}`)
    const run = runs.get(runKeyText(schedule, String(token)))
    assert.ok(run !== undefined, `run ${key} is not on record`)
    const state = schedules.get(schedule)
    if (state === undefined || policyOf(state.definition.policy).guarantee !== 'at-most-once') continue
    const fire = `${schedule} ${dueAt} ${nonce} ${run.round}`
    assert.ok(!once.has(fire), `${fire} is at-most-once and was called twice`)
    once.add(fire)
  }
}

function runsByFire({ runs }: RecordsIn): Map<string, RunRecord[]> {
  const byFire = new Map<string, RunRecord[]>()
  for (const run of runs.values()) byFire.set(fireText(run), [...(byFire.get(fireText(run)) ?? []), run])
  return byFire
}

function fireText({ schedule, dueAt, nonce }: { schedule: string; dueAt: number; nonce: string }): string {
  return `${schedule} ${iso(dueAt)} ${nonce}`
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
