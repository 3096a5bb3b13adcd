/** What an import found, before it is written down: jobs in the order of their source, and everything worth telling. */
export interface Imported {
  readonly items: readonly ImportedItem[]
  readonly findings: readonly Finding[]
}

export type ImportedItem =
  | { readonly kind: 'job'; readonly job: ImportedJob }
  /** Comments that belong to no job, and what did not translate: kept, so that nothing is lost. */
  | { readonly kind: 'comment'; readonly lines: readonly string[] }

export interface ImportedJob {
  readonly name: string
  readonly comments: readonly string[]
  readonly place: Place
  /** Where else it stands, in crontabs of other servers. */
  readonly others?: readonly Place[]
  /** The line claimed its fire with `cronce exec`, so it ran once for all servers that have it. */
  readonly isClaimed?: boolean
  readonly options: JobRecord
}

/** Where it stands in the source. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column?: number
}

export interface Finding {
  readonly place: Place
  /** `lost`: it will not run as it stands. `changed`: it will, and something about it is different. */
  readonly level: 'lost' | 'changed'
  readonly what: string
  readonly why: string
  readonly todo: string
}

/** The options of a job that runs a command, as `cronce start` reads them. */
export interface JobRecord {
  readonly cron?: string
  readonly every?: string | { readonly interval: string; readonly anchor: string }
  readonly tz?: string
  readonly dialect?: string
  readonly days?: string
  readonly command?: string | readonly string[]
  readonly shell?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: { readonly text: string }
  readonly hosts?: 'each'
  readonly on?: { readonly host: string | readonly string[] }
  readonly guarantee?: string
  readonly overlap?: string
  readonly misfire?: string | { readonly late?: string; readonly grace?: string; readonly window?: string }
  readonly retry?: number | RetryRecord
  readonly timeout?: string | { readonly run?: string; readonly grace: string }
  readonly jitter?: string | { readonly within: string; readonly kind: string }
  readonly retention?: { readonly count: number }
}

export interface RetryRecord {
  readonly attempts?: number
  readonly backoff?: { readonly base: string; readonly cap: string }
  readonly crashes?: number
  readonly deadline?: string
}

export function jobsOf({ items }: Imported): ImportedJob[] {
  return items.flatMap((item) => (item.kind === 'job' ? [item.job] : []))
}
