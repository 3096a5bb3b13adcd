import { HEARTBEAT_PREFIX, type Rule, shellWord } from 'cronce/internal'
import { counted, firstFew } from '../steer/say.ts'
import type { FleetFacts } from './facts.ts'
import { type CheckName, type Finding, finding, type Level } from './finding.ts'

interface Line {
  readonly rule: Rule
  readonly check: CheckName
  readonly level: Level
  /** After "3 schedules". */
  readonly one: string
  readonly many: string
  /** What to do; the name of the first one is put behind it. */
  readonly hint: string
}

/** Rules of the watchdog that need no other words than their own. */
const LINES: readonly Line[] = [
  {
    ...{ rule: 'silent', check: 'no-success', level: 'warn' },
    ...{ one: 'has had no success when one was expected', many: 'have had no success when one was expected' },
    hint: 'See how its last fires ended: cronce show',
  },
  {
    ...{ rule: 'missed', check: 'missed', level: 'warn' },
    ...{ one: 'was not run when it was due', many: 'were not run when they were due' },
    hint: 'Run what is still wanted: cronce backfill, cronce retry. See: cronce show',
  },
  {
    ...{ rule: 'slow', check: 'slow', level: 'warn' },
    ...{ one: 'took far longer than usual', many: 'took far longer than usual' },
    hint: 'Compare its last runs: cronce runs',
  },
  {
    ...{ rule: 'late', check: 'late', level: 'warn' },
    ...{ one: 'started far later than usual', many: 'started far later than usual' },
    hint: 'Raise concurrency or start more instances. See: cronce runs',
  },
]

export function checkRules(fleet: FleetFacts): Finding[] {
  return [...LINES.flatMap((line) => checkRule(fleet, line)), ...checkDuplicates(fleet), ...checkHeartbeats(fleet)]
}

function checkRule({ schedules }: FleetFacts, { rule, check, level, one, many, hint }: Line): Finding[] {
  const found = schedules.flatMap(({ problems }) => problems.filter((problem) => problem.rule === rule))
  const [first] = found
  if (first === undefined) return []
  const names = found.map(({ subject, text }) => `${subject} (${text})`)
  const who = counted(found.length, `schedule ${one}`, `schedules ${many}`)
  return [finding(check, level, `${who}: ${firstFew(names, names.length, 3)}.`, `${hint} ${shellWord(first.subject)}`)]
}

function checkDuplicates({ internal }: FleetFacts): Finding[] {
  const found = internal.filter(({ rule }) => rule === 'duplicate')
  if (found.length === 0) return []
  const names = found.map(({ subject, text }) => `${nameOf(subject)} (${text})`)
  const what = `A second scheduler does the same work: ${firstFew(names, names.length, 3)}.`
  return [finding('duplicates', 'fail', what, 'Stop one of them. See: cronce duplicates')]
}

function checkHeartbeats({ internal }: FleetFacts): Finding[] {
  const found = internal.filter(({ rule }) => rule === 'silent')
  const [first] = found
  if (first === undefined) return []
  const names = found.map(({ subject, text }) => `app ${nameOf(subject)} (${text})`)
  const what = `A heartbeat does not come: ${firstFew(names, names.length, 3)}.`
  const hint = `Look whether runs take all places of the fleet: cronce runs --outcome open. See: cronce runs ${shellWord(first.subject)}`
  return [finding('no-success', 'warn', what, hint)]
}

/** Without what the library puts before it. */
function nameOf(subject: string): string {
  if (subject.startsWith(HEARTBEAT_PREFIX)) return `the heartbeat of ${subject.slice(HEARTBEAT_PREFIX.length)}`
  return subject.replace(/^cronce:detect:/, '')
}
