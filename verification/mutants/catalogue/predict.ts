import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const COMPARE = 'packages/cli/src/plan/compare-fires.ts'
const REHEARSE = 'packages/cli/src/plan/rehearse.ts'
const CHANGES = 'packages/cli/src/plan/find-changes.ts'
const COPY = 'packages/cli/src/plan/copy-store.ts'

const pairs: CaughtBy = {
  judge: 'tests',
  file: 'packages/cli/test/plan-pairs.test.ts',
  names: ['what plan predicts for random pairs of releases is what the engine then does'],
}
const said = (...names: string[]): CaughtBy => ({ judge: 'tests', file: 'packages/cli/test/plan.test.ts', names })

/** Mistakes of `cronce plan` about what a deployment will do. */
export const PREDICTION_MUTANTS: readonly Mutant[] = [
  {
    name: 'plan-moved-twice',
    rule: 'plan',
    breaks: 'Two old due times move to one new due time, and a lost one is not told.',
    edits: [edit(COMPARE, ' && !taken.has(other)', '')],
    caughtBy: pairs,
  },
  {
    name: 'plan-moved-far',
    rule: 'plan',
    breaks: 'A due time counts as moved beyond its neighbours, and a lost one is not told.',
    edits: [edit(COMPARE, 'other > from && other < to && ', '')],
    caughtBy: pairs,
  },
  {
    name: 'plan-without-pause',
    rule: 'plan',
    breaks: "The copy lacks the operator's pause: due times are promised that the pause keeps from running.",
    edits: [edit(REHEARSE, 'backfills: [], wakeAt: null }', 'backfills: [], wakeAt: null, pause: null }')],
    caughtBy: pairs,
  },
  {
    name: 'plan-from-the-mark',
    rule: 'plan',
    breaks: 'The copy begins anew: a limit counts from zero, and due times that an operator skipped are promised.',
    edits: [edit(REHEARSE, 'backfills: [], wakeAt: null }', 'backfills: [], wakeAt: null, fired: 0, skipped: [] }')],
    caughtBy: pairs,
  },
  {
    name: 'plan-rename-as-new',
    rule: 'plan',
    breaks: 'A renamed job is told as one that comes and one that goes.',
    edits: [edit(CHANGES, 'renamed.set(next, id)', 'renamed.delete(id)')],
    caughtBy: said('says what is added, changed, renamed and retired, and what becomes of the due times'),
  },
  {
    name: 'plan-without-peers',
    rule: 'plan',
    breaks:
      'Live processes are not copied: an old release that is planned beside a newer one is said to define the schedules.',
    edits: [edit(COPY, "state === 'live' || state === 'draining'", "state === 'dead'")],
    caughtBy: said('a release that is older than the one that runs changes nothing'),
  },
]
