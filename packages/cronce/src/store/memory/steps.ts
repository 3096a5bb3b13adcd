import { copyJson } from '../../model/json.ts'
import type { StepRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import type { Annotation, RunKey, StepAnswer, StepCommand } from '../store.ts'
import { runKeyText } from './data.ts'
import { liveRun, type Space, setNotes, setStep, stepKey } from './space.ts'

const APPLIED: StepAnswer = { kind: 'applied' }
const DUPLICATE: StepAnswer = { kind: 'duplicate' }
const STALE: StepAnswer = { kind: 'stale' }
const NOT_FOUND: StepAnswer = { kind: 'not-found' }

type Command<Kind> = Extract<StepCommand, { readonly kind: Kind }>

export function step(space: Space, now: Instant, command: StepCommand): StepAnswer {
  const known = space.data.steps.get(stepKey(command.fire, command.step))
  switch (command.kind) {
    case 'begin':
      return begin(space, now, known, command)
    case 'end':
      if (known === undefined) return NOT_FOUND
      if (known.token !== command.token) return STALE
      return known.state === 'begun' ? end(space, now, known, command) : DUPLICATE
    case 'resolve':
      if (known === undefined) return NOT_FOUND
      if (known.state === 'done') return done(known)
      return known.state === 'begun' ? end(space, now, known, command) : DUPLICATE
  }
}

function begin(space: Space, now: Instant, known: StepRecord | undefined, command: Command<'begin'>): StepAnswer {
  const { fire, token, rerun } = command
  const run = liveRun(space, fire.schedule, token)
  if (run === undefined || run.dueAt !== fire.dueAt || run.nonce !== fire.nonce) return STALE
  if (known?.state === 'done') return done(known)
  if (known?.state === 'begun' && known.token === token) return DUPLICATE
  if (known?.state === 'begun' && !rerun) return { kind: 'unknown', token: known.token }
  put(space, {
    schedule: fire.schedule,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    step: command.step,
    state: 'begun',
    token,
    result: null,
    begunAt: now,
    endedAt: null,
  })
  return APPLIED
}

function end(space: Space, now: Instant, known: StepRecord, command: Command<'end' | 'resolve'>): StepAnswer {
  put(space, { ...known, state: command.failed ? 'failed' : 'done', result: copyJson(command.result), endedAt: now })
  return APPLIED
}

function done({ result }: StepRecord): StepAnswer {
  return { kind: 'done', result: copyJson(result) }
}

function put(space: Space, record: StepRecord): void {
  setStep(space, record, stepKey(record, record.step), record)
}

/** Returns the runs that are not live. */
export function annotate(space: Space, notes: readonly Annotation[]): RunKey[] {
  const stale: RunKey[] = []
  for (const { schedule, token, progress, log, logCut } of notes) {
    if (liveRun(space, schedule, token) === undefined) stale.push({ schedule, token })
    else setNotes(space, runKeyText(schedule, token), { progress, log, logCut })
  }
  return stale
}
