import { isExclusive, isRunByCaller, LEADER_JOB } from 'cronce/internal'
import { formatCount, formatDuration } from '../format.ts'
import { runnersOf } from '../steer/runners.ts'
import { counted, firstFew } from '../steer/say.ts'
import { isHere, OVERDUE_MS } from './check-fleet.ts'
import type { Facts, FleetFacts, ScheduleFact } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const STUCK_MS = 3_600_000
/** An instance ends a run that is past its timeout and grace; this much later none has. */
const SLACK_MS = 60_000
const LONG_PAUSE_MS = 7 * 86_400_000
const FAILING = 3

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
    ...checkPaused(fleet),
    checkTimeouts(fleet),
  ]
  if (!fleet.isSample) return found
  const sample = `Of the first ${counted(fleet.schedules.length, 'schedule')}: `
  const ofSchedules = new Set(['orphans', 'retired', 'overdue', 'calls', 'waiting', 'failing', 'paused', 'timeouts'])
  return found.map((each) =>
    ofSchedules.has(each.check) ? { ...each, message: `${sample}${lowered(each.message)}` } : each,
  )
}

function active({ schedules }: FleetFacts): readonly ScheduleFact[] {
  return schedules.filter(({ state }) => state === 'active')
}

function checkOrphans(fleet: FleetFacts): Finding {
  const live = fleet.instances.filter(isHere)
  const known = new Set(live.flatMap(({ jobs }) => jobs))
  const orphans = active(fleet).filter((schedule) => schedule.needsInstance && !known.has(schedule.job))
  if (orphans.length === 0)
    return finding('orphans', 'ok', 'Every active schedule that needs one has a live instance that can run it.')
  // Another line says that no instance is live.
  if (live.length === 0)
    return finding(
      'orphans',
      'note',
      `${counted(orphans.length, 'active schedule waits', 'active schedules wait')} for an instance.`,
    )
  const jobs = [...new Set(orphans.map(({ job }) => job))]
  return finding(
    'orphans',
    'fail',
    `${counted(orphans.length, 'active schedule has', 'active schedules have')} a job that no live instance can run: ${firstFew(orphans.map(({ name }) => name))} (${jobs.length === 1 ? 'job' : 'jobs'} ${firstFew(jobs, jobs.length, 3)}).`,
    'Start an instance that declares it, or pause or remove the schedule: cronce pause, cronce remove.',
  )
}

function checkRetired({ schedules }: FleetFacts): Finding[] {
  const retired = schedules.filter(({ state }) => state === 'retired')
  if (retired.length === 0) return []
  return [
    finding(
      'retired',
      'note',
      `${counted(retired.length, 'schedule is', 'schedules are')} retired, since ${retired.length === 1 ? 'its job' : 'their jobs'} left the code: ${firstFew(retired.map(({ name }) => name))}.`,
      'Deploy code that declares them, or remove them: cronce remove.',
    ),
  ]
}

function checkOverdue(fleet: FleetFacts): Finding {
  const { now, instances } = fleet
  const late = active(fleet)
    .filter(({ nextAt, job }) => nextAt !== null && nextAt < now - OVERDUE_MS && runnersOf(job, instances).length > 0)
    .sort((one, other) => one.nextAt! - other.nextAt!)
  if (late.length === 0) return finding('overdue', 'ok', 'No schedule is overdue for which an instance is live.')
  return finding(
    'overdue',
    'fail',
    `${counted(late.length, 'schedule is', 'schedules are')} overdue although instances are live, by up to ${formatDuration(now - late[0]!.nextAt!)}: ${firstFew(late.map(({ name }) => name))}.`,
    'Look at the logs of the instances: they may not reach the store, or be too few.',
  )
}

function checkCalls({ now, schedules }: FleetFacts): Finding[] {
  const missing = schedules
    .filter(({ callMissingAt }) => callMissingAt !== null)
    .sort((one, other) => one.callMissingAt! - other.callMissingAt!)
  if (missing.length === 0) return []
  const names = missing.map(({ name, callMissingAt }) => `${name} (for ${formatDuration(now - callMissingAt!)})`)
  return [
    finding(
      'calls',
      'warn',
      `No host has called cronce exec for ${counted(missing.length, 'schedule')} when its crontab should have: ${firstFew(names)}.`,
      'Look whether cron runs there, and whether the line is still in the crontab; if it is meant to be gone: cronce remove.',
    ),
  ]
}

function checkWaiting(fleet: FleetFacts): Finding[] {
  const { now, instances } = fleet
  const waiting = active(fleet)
    .filter(
      ({ waitingSince, job }) =>
        waitingSince !== null && waitingSince < now - OVERDUE_MS && runnersOf(job, instances).length > 0,
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

function checkStuck({ now, runs, isRunSample }: FleetFacts): Finding {
  const stuck = runs
    .filter(({ job, instance, startedAt, timeoutMs, graceMs }) => {
      // A leader has nothing to finish.
      if (instance === '' || job === LEADER_JOB) return false
      return now - startedAt > (timeoutMs === null ? STUCK_MS : timeoutMs + graceMs + SLACK_MS)
    })
    .sort((one, other) => one.startedAt - other.startedAt)
  const looked = isRunSample ? `Of the latest ${formatCount(runs.length)} open runs, ` : ''
  if (stuck.length === 0)
    return finding(
      'stuck',
      'ok',
      `${looked}${looked === '' ? 'No' : 'no'} run takes suspiciously long; ${runs.length} open.`,
    )
  const names = stuck.map(({ schedule, token }) => `${schedule} ${token}`)
  return finding(
    'stuck',
    'warn',
    `${looked}${counted(stuck.length, 'run is', 'runs are')} open for longer than the timeout, or than an hour without one, the oldest for ${formatDuration(now - stuck[0]!.startedAt)}: ${firstFew(names, names.length, 3)}.`,
    `Look with cronce logs, end it with cronce cancel ${names[0]}, and set a timeout.`,
  )
}

function checkFailing(fleet: FleetFacts): Finding {
  const failing = fleet.schedules
    // The holder of a lock knows how its work ended.
    .filter(({ job, state, failedInRow }) => state !== 'retired' && failedInRow >= FAILING && !isExclusive(job))
    .sort((one, other) => other.failedInRow - one.failedInRow)
  if (failing.length === 0) return finding('failing', 'ok', `No schedule has failed ${FAILING} times in a row.`)
  const names = failing.map(({ name, failedInRow }) => `${name} (${failedInRow})`)
  return finding(
    'failing',
    'warn',
    `${counted(failing.length, 'schedule has', 'schedules have')} failed ${FAILING} times in a row or more: ${firstFew(names)}.`,
    `See why: cronce show ${failing[0]!.name}`,
  )
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
      'Resume what was forgotten: cronce resume.',
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
