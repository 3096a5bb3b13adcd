import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const simulation = (...names: string[]): CaughtBy => ({ judge: 'simulation', names })
const hosts = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/hosts.test.ts',
  names,
})
const labels = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/labels.test.ts',
  names,
})

const GONE =
  'the schedule of a host that has left is retired after the hold-down, and continues when the host returns, with a deployment id'
const REACHED = 'a rollout that reaches one host after the other takes no job away from hosts that it has not reached'

/** Mistakes about work that belongs to a machine. */
export const PLACE_MUTANTS: readonly Mutant[] = [
  {
    name: 'labels-not-asked-for',
    rule: 'on',
    breaks: 'Every process that declares a job claims it, even without the labels that the job requires.',
    edits: [
      edit('app/place-jobs.ts', 'matchesLabels(job.definition.on, labels)', 'true'),
      edit(
        'engine/claim/buckets.ts',
        'if (retiredAt === null && !matchesLabels',
        'if (source.kind === null && !matchesLabels',
      ),
    ],
    caughtBy: simulation('S17'),
  },
  {
    name: 'one-label-is-enough',
    rule: 'on',
    breaks: 'An instance that has one of the labels of a job runs it.',
    edits: [edit('model/placement.ts', '.every(([label, values])', '.some(([label, values])')],
    caughtBy: labels(
      'a job with on runs only on instances whose labels match all of them, and in time, whichever owns its bucket',
    ),
  },
  {
    name: 'labels-of-an-old-release',
    rule: 'on',
    breaks: 'An instance of an old release goes on with a job that the newest one moved to other labels.',
    edits: [
      edit(
        'engine/claim/buckets.ts',
        'if (retiredAt === null && !matchesLabels',
        'if (source.kind === null && !matchesLabels',
      ),
    ],
    caughtBy: labels(
      'a release that moves a job to other labels takes it away from the instances of the old ones, though those still run',
    ),
  },
  {
    name: 'label-of-a-schedule-ignored',
    rule: 'on',
    breaks: 'A schedule made at run time runs on any instance that has its job.',
    edits: [
      edit('client/read-definition.ts', "on === undefined || what === 'Job' ? job", 'on !== null ? job'),
      edit(
        'engine/claim/buckets.ts',
        'if (retiredAt === null && !matchesLabels',
        'if (source.kind === null && !matchesLabels',
      ),
    ],
    caughtBy: labels('a schedule made at run time belongs to one label of the instances that have its job'),
  },
  {
    name: 'waits-for-a-label-in-the-way',
    rule: 'on',
    breaks:
      'Schedules that wait for a label are found by every instance that has their job, and hide what is behind them.',
    edits: [edit('client/read-definition.ts', "on === undefined || what === 'Job' ? job", 'on !== null ? job')],
    caughtBy: labels('thousands of schedules that wait for a label delay no other schedule'),
  },
  {
    name: 'one-schedule-for-all-hosts',
    rule: 'hosts',
    breaks: 'The schedules of hosts have one job, so any host runs them.',
    edits: [edit('app/place-jobs.ts', 'job: id, on: { ...definition.on, host: [host] }', 'job: name')],
    caughtBy: simulation('S17'),
  },
  {
    name: 'a-deployment-for-each-host',
    rule: 'hosts, rule 42a',
    breaks: 'Processes of one release on different hosts are different deployments.',
    edits: [edit('app/app-engine.ts', 'hashDeclarations(declarations(all)', 'hashDeclarations(declared')],
    caughtBy: hosts('processes on different hosts that declare no id are one deployment'),
  },
  {
    name: 'gone-host-kept',
    rule: 'hosts',
    breaks: 'The schedule of a host that has left stays active, and its due times pile up.',
    edits: [edit('policy/deploy/retirement.ts', 'return hostless.has(schedule) ?', 'return hostless.size < 0 ?')],
    caughtBy: simulation('L8'),
  },
  {
    name: 'gone-host-retired-at-once',
    rule: 'hosts, rule 42f',
    breaks: 'The schedule of a host is retired as soon as its process is away, so every restart of a host is a return.',
    edits: [
      edit(
        'engine/deploy/watch-deployments.ts',
        '[...this.#hosts.heldFor(holdDownMs, true)]',
        '[...this.#hosts.heldFor(0, true)]',
      ),
      edit(
        'engine/deploy/watch-deployments.ts',
        'this.#heldFor(this.#hosts, this.#core.settings.holdDownMs, true)',
        'this.#hosts.heldFor(0, true)',
      ),
    ],
    caughtBy: hosts(GONE),
  },
  {
    name: 'gone-host-drops-its-job',
    rule: 'hosts, rule 42g',
    breaks: 'The misfire policy is not applied to due times that a host missed while it was down.',
    edits: [
      edit(
        'policy/deploy/retirement.ts',
        "kind: 'retire', cause: 'absent', by: { deployment: id, number } }",
        "kind: 'retire', cause: 'dropped', by: { deployment: '', number } }",
      ),
    ],
    caughtBy: hosts(GONE),
  },
  {
    name: 'hosts-kept-in-the-record',
    rule: 'hosts',
    breaks: 'The record of an app keeps the names of all hosts that there ever were.',
    edits: [
      edit('policy/deploy/deployment.ts', 'known.declares.filter((name) => !schedules.has(name))', 'known.declares'),
    ],
    caughtBy: hosts(
      'hosts that come and go leave no names behind in the record of the app',
      'a schedule of an absent host that an operator removed keeps no instance busy',
    ),
  },
  {
    name: 'host-forgotten-before-it-is-retired',
    rule: 'hosts',
    breaks:
      'A host is taken out of the record before its schedule is retired: if that write fails, it stays active for good.',
    edits: [edit('engine/deploy/retire-schedules.ts', '.filter((id) => !verdicts.has(id))', '')],
    caughtBy: hosts(
      'the schedule of a host that has left is retired, also if the process that retires it dies on the way',
    ),
  },
  {
    name: 'hosts-not-reached-contested',
    rule: 'hosts, rule 42d',
    breaks: 'A release retires the job on all hosts that it has not reached within ten minutes.',
    edits: [
      edit('policy/deploy/contested.ts', 'hasSchedule(newest, schedule)', 'newest.declares.includes(schedule)'),
      edit('policy/deploy/retirement.ts', 'if (isOfEachHost(newest, schedule))', 'if (newest.number < 0)'),
    ],
    caughtBy: hosts(REACHED),
  },
  {
    name: 'host-of-an-old-release-refused',
    rule: 'hosts, rule 42c',
    breaks:
      'A host of an old release that comes back is refused, though the new one has the job and is not on that host.',
    edits: [edit('policy/operate/define.ts', ' || hasSchedule(newest, schedule)) return null', ') return null')],
    caughtBy: hosts(REACHED),
  },
  {
    name: 'dropped-job-kept-on-hosts',
    rule: 'hosts, P8',
    breaks: 'A job that left the code goes on, since any release counts as having it on each host.',
    edits: [edit('policy/deploy/retirement.ts', 'if (isOfEachHost(newest, schedule))', "if (schedule.includes('@'))")],
    caughtBy: hosts('a release without the job retires it on all hosts'),
  },
  {
    name: 'other-names-contested',
    rule: 'hosts',
    breaks:
      'The names under which an instance has a job besides its schedules are reported as schedules that a release drops.',
    edits: [edit('policy/deploy/contested.ts', ' || !release.declares.includes(schedule)', '')],
    caughtBy: hosts('the names of a job under its labels are no schedules that a release drops'),
  },
]
