import type { RunOfFire } from '../../../packages/checker/src/history.ts'
import type { ScheduleState } from '../../../packages/cronce/src/model/schedule.ts'
import type { NamespaceData } from '../../../packages/cronce/src/store/memory/data.ts'
import { boundsOf, ownershipMsOf } from '../bounds.ts'
import { SWEEP } from '../draw-places.ts'
import type { Node } from '../node.ts'
import { DEFAULT_APP, isFor, planIn, type Release, type Scenario } from '../scenario.ts'
import type { Step } from './mirror.ts'
import type { Report } from './report.ts'

/** Judges where work runs, by the labels that the processes were given and not by what they decide. */
export interface PlacesJudge {
  readonly changed: (step: Step) => void
  /** A handler was called in this process. */
  readonly started: (run: RunOfFire, node: string) => void
  /** At the end of the calm: each host with a live process has its schedule, and no other host has an active one. */
  readonly finish: (live: readonly Node[]) => void
}

export interface PlacesJudgeParts {
  readonly scenario: Scenario
  readonly data: () => NamespaceData
  readonly storeNow: () => number
  readonly nodeOf: (node: string) => Pick<Node, 'labels' | 'release'> | undefined
  readonly report: Report
  readonly count: (what: string) => void
}

const hostOf = (schedule: string): string | null =>
  schedule.startsWith(`${SWEEP}@`) ? schedule.slice(SWEEP.length + 1) : null

export function judgePlaces(parts: PlacesJudgeParts): PlacesJudge {
  const { scenario, data, nodeOf, report, count } = parts
  const isDrawn = scenario.nodes.some(({ labels }) => labels !== undefined)

  const started = ({ schedule }: RunOfFire, name: string): void => {
    const node = nodeOf(name)
    if (!isDrawn || node === undefined) return
    const host = hostOf(schedule)
    if (host !== null && host !== node.labels.host) {
      report('S17 own host', `${name} of ${node.labels.host} started a run of ${schedule}`)
    }
    if (host !== null) count('ran on a host')
    const { on } = planIn(node.release, schedule) ?? {}
    if (on !== undefined && !isFor(on, node.labels)) {
      report(
        'S17 own labels',
        `${name} of ${JSON.stringify(node.labels)} started ${schedule}, which belongs to ${JSON.stringify(on)}`,
      )
    }
    if (on !== undefined && host === null) count('ran on a label')
  }

  return {
    started,
    changed({ before, after }) {
      if (before === undefined || after === undefined) return
      const { cause } = (after.retirements ?? []).at(-1) ?? {}
      if (isDrawn && after.id === SWEEP && before.retiredAt === null && after.retiredAt !== null && cause === 'dropped')
        count('job on each host instead')
      if (hostOf(after.id) === null) return
      if (before.retiredAt === null && after.retiredAt !== null && cause === 'dropped') count('host dropped')
      if (before.retiredAt === null && after.retiredAt !== null && cause === 'absent') count('host gone')
      if (before.retiredAt !== null && after.retiredAt === null && cause === 'absent') count('host came back')
    },
    finish(live) {
      if (!isDrawn || scenario.calmMs < ownershipMsOf(scenario)) return
      const isDrained = live.some(({ app }) => data().instances.get(app.instance ?? '')?.record.drain === true)
      // In the midst of a deploy it depends on which release is the newest; an operator's choice holds until another id appears.
      const releases = new Set(live.map(({ release }) => release).filter(({ jobs }) => Object.keys(jobs).length > 0))
      const isChosen = scenario.actions.some(({ kind }) => kind === 'op-activate')
      if (isDrained || isChosen || releases.size !== 1) return
      const [release] = releases
      for (const host of new Set(scenario.nodes.map(({ labels }) => labels!.host)))
        judgeHost(parts, release!, host, live)
      judgeForm(parts, release!)
      for (const name of Object.keys(release!.jobs)) judgeLabelled(parts, release!, name, live)
    },
  }
}

function judgeHost(parts: PlacesJudgeParts, release: Release, host: string, live: readonly Node[]): void {
  const plan = release.jobs[SWEEP]
  const state = parts.data().schedules.get(`${SWEEP}@${host}`)
  const there = live.filter(({ labels, release: its }) => labels.host === host && its === release)
  const isWanted = plan?.isOnEachHost === true && there.some(({ labels }) => isFor(plan.on, labels))
  if (isWanted) {
    const why = whyStopped(parts, state)
    if (why !== null) parts.report('L8 each host', `${SWEEP}@${host} has a live process, and ${why}`)
    else parts.count('host served')
  } else if (state !== undefined && state.retiredAt === null && isOf(state, release)) {
    parts.report('L8 each host', `${SWEEP}@${host} has no live process, and is active`)
  }
}

/** A job that fires on each host does not fire once for all of them as well, whatever an earlier release had. */
function judgeForm({ data, report, count }: PlacesJudgeParts, release: Release): void {
  const state = data().schedules.get(SWEEP)
  if (release.jobs[SWEEP]?.isOnEachHost !== true || state === undefined || !isOf(state, release)) return
  if (state.retiredAt === null) report('L8 one form', `${SWEEP} is active beside the schedules of hosts`)
  else count('one form')
}

/** Only a live process of its app retires a schedule. */
function isOf({ source }: ScheduleState, { app = DEFAULT_APP }: Release): boolean {
  return source.kind === 'code' && source.app === app
}

/** A job that belongs to labels fires while a live process has them. */
function judgeLabelled(parts: PlacesJudgeParts, release: Release, name: string, live: readonly Node[]): void {
  const { on, isOnEachHost } = release.jobs[name]!
  if (on === undefined || isOnEachHost === true || !live.some(({ labels }) => isFor(on, labels))) return
  const state = parts.data().schedules.get(name)
  // An app whose processes only called `runDue` keeps its names for a day: `judge-apps.ts` judges who gets them.
  const isKept =
    state !== undefined && !isOf(state, release) && parts.scenario.actions.some(({ kind }) => kind === 'call')
  const why = state?.source.kind === 'client' || isKept ? null : whyStopped(parts, state)
  if (why !== null) parts.report('L8 labels', `${name} has a live process with its labels, and ${why}`)
  else parts.count('label served')
}

/** Why the schedule of a host does not fire. `null`: it does, or has an end, or an operator stopped it. */
function whyStopped({ storeNow, scenario }: PlacesJudgeParts, state: ScheduleState | undefined): string | null {
  if (state === undefined) return 'there is no such schedule'
  if (state.retiredAt !== null) return 'is retired'
  const { nextAt, pause } = state
  if (nextAt === null || pause !== null) return null
  const lateMs = storeNow() - nextAt
  return lateMs > boundsOf(scenario).recoveryMs ? `has not planned its instants for ${lateMs} ms` : null
}
