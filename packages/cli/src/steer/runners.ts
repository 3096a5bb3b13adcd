import type { Client, InstanceView, ScheduleView } from 'cronce'
import { missingWords } from '../placement-words.ts'

/** Instances that take new runs of a job now. */
export function runnersOf(job: string, instances: readonly InstanceView[]): readonly InstanceView[] {
  return instances.filter(({ state, drain, jobs }) => state === 'live' && !drain && jobs.includes(job))
}

/** How long after the start of an app's newest process a schedule that left its code may wait to be retired: longer than `holdDown` mostly is. */
const RETIRING_MS = 15 * 60_000

/** Whether live processes of its app no longer declare the job, and have started so lately that the schedule is about to be retired. */
export function isLeaving(
  { app, job }: { readonly app: string | null; readonly job: string },
  instances: readonly InstanceView[],
  now: number,
): boolean {
  const ofApp = instances.filter((one) => one.app === app && one.state === 'live' && one.jobs.length > 0)
  return ofApp.some(({ startedAt }) => startedAt > now - RETIRING_MS) && !ofApp.some(({ jobs }) => jobs.includes(job))
}

/** A warning if no live instance has the job; `null` if one has. */
export async function warnUnrunnable(
  { job, on }: Pick<ScheduleView, 'job' | 'on'>,
  client: Pick<Client, 'instances'>,
): Promise<string | null> {
  const instances = await client.instances.list({ ended: 0 })
  if (runnersOf(job, instances).length > 0) return null
  const live = instances.filter(({ state }) => state === 'live')
  const draining = live.filter(({ drain, jobs }) => drain && jobs.includes(job))
  if (draining.length > 0)
    return `All live instances that have job "${job}" are being drained: it waits until another one starts.`
  if (live.length === 0) return 'No instance is live: it waits until one is started that has its job.'
  if (on !== null)
    return `Of ${live.length} live instances, ${missingWords({ job, on }, live)}: it waits until one is started that has.`
  return `None of the ${live.length} live instances has job "${job}": it waits until one is started that has.`
}
