import type { InstanceView, OpenFireView, ScheduleView } from 'cronce'
import { type Family, labelCap, needsInstance, unplacedJob } from 'cronce/internal'
import { collect } from '../collect.ts'
import type { Source } from '../source.ts'
import { Steps } from '../steps.ts'
import { overdueAt } from './overdue.ts'

/** How many schedules one scrape looks at. */
const BOUNDS = { pages: 10, limit: 1_000 } as const

/** What only the store knows. docs/monitoring.md has the same table; a test compares them. */
export const FLEET_METRICS = {
  schedules: ['cronce_schedules', 'Schedules, by the state they are in.'],
  overdue: ['cronce_schedules_overdue', 'Active schedules without a success for one and a half periods.'],
  unserved: ['cronce_schedules_unserved', 'Active schedules whose job no live instance has.'],
  open: ['cronce_fires_open', 'Fires that have not ended: waiting, running, or parked until a call-back.'],
  failures: [
    'cronce_consecutive_failures',
    'Fires of one schedule that failed in a row: the most of any schedule of the job.',
  ],
  success: ['cronce_last_success_timestamp_seconds', 'When a fire of the job last succeeded.'],
  next: ['cronce_next_fire_timestamp_seconds', 'When a fire of the job is due next.'],
  instances: ['cronce_instances', 'Instances, by the state they are in. Silent: its lease has expired.'],
  alerts: ['cronce_alerts', 'Subjects of the alerts of the watchdog that are firing.'],
  cut: ['cronce_fleet_truncated', 'Whether there are more schedules than the 10,000 that a scrape looks at: 0 or 1.'],
} as const

type FleetKey = keyof typeof FLEET_METRICS

/** The metrics of the fleet, read from the store. Bounded, whatever it holds. */
export async function fleetFamilies(source: Source, maxJobs: number): Promise<readonly Family[]> {
  const [store, schedules, instances, alerts] = await Promise.all([
    source.store.check(),
    collect(BOUNDS, (page) => source.schedules.list({ ...page, internal: true })),
    source.instances.list(),
    source.alerts.list(),
  ])
  const table = new Table()
  countInstances(table, instances)
  await countSchedules(table, schedules.items, { now: store.now, instances, jobOf: labelCap(maxJobs) })
  // An app for each branch of the code would be a series for each.
  const appOf = labelCap(maxJobs)
  for (const { app, rule, severity, state, count } of alerts) {
    if (state === 'firing') table.add('alerts', { app: appOf(app), rule, severity }, count)
  }
  table.set('cut', {}, Number(schedules.cut))
  return table.families()
}

interface Known {
  readonly now: number
  readonly instances: readonly InstanceView[]
  readonly jobOf: (job: string) => string
}

function countInstances(table: Table, instances: readonly InstanceView[]): void {
  for (const state of ['live', 'draining', 'silent']) table.set('instances', { state }, 0)
  for (const { state } of instances) {
    if (state === 'live' || state === 'draining' || state === 'silent') table.add('instances', { state }, 1)
  }
}

async function countSchedules(table: Table, schedules: readonly ScheduleView[], known: Known): Promise<void> {
  const { now, jobOf } = known
  const served = new Set(known.instances.filter(({ state }) => state === 'live').flatMap(({ jobs }) => jobs))
  const steps = new Steps()
  for (const schedule of schedules) {
    // Other requests have their turn between two schedules.
    await steps.take()
    const job_name = jobOf(unplacedJob(schedule.job, schedule.on))
    const isActive = schedule.state === 'active'
    table.add('schedules', { job_name, state: schedule.state }, 1)
    for (const fire of schedule.open) table.add('open', { job_name, state: stateOf(fire) }, 1)
    const isUnserved = isActive && needsInstance(schedule) && !served.has(schedule.job)
    table.add('unserved', { job_name }, Number(isUnserved))
    table.add('overdue', { job_name }, Number((overdueAt(schedule) ?? now) < now))
    table.most('failures', { job_name }, isActive ? schedule.failedInRow : 0)
    const { succeededAt } = schedule.last
    if (succeededAt !== null) table.most('success', { job_name }, succeededAt / 1_000)
    if (isActive && schedule.nextAt !== null) table.least('next', { job_name }, schedule.nextAt / 1_000)
  }
}

function stateOf({ token, parkedUntilAt }: OpenFireView): string {
  return token === null ? 'waiting' : parkedUntilAt === null ? 'running' : 'parked'
}

type Labels = Readonly<Record<string, string>>

/** Gauges by name and labels. */
class Table {
  readonly #rows = new Map<FleetKey, Map<string, { readonly labels: Labels; value: number }>>()

  set(key: FleetKey, labels: Labels, value: number): void {
    this.#change(key, labels, () => value)
  }

  add(key: FleetKey, labels: Labels, count: number): void {
    this.#change(key, labels, (value = 0) => value + count)
  }

  most(key: FleetKey, labels: Labels, value: number): void {
    this.#change(key, labels, (known = value) => Math.max(known, value))
  }

  least(key: FleetKey, labels: Labels, value: number): void {
    this.#change(key, labels, (known = value) => Math.min(known, value))
  }

  #change(key: FleetKey, labels: Labels, changed: (value: number | undefined) => number): void {
    const rows = this.#rows.get(key) ?? new Map()
    this.#rows.set(key, rows)
    const row = Object.values(labels).join('\0')
    rows.set(row, { labels, value: changed(rows.get(row)?.value) })
  }

  families(): readonly Family[] {
    return (Object.keys(FLEET_METRICS) as FleetKey[]).map((key) => {
      const [name, help] = FLEET_METRICS[key]
      const samples = [...(this.#rows.get(key)?.values() ?? [])].map((row) => ({ name, ...row }))
      return { name, type: 'gauge', help, samples }
    })
  }
}
