import type { Alert, InstanceView, Run } from './types.ts'

/** Something that went wrong with the fleet or the store, to be marked in the timeline. */
export interface Fault {
  readonly at: number
  readonly kind: 'instance died' | 'lease lost' | 'store away'
  readonly text: string
}

const MOST = 100

/** What is on record: instances that were declared dead, runs that their instance lost, alerts about the store. */
export function faultsOf(
  { instances, runs, alerts }: { instances: readonly InstanceView[]; runs: readonly Run[]; alerts: readonly Alert[] },
  from: number,
  to: number,
): readonly Fault[] {
  const found: Fault[] = []
  for (const { id, host, state, endedAt } of instances) {
    if (state === 'dead' && endedAt !== null)
      found.push({ at: endedAt, kind: 'instance died', text: `${id} on ${host}` })
  }
  for (const { schedule, attempt, instance, state, reason, endedAt } of runs) {
    const isLost = state === 'abandoned' && reason !== 'stopped' && endedAt !== null
    if (isLost) found.push({ at: endedAt, kind: 'lease lost', text: `${schedule}, attempt ${attempt} on ${instance}` })
  }
  for (const { rule, firstAt, subjects } of alerts) {
    if (rule === 'store') found.push({ at: firstAt, kind: 'store away', text: subjects[0]?.text ?? '' })
  }
  return found
    .filter(({ at }) => at >= from && at <= to)
    .sort((one, other) => one.at - other.at)
    .slice(0, MOST)
}

/** Faults that one mark stands for: at the scale of the picture they lie on each other. */
export function marksOf(
  faults: readonly Fault[],
  leastMs: number,
): readonly { readonly at: number; readonly text: string }[] {
  const marks: { at: number; faults: Fault[] }[] = []
  for (const fault of faults) {
    const last = marks.at(-1)
    if (last !== undefined && fault.at - last.at < leastMs) last.faults.push(fault)
    else marks.push({ at: fault.at, faults: [fault] })
  }
  return marks.map(({ at, faults: some }) => ({
    at,
    text: some.map(({ kind, text }) => `${kind}: ${text}`).join('\n'),
  }))
}
