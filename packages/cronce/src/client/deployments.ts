import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import type { AppRecord, DeploymentRecord, RefusedDeclaration } from '../model/app.ts'
import { activateDeployment, findDeployment } from '../policy/deploy/deployment.ts'
import { type Act, lineOf } from './activity.ts'
import { readStore, writeStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, readCommand, readOperator } from './read-command.ts'
import { readName } from './read-name.ts'

/** Which deployment decides is explained in https://github.com/cronce/cronce/blob/main/docs/deploys.md. */
export interface DeploymentsView {
  readonly app: string
  /** The highest-numbered deployment that is not lost. */
  readonly active: string | null
  /** The deployment that an operator activated, until an id appears for the first time. */
  readonly activated: string | null
  /** By number: the order in which they appeared. */
  readonly deployments: readonly DeploymentView[]
  /** Declarations that were refused, the latest of each process and schedule. */
  readonly refused: readonly RefusedDeclaration[]
}

/** A deployment of an app, as the store has it. */
export interface DeploymentView {
  readonly id: string
  /** `false`: the id is a hash of what its processes declare. */
  readonly explicit: boolean
  readonly number: number
  /** Schedules that any of its processes ever declared. */
  readonly declares: readonly string[]
  readonly firstReadyAt: number
  /** Since when it has had a live instance, this time. */
  readonly readyAt: number
  /** Since when it has none; `null`: it has one. */
  readonly goneAt: number | null
  /** It died soon after it became ready, and counts again after a whole hold-down with a live instance. */
  readonly onProbation: boolean
  /** It has not counted for a whole hold-down. */
  readonly lost: boolean
}

/** Deployments: list them, activate one. */
export interface Deployments {
  /** APP_NOT_FOUND if no process of it has ever declared anything. */
  get(app: string): Promise<DeploymentsView>
  /**
   * Make this deployment decide at once, as after a rollback, until an id appears for the first time. DEPLOYMENT_NOT_LIVE if it has no
   * live instance.
   */
  activate(app: string, id: string, options?: Authored): Promise<DeploymentsView>
}

/** Each failed try means that another process succeeded. */
const TRIES = 50

export function makeDeployments<Tx>(parts: ClientParts<Tx>): Deployments {
  const { store, emit } = parts
  const load = async (app: string): Promise<{ readonly now: number; readonly app: AppRecord }> => {
    const loaded = await readStore('load an app', () => store.loadApp(app))
    if (loaded.app !== null) return { now: loaded.now, app: loaded.app }
    throw new CronceError('APP_NOT_FOUND', `There is no app ${JSON.stringify(app)}.`, {
      hint: 'Look at the instances: each says which app it is of. A process without jobs declares nothing.',
    })
  }
  const liveIds = async (app: string): Promise<ReadonlySet<string>> => {
    const { instances } = await readStore('list instances', () => store.listInstances({ app }))
    const live = instances.filter(({ state, jobs }) => (state === 'live' || state === 'draining') && jobs.length > 0)
    return new Set(live.map(({ deployment }) => deployment))
  }
  return {
    get: async (app) => viewDeployments((await load(readName('app', app))).app),
    async activate(app, id, options) {
      const name = readName('app', app)
      const deployment = readName('deployment', id)
      const act: Act = { action: 'activate', by: readOperator(readCommand(options, AUTHORED)) }
      for (let tries = 0; tries < TRIES; tries++) {
        const { now, app: known } = await load(name)
        if (findDeployment(known, deployment) === undefined) throw deploymentNotFound(known, deployment)
        const next = activateDeployment(known, deployment, await liveIds(name))
        if (next === null) throw deploymentNotLive(name, deployment)
        const line = lineOf(parts, act, { type: 'app', name }, now, { from: known.active, to: deployment })
        if (!(await writeStore('activate a deployment', () => store.saveApp(next, line)))) continue
        const { number } = findDeployment(next, deployment)!
        if (known.active !== deployment) emit({ type: 'deployment.activated', app: name, deployment, number })
        return viewDeployments(next)
      }
      throw new CronceError('CONTENTION', `App ${JSON.stringify(name)} kept changing: ${TRIES} tries failed.`, {
        hint: 'Try again.',
      })
    },
  }
}

function deploymentNotFound({ name, deployments }: AppRecord, id: string): CronceError {
  const ids = deployments.map((deployment) => deployment.id)
  const meant = didYouMean(id, ids)
  const hint = meant === undefined ? `The last ones were ${ids.join(', ').slice(0, 500)}.` : `Did you mean ${meant}?`
  return new CronceError('DEPLOYMENT_NOT_FOUND', `${name} has no deployment ${JSON.stringify(id)}.`, { hint })
}

function deploymentNotLive(app: string, id: string): CronceError {
  const message = `The deployment ${JSON.stringify(id)} of ${app} has no live instance that declares jobs.`
  return new CronceError('DEPLOYMENT_NOT_LIVE', message, { hint: 'Start a process of it, then activate it.' })
}

function viewDeployments({ name, active, activated, deployments, refused }: AppRecord): DeploymentsView {
  const views = deployments.map(viewDeployment).sort((one, other) => one.number - other.number)
  const view: DeploymentsView = { app: name, active, activated, deployments: views, refused }
  RECORDS.set(view, deployments)
  return view
}

/** Beside the views: what the watchdog reads in a record may name jobs that a caller must not see. */
const RECORDS = new WeakMap<DeploymentsView, readonly DeploymentRecord[]>()

/** The records that a view was made of. */
export function deploymentRecords(view: DeploymentsView): readonly DeploymentRecord[] {
  return RECORDS.get(view) ?? []
}

/** By field: the record grows, and what it holds beside these is for processes. */
function viewDeployment(record: DeploymentRecord): DeploymentView {
  const { id, explicit, number, declares, firstReadyAt, readyAt, goneAt, onProbation, lost } = record
  return { id, explicit, number, declares, firstReadyAt, readyAt, goneAt, onProbation, lost }
}
