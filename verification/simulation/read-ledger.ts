import type { Ledger, LedgerFire, LedgerRun } from '../../packages/checker/src/history.ts'
import type { Client } from '../../packages/cronce/src/client/client.ts'
import type { FireView, InstanceView, RunView, ScheduleView } from '../../packages/cronce/src/client/views.ts'
import { RESERVED_PREFIX } from '../../packages/cronce/src/model/exclusive-jobs.ts'

/** Everything that the product reports about itself, read through its public client. */
export async function readLedger(client: Client<never>, now: () => number, storeAt: number): Promise<Ledger> {
  const at = now()
  const fires: LedgerFire[] = []
  for await (const fire of client.fires.all({ order: 'earliest' })) if (!isOwn(fire)) fires.push(fireOf(fire))
  const runs: LedgerRun[] = []
  for await (const run of client.runs.all()) if (!isOwn(run)) runs.push(runOf(run))
  const schedules = []
  for await (const schedule of client.schedules.all()) schedules.push(scheduleOf(schedule))
  const instances = (await client.instances.list({ ended: 10_000 })).map(instanceOf)
  return { at, until: now(), storeAt, fires, runs: runs.reverse(), schedules, instances }
}

/** What the library records for itself: alerts, and messages that it sends once. */
function isOwn({ job }: { readonly job: string }): boolean {
  return job.startsWith(RESERVED_PREFIX)
}

function fireOf(fire: FireView): LedgerFire {
  const { schedule, dueAt, nonce, round, attempt, plannedAt, readyAt, endedAt, reason, range } = fire
  return {
    ...{ schedule, dueAt, nonce, round, attempt, plannedAt, readyAt, endedAt, reason },
    origin: fire.kind,
    outcome: fire.state === 'open' ? null : fire.state,
    untilAt: range?.untilAt ?? null,
    count: range?.count ?? 1,
  }
}

function runOf(run: RunView): LedgerRun {
  const { schedule, dueAt, nonce, attempt, token, round, instance, startedAt, endedAt, reason, cause } = run
  const isOpen = run.state === 'running' || run.state === 'cancelling'
  return {
    ...{ schedule, dueAt, nonce, attempt, token, round, instance, startedAt, endedAt, reason },
    readyAt: startedAt - run.latenessMs,
    cause: cause ?? null,
    outcome: isOpen ? null : (run.state as LedgerRun['outcome']),
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
  return {
    id: name,
    job,
    nextAt,
    createdAt,
    isPaused: pause !== null,
    isRetired: retiredAt !== null,
    open: open.length,
  }
}

function instanceOf({ id, state }: InstanceView): Ledger['instances'][number] {
  return { id, state: state === 'silent' ? 'live' : state }
}
