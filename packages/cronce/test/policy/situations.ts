import assert from 'node:assert/strict'
import { DEFAULT_POLICY, type MisfirePolicy, type OverlapPolicy } from '../../src/model/policy.ts'
import type { Instant } from '../../src/model/schedule.ts'
import { given, type Keeper, MINUTE, NOON, SECOND } from './keeper.ts'

/**
 * The situations of docs/policies.md, played. A is active, W waits, N is the new instant, due at 12:04, after which there is none.
 * A fire is late after a minute; nothing is run that is first found more than ten minutes late.
 */
export const SITUATIONS = {
  'nothing is open': { instants: '4', play: () => {} },
  'W waits, on time': { instants: '3,4', play: (keeper: Keeper) => lookAt(keeper, 3 * MINUTE, 0) },
  'W waits, late': { instants: '3,4', play: (keeper: Keeper) => lookAt(keeper, 3 * MINUTE, 0) },
  'W waits, found late before': {
    instants: '2,4',
    play: (keeper: Keeper) => {
      lookAt(keeper, 2 * MINUTE, 0)
      lookAt(keeper, 3.5 * MINUTE, 0)
    },
  },
  'A is active': { instants: '2,4', play: (keeper: Keeper) => lookAt(keeper, 2 * MINUTE, 1) },
  'A is active, W waits': { instants: '2,3,4', play: (keeper: Keeper) => lookAt(keeper, 3 * MINUTE, 1) },
  'A is active, W waits beyond the grace': {
    instants: '2,3,4',
    play: (keeper: Keeper) => lookAt(keeper, 3 * MINUTE, 1),
  },
} as const

export type Situation = keyof typeof SITUATIONS

/** When the decision about N is made. */
export const LATENESS = { 'on time': 0, late: 2 * MINUTE, 'beyond the window': 11 * MINUTE } as const
export type Lateness = keyof typeof LATENESS

export const OVERLAPS: Readonly<Record<string, OverlapPolicy>> = {
  skip: { kind: 'skip', limit: 1 },
  queue: { kind: 'queue', limit: 1 },
  'queue-all (1)': { kind: 'queue-all', limit: 1 },
  'allow (2)': { kind: 'allow', limit: 2 },
  replace: { kind: 'replace', limit: 1 },
}

/** What becomes of N, and of W and A where that is something: `N opens, W superseded`. */
export function play(
  misfire: MisfirePolicy['late'],
  overlap: string,
  situation: Situation,
  lateness: Lateness,
): string {
  const { instants, play: prepare } = SITUATIONS[situation]
  const keeper = given({
    trigger: { kind: 'cron', expression: `${instants} 12 1 6 *`, tz: 'UTC' },
    end: NOON + 5 * MINUTE,
    policy: {
      overlap: OVERLAPS[overlap]!,
      misfire: { ...DEFAULT_POLICY.misfire, late: misfire, graceMs: MINUTE, windowMs: 10 * MINUTE },
    },
  })
  prepare(keeper)
  const minutes = instants.split(',').map(Number)
  const a = situation.startsWith('A') ? NOON + minutes[0]! * MINUTE : null
  const w = situation.includes('W') ? NOON + minutes.at(-2)! * MINUTE : null
  // Some policies do not let it come about.
  if (keeper.it.open.length < minutes.length - 1) return '–'
  const isBeyond = situation.endsWith('late') || situation.endsWith('grace')
  lookAt(keeper, 4 * MINUTE + LATENESS[lateness] + (isBeyond ? SECOND : 0), 0)
  const told = [`N ${becomes(keeper, NOON + 4 * MINUTE)}`]
  if (w !== null) told.push(`W ${becomes(keeper, w)}`)
  if (a !== null && keeper.it.open.some(({ run }) => run?.cancel)) told.push('A is cancelled')
  return told.join(', ').replace(', W opens', '')
}

function lookAt(keeper: Keeper, at: number, room: number): void {
  keeper.now = NOON + at
  keeper.advance({ room })
}

function becomes(keeper: Keeper, dueAt: Instant): string {
  const record = keeper.list().find((fire) => fire.dueAt === dueAt)
  assert.ok(record !== undefined)
  return record.ending?.reason ?? 'opens'
}
