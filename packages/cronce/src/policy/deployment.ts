import type { AppRecord, DeploymentRecord } from '../model/app.ts'
import type { Instant } from '../model/schedule.ts'

const MAX_DEPLOYMENTS = 20

export interface DeploymentsSeen {
  readonly now: Instant
  /** The deployment of the ready instance that asks. */
  readonly me: string
  /** Deployments that have a live, ready instance of this app. */
  readonly liveIds: readonly string[]
  readonly holdDownMs: number
}

/**
 * Which deployment of an app counts: the one that came last, of those that have a ready instance. One that was away for
 * a while and comes back has come last, so that a rollback works; one that is only restarted keeps its place. `null`: nothing
 * is to be written.
 */
export function decideDeployment(app: AppRecord | null, name: string, seen: DeploymentsSeen): AppRecord | null {
  const known = app ?? noApp(name)
  const liveIds = [...new Set([...seen.liveIds, seen.me])]
  const deployments = numbered(known, liveIds, seen)
  const live = deployments.filter(({ id }) => liveIds.includes(id))
  const highest = live.reduce<DeploymentRecord | null>(
    (best, next) => (best === null || next.number > best.number ? next : best),
    null,
  )
  const decided = activeAfter({ ...known, deployments }, highest, liveIds, seen)
  const isChanged =
    decided.active !== known.active || decided.activeGoneAt !== known.activeGoneAt || deployments !== known.deployments
  return isChanged ? { ...decided, version: known.version + 1 } : null
}

/** An operator says which one counts, until a newer one comes. */
export function forceDeployment(app: AppRecord, id: string, now: Instant): AppRecord | null {
  const known = app.deployments.find((deployment) => deployment.id === id)
  if (known === undefined) return null
  // The highest number, or the next look at the fleet would undo it.
  const forced = { ...known, number: highestNumber(app) + 1, lastReadyAt: Math.max(known.lastReadyAt, now) }
  const deployments = app.deployments.map((deployment) => (deployment.id === id ? forced : deployment))
  return { ...activate(app, id), deployments, version: app.version + 1 }
}

function activeAfter(
  app: AppRecord,
  highest: DeploymentRecord | null,
  liveIds: readonly string[],
  { now, holdDownMs }: DeploymentsSeen,
): AppRecord {
  const active = app.deployments.find(({ id }) => id === app.active)
  if (highest === null || highest.id === app.active) return { ...app, activeGoneAt: null }
  if (active === undefined || highest.number > active.number) return activate(app, highest.id)
  if (liveIds.includes(active.id)) return { ...app, activeGoneAt: null }
  // A release that crashes and comes back must not make the old one's declarations flicker back in between.
  if (app.activeGoneAt === null) return { ...app, activeGoneAt: now }
  return now - app.activeGoneAt >= holdDownMs ? activate(app, highest.id) : app
}

function activate(app: AppRecord, id: string): AppRecord {
  return app.active === id
    ? { ...app, activeGoneAt: null }
    : { ...app, active: id, activeGoneAt: null, term: app.term + 1 }
}

/** Deployments with numbers for those that came, or came back. The same list if nothing is worth writing. */
function numbered(app: AppRecord, liveIds: readonly string[], seen: DeploymentsSeen): readonly DeploymentRecord[] {
  const { now, holdDownMs } = seen
  let highest = highestNumber(app)
  let isChanged = false
  const deployments = app.deployments.map((deployment) => {
    const awayMs = now - deployment.lastReadyAt
    // Not a write per beat: as long as the time since is short against the hold-down, it says enough.
    if (!liveIds.includes(deployment.id) || awayMs < holdDownMs / 4) return deployment
    isChanged = true
    const isBack = awayMs >= holdDownMs
    if (isBack) highest++
    return { ...deployment, lastReadyAt: now, number: isBack ? highest : deployment.number }
  })
  // Of several that are new at once, the one that asks came last: it is the only one known to look just now.
  const newIds = liveIds.filter((id) => !app.deployments.some((deployment) => deployment.id === id))
  for (const id of newIds.toSorted((a, b) => Number(a === seen.me) - Number(b === seen.me))) {
    isChanged = true
    highest++
    deployments.push({ id, number: highest, firstReadyAt: now, lastReadyAt: now })
  }
  return isChanged ? newest(deployments, app.active, liveIds) : app.deployments
}

/** Those that count and those that came last. */
function newest(
  deployments: readonly DeploymentRecord[],
  active: string | null,
  liveIds: readonly string[],
): readonly DeploymentRecord[] {
  if (deployments.length <= MAX_DEPLOYMENTS) return deployments
  const weight = ({ id, number }: DeploymentRecord): number =>
    (id === active ? 2 ** 51 : liveIds.includes(id) ? 2 ** 50 : 0) + number
  const kept = deployments.toSorted((a, b) => weight(b) - weight(a)).slice(0, MAX_DEPLOYMENTS)
  return deployments.filter((deployment) => kept.includes(deployment))
}

function highestNumber(app: AppRecord): number {
  return app.deployments.reduce((highest, { number }) => Math.max(highest, number), 0)
}

function noApp(name: string): AppRecord {
  return { name, version: 0, term: 0, active: null, activeGoneAt: null, deployments: [] }
}
