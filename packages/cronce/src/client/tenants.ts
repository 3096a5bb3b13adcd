import { CronceError } from '../errors.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { remove } from '../policy/remove.ts'
import { readStore, writeStore } from './ask-store.ts'
import { changeAny } from './change-schedule.ts'
import { viewFire, viewRun, viewSchedule, viewStep } from './make-view.ts'
import { everyItem } from './pages.ts'
import type { ClientParts } from './parts.ts'
import { readName } from './read-name.ts'
import type { FireView, RunView, ScheduleView, StepView } from './views.ts'

export type TenantRecord =
  | { readonly type: 'schedule'; readonly schedule: ScheduleView }
  | { readonly type: 'fire'; readonly fire: FireView }
  | { readonly type: 'run'; readonly run: RunView }
  | { readonly type: 'step'; readonly step: StepView }

export interface Tenants {
  /** All that is stored about a tenant: its schedules, each with its fires, their runs and steps. */
  export(tenant: string): AsyncIterable<TenantRecord>
  /**
   * Remove all schedules of a tenant and everything on record about them, running or not. Schedules that were removed before
   * are no longer known to be the tenant's: their records go when their time is up.
   */
  erase(tenant: string): Promise<{ readonly schedules: number }>
}

export function makeTenants<Tx>(parts: ClientParts<Tx>): Tenants {
  return {
    export: (tenant) => exportTenant(parts, readName('tenant', tenant)),
    async erase(tenant) {
      const name = readName('tenant', tenant)
      let schedules = 0
      for await (const { id } of schedulesOf(parts, name)) {
        await eraseSchedule(parts, id, name)
        schedules++
      }
      return { schedules }
    },
  }
}

function schedulesOf<Tx>({ store }: ClientParts<Tx>, tenant: string): AsyncIterable<ScheduleState> {
  return everyItem((after, limit) => readStore('list schedules', () => store.listSchedules({ tenant, after, limit })))
}

async function* exportTenant<Tx>(
  parts: ClientParts<Tx>,
  tenant: string,
): AsyncGenerator<TenantRecord, void, undefined> {
  const { store } = parts
  for await (const state of schedulesOf(parts, tenant)) {
    const schedule = state.id
    yield { type: 'schedule', schedule: viewSchedule(state) }
    const fires = everyItem((after, limit) =>
      readStore('list fires', () => store.listFires({ schedule, order: 'earliest', after, limit })),
    )
    for await (const fire of fires) {
      yield { type: 'fire', fire: viewFire(fire) }
      // Only a run begins steps.
      if (fire.attempt === 0) continue
      for (const step of await readStore('list steps', () => store.listSteps(fire))) {
        yield { type: 'step', step: viewStep(step) }
      }
    }
    const runs = everyItem((after, limit) => readStore('list runs', () => store.listRuns({ schedule, after, limit })))
    for await (const run of runs) yield { type: 'run', run: viewRun(run) }
  }
}

/** Records of one write. */
const ERASE_BATCH = 500
/** Far more than a schedule has records. */
const ERASE_STEPS = 1_000_000

async function eraseSchedule<Tx>(parts: ClientParts<Tx>, id: string, tenant: string): Promise<void> {
  const changed = await changeAny(parts, id, (state, context) =>
    // It may be gone, or made again for somebody else, by now.
    state === null || state.definition.tenant !== tenant ? null : remove(state, { force: true }, context),
  )
  if (changed.kind === 'unchanged' && changed.state !== null) return
  for (let step = 0; step < ERASE_STEPS; step++) {
    if (await writeStore('erase records', () => parts.store.erase(id, ERASE_BATCH))) return
  }
  throw new CronceError('CONTENTION', `The records of ${JSON.stringify(id)} do not end.`, { hint: 'Try again.' })
}
