import { ENVIRONMENT } from './crontab-jobs.ts'
import type { Finding, Imported, ImportedItem, ImportedJob, JobRecord, Place } from './imported.ts'
import { uniqueNames } from './job-names.ts'

/** What the servers are called: after their files, by the shortest name that distinguishes them. */
export function serverNames(files: readonly string[]): readonly string[] {
  const short = files.map((file) => file.replace(/^.*\//, '').replace(/\.(crontab|cron|txt|tab)$/, ''))
  return new Set(short).size === files.length ? short : files
}

interface Merged {
  job: ImportedJob
  /** The servers whose crontabs have the line. */
  readonly servers: string[]
  readonly comments: string[]
  /** What the comments say, without the servers. */
  readonly said: Set<string>
}

/**
 * The crontabs of several servers as one record of jobs. A line that several of them have becomes one job. That changes where it
 * runs, which each note says: on every server before, on one of them afterwards. `keepsHosts`: each job runs where its line did.
 */
export function mergeCrontabs(
  crontabs: readonly Imported[],
  servers: readonly string[],
  { keepsHosts = false, join = false }: { readonly keepsHosts?: boolean; readonly join?: boolean } = {},
): Imported {
  const merged = new Map<string, Merged>()
  const items: (ImportedItem | Merged)[] = []
  const nameFor = uniqueNames()
  const seenComments = new Set<string>()
  const joined: Finding[] = []
  crontabs.forEach(({ items: own }, index) => {
    const server = servers[index]!
    const countOf = counter()
    for (const item of own) {
      if (item.kind === 'comment') {
        const key = item.lines.join('\n')
        if (!seenComments.has(key)) items.push(item)
        seenComments.add(key)
        continue
      }
      const { job } = item
      const options = JSON.stringify(join ? withoutSettings(job.options) : job.options)
      // A line that a crontab has twice runs twice: its second copy is the same as the second one elsewhere.
      const key = `${countOf(options)} ${options}`
      const known = merged.get(key)
      if (known === undefined) {
        const { comments } = job
        const named = { ...job, name: nameFor(job.name) }
        const fresh = { job: named, servers: [server], comments: [...comments], said: new Set(comments) }
        merged.set(key, fresh)
        items.push(fresh)
      } else {
        known.job = { ...known.job, others: [...(known.job.others ?? []), job.place] }
        addComments(known, job, server)
        known.servers.push(server)
        const differing = settingsThatDiffer(job.options, known.job.options)
        if (differing.length > 0) joined.push(joinedFinding(job, known, differing))
      }
    }
  })
  const jobs = [...merged.values()]
  return {
    items: items.map((item) => {
      if ('kind' in item) return item
      return { kind: 'job', job: keepsHosts ? onHosts(withServers(item), item.servers, servers) : withServers(item) }
    }),
    findings: [
      ...onceEnvironment(crontabs.flatMap(({ findings }) => findings)),
      ...joined,
      ...whereFindings(jobs, keepsHosts),
      ...(keepsHosts ? hostFindings(jobs, servers) : []),
    ],
  }
}

/** What the crontab of another server says above the same line, and none before it. */
function addComments({ comments, said }: Merged, { comments: own }: ImportedJob, server: string): void {
  for (const line of own.filter((one) => one.trim() !== '' && !said.has(one))) {
    comments.push(`${server}: ${line}`)
    said.add(line)
  }
}

function counter(): (key: string) => number {
  const counts = new Map<string, number>()
  return (key) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count
  }
}

/** It is the same for all crontabs. */
function onceEnvironment(findings: readonly Finding[]): readonly Finding[] {
  const first = findings.findIndex(({ what }) => what === ENVIRONMENT.what)
  return findings.filter(({ what }, index) => what !== ENVIRONMENT.what || index === first)
}

function withServers({ job, servers, comments }: Merged): ImportedJob {
  const places = [job.place, ...(job.others ?? [])]
  const from = places.map(({ line }, index) => `${servers[index]} (line ${line})`)
  return { ...job, comments: [...comments, `from ${from.join(', ')}`] }
}

/** The options by which a job runs on the servers that have its line, and on no other. */
function onHosts(job: ImportedJob, own: readonly string[], all: readonly string[]): ImportedJob {
  if (job.isClaimed) return job
  const on = own.length === all.length ? {} : { on: { host: own.length === 1 ? own[0]! : own } }
  return { ...job, options: { ...job.options, ...(own.length > 1 ? { hosts: 'each' as const } : {}), ...on } }
}

/** Jobs that belong to servers do so by the names of the files. */
function hostFindings(jobs: readonly Merged[], all: readonly string[]): readonly Finding[] {
  const first = jobs.find(({ job, servers }) => !job.isClaimed && servers.length < all.length)
  if (first === undefined) return []
  return [
    changed(first.job.place, {
      what: `the hosts ${all.join(', ')}`,
      why: 'jobs that not all servers had belong to hosts that are called like the files',
      todo: 'give each server its name: CRONCE_LABELS=host=NAME, or files that are named as hostname says',
    }),
  ]
}

function whereFindings(jobs: readonly Merged[], keepsHosts: boolean): readonly Finding[] {
  const byCommand = new Map<string, Merged>()
  const findings = jobs.flatMap((merged): Finding[] => {
    const { job, servers } = merged
    const command = JSON.stringify(job.options.command)
    const twin = byCommand.get(command)
    if (twin === undefined) byCommand.set(command, merged)
    return [...(keepsHosts ? [] : placeFinding(job, servers)), ...(twin === undefined ? [] : [twinFinding(job, twin)])]
  })
  const alone = jobs.filter(({ job, servers }) => !job.isClaimed && servers.length === 1)
  return [...findings, ...(keepsHosts ? [] : anyServerFinding(alone))]
}

function placeFinding({ name, place, isClaimed }: ImportedJob, servers: readonly string[]): Finding[] {
  // With cronce exec it ran once already, on whichever server came first.
  if (isClaimed || servers.length === 1) return []
  return [
    changed(place, {
      what: `${name} runs on one server`,
      why: `it ran on each of ${servers.length} servers (${servers.join(', ')}), and as a job it runs once for all of them`,
      todo: "add hosts: 'each' if each server needs it, such as for its own files; --hosts each does so for all lines",
    }),
  ]
}

/** One finding for all jobs that one server had. */
function anyServerFinding(alone: readonly Merged[]): Finding[] {
  const [first, ...more] = alone
  if (first === undefined) return []
  const { place, name } = first.job
  if (more.length === 0) {
    return [
      changed(place, {
        what: `${name} runs on any server`,
        why: `only ${first.servers[0]} had it, and as a job it runs on any of the instances`,
        todo: `look whether it needs something of that server; if so, add on: { host: '${first.servers[0]}' }`,
      }),
    ]
  }
  const names = alone.map(({ job, servers }) => `${job.name} (${servers[0]})`)
  return [
    changed(place, {
      what: `${alone.length} jobs run on any server`,
      why: `only one server had each of ${names.join(', ')}, and as jobs they run on any of the instances`,
      todo: 'look whether they need something of that server; if so, add on: { host }, or --hosts each for all lines',
    }),
  ]
}

/** What stands above the lines of a crontab, as the options that it becomes. */
const SETTINGS = { tz: 'CRON_TZ', shell: 'SHELL', cwd: 'HOME' } as const

function withoutSettings({ tz: _tz, shell: _shell, cwd: _cwd, env: _env, ...line }: JobRecord): JobRecord {
  return line
}

/** The names of the crontab's settings that differ, sorted. */
function settingsThatDiffer(one: JobRecord, other: JobRecord): string[] {
  const options = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).filter((name) => one[name] !== other[name])
  const variables = new Set([...Object.keys(one.env ?? {}), ...Object.keys(other.env ?? {})])
  const differing = [...variables].filter((name) => one.env?.[name] !== other.env?.[name])
  return [...options.map((name) => SETTINGS[name]), ...differing].sort()
}

function joinedFinding(job: ImportedJob, { job: kept, servers }: Merged, differing: readonly string[]): Finding {
  return changed(job.place, {
    what: `${kept.name} has the ${differing.join(', ')} of ${servers[0]}`,
    why: `${servers.at(-1)} has the same line with another ${differing.join(', ')}, and --join makes one job of them`,
    todo: 'look whether it is right for all servers',
  })
}

function twinFinding({ name, place, options }: ImportedJob, { job, servers }: Merged): Finding {
  const differing = settingsThatDiffer(options, job.options)
  const isSameLine = JSON.stringify(withoutSettings(options)) === JSON.stringify(withoutSettings(job.options))
  if (isSameLine && differing.length > 0) {
    return changed(place, {
      what: `${name} is ${job.name} with another ${differing.join(', ')} (same line)`,
      why: `the crontab of ${servers.join(', ')} sets ${differing.join(', ')} otherwise, so both become jobs, and both run`,
      todo: 'add --join to make one job of them, or keep one',
    })
  }
  return changed(place, {
    what: `${name} is ${job.name} with other options`,
    why: `${servers.join(', ')} ${servers.length === 1 ? 'runs' : 'run'} the same command at another time or in another way, and both become jobs`,
    todo: 'keep one of them if the times differ only to keep servers apart',
  })
}

function changed(place: Place, finding: Pick<Finding, 'what' | 'why' | 'todo'>): Finding {
  return { place, level: 'changed', ...finding }
}
