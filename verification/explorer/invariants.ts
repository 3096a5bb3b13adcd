import { policyOf } from '../../packages/cronce/src/model/policy.ts'
import type { RunRecord } from '../../packages/cronce/src/model/record.ts'
import { isNewerToken } from '../../packages/cronce/src/model/token.ts'
import type { FleetOptions } from './fleet.ts'
import { redefined } from './operator.ts'
import { recordsOf } from './records.ts'
import { idOf, isTrusted, type LocalRun, nameOf, type State, TICK_MS } from './state.ts'

/** By the names of the verification plan. S12 is about stores that lose what they acknowledged; S14 is for the simulation. */
export const INVARIANTS = {
  S1: 'one holder: two workers never execute a fire under trust at once, and only live instances are granted runs',
  S2: 'tokens grow in the order in which they are granted',
  S3: 'a run that is not current ends nothing',
  S4: 'the dead stay dead',
  S5: 'a fire ends once, and stays as it ended',
  S6: 'the work of a step is begun once; a transaction and the end of its fire are one, and are told as they are',
  S7: 'nothing is granted before its time',
  S8: 'instants are those of the schedule, each on record once',
  S9: 'what was acknowledged of a schedule is so, and nothing is granted while it is paused',
  S10: 'overlap holds over the fleet',
  S11: 'attempts are bounded; at most once is at most once',
  S12: 'what was acknowledged is there',
  S13: 'conservation: what is open is open everywhere, and every instant that has passed is on record',
  S15: 'the log of runs only grows',
  L1: 'without further faults everything ends',
} as const

type Check = (options: FleetOptions, before: State, after: State) => string | null

/** The first that is broken, by name. */
export function judgeFleet(
  options: FleetOptions,
  before: State | null,
  after: State,
  ignore: readonly string[],
): string | null {
  const isWritten = before !== null && before.store !== after.store
  // A store that falls back loses what it lost; what is left must make sense.
  const isRestored = before !== null && before.faults.failover !== after.faults.failover
  if (after.witness.broken !== null) return after.witness.broken
  const checks = isRestored || before === null ? ANYWHERE : isWritten ? AFTER_WRITES : BY_STATE
  for (const check of checks) {
    const wrong = check(options, before ?? after, after)
    if (wrong !== null && !ignore.includes(wrong.split(':', 1)[0]!)) return wrong
  }
  return null
}

const isExecuting = (run: LocalRun | null): run is LocalRun => run !== null && !run.isOver

const oneHolder: Check = ({ definition }, _, after) => {
  const trusted = after.workers.filter((worker, index) => {
    const { run } = worker
    return isExecuting(run) && isTrusted(after, worker) && idOf(index, worker.incarnation) === run.instance
  })
  const fires = new Set(trusted.map(({ run }) => run!.fire.dueAt))
  if (fires.size < trusted.length) return 'S1: two workers execute one fire, and both trust their lease'
  const isAlone = policyOf(definition.policy).overlap.kind !== 'allow' && after.operator.acknowledged !== 'remove'
  if (isAlone && after.operator.acknowledged !== 'create' && trusted.length > 1) return 'S10: two fires are executed'
  return null
}

const calledUnderTrust: Check = (_, before, after) => {
  const wrong = after.workers.findIndex((worker, index) => {
    const isCalled = before.workers[index]!.run === null && isExecuting(worker.run)
    return isCalled && !isTrusted(after, worker)
  })
  return wrong < 0 ? null : `S1: a handler was called on w${wrong + 1} under a lease that it can not trust`
}

const stepOnce: Check = ({ definition }, _, { witness }) => {
  if (witness.worked > 1) return 'S6: the work of a step was begun twice'
  const isOnce = policyOf(definition.policy).guarantee === 'at-most-once'
  return isOnce && witness.called > 1 ? 'S11: a handler was called twice, at most once' : null
}

const transactionsAreTold: Check = (_, __, { store, witness }) => {
  for (const [token, words] of witness.told) {
    const isThere = [...store.effects.values()].includes(token)
    if (isThere && words === 'rolled back') return `S6: ${token} was told that it was rolled back, and is committed`
    if (!isThere && words === 'committed') return `S6: ${token} was told that it was committed, and is not there`
  }
  for (const token of store.effects.values()) {
    const run = [...recordsOf(store.space).runs.values()].find((other) => other.token === token)
    if (run?.ending?.outcome !== 'succeeded') return `S6: ${token} has left its rows, and has not ended its fire`
  }
  return null
}

const acknowledgedIsThere: Check = (_, __, { store, witness }) => {
  const { runs } = recordsOf(store.space)
  const ended = [...runs.values()].filter(({ ending }) => ending !== null).map(({ token }) => token)
  const lost = witness.settled.find((token) => !ended.includes(token))
  return lost === undefined ? null : `S12: the settlement of ${lost} was acknowledged, and is not there`
}

const conservation: Check = ({ instants }, _, { store, now }) => {
  const { schedules, history } = store.space
  const lines = [...history.values()]
  const open = [...schedules.values()].flatMap((schedule) => schedule.open)
  const known = [...open, ...lines].map(({ dueAt }) => dueAt / TICK_MS)
  const phantom = known.find((at) => !instants.includes(at) || at > now)
  if (phantom !== undefined) return `S8: an instant at ${phantom} is on record`
  for (const { nextAt, createdAt } of schedules.values()) {
    const passed = instants.filter((at) => at * TICK_MS >= createdAt && (nextAt === null || at * TICK_MS < nextAt))
    const lost = passed.find((at) => !known.includes(at))
    if (lost !== undefined) return `S13: the instant at ${lost} was passed, and is not on record`
  }
  return null
}

/** What is open has no line that ends it, and what has ended has one. */
const once: Check = (_, __, { store }) => {
  const lines = [...store.space.history.values()]
  const open = [...store.space.schedules.values()].flatMap((schedule) => schedule.open)
  const fires = [...open, ...lines.filter(({ isFinal }) => isFinal)].map(({ dueAt }) => dueAt)
  if (new Set(fires).size < fires.length) return 'S5: a fire is open and has ended, or ended twice'
  const runs = [...open, ...lines].flatMap(({ run }) => (run === null ? [] : [run.token]))
  return new Set(runs).size < runs.length ? 'S5: a run is open and has ended, or ended twice' : null
}

const acknowledgedStands: Check = ({ definition }, _, { store, operator, messages }) => {
  const [schedule] = store.space.schedules.values()
  if (messages.some(({ kind }) => kind === 'command')) return null
  switch (operator.acknowledged) {
    case 'pause':
      return schedule?.pause === null ? 'S9: the schedule was paused, and is not' : null
    case 'redefine': {
      const isSo = schedule?.definition.input === redefined(definition).input
      return isSo ? null : 'S9: the schedule was changed, and is not'
    }
    case 'remove':
      return schedule === undefined ? null : 'S9: the schedule was removed, and is there'
    default:
      return null
  }
}

const grants: Check = (_, before, after) => {
  const { instances } = after.store.space
  const { runs } = recordsOf(after.store.space)
  for (const [key, run] of runs) {
    const known = recordsOf(before.store.space).runs.get(key)
    if (known !== undefined && (known.ending === null || run.ending !== null)) continue
    const name = nameOf(run.instance)
    if (instances.get(run.instance)?.goneAt !== null) return `S1: ${name} is not live, and was granted ${run.token}`
    if (!isNewerToken(run.token, before.witness.highest)) {
      return `S2: ${run.token} was granted after ${before.witness.highest}`
    }
    if (run.dueAt > after.now * TICK_MS || run.readyAt > after.now * TICK_MS)
      return `S7: ${run.token} was granted early`
    const [schedule] = before.store.space.schedules.values()
    if (schedule?.pause != null) return `S9: ${run.token} was granted while the schedule was paused`
    const others = [...runs.values()].filter((other) => other.ending === null && other.token !== run.token)
    if (others.some(({ dueAt }) => dueAt === run.dueAt))
      return `S1: ${run.token} was granted beside another run of its fire`
    if (others.length > 0) return `S10: ${run.token} was granted beside another fire`
  }
  return null
}

const endings: Check = ({ definition }, before, after) => {
  const { instances } = after.store.space
  const { fires, runs } = recordsOf(after.store.space)
  const known = recordsOf(before.store.space)
  for (const [key, fire] of known.fires) {
    const now = fires.get(key)
    if (now === undefined) return `S13: the fire due ${fire.dueAt} is off the record`
    if (fire.ending !== null && now !== fire) return `S5: the fire due ${fire.dueAt} had ended, and was changed`
    if (now.attempt < fire.attempt) return `S15: the fire due ${fire.dueAt} has fewer attempts than before`
  }
  for (const [key, run] of known.runs) {
    const now = runs.get(key)
    if (now === undefined || (run.ending !== null && now !== run)) return `S15: the record of ${run.token} was changed`
    if (run.ending !== null || now.ending === null) continue
    const wrong = isEndedRightly(before, now)
    if (wrong !== null) return wrong
  }
  for (const [id, instance] of before.store.space.instances) {
    if (instance.goneAt !== null && instances.get(id) !== instance) return `S4: ${nameOf(id)} was dead, and was changed`
  }
  const crashed = [...runs.values()].filter(({ ending }) => ending?.reason === 'crashed').length
  const most = (policyOf(definition.policy).retry.crashes + 1) * fires.size
  return crashed > most ? `S11: ${crashed} runs have crashed, of at most ${most}` : null
}

/** A run is ended only by the holder of its token, or by a peer that found its instance dead. */
function isEndedRightly(before: State, now: RunRecord): string | null {
  const isDead = before.store.space.instances.get(now.instance)?.goneAt !== null
  if (now.ending?.reason === 'crashed') return isDead ? null : `S3: ${now.token} was recovered from the living`
  const isCurrent = before.store.space.schedules.get(now.schedule)?.open.some(({ run }) => run?.token === now.token)
  if (isCurrent !== true) return `S3: ${now.token} was not current, and was ended`
  const isAsked = before.messages.some((message) => 'token' in message && message.token === now.token)
  return isAsked || now.ending?.reason === 'removed' ? null : `S3: ${now.token} was ended by another run`
}

const steps: Check = (_, before, after) => {
  for (const [key, step] of before.store.space.steps) {
    const now = after.store.space.steps.get(key)!
    if (step === now) continue
    if (step.state !== 'begun') return 'S6: a step that had ended was changed'
    if (now.token !== step.token) return 'S6: a step of unknown end was begun again'
    const isAsked = before.messages.some((message) => message.kind === 'end' && message.token === step.token)
    if (!isAsked) return `S3: the step of ${step.token} was ended by another run`
  }
  for (const [key, value] of before.store.effects) {
    if (after.store.effects.get(key) !== value) return 'S6: a fire left its rows twice'
  }
  return null
}

const BY_STATE: readonly Check[] = [oneHolder, calledUnderTrust, stepOnce, transactionsAreTold, acknowledgedStands]
const ANYWHERE: readonly Check[] = [...BY_STATE, acknowledgedIsThere, conservation]
const AFTER_WRITES: readonly Check[] = [...ANYWHERE, grants, endings, once, steps]
