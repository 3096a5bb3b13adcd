import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const forms = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/deploy-forms.test.ts',
  names,
})
const verdict = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/retirement.test.ts',
  names,
})
const record = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/deployment.test.ts',
  names,
})

const GAINS =
  "a job that gets hosts: 'each' runs only on each host once the old processes have been gone for the hold-down"
const LOSES = "a job that loses hosts: 'each' runs once for all hosts after the hold-down"
const ROLLBACK = 'after a rollback a job has its old form again, catches up with nothing, and so after the next deploy'

/** Mistakes about jobs that get or lose `hosts: 'each'`. */
export const FORM_MUTANTS: readonly Mutant[] = [
  {
    name: 'base-name-declared-by-hosts',
    rule: 'hosts, P8',
    breaks:
      "A process that has the job on its host counts as one that declares it once for all: a job that gets hosts: 'each' fires once more.",
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        'return declares.includes(schedule) || !declares.includes(everyHost(schedule))',
        'return declares.length >= 0',
      ),
    ],
    caughtBy: forms(`${GAINS}, without ids`),
  },
  {
    name: 'base-name-of-a-host',
    rule: 'hosts, P8',
    breaks: "The name of a job counts as the schedule of a host: a job that gets hosts: 'each' keeps its old schedule.",
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'return job !== schedule && declares.includes(everyHost(job))',
        'return declares.includes(everyHost(job))',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['L8'] },
  },
  {
    name: 'other-form-outwaited',
    rule: 'hosts, rule 42d',
    breaks:
      "While a process of the old release lives, a job that gets or loses hosts: 'each' has both forms for ten minutes.",
    edits: [edit('policy/deploy/retirement.ts', 'if (by.length > 0 && !goesOn) return', 'if (by.length > 0) return')],
    caughtBy: verdict(
      "explicit: a job that gets hosts: 'each' changes its form after the hold-down, beside live processes of the old release",
    ),
  },
  {
    name: 'other-form-at-once',
    rule: 'hosts, rule 42b',
    breaks: "A release that crashes in a loop stops the job that it has with hosts: 'each'.",
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        'return seen.steady.has(newest.id) ? verdict : WAIT',
        'return goesOn || seen.steady.has(newest.id) ? verdict : WAIT',
      ),
    ],
    caughtBy: verdict(
      "explicit: a job that gets hosts: 'each' changes its form after the hold-down, beside live processes of the old release",
    ),
  },
  {
    name: 'other-form-no-successor',
    rule: 'hosts, rule 42e',
    breaks: 'Without ids, the old form of the only job of an app goes on for a day.',
    edits: [edit('policy/deploy/retirement.ts', 'isOtherForm(next) || isRelated(next)', 'isRelated(next)')],
    caughtBy: forms(`${GAINS}, without ids`, `${LOSES}, without ids`),
  },
  {
    name: 'other-form-absent',
    rule: 'hosts, rule 42g',
    breaks: 'Without ids, a rollback runs again what the other form of the job has run.',
    edits: [
      edit('policy/deploy/retirement.ts', "isOtherForm(successor) ? 'dropped'", "isOtherForm(successor) ? 'absent'"),
    ],
    caughtBy: forms(`${ROLLBACK}, without ids`),
  },
  {
    name: 'other-form-by-name-only',
    rule: 'hosts, rule 42h',
    breaks:
      "A job that is renamed and gets or loses hosts: 'each' in one release goes on under its old name, without ids.",
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'return isNow(job) || renames.some(isRenamed)',
        'return isNow(job) || renames.every(() => isRenamed === undefined)',
      ),
    ],
    caughtBy: verdict(
      "a job that gets hosts: 'each' and another name is the same job",
      "a job that loses hosts: 'each' and another name is the same job",
    ),
  },
  {
    name: 'other-form-contested',
    rule: 'hosts',
    breaks: 'Processes warn that a job will be stopped, though it goes on in another form.',
    edits: [
      edit(
        'policy/deploy/contested.ts',
        'if (hasOtherForm(newest, schedule',
        'if (schedule === newest.id && hasOtherForm(newest, schedule',
      ),
    ],
    caughtBy: forms(
      "in a rolling update, hosts of the old release without the job add nothing when the release with hosts: 'each' is ready, with ids",
    ),
  },
  {
    name: 'two-forms-in-one-deployment',
    rule: 'hosts, rule 42c',
    breaks: 'Under one deployment id a job may have both forms, and fires once more.',
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'second.declares.filter((name) => !isOtherForm(first, name, second))',
        'second.declares',
      ),
    ],
    caughtBy: record(
      'a job has one form in a deployment, once or on each host: the first one stands until all of its processes have stopped',
    ),
  },
  {
    name: 'first-form-for-ever',
    rule: 'hosts, rule 42c',
    breaks: 'Under one deployment id a job keeps its first form, also when all processes have been started again.',
    edits: [
      edit(
        'policy/deploy/deployment.ts',
        'declaring.isReturning === true ? [declaring, known]',
        'declaring.id.length < 0 ? [declaring, known]',
      ),
    ],
    caughtBy: record(
      'a job has one form in a deployment, once or on each host: the first one stands until all of its processes have stopped',
    ),
  },
  {
    name: 'other-form-not-refused',
    rule: 'hosts, rule 42c',
    breaks: 'A process whose form of a job does not count declares it all the same.',
    edits: [
      edit(
        'policy/operate/define.ts',
        'if (own === undefined || hasSchedule(own, id)) return null',
        'if (own === undefined || id.length > 0) return null',
      ),
    ],
    caughtBy: forms(
      "under one deployment id, a job that gets hosts: 'each' keeps its first form until all processes have stopped, and this is reported",
      "under one deployment id, a job that loses hosts: 'each' keeps its first form until all processes have stopped, and this is reported",
    ),
  },
]
