import type { FireKey, StepRecord } from '../../model/record.ts'
import { isRunning, type RunningFire } from '../../model/schedule.ts'
import type { Annotation, RunKey, StepAnswer, StepCommand } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Context } from './context.ts'
import type { Group, Guard } from './driver.ts'
import { encodeName } from './keys.ts'
import type { Schedules } from './schedules.ts'

const APPLIED: StepAnswer = { kind: 'applied' }
const DUPLICATE: StepAnswer = { kind: 'duplicate' }
const STALE: StepAnswer = { kind: 'stale' }
const NOT_FOUND: StepAnswer = { kind: 'not-found' }

const MOST_ROUNDS = 20

type Command<Kind> = Extract<StepCommand, { readonly kind: Kind }>

/** What is written if it is still so, or the answer. */
type Decision = { readonly record: StepRecord; readonly guards: readonly Guard[] } | StepAnswer

export async function step(context: Context, schedules: Schedules, command: StepCommand): Promise<StepAnswer> {
  const { keys, driver, identity } = context
  const key = keys.step(command.fire, command.step)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const entry = (await driver.read([{ get: key }])).found[0]!.entries[0]
    const known = entry && (JSON.parse(entry.value) as StepRecord)
    const decision = await decide(context, schedules, command, known)
    if ('kind' in decision) return decision
    const unchanged: Guard =
      entry === undefined ? { key, is: 'absent' } : { key, is: 'revision', revision: entry.revision }
    const answer = await driver.commit({
      guards: [identity.guard, unchanged, ...decision.guards],
      puts: [{ key, value: JSON.stringify(decision.record) }],
      groups: [],
      reads: [{ get: keys.meta }],
    })
    identity.refresh(answer.found[0]!.entries[0])
    if (answer.isHeld) return APPLIED
  }
  throw new StoreError('STORE_BUSY', `Other processes changed ${driver.name} before every write.`, {
    hint: 'Try again.',
  })
}

async function decide(
  context: Context,
  schedules: Schedules,
  command: StepCommand,
  known: StepRecord | undefined,
): Promise<Decision> {
  switch (command.kind) {
    case 'begin':
      return begin(context, schedules, command, known)
    case 'end':
      if (known === undefined) return NOT_FOUND
      if (known.token !== command.token) return STALE
      return known.state === 'begun' ? end(context, known, command) : DUPLICATE
    case 'resolve':
      if (known === undefined) return NOT_FOUND
      if (known.state === 'done') return { kind: 'done', result: known.result }
      return known.state === 'begun' ? end(context, known, command) : DUPLICATE
  }
}

async function begin(
  context: Context,
  schedules: Schedules,
  { fire, token, rerun, step }: Command<'begin'>,
  known: StepRecord | undefined,
): Promise<Decision> {
  const [run] = await liveRuns(context, schedules, [{ schedule: fire.schedule, token }])
  if (run === undefined || run.fire.dueAt !== fire.dueAt || run.fire.nonce !== fire.nonce) return STALE
  if (known?.state === 'done') return { kind: 'done', result: known.result }
  if (known?.state === 'begun' && known.token === token) return DUPLICATE
  if (known?.state === 'begun' && !rerun) return { kind: 'unknown', token: known.token }
  const { schedule, dueAt, nonce } = fire
  const begunAt = context.time.now()
  const record = { schedule, dueAt, nonce, step, state: 'begun', token, result: null, begunAt, endedAt: null } as const
  return { record, guards: run.guards }
}

function end({ time }: Context, known: StepRecord, { failed, result }: Command<'end' | 'resolve'>): Decision {
  return { record: { ...known, state: failed ? 'failed' : 'done', result, endedAt: time.now() }, guards: [] }
}

interface LiveRun {
  readonly fire: RunningFire
  /** Hold as long as the run is live. */
  readonly guards: readonly Guard[]
}

/** For each run that is asked for, the run if it is live now. */
async function liveRuns(
  { keys, driver }: Context,
  schedules: Schedules,
  asked: readonly { readonly schedule: string; readonly token: string }[],
): Promise<(LiveRun | undefined)[]> {
  const states = await schedules.load(asked.map(({ schedule }) => schedule))
  const runs = asked.map(({ schedule, token }) => {
    const state = states.find(({ id }) => id === schedule)
    const fire = state?.open.find(({ run }) => run?.token === token)
    if (fire === undefined || !isRunning(fire)) return undefined
    const { instance } = fire.run
    const held: Guard = { key: keys.held(instance, schedule, token), is: 'present' }
    const live: Guard = { key: keys.key('i', encodeName(instance)), is: 'present' }
    return { fire, guards: [held, live] }
  })
  const { found } = await driver.read(
    runs.map((run) => ({ get: keys.key('i', encodeName(run?.fire.run.instance ?? '')) })),
  )
  return runs.map((run, index) => (found[index]!.entries.length === 0 ? undefined : run))
}

/** Returns the runs that are not live. */
export async function annotate(
  context: Context,
  schedules: Schedules,
  notes: readonly Annotation[],
): Promise<RunKey[]> {
  const { keys, driver, identity } = context
  if (notes.length === 0) return []
  const runs = await liveRuns(context, schedules, notes)
  const stale = notes
    .filter((_, index) => runs[index] === undefined)
    .map(({ schedule, token }): RunKey => ({ schedule, token }))
  let pending = notes.flatMap((note, index) => {
    const run = runs[index]
    if (run === undefined) return []
    const { schedule, token, progress, log, logCut } = note
    const puts = [{ key: keys.notes(schedule, token), value: JSON.stringify({ progress, log, logCut }) }]
    return [{ key: { schedule, token }, group: { guards: run.guards, puts, deletes: [] } satisfies Group }]
  })
  // Of two notes of one run the last one counts, and a key is written once.
  pending = [...new Map(pending.map((one) => [one.group.puts[0]!.key, one])).values()]
  while (pending.length > 0) {
    const groups = pending.map(({ group }) => group)
    const answer = await driver.commit({ guards: [identity.guard], puts: [], groups, reads: [{ get: keys.meta }] })
    identity.refresh(answer.found[0]!.entries[0])
    for (const [index, isWritten] of answer.written.entries()) if (!isWritten) stale.push(pending[index]!.key)
    pending = pending.slice(answer.written.length)
  }
  return stale
}

/** In the order in which they were begun. */
export async function listSteps({ keys, driver }: Context, fire: FireKey): Promise<StepRecord[]> {
  const { found } = await driver.read([keys.below(...keys.stepsOf(fire))])
  return found[0]!.entries
    .map(({ value }) => JSON.parse(value) as StepRecord)
    .sort((one, other) => one.begunAt - other.begunAt || (one.step < other.step ? -1 : 1))
}
