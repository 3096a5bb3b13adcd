import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const simulation = (...names: string[]): CaughtBy => ({ judge: 'simulation', names })

/** Mistakes in what apps that share a store do to each other. Several of them are caught by unit tests as well, under other names. */
export const APP_MUTANTS: readonly Mutant[] = [
  {
    name: 'fires-of-other-apps-claimed',
    rule: 'rule 42',
    breaks: 'A process claims and runs fires of a schedule that belongs to another app.',
    edits: [
      edit('engine/claim.ts', 'if (source.app !== core.settings.app) return false', ''),
      edit('engine/spread.ts', '.filter((job) => !core.foreignJobs.has(job))', ''),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'refused-declaration-not-retried',
    rule: 'rule 42',
    breaks: 'A process that was refused a name of another app does not try again, and the job stops for good.',
    edits: [edit('engine/deploy.ts', "'SCHEDULE_BUSY', NAME_TAKEN]", "'SCHEDULE_BUSY']")],
    caughtBy: simulation('L7'),
  },
  {
    name: 'name-of-a-live-app-yielded',
    rule: 'rule 42',
    breaks: 'The app that declares a name last takes it, although a live process of another app declares it.',
    edits: [
      edit(
        'policy/define.ts',
        'retiredAt !== null || wanted.standing?.absentApps.has(source.app) === true',
        'retiredAt !== null || wanted.standing !== undefined',
      ),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'name-yielded-before-the-hold-down',
    rule: 'rule 42',
    breaks: 'An app whose processes are away for a moment loses its names to another app.',
    edits: [
      edit(
        'engine/deploy-watch.ts',
        'absentApps: () => absences.heldFor(holdDownMs, true)',
        'absentApps: () => absences.heldFor(0, true)',
      ),
    ],
    caughtBy: simulation('S15'),
  },
  {
    name: 'names-of-a-gone-app-kept',
    rule: 'rule 42',
    breaks: 'A job stops for good when its app is gone, although a process of another app declares it.',
    edits: [
      edit(
        'policy/define.ts',
        'retiredAt !== null || wanted.standing?.absentApps.has(source.app) === true',
        'retiredAt !== null',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'verification/simulation/deploys.test.ts',
      names: ['an app that is gone for good keeps every promise'],
    },
  },
  {
    name: 'left-name-taken-from-its-next-app',
    rule: 'rule 42',
    breaks: 'Of two apps that wait for a name that a third one has left, the second takes it from the first.',
    edits: [edit('policy/define.ts', 'leftBy === source.app', 'leftBy !== undefined')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-taken.test.ts',
      names: ['of two apps that wait for a name that a third one has left, the first that gets it keeps it'],
    },
  },
  {
    name: 'returned-app-overlooked',
    rule: 'rule 42',
    breaks: 'A process whose last heartbeat is old takes the names of an app that has come back since.',
    edits: [
      edit('engine/deploy.ts', '[...absent].filter((other) => !isBack(other))', 'absent'),
      edit('engine/deploy.ts', '[...left].filter(([name, other]) => !isDeclared(name, other))', 'left'),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-taken.test.ts',
      names: [
        'an app that comes back just before the end of the hold-down keeps its names, though its rival could not look',
      ],
    },
  },
  {
    name: 'yielded-name-beside-another-name',
    rule: 'P1, rule 42',
    breaks: 'A job runs under two names when another app yields the one that an older release has.',
    edits: [edit('policy/define.ts', 'const isYielded = isOfOtherApp(state, wanted)', 'const isYielded = false')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy-taken.test.ts',
      names: [
        'a name that another app yields is not taken by an older release while the newest one has the job under another name',
      ],
    },
  },
]
