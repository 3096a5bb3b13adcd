import type { InstanceView, ScheduleView } from 'cronce'

type Placement = ScheduleView['on']

/** `role=db, zone=a|b`; `null`: any instance. */
export function placementWords(on: Placement): string | null {
  if (on === null) return null
  return Object.entries(on)
    .map(([label, values]) => `${label}=${values.join('|')}`)
    .join(', ')
}

/** Why no live instance runs it, of two reasons: none has its labels, or none of those has its job. */
export function missingWords({ job, on }: Pick<ScheduleView, 'job' | 'on'>, live: readonly InstanceView[]): string {
  const isLabelled = ({ host, labels }: InstanceView): boolean =>
    Object.entries(on ?? {}).every(([label, values]) => values.includes({ host, ...labels }[label] ?? ''))
  return live.some(isLabelled) || on === null
    ? `no live instance has job "${job}"`
    : `no live instance has ${placementWords(on)}`
}

/** Jobs as they are declared, without the names by which schedules made at run time belong to a label. */
export function declaredJobs(jobs: readonly string[]): readonly string[] {
  return jobs.filter((job) => !(/@[^@=]+=[^@]*$/.test(job) && jobs.includes(job.slice(0, job.lastIndexOf('@')))))
}
