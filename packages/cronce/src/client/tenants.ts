import { CronceError } from '../errors.ts'
import type { FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { remove } from '../policy/operate/remove.ts'
import { listFires, listRuns, ofFire } from '../store/list-views.ts'
import { readStore, writeStore } from './ask-store.ts'
import { changeAny } from './change-schedule.ts'
import { viewFire, viewRun, viewSchedule, viewStep } from './make-view.ts'
import { everyItem } from './pages.ts'
import type { ClientParts } from './parts.ts'
import { readName } from './read-name.ts'
import type { FireView, RunView, ScheduleView, StepView } from './views.ts'

/** One record of a tenant's export. */
export type TenantRecord =
  | { readonly type: 'schedule'; readonly schedule: ScheduleView }
  | { readonly type: 'fire'; readonly fire: FireView }
  | { readonly type: 'run'; readonly run: RunView }
  | { readonly type: 'step'; readonly step: StepView }

/** Export and erase all data of one tenant. */
export interface Tenants {
  /** All that is stored about a tenant: its schedules; then its fires, each with its steps and runs. */
  export(tenant: string): AsyncIterable<TenantRecord>
  /**
   * Remove all schedules of a tenant, running or not, and everything on record about these and those it had before that are gone.
   * What stays: its fires, with their runs and steps, of a schedule that is another tenant's now. They go when their retention is
   * over, or with that schedule, whose records are erased as one, whichever tenant had it. Refused with SCHEDULE_IN_CODE, before anything is
   * erased, while code declares a schedule of the tenant.
   */
  erase(tenant: string): Promise<{ readonly schedules: number }>
}

export function makeTenants<Tx>(parts: ClientParts<Tx>): Tenants {
  return {
    export: (tenant) => exportTenant(parts, readName('tenant', tenant)),
    async erase(tenant) {
      const name = readName('tenant', tenant)
      for await (const state of schedulesOf(parts, name)) refuseCode(state, name)
      let schedules = 0
      for await (const { id } of schedulesOf(parts, name)) {
        await eraseSchedule(parts, id, name)
        schedules++
      }
      await eraseRemoved(parts, name)
      return { schedules }
    },
  }
}

/** A live process would declare it again, and until then its job would not run. */
function refuseCode({ id, source, retiredAt }: ScheduleState, tenant: string): void {
  if (source.kind === 'client' || retiredAt !== null) return
  throw new CronceError(
    'SCHEDULE_IN_CODE',
    `The schedule ${JSON.stringify(id)} of the tenant ${JSON.stringify(tenant)} is declared in the code of ${source.app}. Nothing was erased.`,
    { hint: 'Remove the job, or its tenant, from the code and deploy that; then erase again.' },
  )
}

function schedulesOf<Tx>({ store }: ClientParts<Tx>, tenant: string): AsyncIterable<ScheduleState> {
  return everyItem((after, limit) => readStore('list schedules', () => store.listSchedules({ tenant, after, limit })))
}

async function* exportTenant<Tx>(
  parts: ClientParts<Tx>,
  tenant: string,
): AsyncGenerator<TenantRecord, void, undefined> {
  const { store } = parts
  for await (const state of schedulesOf(parts, tenant)) yield { type: 'schedule', schedule: viewSchedule(state) }
  for await (const fire of firesOf(parts, tenant)) {
    yield { type: 'fire', fire: viewFire(fire) }
    // Only a run begins steps.
    if (fire.attempt === 0) continue
    for (const step of await readStore('list steps', () => store.listSteps(fire))) {
      yield { type: 'step', step: viewStep(step) }
    }
    const runs = everyItem((after, limit) =>
      readStore('list runs', () => listRuns(store, { ...ofFire(fire), after, limit })),
    )
    for await (const run of runs) yield { type: 'run', run: viewRun(run) }
  }
}

function firesOf<Tx>({ store }: ClientParts<Tx>, tenant: string): AsyncIterable<FireRecord> {
  return everyItem((after, limit) =>
    readStore('list fires', () => listFires(store, { tenant, order: 'earliest', after, limit })),
  )
}

/** Records that schedules left behind which are gone: each was the tenant's when it was written. */
async function eraseRemoved<Tx>(parts: ClientParts<Tx>, tenant: string): Promise<void> {
  for await (const { schedule } of firesOf(parts, tenant)) {
    const { schedules } = await readStore('load a schedule', () => parts.store.load([schedule]))
    // Another tenant may have a schedule of this name by now, whose records have the same key.
    if (schedules.length === 0) await eraseRecords(parts, schedule)
  }
}

/** Records of one write. */
const ERASE_BATCH = 500
/** Far more than a schedule has records. */
const ERASE_STEPS = 1_000_000

async function eraseSchedule<Tx>(parts: ClientParts<Tx>, id: string, tenant: string): Promise<void> {
  const changed = await changeAny(parts, id, (state, context) =>
    // By now the schedule may be gone, or made again for another tenant.
    state === null || state.definition.tenant !== tenant ? null : remove(state, { force: true }, context),
  )
  if (changed.kind === 'unchanged' && changed.state !== null) return
  await eraseRecords(parts, id)
}

async function eraseRecords<Tx>(parts: ClientParts<Tx>, id: string): Promise<void> {
  for (let step = 0; step < ERASE_STEPS; step++) {
    const { deleted } = await writeStore('erase records', () => parts.store.prune(ERASE_BATCH, id))
    if (deleted === 0) return
  }
  throw new CronceError('CONTENTION', `The records of ${JSON.stringify(id)} do not end.`, { hint: 'Try again.' })
}
