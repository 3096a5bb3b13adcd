import type { Store } from 'cronce'
import type { Declaration } from 'cronce/internal'

export type ScheduleState = Awaited<ReturnType<Store['load']>>['schedules'][number]
export type AppRecord = NonNullable<Awaited<ReturnType<Store['loadApp']>>['app']>
export type InstanceRecord = Awaited<ReturnType<Store['listInstances']>>['instances'][number]

/** What a deployment of one app depends on, as it was read. */
export interface StoreCopy {
  /** The store's clock. */
  readonly now: number
  readonly app: string
  /** The records of the app, and of other apps that have one of its names. */
  readonly apps: ReadonlyMap<string, AppRecord>
  /** The schedules of the app, and those that have a name which it declares or has declared. */
  readonly schedules: ReadonlyMap<string, ScheduleState>
  /** Live ones, of all apps. */
  readonly instances: readonly InstanceRecord[]
}

const PAGE = 200

/** Reads, and writes nothing. */
export async function copyStore(store: Store, app: string, declarations: readonly Declaration[]): Promise<StoreCopy> {
  const { now, app: record } = await store.loadApp(app)
  const schedules = new Map<string, ScheduleState>()
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<Store['listSchedules']>> = await store.listSchedules({ app, after, limit: PAGE })
    for (const state of page.items) schedules.set(state.id, state)
    if (page.next === null) break
    after = page.next
  }
  const names = namesOf(record, declarations).filter((name) => !schedules.has(name))
  for (let start = 0; start < names.length; start += PAGE) {
    const loaded = await store.load(names.slice(start, start + PAGE))
    for (const state of loaded.schedules) schedules.set(state.id, state)
  }
  const apps = new Map<string, AppRecord>()
  if (record !== null) apps.set(app, record)
  for (const { source } of schedules.values()) {
    if (source.kind !== 'code' || apps.has(source.app)) continue
    const { app: other } = await store.loadApp(source.app)
    if (other !== null) apps.set(other.name, other)
  }
  const { instances } = await store.listInstances({ ended: 0 })
  const isThere = ({ state }: InstanceRecord): boolean => state === 'live' || state === 'draining'
  return { now, app, apps, schedules, instances: instances.filter(isThere) }
}

/** What the code declares, and all names that its jobs have had. */
function namesOf(record: AppRecord | null, declarations: readonly Declaration[]): readonly string[] {
  const declared = declarations.flatMap(({ settings }) => settings.declared)
  const known = [...(record?.renames ?? []), ...(record?.deployments ?? []).flatMap(({ renames = [] }) => renames)]
  return [
    ...new Set([
      ...declared.flatMap(({ id, was }) => (was === undefined ? [id] : [id, was])),
      ...known.flatMap(({ id, was }) => [id, was]),
    ]),
  ]
}

/** Schedules made at run time that need one of these jobs, up to a thousand of each. */
export async function madeAtRunTime(store: Store, jobs: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const job of jobs) {
    const { items } = await store.listSchedules({ job, after: null, limit: 1_000 })
    const made = items.filter(({ id, source }) => source.kind === 'client' && id !== job)
    if (made.length > 0) counts.set(job, made.length)
  }
  return counts
}
