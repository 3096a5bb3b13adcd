import { inSubject } from '../client/in-subject.ts'
import { readOwnName } from '../client/read-name.ts'
import type { Declared } from '../engine/parts.ts'
import { CronceError } from '../errors.ts'
import { everyHost, hostName, type Labels, matchesLabels, placedJob } from '../model/placement.ts'
import type { DeclaredJob } from './job.ts'

type PlacedJob = Pick<DeclaredJob<never>, 'name' | 'definition' | 'was' | 'isOnEachHost'>

export interface PlacedJobs<Job> {
  /** Schedules that a process with these labels declares. */
  readonly declared: readonly Declared[]
  /** Names that stand for the schedules of all hosts. */
  readonly families: readonly string[]
  /** Jobs by the names under which this process can run them. A job for other labels is declared here, but not run. */
  readonly jobs: ReadonlyMap<string, Job>
}

/**
 * The jobs of an app in a process with these labels. Instances ask for jobs by name, so work that belongs to labels is a job that
 * only instances with these labels have.
 */
export function placeJobs<Job extends PlacedJob>(
  all: readonly Job[],
  labels: Labels,
  isPlacing: boolean,
): PlacedJobs<Job> {
  const { host = '' } = labels
  const declared: Declared[] = []
  const jobs = new Map<string, Job>()
  const add = (name: string, job: Job): void => {
    const other = jobs.get(name)
    if (other !== undefined) throw namedTwice(name, job.name, other.name)
    jobs.set(name, job)
  }
  for (const job of all) {
    const isHere = matchesLabels(job.definition.on, labels)
    const own = job.isOnEachHost ? onHost(job, host) : declaration(job)
    if (isHere || !job.isOnEachHost) declared.push(own)
    if (!isHere) continue
    add(job.name, job)
    if (job.isOnEachHost) add(own.id, job)
    if (isPlacing) for (const [label, value] of Object.entries(labels)) add(placedJob(job.name, label, value), job)
  }
  const families = all.filter(({ isOnEachHost }) => isOnEachHost).map(({ name }) => everyHost(name))
  return { declared, families, jobs }
}

/** The declarations of the code, wherever it runs: processes that differ only in labels are one deployment. */
export function declarations(all: readonly PlacedJob[]): readonly Declared[] {
  return all.map((job) => (job.isOnEachHost ? onHost(job, '*') : declaration(job)))
}

function declaration({ name, definition, was }: PlacedJob): Declared {
  return was === undefined ? { id: name, definition } : { id: name, definition, was }
}

function onHost({ name, definition, was }: PlacedJob, host: string): Declared {
  const id = inSubject('Job', name, () => readOwnName('schedule', hostName(name, host)))
  const placed = { ...definition, job: id, on: { ...definition.on, host: [host] } }
  return was === undefined ? { id, definition: placed } : { id, definition: placed, was: hostName(was, host) }
}

function namedTwice(name: string, one: string, other: string): CronceError {
  return new CronceError(
    'JOB_EXISTS',
    `Jobs ${JSON.stringify(one)} and ${JSON.stringify(other)} are both called ${JSON.stringify(name)} here.`,
    {
      hint: "A job is also called NAME@LABEL=VALUE, and with hosts: 'each' NAME@HOST: rename one of the two.",
    },
  )
}
