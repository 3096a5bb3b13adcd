import { BUCKET_COUNT, hash32 } from '../../model/bucket.ts'
import { matchesLabels } from '../../model/placement.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Decision } from '../../policy/decision.ts'
import type { Core } from '../core.ts'
import type { DeployState } from '../deploy/deploy-state.ts'
import type { FleetState } from '../fleet/fleet-state.ts'

/**
 * Which buckets of schedules this instance looks at first: rendezvous hashing over the live instances. When an instance comes or
 * goes, only its own buckets move. Only cost depends on it.
 */
export function bucketsOf(instance: string, live: readonly string[]): string {
  const others = live.filter((id) => id !== instance)
  let buckets = ''
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const own = weight(instance, bucket)
    const isOwn = others.every((id) => {
      const its = weight(id, bucket)
      return own > its || (own === its && instance < id)
    })
    buckets += isOwn ? '1' : '0'
  }
  return buckets
}

function weight(instance: string, bucket: number): number {
  return hash32(`${instance} ${bucket}`)
}

export function takesNew({ state, drain }: FleetState['peers'][number]): boolean {
  return state === 'live' && !drain
}

/**
 * Whether a decision leaves fires waiting that this instance will not claim: it stops or drains, lacks the job, or another app has taken
 * the schedule. Its peers must be woken, because they may sleep until something else is due.
 */
export function leavesToPeers(core: Core, { change: { state } }: Pick<Decision, 'change'>): boolean {
  if (state === null || !state.open.some(({ run }) => run === null)) return false
  const { stopping, fleet, parts, deploys } = core
  const { job } = state.definition
  if (stopping || fleet.drained || !(parts.jobs.has(job) || deploys.renamedJobs.has(job))) return true
  return !hasJobOf(core, state) || (state.source.kind === 'client' && jobsElsewhere(core).includes(job))
}

/**
 * Whether this process has the job, and not only a job of the same name in another app. A renamed job goes on under its old name only
 * while that is retired, or as long as the new name is taken: otherwise the name may be that of another job.
 */
export function hasJobOf(core: Core, { definition, source, retiredAt }: ScheduleState): boolean {
  // A release may have moved the job to other labels than those under which this process has it.
  if (retiredAt === null && !matchesLabels(definition.on, core.settings.labels)) return false
  if (source.kind === 'client') return !core.deploys.foreignJobs.has(definition.job)
  if (source.app !== core.settings.app) return false
  if (core.parts.jobs.has(definition.job) || retiredAt !== null) return true
  const upTo = core.deploys.renamedJobs.get(definition.job)?.upTo ?? null
  return upTo !== null && source.number <= upTo
}

/** Old names of this process's jobs that no schedule has and another app declares: schedules made for them run in that app. */
export function jobsElsewhere({ fleet: { peers }, deploys: { renamedJobs }, settings }: Core): readonly string[] {
  const free = [...renamedJobs].filter(([, { isFree }]) => isFree).map(([old]) => old)
  if (free.length === 0) return free
  const others = peers.filter((peer) => peer.app !== settings.app)
  return free.filter((job) => others.some((peer) => peer.jobs.includes(job)))
}

const NO_BUCKETS = '0'.repeat(BUCKET_COUNT)

type Dealt = readonly { readonly job: string; readonly buckets: string }[]

/**
 * For each job, the buckets of this instance among the instances of its app: computed when the fleet changes, read at every look.
 */
export function dealer(core: Core): () => Dealt {
  let peers: FleetState['peers'] | null = null
  let numbers: DeployState['numbers'] | null = null
  let renamed: DeployState['renamedJobs'] | null = null
  let foreign: DeployState['foreignJobs'] | null = null
  let key = ''
  let dealt: Dealt = []
  return () => {
    const isSame =
      peers === core.fleet.peers && renamed === core.deploys.renamedJobs && foreign === core.deploys.foreignJobs
    if (!isSame || numbers !== core.deploys.numbers) {
      peers = core.fleet.peers
      renamed = core.deploys.renamedJobs
      foreign = core.deploys.foreignJobs
      numbers = core.deploys.numbers
      const able = peers.filter((peer) => takesNew(peer) && peer.app === core.settings.app)
      // Every heartbeat brings a new list, mostly of the same instances; an instance never changes its jobs.
      const ranks = able.map((peer) => `${peer.id} ${rankOf(core, peer)}`)
      const dealtFor = [
        core.fleet.instance,
        ...ranks,
        ...renamed.keys(),
        '',
        ...foreign,
        '',
        ...jobsElsewhere(core),
      ].join()
      if (dealtFor !== key) {
        dealt = deal(core, able)
        core.nextLook.deal(dealt)
      }
      key = dealtFor
    }
    return dealt
  }
}

/** Of instances of this app. */
function rankOf(core: Core, { deployment }: FleetState['peers'][number]): number {
  return core.deploys.numbers.get(deployment) ?? Number.NEGATIVE_INFINITY
}

/** Whether a live instance of a newer deployment of this app has the job. */
export function isOutranked(core: Core, job: string): boolean {
  const own = core.deploys.numbers.get(core.settings.deployment) ?? Number.NEGATIVE_INFINITY
  const isHigher = (peer: FleetState['peers'][number]): boolean =>
    peer.app === core.settings.app && rankOf(core, peer) > own && peer.jobs.includes(job)
  return core.fleet.peers.some((peer) => takesNew(peer) && isHigher(peer))
}

/** Of those that have a job, the instances of the highest-numbered deployment claim first; others wait for their patience. */
function deal(core: Core, able: FleetState['peers']): Dealt {
  const elsewhere = new Set([...core.deploys.foreignJobs, ...jobsElsewhere(core)])
  const jobs = [...core.parts.jobs.keys(), ...core.deploys.renamedJobs.keys()].filter((job) => !elsewhere.has(job))
  const withJob = new Map<string, { readonly id: string; readonly rank: number }[]>(jobs.map((job) => [job, []]))
  for (const peer of able) {
    const entry = { id: peer.id, rank: rankOf(core, peer) }
    for (const job of peer.jobs) withJob.get(job)?.push(entry)
  }
  const masks = new Map<string, string>()
  return [...withJob].map(([job, entries]) => {
    const highest = Math.max(...entries.map(({ rank }) => rank))
    const first = entries.filter(({ rank }) => rank >= highest).map(({ id }) => id)
    const shared = first.join()
    const isFirst = first.includes(core.fleet.instance) || !entries.some(({ id }) => id === core.fleet.instance)
    const buckets = isFirst ? (masks.get(shared) ?? bucketsOf(core.fleet.instance, first)) : NO_BUCKETS
    if (isFirst) masks.set(shared, buckets)
    return { job, buckets }
  })
}
