import type { ScheduleState } from '../model/schedule.ts'
import type { Refusal } from '../policy/decision.ts'
import { define } from '../policy/define.ts'
import { decideDeployment } from '../policy/deployment.ts'
import { retire } from '../policy/retire.ts'
import type { Page, ScheduleQuery } from '../store/store.ts'
import { changeSchedules } from './change-schedules.ts'
import type { Core } from './core.ts'
import { callStore } from './store-calls.ts'

/** Deployments: whose declarations count, and writing them once. */
export interface Deployer {
  /** See who is active; declare what the code says if it is this deployment's turn. Throws when the store does. */
  keep(): Promise<void>
}

const BATCH = 200
const TRIES = 10

export function deployer(core: Core): Deployer {
  const { app, deployment, declared, holdDownMs } = core.settings
  /** The term under which this process has written its declarations. */
  let declaredTerm = -1

  const keep = async (): Promise<void> => {
    const record = await activate()
    if (record === null || record.active !== deployment || record.term === declaredTerm) return
    await declare(record.term)
    await retireOthers(record.term)
    declaredTerm = record.term
  }

  const activate = async () => {
    for (let tries = 0; tries < TRIES; tries++) {
      const { now, app: known } = await callStore(core, 'deploy (read)', () => core.parts.store.loadApp(app))
      const ready = core.peers.filter((peer) => peer.app === app && !peer.expired)
      const liveIds = [...new Set([deployment, ...ready.map((peer) => peer.deployment)])]
      const wanted = decideDeployment(known, app, { now, me: deployment, liveIds, holdDownMs })
      if (wanted === null) return known
      if (!(await callStore(core, 'deploy', () => core.parts.store.saveApp(wanted)))) continue
      if (wanted.active !== null && wanted.active !== known?.active) {
        core.parts.emit({ type: 'deployment.activated', app, deployment: wanted.active, term: wanted.term })
      }
      return wanted
    }
    // Others decide at the same time, on what we see too: the next round will find it done.
    return null
  }

  const declare = async (term: number): Promise<void> => {
    const source = { kind: 'code' as const, app, term }
    for (let start = 0; start < declared.length; start += BATCH) {
      const wanted = new Map(declared.slice(start, start + BATCH).map(({ id, definition }) => [id, definition]))
      const refusals = new Map<string, Refusal>()
      await core.parts.sync('declare:sent')
      await changeSchedules(core, 'declare', [...wanted.keys()], (id, state, context) => {
        const decision = define(state, id, { definition: wanted.get(id)!, source }, context)
        if (decision === null || !('refused' in decision)) return decision
        // That a newer deployment was faster is as it should be.
        if (decision.refused !== 'DEPLOYMENT_SUPERSEDED') refusals.set(id, decision)
        return null
      })
      for (const [schedule, { refused, message }] of refusals) {
        const { job } = wanted.get(schedule)!
        core.parts.emit({ type: 'schedule.refused', schedule, job, code: refused, message })
      }
    }
    core.claimAlarm.ring()
  }

  const retireOthers = async (term: number): Promise<void> => {
    // Processes of one deployment may have different jobs: what another one has is not gone from the code.
    const alike = core.peers.filter((peer) => peer.app === app && peer.deployment === deployment && !peer.expired)
    const own = new Set([...declared.map(({ id }) => id), ...alike.flatMap(({ jobs }) => jobs)])
    for (let after: string | null = null; ; ) {
      const query: ScheduleQuery = { app, after, limit: BATCH }
      const page: Page<ScheduleState> = await callStore(core, 'retire (list)', () =>
        core.parts.store.listSchedules(query),
      )
      const gone = page.items.filter(({ id, retiredAt }) => retiredAt === null && !own.has(id)).map(({ id }) => id)
      await changeSchedules(core, 'retire', gone, (_, state, context) =>
        state === null ? null : retire(state, { app, term }, context),
      )
      if (page.next === null) return
      after = page.next
    }
  }

  return { keep }
}
