import { isDeepStrictEqual } from 'node:util'
import type { Ledger, LedgerFire, LedgerInstance, LedgerRun, Outcome } from '../../packages/checker/src/history.ts'
import type { Client } from '../../packages/cronce/src/client/client.ts'
import type { FireView, InstanceView, RunView, ScheduleView, StepView } from '../../packages/cronce/src/client/views.ts'
import type { ChaosJob } from './jobs.ts'
import type { Recorder } from './recorder.ts'

interface Read {
  readonly schedule: ScheduleView | null
  readonly fires: readonly FireView[]
  readonly runs: readonly RunView[]
}

/** Everything that the scheduler reports about itself, read through the public client. */
export async function readLedger(
  client: Client,
  names: readonly string[],
  recorder: Recorder,
  storeNow: () => Promise<number>,
): Promise<Ledger> {
  const at = recorder.now()
  const storeAt = await storeNow()
  const reads: Read[] = []
  for (const name of names) reads.push(await readSchedule(client, name))
  const instances = await client.instances.list({ ended: 10_000 })
  return {
    at,
    until: recorder.now(),
    storeAt,
    fires: reads.flatMap(({ fires }) => fires.map(fireOf)),
    runs: reads.flatMap(({ runs }) => runs.map(runOf)),
    schedules: reads.flatMap(({ schedule }) => (schedule === null ? [] : [scheduleOf(schedule)])),
    instances: instances.map(instanceOf),
  }
}

/** Steps that are on record as done. */
export async function readSteps(client: Client, ledger: Ledger, jobs: readonly ChaosJob[]): Promise<StepView[]> {
  const done: StepView[] = []
  const names = jobs.filter(({ work }) => work.does === 'steps').map(({ name }) => name)
  for (const { schedule, dueAt, nonce } of ledger.fires) {
    if (!names.includes(schedule)) continue
    const steps = await client.steps.list({ schedule, dueAt, nonce })
    done.push(...steps.filter(({ state }) => state === 'done'))
  }
  return done
}

/** Everything about a schedule at one moment: nothing was decided about it while its records were read. */
async function readSchedule(client: Client, name: string): Promise<Read> {
  for (;;) {
    const before = await client.schedules.find(name)
    const fires = await collect(client.fires.all({ schedule: name }))
    const runs = await collect(client.runs.all({ schedule: name }))
    const schedule = await client.schedules.find(name)
    if (isDeepStrictEqual(before, schedule)) return { schedule, fires, runs }
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function fireOf({ schedule, dueAt, nonce, kind, round, attempt, plannedAt, readyAt, ...fire }: FireView): LedgerFire {
  const { endedAt, state, reason, range } = fire
  const outcome = state === 'open' ? null : state
  const stretch = { untilAt: range?.untilAt ?? null, count: range?.count ?? 1 }
  const about = { schedule, dueAt, nonce, origin: kind, round, attempt, plannedAt, readyAt }
  return { ...about, endedAt, outcome, reason, ...stretch }
}

function runOf({ schedule, dueAt, nonce, attempt, token, round, instance, ...run }: RunView): LedgerRun {
  const { startedAt, endedAt, state, reason, cause } = run
  const readyAt = startedAt - run.latenessMs
  const outcome: Outcome | null = state === 'running' || state === 'cancelling' || state === 'parked' ? null : state
  return {
    schedule,
    dueAt,
    nonce,
    attempt,
    token,
    round,
    instance,
    startedAt,
    readyAt,
    cause,
    endedAt,
    outcome,
    reason,
  }
}

function scheduleOf({
  name,
  job,
  nextAt,
  createdAt,
  pause,
  retiredAt,
  open,
}: ScheduleView): Ledger['schedules'][number] {
  const [isPaused, isRetired] = [pause !== null, retiredAt !== null]
  return { id: name, job, nextAt, createdAt, isPaused, isRetired, open: open.length }
}

function instanceOf({ id, state }: InstanceView): LedgerInstance {
  // No peer has declared it dead, so it may still renew its lease.
  return { id, state: state === 'silent' ? 'live' : state }
}
