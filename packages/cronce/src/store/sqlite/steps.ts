import type { DatabaseSync } from 'node:sqlite'
import type { FireKey, StepRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import type { Annotation, RunKey, StepAnswer, StepCommand } from '../store.ts'
import { type Row, statement } from './driver.ts'
import { isPresent } from './instances.ts'
import { stepOf } from './rows.ts'

const RUN = 'select due_at, nonce, instance from cronce_open where namespace = ? and schedule = ? and token = ?'
const GET = `
select *
  from cronce_steps
 where namespace = ? and schedule = ? and due_at = ? and nonce = ? and step = ?`
export const LIST_STEPS = `
select *
  from cronce_steps
 where namespace = ? and schedule = ? and due_at = ? and nonce = ?
 order by begun_at, step`
const BEGIN = `
insert into cronce_steps (namespace, schedule, due_at, nonce, step, state, token, result, begun_at, ended_at)
values (?, ?, ?, ?, ?, 'begun', ?, 'null', ?, null)
on conflict do update set state = 'begun', token = excluded.token, result = 'null', begun_at = excluded.begun_at, ended_at = null`
const END = `
update cronce_steps
   set state = ?, result = ?, ended_at = ?
 where namespace = ? and schedule = ? and due_at = ? and nonce = ? and step = ?`
const NOTE = `
insert into cronce_run_notes (namespace, schedule, token, notes)
values (?, ?, ?, ?)
on conflict do update set notes = excluded.notes`

/** The row of an open run whose instance is known and has not ended: a parked run has none. */
export function liveRun(db: DatabaseSync, namespace: string, schedule: string, token: string): Row | null {
  const run = statement(db, RUN).get(namespace, schedule, token)
  if (run === undefined) return null
  return isPresent(db, namespace, String(run.instance)) ? run : null
}

export function doStep(db: DatabaseSync, namespace: string, command: StepCommand, now: Instant): StepAnswer {
  const { schedule, dueAt, nonce } = command.fire
  const row = statement(db, GET).get(namespace, schedule, dueAt, nonce, command.step)
  const step = row === undefined ? null : stepOf(row)
  switch (command.kind) {
    case 'begin':
      return begin(db, namespace, command, step, now)
    case 'end':
      if (step === null) return { kind: 'not-found' }
      if (step.token !== command.token) return { kind: 'stale' }
      if (step.state !== 'begun') return { kind: 'duplicate' }
      break
    case 'resolve':
      if (step === null) return { kind: 'not-found' }
      if (step.state === 'done') return { kind: 'done', result: step.result }
      if (step.state !== 'begun') return { kind: 'duplicate' }
      break
  }
  const state = command.failed ? 'failed' : 'done'
  const result = JSON.stringify(command.result)
  statement(db, END).run(state, result, now, namespace, schedule, dueAt, nonce, command.step)
  return { kind: 'applied' }
}

function begin(
  db: DatabaseSync,
  namespace: string,
  { fire, step: name, token, rerun }: Extract<StepCommand, { kind: 'begin' }>,
  step: StepRecord | null,
  now: Instant,
): StepAnswer {
  const { schedule, dueAt, nonce } = fire
  const run = liveRun(db, namespace, schedule, token)
  if (run === null || run.due_at !== dueAt || run.nonce !== nonce) return { kind: 'stale' }
  if (step?.state === 'done') return { kind: 'done', result: step.result }
  if (step?.state === 'begun') {
    if (step.token === token) return { kind: 'duplicate' }
    if (!rerun) return { kind: 'unknown', token: step.token }
  }
  statement(db, BEGIN).run(namespace, schedule, dueAt, nonce, name, token, now)
  return { kind: 'applied' }
}

export function listSteps(db: DatabaseSync, namespace: string, { schedule, dueAt, nonce }: FireKey): StepRecord[] {
  return statement(db, LIST_STEPS).all(namespace, schedule, dueAt, nonce).map(stepOf)
}

/** Returns the runs that are not live. */
export function annotate(db: DatabaseSync, namespace: string, notes: readonly Annotation[]): RunKey[] {
  const stale: RunKey[] = []
  for (const { schedule, token, ...told } of notes) {
    if (liveRun(db, namespace, schedule, token) === null) stale.push({ schedule, token })
    else statement(db, NOTE).run(namespace, schedule, token, JSON.stringify(told))
  }
  return stale
}
