/** Labels of an instance. `host` is always among them. */
export type Labels = Readonly<Record<string, string>>

/** By label, the values of which an instance must have one. Sorted, so that equal ones are written alike. */
export type Placement = Readonly<Record<string, readonly string[]>>

/** Whether work that belongs to these labels may run on an instance with those. */
export function matchesLabels(on: Placement | undefined, labels: Labels): boolean {
  return on === undefined || Object.entries(on).every(([label, values]) => values.includes(labels[label] ?? ''))
}

/** `role=db, zone=a|b` */
export function placementText(on: Placement): string {
  return Object.entries(on)
    .map(([label, values]) => `${label}=${values.join('|')}`)
    .join(', ')
}

/** The job, which may belong to another label, as only instances with this one have it: schedules made at run time belong to a label by it. */
export function placedJob(job: string, label: string, value: string): string {
  return `${job.replace(/@[\w./-]+=[\w.:/-]+$/, '')}@${label}=${value}`
}

/** What a job with `hosts: 'each'` is called on one host: the name of its schedule there, and of the job of that schedule. */
export function hostName(job: string, host: string): string {
  return `${job}@${host}`
}

/** The name of a job without the host or label that a schedule of it belongs to. */
export function unplacedJob(job: string, on: Placement | null): string {
  const plain = plainJob(job)
  const names = Object.entries(on ?? {}).flatMap(([label, values]) =>
    values.flatMap((value) => [placedJob(plain, label, value), ...(label === 'host' ? [hostName(plain, value)] : [])]),
  )
  return names.includes(job) ? plain : job
}

/** What a deployment declares besides the names of its hosts, so that it is known to have the job on hosts that it has not reached yet. */
export function everyHost(job: string): string {
  return hostName(job, '*')
}

/** The name of a job without what it belongs to. Label values have no `@`. */
export function plainJob(name: string): string {
  const at = name.lastIndexOf('@')
  return at === -1 ? name : name.slice(0, at)
}
