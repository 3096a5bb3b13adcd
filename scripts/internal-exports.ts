import type { Violation } from './import-rules.ts'

/** One export of `cronce/internal`. */
export interface InternalExport {
  readonly name: string
  /** The packages that import it. */
  readonly users: readonly string[]
  /** Why it is not a public export. */
  readonly why: string
}

/** All that `cronce/internal` may export, and the packages that may import it. `npm test` fails if the code differs. */
export const INTERNAL_EXPORTS: readonly InternalExport[] = [
  {
    name: 'callbackProof',
    users: ['server'],
    why: 'the server asks before it reads a body; handleCallback does so itself',
  },
  { name: 'fireProof', users: ['server'], why: 'the server asks before it reads a body; handleFire does so itself' },
  {
    name: 'nearestInstant',
    users: ['cli'],
    why: 'cronce exec rounds as handleFire does; applications name the due time',
  },
  { name: 'surroundLike', users: ['cli'], why: 'cronce demo makes its history in the virtual time of a test kit' },
  { name: 'declarationOf', users: ['cli'], why: 'plan and simulate ask an app what it declares, without starting it' },
  { name: 'onlyDeclaring', users: ['cli'], why: 'a module that starts its app is loaded without that it starts' },
  { name: 'Declaration', users: ['cli'], why: 'what declarationOf answers' },
  { name: 'decideOn', users: ['cli'], why: 'simulate decides about each due time as an instance does' },
  { name: 'settle', users: ['cli'], why: 'simulate ends runs as an instance does' },
  { name: 'recover', users: ['cli'], why: 'simulate recovers the runs of an outage as an instance does' },
  { name: 'ending', users: ['cli'], why: 'the outcomes that simulate settles runs with' },
  { name: 'Decision', users: ['cli'], why: 'what decideOn, settle and recover return' },
  { name: 'storeSource', users: ['cli'], why: 'plan copies states as they are stored, which no client shows' },
  { name: 'viewSchedule', users: ['cli'], why: 'shows the states that plan has copied as the client does' },
  { name: 'sqliteAt', users: ['cli'], why: 'cronce demo writes its history with a clock of the past' },
  { name: 'execApp', users: ['cli'], why: 'the name of an app that only cronce exec makes' },
  { name: 'isOfExec', users: ['cli'], why: 'tells the schedules of cronce exec from those of applications' },
  { name: 'needsInstance', users: ['cli', 'server'], why: 'one rule for the findings of doctor and of the overview' },
  { name: 'queryIn', users: ['queues'], why: 'statements in the transactions that run.transaction hands out' },
  { name: 'QueryIn', users: ['queues'], why: 'what queryIn returns' },
  { name: 'readDefinition', users: ['cli'], why: 'schedule put --dry-run refuses what put would refuse' },
  { name: 'cronOfWords', users: ['cli'], why: 'what was meant by daily at 3am, as the options of jobs hint at it' },
  { name: 'EXPECTED_RULE', users: ['cli'], why: 'where the rule stands that calls of exec and of node-cron follow' },
  { name: 'expectedInput', users: ['cli'], why: 'exec and the coordinator of node-cron write the rule in one form' },
  {
    name: 'upcomingInstants',
    users: ['cli', 'server'],
    why: 'one rule for both forecasts; callers have to bound its work',
  },
  { name: 'filteredPage', users: ['cli'], why: 'pages of some of the schedules, as the client makes them' },
  { name: 'didYouMean', users: ['cli', 'server'], why: 'hints for flags and fields in the manner of the library' },
  { name: 'labelCap', users: ['server'], why: 'one cap of the label job for a process and for the fleet' },
  { name: 'unplacedJob', users: ['server'], why: 'one label for a job on all hosts, for a process and for the fleet' },
  { name: 'exposition', users: ['server'], why: 'writes the metrics of the fleet as those of a process' },
  { name: 'CONTENT_TYPE', users: ['server'], why: 'the content type of what exposition writes' },
  { name: 'Family', users: ['server'], why: 'what exposition takes' },
  {
    name: 'nameHint',
    users: ['server'],
    why: 'one table of foreign names for the options of jobs and the fields of JSON',
  },
  { name: 'shellWord', users: ['cli'], why: 'names in the commands that messages of the library and of the CLI print' },
  { name: 'isExclusive', users: ['cli', 'server'], why: 'tells locks, terms and keys from jobs' },
  { name: 'isInternal', users: ['cli'], why: 'tells what the library keeps for itself from schedules of users' },
  { name: 'isRunByCaller', users: ['cli'], why: 'tells what no instance has to run from jobs' },
  { name: 'THRESHOLDS', users: ['cli', 'server'], why: 'doctor, the overview and the watchdog judge by one table' },
  { name: 'Thresholds', users: ['cli'], why: 'the table as an app or a job has set it' },
  { name: 'recordedThresholds', users: ['cli'], why: 'doctor judges by what apps and jobs have set for the watchdog' },
  {
    name: 'judgeSchedule',
    users: ['cli', 'server'],
    why: 'doctor, the overview and the watchdog judge by the same rules',
  },
  { name: 'judgeFleet', users: ['cli'], why: 'doctor and the watchdog judge by the same rules' },
  { name: 'Problem', users: ['cli'], why: 'what the rules of the watchdog find' },
  { name: 'Rule', users: ['cli'], why: 'the names of the rules of the watchdog' },
  { name: 'ScheduleEnd', users: ['cli'], why: 'what the rules of the watchdog ask of a fire that has ended' },
  { name: 'isDuplicate', users: ['cli'], why: 'one rule of what was executed twice, for doctor and the watchdog' },
  { name: 'dueSince', users: ['cli'], why: 'since when a fire is overdue, in the words of doctor' },
  { name: 'longestMs', users: ['cli'], why: 'how long a lock may be held, which the watchdog does not judge' },
  {
    name: 'liveDeployments',
    users: ['cli'],
    why: 'one rule of how long a rollout lasts, for doctor and the watchdog',
  },
  { name: 'skewed', users: ['cli', 'server'], why: 'one rule of which clock is wrong, for doctor and the watchdog' },
  { name: 'FLEET_SUBJECTS', users: ['cli'], why: 'what can be muted besides schedules, hosts and rules' },
  { name: 'DETECT_JOB', users: ['cli'], why: 'finds the executions that app.detect has on record' },
  { name: 'HEARTBEAT_PREFIX', users: ['cli'], why: 'finds the heartbeats of apps' },
  { name: 'LEADER_JOB', users: ['cli'], why: 'a term is never stuck' },
  { name: 'SLOT_JOB', users: ['cli'], why: 'tells the tasks of node-cron from jobs' },
  { name: 'SLOT_PREFIX', users: ['cli'], why: 'finds the schedule of a task of node-cron by the name of the task' },
  { name: 'superviseRun', users: ['cli'], why: 'cronce exec supervises its command as a command target does' },
  { name: 'CommandEnd', users: ['cli'], why: 'what superviseRun resolves to' },
]

const ENTRY = 'packages/cronce/src/internal.ts'
const RULES = 'scripts/internal-exports.ts'

/** The ways in which these files (path to text) differ from the list: exports and imports that it lacks, and entries without a use. */
export function findInternalViolations(
  files: ReadonlyMap<string, string>,
  list: readonly InternalExport[] = INTERNAL_EXPORTS,
): Violation[] {
  const listed = list.flatMap(({ name, users }) => users.map((user) => `${name} for ${user}`))
  const used = new Set<string>()
  const violations: Violation[] = []
  for (const [file, text] of files) {
    const user = /^packages\/([^/]+)\/src\//.exec(file)?.[1] ?? file
    const statements = [...text.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^{}]*)\}\s*from\s*'cronce\/internal'/g)]
    if (statements.length !== [...text.matchAll(/'cronce\/internal'/g)].length) {
      violations.push({ file, message: 'must name what it imports from cronce/internal' })
    }
    for (const name of statements.flatMap(([, names]) => namesIn(names!))) {
      used.add(`${name} for ${user}`)
      if (!listed.includes(`${name} for ${user}`)) {
        violations.push({ file, message: `must not import ${name} from cronce/internal: ${RULES} does not list it` })
      }
    }
  }
  const statements = (files.get(ENTRY) ?? '').matchAll(/\bexport\s+(?:type\s+)?\{([^{}]*)\}/g)
  const exported = [...statements].flatMap(([, names]) => namesIn(names!))
  const named = list.map(({ name }) => name)
  return [
    ...violations,
    ...exported
      .filter((name) => !named.includes(name))
      .map((name) => ({ file: ENTRY, message: `must not export ${name}: ${RULES} does not list it` })),
    ...named
      .filter((name) => !exported.includes(name))
      .map((name) => ({ file: RULES, message: `lists ${name}, which cronce/internal does not export` })),
    ...listed
      .filter((use) => !used.has(use))
      .map((use) => ({ file: RULES, message: `lists ${use}, which has no use` })),
  ]
}

/** The names in the braces of an import or export, as the other module calls them. */
function namesIn(braces: string): string[] {
  return braces
    .split(',')
    .map((part) => part.trim().replace(/^type\s+/, ''))
    .filter((part) => part !== '')
    .map((part) => part.split(/\s+as\s+/)[0]!)
}
