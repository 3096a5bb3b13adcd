import type { InstanceView } from 'cronce'
import { FLEET_SUBJECTS, judgeFleet, type Problem, skewed, THRESHOLDS } from 'cronce/internal'
import { formatDuration } from '../format.ts'
import { counted, firstFew } from '../steer/say.ts'
import { checkDeployments } from './check-deployments.ts'
import type { Facts, FleetFacts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Later than this it is not a moment's delay. */
export const OVERDUE_MS = THRESHOLDS.overdue.afterMs

export function checkFleet({ fleet, machine }: Facts): Finding[] {
  if (fleet === null) return []
  const live = fleet.instances.filter(isHere)
  const problems = problemsOf(fleet, live)
  return [
    checkCount(checkLive(fleet, live), problems),
    checkSilent(fleet, problems),
    ...checkClocks(fleet, live),
    ...checkDeployments(fleet, live),
    ...checkVersions(live, machine.version),
  ]
}

/** What the watchdog's rules find wrong with the fleets of all apps. */
function problemsOf({ now, instances, thresholds }: FleetFacts, live: readonly InstanceView[]): readonly Problem[] {
  const dead = instances.filter(({ state }) => state === 'dead')
  // The store has checks of its own.
  const store = { latencyMs: null, away: null, rolledBackAt: null, prunableSince: null, warnings: new Map() }
  return [...new Set(instances.map(({ app }) => app))].flatMap((app) =>
    judgeFleet({ now, app, instances: live, dead, store }, thresholds.get(app) ?? THRESHOLDS).map((problem) => ({
      ...problem,
      text: `${problem.text} (app ${app})`,
    })),
  )
}

/** Fewer than an app wants are reported instead of how many there are, unless that is worse. */
function checkCount(live: Finding, problems: readonly Problem[]): Finding {
  const few = problems.find(({ rule, subject }) => rule === 'fleet' && subject === 'instances')
  if (few === undefined || live.level !== 'ok') return live
  return finding('instances', 'warn', `Only ${few.text}.`, 'Start more, or lower watch: { fleet: { minInstances } }.')
}

export function isHere({ state }: InstanceView): boolean {
  return state === 'live' || state === 'draining'
}

/** The other subjects of the rule `fleet` are hosts. */
const PARTS: readonly string[] = FLEET_SUBJECTS

const DYING_HINT = 'Look for crashes, kills for lack of memory, and stops that do not wait for the drain.'

function checkLive({ now, instances, schedules }: FleetFacts, live: readonly InstanceView[]): Finding {
  const drained = live.filter(({ drain, state }) => drain || state === 'draining').length
  const running = live.reduce((sum, instance) => sum + instance.running, 0)
  if (live.length > drained) {
    const draining = drained === 0 ? '' : ` ${drained} of them take nothing new.`
    return finding(
      'instances',
      'ok',
      `${counted(live.length, 'instance is', 'instances are')} live, with ${counted(running, 'run')}.${draining}`,
    )
  }
  const active = schedules.filter(({ state }) => state === 'active')
  const waiting = active.filter((schedule) => schedule.needsInstance)
  const late = waiting.filter(({ dueSince }) => dueSince !== null && dueSince < now - OVERDUE_MS)
  const who = live.length > 0 ? `All ${live.length} live instances are being drained` : 'No instance is live'
  const gone = instances.filter(({ state }) => state === 'left' || state === 'dead').length
  const seen = gone === 0 ? '' : `, ${gone} left or died within a day`
  if (waiting.length === 0) {
    const why =
      active.length === 0
        ? 'nothing is scheduled'
        : 'no schedule needs one: each runs when cronce exec, node-cron or a trigger calls it'
    return finding('instances', 'note', `${who}${seen}; ${why}.`)
  }
  return finding(
    'instances',
    late.length > 0 ? 'fail' : 'warn',
    `${who}${seen}: nothing is run${late.length > 0 ? `, and ${counted(late.length, 'schedule is', 'schedules are')} overdue` : ''}.`,
    'Start one: cronce start, or your app.',
  )
}

function checkSilent({ now, instances }: FleetFacts, problems: readonly Problem[]): Finding {
  const silent = instances.filter(({ state }) => state === 'silent')
  if (silent.length > 0) {
    const names = silent.map(
      ({ id, host, renewedAt }) => `${id} on ${host} (${formatDuration(Math.max(0, now - renewedAt))})`,
    )
    return finding(
      'silent',
      'warn',
      `${counted(silent.length, 'instance is', 'instances are')} silent: ${firstFew(names, names.length, 3)}.`,
      'Look whether its process hangs, is stopped, or lost the store; its peers take over its runs.',
    )
  }
  const dying = problems.filter(({ rule, subject }) => rule === 'fleet' && !PARTS.includes(subject))
  if (dying.length > 0) {
    const hosts = dying.map(({ subject, text }) => `${subject}: ${text}`)
    return finding('silent', 'warn', `Instances keep dying: ${firstFew(hosts, hosts.length, 3)}.`, DYING_HINT)
  }
  const dead = instances.filter(({ state }) => state === 'dead')
  if (dead.length === 0) return finding('silent', 'ok', 'No instance is silent, and none died within a day.')
  const hosts = [...new Set(dead.map(({ host }) => host))]
  return finding(
    'silent',
    'note',
    `${counted(dead.length, 'instance')} died within a day without saying goodbye, on ${firstFew(hosts, hosts.length, 3)}.`,
    DYING_HINT,
  )
}

function checkClocks({ thresholds }: FleetFacts, live: readonly InstanceView[]): Finding[] {
  if (live.length === 0) return []
  const off = live.filter((instance) => {
    const { clock } = thresholds.get(instance.app) ?? THRESHOLDS
    return clock !== false && skewed([instance], clock.offsetMs).length > 0
  })
  if (off.length === 0) return [finding('instance-clocks', 'ok', "Clocks of all instances agree with the store's.")]
  const names = off.map(({ host, clockOffsetMs }) => `${host} by ${Math.round(clockOffsetMs)}ms`)
  return [
    finding(
      'instance-clocks',
      'warn',
      `Clocks are off the store's: ${firstFew([...new Set(names)], names.length, 3)}.`,
      "Synchronise these machines by NTP. Fires go by the store's clock all the same; logs and your own code do not.",
    ),
  ]
}

function checkVersions(live: readonly InstanceView[], own: string): Finding[] {
  const versions = [...new Set(live.map(({ version }) => version))].sort()
  if (versions.length === 0) return []
  if (versions.length > 1) {
    return [
      finding(
        'versions',
        'warn',
        `Instances run different versions of cronce: ${versions.join(', ')}.`,
        'Update all of them, one after the other.',
      ),
    ]
  }
  if (versions[0] !== own) {
    return [
      finding(
        'versions',
        'note',
        `Instances run cronce ${versions[0]}, this command is ${own}.`,
        'Use the same version here.',
      ),
    ]
  }
  return [finding('versions', 'ok', `All instances run cronce ${own}.`)]
}
