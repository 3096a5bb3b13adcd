import type { RunOfFire } from '../../packages/checker/src/history.ts'
import type { RunRecord } from '../../packages/cronce/src/model/record.ts'
import type { Workplace } from './handle.ts'
import type { Step } from './invariants/mirror.ts'
import type { Watcher } from './invariants/observe-store.ts'
import type { Plan, Release, Scenario } from './scenario.ts'

const LONG_AGO_MS = 60_000

/**
 * What only the store can tell for certain: when a deployment's declarations were written, when a schedule left the code,
 * which steps and transactions are on record.
 */
export function witness(
  scenario: Scenario,
  { recorder, count }: Pick<Workplace, 'recorder' | 'count'>,
  releaseOf: (node: string) => Release | undefined,
): Watcher {
  const attempts = new Map<string, number>()
  const planOf = (who: string, schedule: string): Plan | undefined => releaseOf(who)?.jobs[schedule]

  const declared = ({ before, after, who, change, now }: Step): void => {
    if (after === undefined || after.source.kind !== 'code') return
    // It was decided when its own times say; unless the clock was set back since.
    const agoMs = now - (after.retiredAt ?? after.updatedAt)
    const decidedMs = agoMs < 0 ? LONG_AGO_MS : agoMs
    if (after.retiredAt !== null && before?.retiredAt === null) {
      count('retired')
      recorder.done(change.id, { verb: 'retire' }, decidedMs)
    } else if (after.revision !== before?.revision || before.createdAt !== after.createdAt) {
      const plan = planOf(who, change.id)
      if (plan !== undefined) recorder.done(change.id, { verb: 'define', spec: plan.spec }, decidedMs)
      if (before !== undefined) count('redeclared')
    }
  }

  return {
    count,
    changed(step) {
      declared(step)
      for (const { before, wanted } of step.runs) {
        if (before === undefined) count('granted')
        if (before === undefined) attempts.set(`${wanted.token} ${wanted.schedule}`, wanted.attempt)
        if (before === undefined && wanted.attempt > 1) count('granted again')
        if (before === undefined && scenario.kind === 'days') count('granted in days')
      }
    },
    committed(step) {
      const run = step.runs.find(({ wanted }) => wanted.ending?.outcome === 'succeeded')?.wanted
      if (run !== undefined) recorder.effect(seenOf(run), step.who, 'transaction', 'row', true)
    },
    stepped(who, command, answer) {
      if (command.kind === 'resolve') return
      count(`step ${command.kind} ${answer.kind}`)
      const isDone = command.kind === 'end' && !command.failed
      if (!isDone || (answer.kind !== 'applied' && answer.kind !== 'stale')) return
      const { token, fire, step } = command
      const attempt = attempts.get(`${token} ${fire.schedule}`) ?? 0
      recorder.effect({ ...fire, attempt, token }, who, 'step', step, answer.kind === 'applied')
    },
  }
}

function seenOf({ schedule, dueAt, nonce, attempt, token }: RunRecord): RunOfFire {
  return { schedule, dueAt, nonce, attempt, token }
}
