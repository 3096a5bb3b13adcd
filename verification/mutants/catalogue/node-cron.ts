import { edit, type Mutant } from '../mutant.ts'

const COORDINATOR = 'packages/cronce/test/node-cron/coordinator.test.ts'

/** Mistakes in the coordinator of node-cron. */
export const NODE_CRON_MUTANTS: readonly Mutant[] = [
  {
    name: 'slot-overlap-unsaid',
    rule: 'C7',
    breaks: 'The schedule of a task has the default overlap policy, which the coordinator does not enforce.',
    edits: [
      edit(
        'node-cron/coordinator-key.ts',
        "isExclusive ? DEFAULT_POLICY.overlap : { kind: 'allow', limit: UNLIMITED }",
        'DEFAULT_POLICY.overlap',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: COORDINATOR,
      names: ['the schedule of a task shows its overlap; processes that differ declare it once each'],
    },
  },
  {
    name: 'slot-declared-each-time',
    rule: 'cost',
    breaks: 'Processes with different options change the schedule of a task with every slot.',
    edits: [
      edit('engine/claim/claim-fire.ts', 'return keepsDefinition && state', 'return false && keepsDefinition && state'),
    ],
    caughtBy: {
      judge: 'tests',
      file: COORDINATOR,
      names: ['the schedule of a task shows its overlap; processes that differ declare it once each'],
    },
  },
  {
    name: 'stopping-coordinator-throws',
    rule: 'rule 7',
    breaks: 'A coordinator whose app has stopped throws for every slot.',
    edits: [edit('node-cron/coordinator.ts', 'return this.#wasStarted', 'return false')],
    caughtBy: {
      judge: 'tests',
      file: COORDINATOR,
      names: ['an app that is being stopped, or was, runs nothing: that is an answer, not an error'],
    },
  },
]
