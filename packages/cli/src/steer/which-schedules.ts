import type { Client, ScheduleFilter, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Args, Flags } from '../args.ts'
import { type Glob, readGlob } from '../names.ts'
import { UsageError } from '../usage-error.ts'

export const WHICH_FLAGS = {
  prefix: { type: 'string', value: 'TEXT', help: 'All schedules whose names begin with this' },
  job: { type: 'string', value: 'JOB', help: 'All schedules of this job' },
  all: { type: 'boolean', help: 'All schedules of the namespace' },
} as const satisfies Flags

/** The schedules that are meant: by their names, or by what they have in common. */
export type Which =
  | { readonly kind: 'named'; readonly names: readonly string[] }
  | {
      readonly kind: 'filtered'
      readonly filter: ScheduleFilter
      readonly words: string
      /** Those of the filter that match are meant. @default all */
      readonly glob?: Glob
    }

const ALL_WORDS = 'of the namespace'

export function whichSchedules(args: Args, command: string): Which {
  const names = [...new Set(args.positionals)]
  const prefix = args.text('prefix')
  const job = args.text('job')
  const isFiltered = prefix !== undefined || job !== undefined || args.has('all')
  if (names.length > 0) {
    if (!isFiltered) return namedOrMatching(names)
    throw new UsageError(
      'Names, and --prefix, --job or --all as well.',
      'Name schedules, or select them with --prefix, --job or --all.',
    )
  }
  if (!isFiltered) {
    throw new UsageError(
      'Which schedule?',
      `Write cronce ${command} SCHEDULE, several, or --prefix, --job or --all; see cronce ${command} --help.`,
    )
  }
  return filtered(prefix, job, args.has('all'))
}

/** One pattern stands for what matches it; several, or a pattern among names, would be neither a list nor a filter. */
function namedOrMatching(names: readonly string[]): Which {
  const glob = readGlob(names[0]!)
  if (names.length === 1 && glob !== null) {
    const { text, prefix } = glob
    return { kind: 'filtered', filter: { prefix: prefix || undefined }, words: `that match "${text}"`, glob }
  }
  const pattern = names.find((name) => readGlob(name) !== null)
  if (pattern === undefined) return { kind: 'named', names }
  throw new UsageError(`"${pattern}" stands beside other names.`, 'Give one pattern, or names.')
}

function filtered(prefix: string | undefined, job: string | undefined, isAll: boolean): Which {
  if (prefix === '' || job === '')
    throw new UsageError('An empty --prefix or --job means nothing.', 'Write --all for all.')
  if (isAll && (prefix !== undefined || job !== undefined)) {
    throw new UsageError('--all leaves nothing to --prefix and --job.', 'Leave out one.')
  }
  const words = [
    ...(prefix === undefined ? [] : [`that begin with ${JSON.stringify(prefix)}`]),
    ...(job === undefined ? [] : [`of job ${JSON.stringify(job)}`]),
  ].join(' and are ')
  return { kind: 'filtered', filter: { prefix, job }, words: words || ALL_WORDS }
}

export interface Census {
  readonly wanted: number
  /** The first few of them. */
  readonly names: readonly string[]
  /** Those that are left alone, by state. */
  readonly others: ReadonlyMap<ScheduleView['state'], number>
}

const NAMES_SHOWN = 5

/** Count what is meant, one page in memory at a time. */
export async function census(
  client: Client,
  { filter, words, glob }: Extract<Which, { kind: 'filtered' }>,
  wants: (view: ScheduleView) => boolean,
  onCount: (count: number) => void,
): Promise<Census> {
  let wanted = 0
  let seen = 0
  const names: string[] = []
  const others = new Map<ScheduleView['state'], number>()
  for await (const view of client.schedules.all(filter)) {
    if (glob?.matches(view.name) === false) continue
    onCount(++seen)
    if (!wants(view)) others.set(view.state, (others.get(view.state) ?? 0) + 1)
    else if (wanted++ < NAMES_SHOWN) names.push(view.name)
  }
  if (seen === 0 && words !== ALL_WORDS) {
    throw new CronceError('SCHEDULE_NOT_FOUND', `There are no schedules ${words}.`, {
      hint: 'List the schedules to see their names and jobs: cronce list.',
    })
  }
  return { wanted, names, others }
}
