import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const CLIENT = 'packages/cronce/test/client/activity.test.ts'
const conformance = (store: string): string => `packages/cronce/test/store/${store}-conformance.test.ts`
const tests = (file: string, ...names: string[]): CaughtBy => ({ judge: 'tests', file, names })

const REFUSED = 'a change that is refused leaves no line'
const PLAIN = 'a change with a line of the operator log is not a plain one'

/** Mistakes in the operator log: a line without its action, or an action without its line. */
export const ACTIVITY_MUTANTS: readonly Mutant[] = [
  {
    name: 'activity-not-written',
    rule: 'operator log',
    breaks: 'A change is written without its line.',
    edits: [edit('store/memory/apply.ts', '  addActivity(space, change.activity)\n', '')],
    caughtBy: { judge: 'simulation', names: ['S18'] },
  },
  {
    name: 'activity-of-a-refused-change',
    rule: 'operator log',
    breaks: 'A change that is refused leaves a line.',
    edits: [
      edit(
        'store/sqlite/apply.ts',
        '  if (obstacle !== null) return obstacle\n',
        '  if (obstacle !== null) addActivity(batch.db, batch.namespace, change.activity)\n  if (obstacle !== null) return obstacle\n',
      ),
    ],
    caughtBy: tests(conformance('sqlite'), REFUSED),
  },
  {
    name: 'activity-of-a-lost-race',
    rule: 'operator log',
    breaks: 'A line is written before it is known whether its app may be changed.',
    edits: [
      edit(
        'store/postgres/sql/steps.sql',
        'from saved, json_to_recordset($5::text::json)',
        'from json_to_recordset($5::text::json)',
      ),
    ],
    caughtBy: tests(conformance('postgres'), 'a change of an app is logged if it is written'),
  },
  {
    name: 'activity-lost-on-the-plain-path-of-postgres',
    rule: 'operator log',
    breaks: 'The statements on typed columns drop the line.',
    edits: [edit('store/postgres/plain.ts', ' || activity !== undefined', '')],
    caughtBy: tests('packages/cronce/test/store/postgres-plain.test.ts', PLAIN),
  },
  {
    name: 'activity-lost-on-the-plain-path-of-redis',
    rule: 'operator log',
    breaks: 'The scripts for plain changes drop the line.',
    edits: [edit('store/redis/plain.ts', ' || activity !== undefined', '')],
    caughtBy: tests('packages/cronce/test/store/redis-plain.test.ts', PLAIN),
  },
  {
    name: 'activity-never-pruned',
    rule: 'operator log',
    breaks: 'Lines of the operator log are kept for ever.',
    edits: [edit('store/sqlite/prune.ts', '  pruneActivity(db, namespace, limit, now)\n', '')],
    caughtBy: tests(conformance('sqlite'), 'a line is deleted when its time is up, and not before'),
  },
  {
    name: 'activity-for-every-step',
    rule: 'operator log',
    breaks: 'A resume that takes several changes is listed several times.',
    edits: [edit('client/schedules.ts', 'step === 1 ? { action', 'step > 0 ? { action')],
    caughtBy: tests(CLIENT, 'a long resume is one line, although it takes several changes'),
  },
  {
    name: 'activity-of-programs',
    rule: 'operator log',
    breaks: 'What programs trigger all day long hides what people do.',
    edits: [edit('client/activity.ts', ' || !BY_PROGRAMS.has(action)', ' || action !== null')],
    caughtBy: tests(CLIENT, 'what programs create and trigger is logged only if it has an author or a note'),
  },
  {
    name: 'activity-with-inputs',
    rule: 'operator log',
    breaks: 'The input of a schedule, which may be secret, is kept for a year.',
    edits: [edit('client/activity.ts', "{ ...changed, input: 'changed' }", '{ ...changed, input }')],
    caughtBy: tests(
      CLIENT,
      'every action on a schedule is logged once, with its time, author, note, origin and what it changed',
    ),
  },
]

const DETECT = 'packages/cronce/test/app/detect.test.ts'

/** Mistakes in the detection of duplicates. */
export const DETECT_MUTANTS: readonly Mutant[] = [
  {
    name: 'detect-by-full-minutes',
    rule: 'duplicates',
    breaks: 'Two executions on both sides of a full minute leave no log line.',
    edits: [
      edit(
        'policy/operate/detect.ts',
        'Math.abs(at - previous) < windowMs',
        'Math.floor(at / windowMs) === Math.floor(previous / windowMs)',
      ),
    ],
    caughtBy: tests(DETECT, 'a second execution within the window is reported with both, also across a full minute'),
  },
  {
    name: 'detect-prolongs-the-window',
    rule: 'duplicates',
    breaks: 'A job that is executed twice all day is reported once, since the window never ends.',
    edits: [edit('policy/operate/detect.ts', 'if (firstAt === null) set(draft', 'set(draft')],
    caughtBy: tests(
      DETECT,
      'a third execution is a duplicate of the first, and a duplicate does not prolong the window',
    ),
  },
  {
    name: 'detect-fails-closed',
    rule: 'duplicates',
    breaks: 'A store that is away keeps the jobs of others from being executed.',
    edits: [edit('app/detect.ts', '      return false\n    }\n  }\n', '      throw error\n    }\n  }\n')],
    caughtBy: tests(DETECT, 'a store that fails keeps no work from being done, and the error of the work is its own'),
  },
  {
    name: 'heartbeat-finds-itself',
    rule: 'duplicates',
    breaks: 'A fleet takes its own late heartbeat, or none at all, for that of another one.',
    edits: [
      edit('app/heartbeat.ts', 'namespaceOf(one) !== namespace && one.at', 'namespaceOf(one) === namespace && one.at'),
    ],
    caughtBy: tests('packages/cronce/test/app/heartbeat.test.ts', 'a second namespace with the same app is found'),
  },
  {
    name: 'heartbeat-store-per-engine',
    rule: 'duplicates',
    breaks: 'Each call of runDue opens the namespace of the heartbeats again, and only the last opening is closed.',
    edits: [edit('app/heartbeat.ts', 'core.heartbeats ??= lazyStore', 'core.heartbeats = lazyStore')],
    caughtBy: tests(
      'packages/cronce/test/app/heartbeat.test.ts',
      'what the heartbeats of all fleets share is opened once until the app stops, and closed with it',
    ),
  },
  {
    name: 'heartbeat-connects-again',
    rule: 'duplicates',
    breaks: 'An instance on PostgreSQL has more than three connections if it writes heartbeats.',
    edits: [edit('app/heartbeat.ts', 'store.inNamespace?.(SHARED) ?? core.open(SHARED)', 'core.open(SHARED)')],
    caughtBy: tests(
      'packages/cronce/test/app/heartbeat-connections.test.ts',
      'an app that only calls runDue writes its heartbeats on its own connections, and leaves none',
    ),
  },
  {
    name: 'check-in-fails-the-run',
    rule: 'check-ins',
    breaks: 'A run fails because its check-in does.',
    edits: [
      edit(
        'app/check-in-around.ts',
        '    const started = guarded(() => checkIn.started(about))\n',
        '    const started = guarded(() => checkIn.started(about))\n    await checkIn.started(about)\n',
      ),
    ],
    caughtBy: tests('packages/cronce/test/app/check-in.test.ts', 'a check-in that throws is logged, and fails no run'),
  },
  {
    name: 'check-in-tells-its-secret',
    rule: 'check-ins',
    breaks: 'The path of a dead man’s switch, with which any reader can silence it, is in the log.',
    edits: [edit('check-in/ping.ts', 'url.host} answered', 'url.href} answered')],
    caughtBy: tests(
      'packages/cronce/test/app/check-in.test.ts',
      'a receiver that answers with an error gets the end again, and one that is down fails no run',
    ),
  },
  {
    name: 'stop-forgets-check-ins',
    rule: 'check-ins',
    breaks: 'The end of a run is not reported if its process ends right after it.',
    edits: [edit('app/lifecycle.ts', '      await this.#reportedWithin(CLOSE_MS)\n', '')],
    caughtBy: tests(
      'packages/cronce/test/app/check-in.test.ts',
      'a run that fails is reported as failed, and one that is stopped is in the log only',
    ),
  },
]
