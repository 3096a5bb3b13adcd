import { CHANNELS_JOB, WATCH_JOB } from '../model/exclusive-jobs.ts'
import type { InstanceRecord } from '../model/instance.ts'
import { copyJson } from '../model/json.ts'
import { policyOf } from '../model/policy.ts'
import type { FireRecord, RunNotes, RunRecord, StepRecord } from '../model/record.ts'
import { NOBODY, type OpenFire, type ScheduleState } from '../model/schedule.ts'
import { stateOf } from '../model/state-of.ts'
import type { FireView, InstanceView, OpenFireView, RunView, ScheduleView, StepView } from './views.ts'

export function viewSchedule(state: ScheduleState): ScheduleView {
  const { definition, source, pause } = state
  return {
    name: state.id,
    job: definition.job,
    state: stateOf(state),
    trigger: copyJson(definition.trigger),
    input: copyJson(definition.input),
    policy: copyJson(policyOf(definition.policy)),
    startAt: definition.start,
    endAt: definition.end,
    limit: definition.limit,
    fired: state.fired,
    tenant: definition.tenant,
    on: definition.on === undefined ? null : copyJson(definition.on),
    app: source.kind === 'code' ? source.app : null,
    revision: state.revision,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    retiredAt: state.retiredAt,
    retirements: state.retirements ?? [],
    pause:
      pause === null
        ? null
        : { at: pause.at, untilAt: pause.until, note: pause.note, author: pause.author, missed: pause.missed },
    nextAt: state.nextAt,
    skipped: [...(state.skipped ?? [])],
    last: {
      dueAt: state.last.dueAt,
      succeededDueAt: state.last.succeededDueAt,
      succeededAt: state.last.succeededAt,
    },
    failedInRow: state.failedInRow,
    open: state.open.map(viewOpenFire),
    backfills: state.backfills.map(({ id, from, to, askedAt, author, note = null }) => ({
      id,
      fromAt: from,
      toAt: to,
      askedAt,
      author,
      note,
    })),
  }
}

function viewOpenFire({ dueAt, nonce, kind, readyAt, attempt, run }: OpenFire): OpenFireView {
  return {
    dueAt,
    nonce,
    kind,
    state: run === null ? 'waiting' : stateOfRun(run),
    readyAt,
    attempt,
    token: run?.token ?? null,
    instance: run === null || run.instance === NOBODY ? null : run.instance,
    startedAt: run?.startedAt ?? null,
    parkedUntilAt: run?.parkedUntil ?? null,
  }
}

function stateOfRun({ instance, cancel }: Pick<RunRecord, 'instance' | 'cancel'>): 'running' | 'cancelling' | 'parked' {
  if (instance === NOBODY) return 'parked'
  return cancel === null ? 'running' : 'cancelling'
}

export function viewFire(record: FireRecord): FireView {
  const { ending, range } = record
  return {
    schedule: record.schedule,
    dueAt: record.dueAt,
    nonce: record.nonce,
    job: record.job,
    kind: record.kind,
    state: ending?.outcome ?? 'open',
    reason: ending?.reason ?? null,
    detail: ending?.detail ?? null,
    round: record.round,
    attempt: record.attempt,
    plannedAt: record.plannedAt,
    readyAt: record.readyAt,
    endedAt: record.endedAt,
    expiresAt: record.expiresAt,
    input: copyJson(record.input),
    asked: copyJson(record.asked ?? null),
    range: range === null ? null : { untilAt: range.untilAt, count: range.count },
  }
}

export function viewRun(record: RunRecord & RunNotes): RunView {
  const { ending, cancel, startedAt, endedAt } = record
  return {
    schedule: record.schedule,
    dueAt: record.dueAt,
    nonce: record.nonce,
    token: record.token,
    job: record.job,
    round: record.round,
    attempt: record.attempt,
    instance: record.instance,
    state: ending?.outcome ?? stateOfRun(record),
    reason: ending?.reason ?? null,
    detail: ending?.detail ?? null,
    startedAt,
    latenessMs: Math.max(0, startedAt - record.readyAt),
    cause: record.cause ?? null,
    endedAt,
    durationMs: endedAt === null ? null : Math.max(0, endedAt - startedAt),
    cancel: cancel === null ? null : { at: cancel.at, reason: cancel.reason, detail: cancel.detail },
    error: copyJson(record.error),
    result: copyJson(record.result),
    progress: copyJson(record.progress),
    log: copyJson(record.log),
    logCut: record.logCut,
  }
}

export function viewStep(record: StepRecord): StepView {
  const { schedule, dueAt, nonce, step, state, token, result, begunAt, endedAt } = record
  return { schedule, dueAt, nonce, step, state, token, result: copyJson(result), begunAt, endedAt }
}

export function viewInstance(record: InstanceRecord): InstanceView {
  const isSilent = record.expired && (record.state === 'live' || record.state === 'draining')
  return {
    id: record.id,
    app: record.app,
    deployment: record.deployment,
    jobs: record.jobs.filter((job) => job !== WATCH_JOB && job !== CHANNELS_JOB),
    host: record.host,
    labels: { ...record.labels },
    pid: record.pid,
    version: record.version,
    zoneData: record.zoneData,
    state: isSilent ? 'silent' : record.state,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    renewedAt: record.renewedAt,
    clockOffsetMs: record.clockOffsetMs,
    running: record.running,
    concurrency: record.concurrency,
    drain: record.drain,
  }
}
