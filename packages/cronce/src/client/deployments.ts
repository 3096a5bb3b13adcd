import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import type { AppRecord } from '../model/app.ts'
import { forceDeployment } from '../policy/deployment.ts'
import { readStore, writeStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'
import { readName } from './read-name.ts'

export interface DeploymentsView {
  readonly app: string
  /** The deployment whose declarations count. */
  readonly active: string | null
  /** How often another one became active. */
  readonly term: number
  /** Since when no instance of the active one has been ready. */
  readonly activeGoneAt: number | null
  /** By number: the order in which they first showed up. */
  readonly deployments: readonly {
    readonly id: string
    readonly number: number
    readonly firstReadyAt: number
    readonly lastReadyAt: number
  }[]
}

export interface Deployments {
  /** APP_NOT_FOUND if no instance of it has ever been ready. */
  get(app: string): Promise<DeploymentsView>
  /** Make this deployment's declarations count, as after a rollback, until a newer one comes. */
  activate(app: string, id: string): Promise<DeploymentsView>
}

/** Each try that fails means that somebody else succeeded. */
const TRIES = 50

export function makeDeployments<Tx>({ store, emit }: ClientParts<Tx>): Deployments {
  const load = async (app: string): Promise<{ readonly now: number; readonly app: AppRecord }> => {
    const loaded = await readStore('load an app', () => store.loadApp(app))
    if (loaded.app !== null) return { now: loaded.now, app: loaded.app }
    throw new CronceError('APP_NOT_FOUND', `There is no app ${JSON.stringify(app)}.`, {
      hint: 'Look at the instances: each says which app it is of.',
    })
  }
  return {
    get: async (app) => viewDeployments((await load(readName('app', app))).app),
    async activate(app, id) {
      const name = readName('app', app)
      const deployment = readName('deployment', id)
      for (let tries = 0; tries < TRIES; tries++) {
        const known = await load(name)
        const next = forceDeployment(known.app, deployment, known.now)
        if (next === null) throw deploymentNotFound(known.app, deployment)
        if (!(await writeStore('activate a deployment', () => store.saveApp(next)))) continue
        // One that counted already now counts until a newer one comes: no other declarations, nothing to tell.
        const isOther = next.term !== known.app.term
        if (isOther) emit({ type: 'deployment.activated', app: name, deployment, term: next.term })
        return viewDeployments(next)
      }
      throw new CronceError('CONTENTION', `App ${JSON.stringify(name)} kept changing: ${TRIES} tries were in vain.`, {
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

function viewDeployments({ name, active, term, activeGoneAt, deployments }: AppRecord): DeploymentsView {
  const views = deployments.map(({ id, number, firstReadyAt, lastReadyAt }) => ({
    id,
    number,
    firstReadyAt,
    lastReadyAt,
  }))
  return { app: name, active, term, activeGoneAt, deployments: views.sort((one, other) => one.number - other.number) }
}
