import type { Problem, Rule } from '../../model/alert.ts'
import { DETECT_JOB, HEARTBEAT_PREFIX } from '../../model/exclusive-jobs.ts'
import { clock } from './clock.ts'
import { duplicate } from './duplicate.ts'
import type { FleetFacts, ScheduleFacts, Verdict } from './facts.ts'
import { failing } from './failing.ts'
import { fleet } from './fleet.ts'
import { late } from './late.ts'
import { missed } from './missed.ts'
import { noRunner } from './no-runner.ts'
import { overdue } from './overdue.ts'
import { silent } from './silent.ts'
import { slow } from './slow.ts'
import { store } from './store.ts'
import { stuck } from './stuck.ts'
import type { ThresholdOf, Thresholds } from './thresholds.ts'

type ScheduleRule = 'no-runner' | 'overdue' | 'stuck' | 'failing' | 'slow' | 'late' | 'missed' | 'silent' | 'duplicate'
type FleetRule = 'fleet' | 'clock' | 'store'

const SCHEDULE_RULES: {
  readonly [Name in ScheduleRule]: (facts: ScheduleFacts, threshold: ThresholdOf<Name>) => Verdict
} = { 'no-runner': noRunner, overdue, stuck, failing, slow, late, missed, silent, duplicate }

const FLEET_RULES: {
  readonly [Name in FleetRule]: (facts: FleetFacts, threshold: ThresholdOf<Name>) => Problem[]
} = { fleet, clock, store }

const OF_WORK: readonly ScheduleRule[] = [
  'no-runner',
  'overdue',
  'stuck',
  'failing',
  'slow',
  'late',
  'missed',
  'silent',
]

/** The rules that judge the schedules of a job. */
function rulesFor(job: string): readonly ScheduleRule[] {
  if (job === DETECT_JOB) return ['duplicate']
  return job.startsWith(HEARTBEAT_PREFIX) ? ['silent', 'duplicate'] : OF_WORK
}

/** Each of these explains why there is no success: `silent` would only repeat it. */
const EXPLAINS_SILENCE: readonly Rule[] = ['no-runner', 'overdue', 'stuck', 'failing']

/** What a look at one schedule or at the fleet came to. */
export interface Judgement {
  readonly problems: readonly Problem[]
  /** Rules by which nothing is wrong with these subjects; all subjects if there is none. */
  readonly fine: readonly { readonly rule: Rule; readonly subject: string }[]
  /** The history has to be read before all rules can judge. */
  readonly isSuspect: boolean
}

/** Everything that the rules say about one schedule. */
export function judgeSchedule(facts: ScheduleFacts, thresholds: Thresholds): Judgement {
  const subject = facts.schedule.name
  const problems: Problem[] = []
  const fine: { rule: Rule; subject: string }[] = []
  let isSuspect = false
  for (const rule of rulesFor(facts.schedule.job)) {
    const isExplained = rule === 'silent' && problems.some((found) => EXPLAINS_SILENCE.includes(found.rule))
    const verdict = isExplained ? 'fine' : verdictOf(rule, facts, thresholds)
    if (verdict === 'fine') fine.push({ rule, subject })
    else if (verdict === 'suspect') isSuspect = true
    else if (verdict !== 'unknown') problems.push({ rule, subject, ...verdict })
  }
  return { problems, fine, isSuspect }
}

function verdictOf<Name extends ScheduleRule>(rule: Name, facts: ScheduleFacts, thresholds: Thresholds): Verdict {
  const threshold = thresholds[rule]
  return threshold === false ? 'fine' : SCHEDULE_RULES[rule](facts, threshold as ThresholdOf<Name>)
}

/** Everything that the rules say about the fleet of an app. */
export function judgeFleet(facts: FleetFacts, thresholds: Thresholds): readonly Problem[] {
  return (Object.keys(FLEET_RULES) as FleetRule[]).flatMap((rule) => fleetProblems(rule, facts, thresholds))
}

function fleetProblems<Name extends FleetRule>(rule: Name, facts: FleetFacts, thresholds: Thresholds): Problem[] {
  const threshold = thresholds[rule]
  return threshold === false ? [] : FLEET_RULES[rule](facts, threshold as ThresholdOf<Name>)
}

export const isFleetRule = (rule: Rule): boolean => rule in FLEET_RULES
