import { serverExpression } from './expressions.ts'
import { instantsAroundNow, instantsNearTransitions, randomInstants } from './instants.ts'
import { type Random, seeded } from './random.ts'

/** Asking schedules for their next or previous fire. */
export interface Workload {
  readonly name: string
  /** `iterate`: every question starts from the last answer, round robin over the schedules, as a server does. */
  readonly ask: 'next' | 'prev' | 'iterate'
  /** The zones of the schedules, in turn. `host`: no zone is named and the host is in UTC. */
  readonly zones: readonly string[] | 'host'
  readonly expressions: 'server' | 'leap day' | 'last weekday' | 'either day'
  /** Where the instants lie: anywhere in fifteen years, within three days of a zone's changes, in one week. */
  readonly near: 'anywhere' | 'transitions' | 'now'
  /**
   * What differing answers mean. `error`: the grammar is common, so one library is wrong. `leave out`: libraries that
   * read the expression differently are not timed. `count`: libraries differ on zone changes, which is reported.
   */
  readonly differing: 'error' | 'leave out' | 'count'
  /** Bars which hold for this workload. */
  readonly bars: 'next' | 'million' | 'none'
}

const NEW_YORK = 'America/New_York'
const LONDON = 'Europe/London'
const FIVE_ZONES = [NEW_YORK, LONDON, 'Asia/Kolkata', 'Australia/Sydney', 'America/Sao_Paulo']

const COMMON = { expressions: 'server', near: 'anywhere' } as const
const ITERATION = { ask: 'iterate', expressions: 'server', near: 'now' } as const
const SPARSE = { ask: 'next', near: 'anywhere', bars: 'next', differing: 'leave out' } as const

export const WORKLOADS: readonly Workload[] = [
  { ...COMMON, name: 'next, UTC', ask: 'next', zones: ['UTC'], differing: 'error', bars: 'next' },
  { ...COMMON, name: 'next, host zone (UTC)', ask: 'next', zones: 'host', differing: 'error', bars: 'none' },
  { ...COMMON, name: 'next, New_York', ask: 'next', zones: [NEW_YORK], differing: 'count', bars: 'next' },
  {
    ...COMMON,
    name: 'next, New_York, ±3 days of a change',
    ask: 'next',
    zones: [NEW_YORK],
    near: 'transitions',
    differing: 'count',
    bars: 'next',
  },
  { ...COMMON, name: 'next, London', ask: 'next', zones: [LONDON], differing: 'count', bars: 'next' },
  {
    ...COMMON,
    name: 'next, London, ±3 days of a change',
    ask: 'next',
    zones: [LONDON],
    near: 'transitions',
    differing: 'count',
    bars: 'next',
  },
  { ...ITERATION, name: 'next of next, UTC', zones: ['UTC'], differing: 'error', bars: 'next' },
  { ...ITERATION, name: 'next of next, New_York', zones: [NEW_YORK], differing: 'count', bars: 'next' },
  { ...ITERATION, name: 'next of next, five zones', zones: FIVE_ZONES, differing: 'count', bars: 'million' },
  { ...COMMON, name: 'prev, UTC', ask: 'prev', zones: ['UTC'], differing: 'error', bars: 'none' },
  { ...COMMON, name: 'prev, New_York', ask: 'prev', zones: [NEW_YORK], differing: 'count', bars: 'none' },
  { ...SPARSE, name: '`0 0 29 2 *`, UTC', expressions: 'leap day', zones: ['UTC'] },
  { ...SPARSE, name: '`0 0 29 2 *`, New_York', expressions: 'leap day', zones: [NEW_YORK] },
  { ...SPARSE, name: '`0 0 31 12 5L`, UTC', expressions: 'last weekday', zones: ['UTC'] },
  { ...SPARSE, name: '`0 0 13 * FRI`, UTC', expressions: 'either day', zones: ['UTC'] },
]

export interface Questions {
  readonly expressions: readonly string[]
  /** Per expression; undefined: the zone of the host. */
  readonly zones: readonly (string | undefined)[]
  /** Question i goes to schedule `i % expressions.length`. For `iterate`, one start per schedule. */
  readonly instants: Float64Array
}

/** Many schedules and instants, so that neither caches nor the branch predictor learn the answers. */
const SCHEDULES = 1_000
const QUESTIONS = 20_000

export function questionsOf(workload: Workload): Questions {
  const expressions = expressionsOf(workload)
  const count = workload.ask === 'iterate' ? expressions.length : QUESTIONS
  const { zones } = workload
  return {
    expressions,
    zones: expressions.map((_, i) => (zones === 'host' ? undefined : zones[i % zones.length])),
    instants: instantsOf(workload, count),
  }
}

function instantsOf(workload: Workload, count: number): Float64Array {
  switch (workload.near) {
    case 'anywhere':
      return randomInstants(count, 2)
    case 'transitions':
      return instantsNearTransitions(count, changingZone(workload), 2)
    case 'now':
      return instantsAroundNow(count, 2)
  }
}

function changingZone(workload: Workload): string {
  const [zone, ...more] = workload.zones === 'host' ? [] : workload.zones
  if (zone === undefined || more.length > 0) throw new Error(`${workload.name} must name one zone.`)
  return zone
}

function expressionsOf(workload: Workload): string[] {
  const random = seeded(1)
  switch (workload.expressions) {
    case 'server':
      return Array.from({ length: SCHEDULES }, () => serverExpression(random))
    case 'leap day':
      return family(random, () => '29 2 *')
    case 'last weekday':
      return family(random, () => `31 12 ${random.int(1, 6)}L`)
    case 'either day':
      return family(random, () => `${random.int(1, 28)} * ${random.pick(['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'])}`)
  }
}

/** Siblings of a sparse expression: one alone would be timed with everything about it predicted. */
function family(random: Random, days: () => string): string[] {
  return Array.from({ length: 100 }, () => `${random.pick([0, 0, 15, 30])} ${random.pick([0, 0, 5, 12])} ${days()}`)
}

/** Reading expressions. `different` of them differ, and the rest are repetitions. */
export interface ParseWorkload {
  readonly name: string
  readonly different: 'all' | number
}

export const PARSE_COUNT = 20_000

export const PARSE_WORKLOADS: readonly ParseWorkload[] = [
  { name: 'parse, distinct expressions', different: 'all' },
  { name: 'parse, 200 expressions repeated', different: 200 },
]
