import type { DeploymentsView, InstanceView } from 'cronce'
import { liveDeployments, THRESHOLDS } from 'cronce/internal'
import { formatDuration } from '../format.ts'
import { counted, firstFew } from '../steer/say.ts'
import type { FleetFacts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const TWO_PROGRAMS =
  "If they are two programs, name one of them: cronce({ app: 'worker' }). If they are parts of one release, give both the same CRONCE_DEPLOYMENT."

/** The live processes of one app that declare jobs, and what is on record about their deployments. */
interface AppFacts {
  /** How long a rollout may take; `null`: that is not judged. */
  readonly rolloutMs: number | null
  readonly app: string
  readonly now: number
  readonly processes: readonly InstanceView[]
  /** Deployments that have a live process. */
  readonly ids: readonly string[]
  readonly view: DeploymentsView | undefined
}

/** `live`: instances that are live or draining. */
export function checkDeployments(
  { now, deployments, thresholds }: FleetFacts,
  live: readonly InstanceView[],
): Finding[] {
  // A process without jobs declares nothing: a script that takes a lock is not a deployment.
  const declaring = live.filter(({ jobs }) => jobs.length > 0)
  if (declaring.length === 0) return []
  const apps = [...new Set(declaring.map(({ app }) => app))].sort().map((app): AppFacts => {
    const processes = declaring.filter((instance) => instance.app === app)
    const ids = [...new Set(processes.map(({ deployment }) => deployment))]
    const { fleet } = thresholds.get(app) ?? THRESHOLDS
    return {
      rolloutMs: fleet === false ? null : fleet.rolloutMs,
      app,
      now,
      processes,
      ids,
      view: deployments.find((view) => view.app === app),
    }
  })
  return [
    ...orElse(apps.flatMap(checkApp), () => finding('deployments', 'ok', 'Of every app, one deployment is live.')),
    ...orElse(apps.flatMap(checkRefused), () =>
      finding('declarations', 'ok', 'No declaration of a live process was refused.'),
    ),
  ]
}

function orElse(found: readonly Finding[], healthy: () => Finding): readonly Finding[] {
  return found.length > 0 ? found : [healthy()]
}

/** The worst of what is wrong with the deployments of an app. */
function checkApp(facts: AppFacts): Finding[] {
  const found = checkMix(facts) ?? checkDisjoint(facts) ?? checkRollout(facts) ?? checkActive(facts)
  return found === null ? [] : [found]
}

function checkMix({ app, ids, view, processes }: AppFacts): Finding | null {
  const known = view?.deployments.filter(({ id }) => ids.includes(id)) ?? []
  const implicit = known.filter(({ explicit }) => !explicit).map(({ id }) => id)
  const explicit = known.filter((deployment) => deployment.explicit).map(({ id }) => id)
  if (implicit.length === 0 || explicit.length === 0) return null
  const without = processes.filter(({ deployment }) => implicit.includes(deployment)).map(placeOf)
  return finding(
    'deployments',
    'fail',
    `App ${app} mixes processes with a deployment id (${firstFew(explicit)}) and without (${firstFew(without)}): a deploy cannot retire what those without declare.`,
    'Set CRONCE_DEPLOYMENT for all processes of the app, or for none.',
  )
}

function checkDisjoint({ app, ids, view, processes }: AppFacts): Finding | null {
  const declaredBy = (id: string): readonly string[] =>
    view?.deployments.find((known) => known.id === id)?.declares ??
    processes.filter(({ deployment }) => deployment === id).flatMap(({ jobs }) => jobs)
  for (const [index, id] of ids.entries()) {
    const own = new Set(declaredBy(id))
    const other = ids.slice(index + 1).find((candidate) => !declaredBy(candidate).some((job) => own.has(job)))
    if (other === undefined) continue
    const words = (each: string): string => {
      const places = processes.filter(({ deployment }) => deployment === each).map(placeOf)
      return `${each} on ${firstFew(places)} (${firstFew(declaredBy(each))})`
    }
    const message = `Live deployments of app ${app} declare no job in common: ${words(id)} and ${words(other)}.`
    return finding('deployments', 'warn', message, TWO_PROGRAMS)
  }
  return null
}

function checkRollout({ app, ids, view, now, processes, rolloutMs }: AppFacts): Finding | null {
  if (ids.length < 2) return null
  const { sinceMs } = liveDeployments(processes, now)
  // Until then they are taken for a rollout, later for a mistake.
  const isLong = rolloutMs !== null && sinceMs > rolloutMs
  return finding(
    'deployments',
    isLong ? 'warn' : 'note',
    `App ${app} has ${ids.length} deployments live for ${formatDuration(sinceMs)}: ${firstFew(ids)}; those of ${view?.active ?? 'none'} count.`,
    isLong ? 'Finish or take back the rollout.' : 'This looks like a rollout: check again when it is done.',
  )
}

function checkActive({ app, ids, view }: AppFacts): Finding | null {
  const active = view?.active ?? null
  if (active === null || ids.includes(active)) return null
  return finding(
    'deployments',
    'warn',
    `App ${app} runs ${ids[0]}, but what ${active} declared counts.`,
    'After a rollback, run cronce deployments activate, or wait until the newer one counts as gone.',
  )
}

function checkRefused({ app, view, processes }: AppFacts): Finding[] {
  const live = new Set(processes.map(({ id }) => id))
  const refused = view?.refused.filter(({ instance }) => live.has(instance)) ?? []
  const [first] = refused
  if (first === undefined) return []
  const schedules = [...new Set(refused.map(({ schedule }) => schedule))]
  return [
    finding(
      'declarations',
      'fail',
      `${counted(schedules.length, 'declaration')} of app ${app} ${schedules.length === 1 ? 'is' : 'are'} refused: ${firstFew(schedules)}. On ${placeOf(first)}: ${first.message} (${first.code})`,
      'A refused schedule keeps its previous definition, or does not run if it has none.',
    ),
  ]
}

function placeOf({ host, pid }: { readonly host: string; readonly pid: number }): string {
  return `${host}:${pid}`
}
