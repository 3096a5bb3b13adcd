import { formatCount, formatDuration, formatLocal, formatUtc, precisionFor } from '../format.ts'
import { counted } from '../steer/say.ts'
import { triggerZone } from '../trigger-words.ts'
import type { ComparedFires, MovedFire } from './compare-fires.ts'
import { ruleWords } from './differences.ts'
import type { ChangeKind } from './find-changes.ts'
import type { Plan } from './make-plan.ts'
import type { PlannedChange } from './planned-change.ts'

// What a plan says, for the terminal and for Markdown alike.

export const MARKS: Readonly<Record<ChangeKind, string>> = {
  ...{ added: '+', returned: '+', changed: '~', renamed: '>', retired: '-', undeclared: '?', refused: '!' },
}

/** `1 added, 2 changed, 9 unchanged` */
export function countWords({ changes, unchanged }: Plan): string {
  const kinds = Object.keys(MARKS) as ChangeKind[]
  const counts = kinds.map((kind) => ({ kind, count: changes.filter((change) => change.kind === kind).length }))
  const said = counts.filter(({ count }) => count > 0).map(({ kind, count }) => `${formatCount(count)} ${kind}`)
  return [...said, `${formatCount(unchanged)} unchanged`].join(', ')
}

/** What becomes of the schedule. */
export function kindWords(change: PlannedChange, { holdDownMs }: Plan): string {
  const { kind, was, after, refusal } = change
  switch (kind) {
    case 'added':
    case 'returned':
      return `${kind}: ${ruleWords(after!)}`
    case 'changed':
      return 'changed'
    case 'renamed':
      return `renamed, was ${was}`
    case 'retired':
      return `retired, ${formatDuration(holdDownMs)} after the last older process has ended`
    case 'undeclared':
      return 'no longer declared'
    case 'refused':
      return `refused: ${refusal!.code}`
  }
}

/** What becomes of the due times; `null`: nothing. */
export function fireWords(change: PlannedChange): string | null {
  const { fires, kind } = change
  if (kind === 'refused') return null
  if (kind === 'added' || kind === 'returned') return `${counted(fires.after, 'new due time')}${untilWords(fires)}`
  const parts = [
    fires.moved.length === 0 ? null : `${formatCount(fires.moved.length)} moved${byWords(fires.moved)}`,
    fires.lost.length === 0 ? null : `${formatCount(fires.lost.length)} lost`,
    fires.added.length === 0 ? null : `${formatCount(fires.added.length)} added`,
  ].filter((part) => part !== null)
  if (parts.length === 0) return null
  return `of ${counted(fires.before, 'due time')}${untilWords(fires)}: ${parts.join(', ')}`
}

function untilWords({ until }: ComparedFires): string {
  return ` before ${formatUtc(until).slice(0, 10)}`
}

/** How far, if that is the same for most of them. */
function byWords(moved: readonly MovedFire[]): string {
  const counts = new Map<number, number>()
  for (const { from, to } of moved) counts.set(to - from, (counts.get(to - from) ?? 0) + 1)
  const [ms, count] = [...counts].sort(([, one], [, other]) => other - one)[0]!
  const words = `${formatDuration(Math.abs(ms))} ${ms > 0 ? 'later' : 'earlier'}`
  return count === moved.length ? ` ${words}` : `, most of them ${words}`
}

/** Rows of the next due times, before and after, each in its zone. */
export function nextRows({
  next,
  before,
  after,
}: PlannedChange): readonly (readonly [before: string, after: string])[] {
  const said = (times: readonly number[], schedule: PlannedChange['after']): readonly string[] => {
    const tz = triggerZone(schedule?.trigger ?? null)
    return times.map((at) => formatLocal(at, tz, precisionFor(times, tz)))
  }
  const [was, is] = [said(next.before, before), said(next.after, after)]
  return Array.from({ length: Math.max(was.length, is.length) }, (_, index) => [was[index] ?? '', is[index] ?? ''])
}

/** Whether the next due times are worth a list: they differ. */
export function hasOtherTimes({ kind, next }: PlannedChange): boolean {
  return kind !== 'refused' && next.before.join() !== next.after.join()
}

/** The busiest hour before and after. */
export function loadWords({ load: { before, after } }: Plan): readonly string[] {
  const hours = (forecast: typeof before): string => {
    const most = Math.max(0, ...forecast.hours.map(({ fires }) => fires))
    const busy = forecast.hours.find(({ fires }) => fires === most)
    const at =
      busy === undefined || most === 0 ? '' : `, ${new Date(busy.wall).toISOString().slice(0, 16).replace('T', ' ')}`
    return `${counted(forecast.fires, 'fire')} in ${counted(forecast.days, 'day')}, ${formatCount(most)} in the busiest hour${at}`
  }
  return [`before: ${hours(before)}`, `after: ${hours(after)}`]
}

/** How to spread schedules that are due at the same moments. */
export function spreadWords({ collisions }: Plan): readonly string[] {
  const advised = new Map(collisions.flatMap(({ advice }) => advice).map((advice) => [advice.name, advice]))
  const said = [...advised.values()].map(
    ({ name, expression, instead }) => `${name}: cron: '${expression}' instead of '${instead}', or jitter: '10m'`,
  )
  return said.slice(0, MOST_SPREAD)
}

const MOST_SPREAD = 5
/** Schedules at one moment that are worth a word. */
const CROWD = 3

/** Moments of the day at which many schedules are due together. */
export function crowdWords({ collisions }: Plan): readonly string[] {
  return collisions
    .filter(({ most }) => most >= CROWD)
    .slice(0, MOST_SPREAD)
    .map(
      ({ words, most, times }) =>
        `${words}: ${counted(most, 'schedule')} at the same moment, ${counted(times, 'time')} in a week`,
    )
}
