import {
  isExclusive,
  isRunByCaller,
  LEADER_JOB,
  longestMs,
  type Rule,
  SLOT_JOB,
  shellWord,
  THRESHOLDS,
} from 'cronce/internal'
import { formatDuration } from '../format.ts'
import { missingWords } from '../placement-words.ts'
import { isLeaving, runnersOf } from '../steer/runners.ts'
import { counted, firstFew } from '../steer/say.ts'
import { OVERDUE_MS } from './check-fleet.ts'
import { checkRules } from './check-rules.ts'
import type { Facts, FleetFacts, ScheduleFact } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const LONG_PAUSE_MS = 7 * 86_400_000

export function checkSchedules({ fleet }: Facts): Finding[] {
  if (fleet === null) return []
  const found = [
    checkOrphans(fleet),
    ...checkRetired(fleet),
    checkOverdue(fleet),
    ...checkCalls(fleet),
    ...checkWaiting(fleet),
    checkStuck(fleet),
    checkFailing(fleet),
    ...checkRules(fleet),
    ...checkUnknownSteps(fleet),
    ...checkPaused(fleet),
    checkTimeouts(fleet),
  ]
  if (!fleet.isSample) return found
  const sample = `Of the first ${counted(fleet.schedules.length, 'schedule')}: `
  const ofSchedules = new Set([
    'orphans',
    'retired',
    'overdue',
    'calls',
    'waiting',
    'stuck',
    'failing',
    'no-success',
    'slow',
    'late',
    'missed',
    'paused',
    'timeouts',
  ])
  return found.map((each) =>
    ofSchedules.has(each.check) ? { ...each, message: `${sample}${lowered(each.message)}` } : each,
  )
}

function active({ schedules }: Pick<FleetFacts, 'schedules'>): readonly ScheduleFact[] {
  return schedules.filter(({ state }) => state === 'active')
}

/** Whether a rule of the watchdog finds something wrong with it. */
function has(rule: Rule): (schedule: ScheduleFact) => boolean {
  return ({ problems }) => problems.some((problem) => problem.rule === rule)
}

function checkOrphans(fleet: FleetFacts): Finding {
  const live = fleet.instances.filter(({ state, drain }) => state === 'live' && !drain)
  const orphans = fleet.schedules.filter(has('no-runner'))
  if (orphans.length === 0)
    return finding('orphans', 'ok', 'Every active schedule that needs one has a live instance that can run it.')
  // Another line says that no instance is live.
  if (live.length === 0)
    return finding(
      'orphans',
      'note',
      `${counted(orphans.length, 'active schedule waits', 'active schedules wait')} for an instance.`,
    )
  const leaving = orphans.filter((schedule) => isLeaving(schedule, fleet.instances, fleet.now))
  const stranded = orphans.filter((schedule) => !leaving.includes(schedule))
  if (stranded.length === 0)
    return finding(
      'orphans',
      'note',
      `${firstFew(leaving.map(({ name }) => name))} left the code and will be retired when the new deployment has been up for holdDown (1m by default).`,
    )
  const jobs = [...new Set(stranded.map(({ job }) => job))]
  const placed = stranded.filter(({ on }) => on !== null)
  const why = [...new Set(placed.map((schedule) => missingWords(schedule, live)))]
  return finding(
    'orphans',
    'fail',
    `${counted(stranded.length, 'active schedule has', 'active schedules have')} a job that no live instance can run: ${firstFew(stranded.map(({ name }) => name))} (${jobs.length === 1 ? 'job' : 'jobs'} ${firstFew(jobs, jobs.length, 3)}${why.length === 0 ? '' : `; ${firstFew(why, why.length, 3)}`}).`,
    `Start an instance that declares it${why.length === 0 ? '' : ', with these labels'}, or pause or remove the schedule: cronce pause, cronce remove.`,
  )
}

function checkRetired({ schedules }: FleetFacts): Finding[] {
  const all = schedules.filter(({ state }) => state === 'retired')
  const ofHosts = all.filter(({ on }) => on !== null && 'host' in on)
  const others = all.filter((schedule) => !ofHosts.includes(schedule))
  const onEach = others.filter(({ name }) => active({ schedules }).some((one) => one.name.startsWith(`${name}@`)))
  const retired = others.filter((schedule) => !onEach.includes(schedule))
  const hosts =
    ofHosts.length === 0
      ? []
      : [
          finding(
            'retired',
            'note',
            `${counted(ofHosts.length, 'schedule of a host is', 'schedules of hosts are')} retired, since the host is gone, or the job left the code: ${firstFew(ofHosts.map(({ name }) => name))}.`,
            'They go on when the host is back. If it is gone for good: cronce remove.',
          ),
        ]
  const forms =
    onEach.length === 0
      ? []
      : [
          finding(
            'retired',
            'note',
            `${counted(onEach.length, 'schedule is', 'schedules are')} retired, since ${onEach.length === 1 ? 'its job runs' : 'their jobs run'} on each host now: ${firstFew(onEach.map(({ name }) => name))}.`,
            'Nothing needs to be done. To delete them: cronce remove.',
          ),
        ]
  if (retired.length === 0) return [...hosts, ...forms]
  return [
    ...hosts,
    ...forms,
    finding(
      'retired',
      'note',
      `${counted(retired.length, 'schedule is', 'schedules are')} retired, since ${retired.length === 1 ? 'its job' : 'their jobs'} left the code: ${firstFew(retired.map(({ name }) => name))}.`,
      'Deploy code that declares them, or remove them: cronce remove.',
    ),
  ]
}

function checkOverdue(fleet: FleetFacts): Finding {
  const { now } = fleet
  const late = fleet.schedules
    .filter((schedule) => has('overdue')(schedule) && schedule.dueSince !== null)
    .sort((one, other) => one.dueSince! - other.dueSince!)
  if (late.length === 0) return finding('overdue', 'ok', 'No schedule is overdue for which an instance is live.')
  return finding(
    'overdue',
    'fail',
    `${counted(late.length, 'schedule is', 'schedules are')} overdue although instances are live, by up to ${formatDuration(now - late[0]!.dueSince!)}: ${firstFew(late.map(({ name }) => name))}.`,
    'Look at the logs of the instances: they may not reach the store, or be too few.',
  )
}

function checkCalls({ now, schedules }: FleetFacts): Finding[] {
  const missing = schedules
    .filter(({ callMissingAt }) => callMissingAt !== null)
    .sort((one, other) => one.callMissingAt! - other.callMissingAt!)
  const namesOf = (late: readonly ScheduleFact[]): string =>
    firstFew(late.map(({ name, callMissingAt }) => `${name} (for ${formatDuration(now - callMissingAt!)})`))
  const ofExec = missing.filter(({ job }) => job !== SLOT_JOB)
  const ofNodeCron = missing.filter(({ job }) => job === SLOT_JOB)
  const found: Finding[] = []
  if (ofExec.length > 0) {
    const what = `No host has called cronce exec for ${counted(ofExec.length, 'schedule')} when its crontab should have: ${namesOf(ofExec)}.`
    const hint =
      'Look whether cron runs there, and whether the line is still in the crontab; if it is meant to be gone: cronce remove.'
    found.push(finding('calls', 'warn', what, hint))
  }
  if (ofNodeCron.length > 0) {
    const what = `node-cron has not asked for slots of ${counted(ofNodeCron.length, 'task')} that were due: ${namesOf(ofNodeCron)}.`
    const hint = 'Look whether a process with the task runs; if the task is meant to be gone: cronce remove.'
    found.push(finding('calls', 'warn', what, hint))
  }
  return found
}

function checkWaiting(fleet: FleetFacts): Finding[] {
  const { now, instances } = fleet
  const waiting = active(fleet)
    .filter(
      (schedule) =>
        schedule.waitingSince !== null &&
        schedule.waitingSince < now - OVERDUE_MS &&
        !has('overdue')(schedule) &&
        runnersOf(schedule.job, instances).length > 0,
    )
    .sort((one, other) => one.waitingSince! - other.waitingSince!)
  if (waiting.length === 0) return []
  return [
    finding(
      'waiting',
      'note',
      `Fires of ${counted(waiting.length, 'schedule')} have waited for up to ${formatDuration(now - waiting[0]!.waitingSince!)} to be started: ${firstFew(waiting.map(({ name }) => name))}.`,
      'They wait for their turn or for a limit; if not, raise concurrency or start more instances.',
    ),
  ]
}

/** What the rule finds, and locks that are held for too long. */
function checkStuck({ now, schedules, runs, isRunSample }: FleetFacts): Finding {
  const held = runs.filter(({ job, startedAt, timeoutMs, graceMs }) => {
    // A leader has nothing to finish.
    if (!isExclusive(job) || job === LEADER_JOB) return false
    return now - startedAt > longestMs(timeoutMs === null ? null : timeoutMs + graceMs, [], THRESHOLDS.stuck)
  })
  const stuck = [
    ...held,
    ...schedules
      .filter(has('stuck'))
      .flatMap(({ name, oldestRun }) => (oldestRun === null ? [] : [{ schedule: name, ...oldestRun }])),
  ].sort((one, other) => one.startedAt - other.startedAt)
  if (stuck.length === 0) {
    const open = `${isRunSample ? 'more than ' : ''}${counted(runs.length, 'run is', 'runs are')} open`
    return finding('stuck', 'ok', `No run takes suspiciously long; ${open}.`)
  }
  const names = stuck.map(({ schedule, token }) => `${shellWord(schedule)} ${token}`)
  return finding(
    'stuck',
    'warn',
    `${counted(stuck.length, 'schedule has', 'schedules have')} a run that is open for longer than its timeout, or than three times the usual and an hour without one, the oldest for ${formatDuration(now - stuck[0]!.startedAt)}: ${firstFew(names, names.length, 3)}.`,
    `Look with cronce logs, end it with cronce cancel ${names[0]}, and set a timeout.`,
  )
}

function checkFailing(fleet: FleetFacts): Finding {
  const failing = fleet.schedules.filter(has('failing')).sort((one, other) => other.failedInRow - one.failedInRow)
  if (failing.length === 0) return finding('failing', 'ok', 'No schedule has failed several times in a row.')
  const names = failing.map(({ name, failedInRow }) => `${name} (${failedInRow})`)
  return finding(
    'failing',
    'warn',
    `${counted(failing.length, 'schedule has', 'schedules have')} failed several times in a row, or ${failing.length === 1 ? 'was' : 'were'} paused by pauseAfter: ${firstFew(names)}.`,
    `See why: cronce show ${shellWord(failing[0]!.name)}`,
  )
}

function checkUnknownSteps({ unknownSteps }: FleetFacts): Finding[] {
  const [first] = unknownSteps
  if (first === undefined) return []
  const names = [...new Set(unknownSteps.map(({ schedule }) => schedule))]
  const which = `${shellWord(first.schedule)} ${new Date(first.dueAt).toISOString()}`
  return [
    finding(
      'unknown-steps',
      'warn',
      `${counted(unknownSteps.length, 'fire')} of the last 7 days ended with a step of unknown outcome: ${firstFew(names)}. ${first.detail ?? ''}`.trimEnd(),
      `See its steps with cronce show ${which}; then cronce step resolve ${shellWord(first.schedule)} STEP ${new Date(first.dueAt).toISOString()} --failed (or --result JSON), and cronce retry ${which}`,
    ),
  ]
}

function checkPaused({ now, schedules }: FleetFacts): Finding[] {
  const long = schedules.filter(
    ({ pause }) => pause !== null && pause.untilAt === null && now - pause.at > LONG_PAUSE_MS,
  )
  if (long.length === 0) return []
  const names = long.map(
    ({ name, pause }) =>
      `${name} (${formatDuration(now - pause!.at)}${pause!.author === null ? '' : `, by ${pause!.author}`})`,
  )
  return [
    finding(
      'paused',
      'note',
      `${counted(long.length, 'schedule has', 'schedules have')} been paused for more than a week without an end: ${firstFew(names, names.length, 3)}.`,
      'Resume schedules that should run: cronce resume.',
    ),
  ]
}

function checkTimeouts(fleet: FleetFacts): Finding {
  const endless = active(fleet).filter(({ job, timeoutMs }) => timeoutMs === null && !isRunByCaller(job))
  if (endless.length === 0) return finding('timeouts', 'ok', 'Every active schedule has a timeout.')
  return finding(
    'timeouts',
    'note',
    `${counted(endless.length, 'active schedule has', 'active schedules have')} no timeout: ${firstFew(endless.map(({ name }) => name))}. A run that hangs keeps the next ones from running.`,
    timeoutFix(endless),
  )
}

/** What `cronce exec` runs has its timeout on the command line. */
function timeoutFix(endless: readonly ScheduleFact[]): string {
  const ofExec = endless.filter(({ isExec }) => isExec)
  if (ofExec.length === endless.length) return 'Set one: cronce exec --timeout 10m.'
  return `Set one: timeout: '10m'${ofExec.length > 0 ? ', or --timeout 10m for cronce exec' : ''}.`
}

function lowered(message: string): string {
  return /^[A-Z][a-z]/.test(message) ? `${message[0]!.toLowerCase()}${message.slice(1)}` : message
}
