import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { findDeployment } from '../../policy/deploy/deployment.ts'
import { ignoredRenames, namesOfJobs } from '../../policy/deploy/job-names.ts'
import type { DefineWish } from '../../policy/operate/define.ts'
import type { Core } from '../core.ts'

/** What this process declares under one name. */
export interface Wish extends DefineWish {
  readonly id: string
  readonly was: string | undefined
  /** Other names that the job has or had. */
  readonly otherNames: readonly string[]
}

/** What the deployment of this process declares, sorted: its schedules, and the names that stand for those of all hosts. */
export function registeredNames({ settings }: Core): readonly string[] {
  return [...settings.declared.map(({ id }) => id), ...settings.families].sort()
}

/** The names of the schedules that this process declares, sorted. */
export function declaredNames({ settings }: Core): readonly string[] {
  return settings.declared.map(({ id }) => id).sort()
}

/** By name, what this process declares as an instance of its deployment in this record. */
export function wishesUnder({ settings }: Core, record: AppRecord): ReadonlyMap<string, Wish> {
  const { app, deployment, declared } = settings
  const source = { kind: 'code' as const, app, number: findDeployment(record, deployment)!.number }
  const standing = { app: record, deployment }
  const names = namesOfJobs(record)
  const ignored = ignoredRenames(record, deployment)
  return new Map(
    declared.map(({ id, was, definition }) => {
      const otherNames = [...(names.get(id) ?? [])].filter((name) => name !== id)
      const continuedBy = ignored.find((one) => one.id === id && one.was === was)?.continuedBy
      return [id, { id, was, definition, source, standing, otherNames, continuedBy }]
    }),
  )
}

/** Whether the app declares the schedule. */
export function isOf({ source }: ScheduleState, app: string): boolean {
  return source.kind === 'code' && source.app === app
}
