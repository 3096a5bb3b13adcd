import type { Coming, Run } from './types.ts'

/** A bar of the timeline, in time and rows. */
export interface GanttBar {
  readonly row: number
  /** Runs of a row that overlap lie in lanes below each other. */
  readonly lane: number
  readonly readyAt: number
  readonly from: number
  readonly to: number
  readonly tone: string
  /** It is yet to come. */
  readonly isGhost: boolean
  readonly title: string
  readonly fire: { readonly schedule: string; readonly dueAt: number; readonly nonce: string } | null
}

export interface GanttRow {
  readonly name: string
  readonly lanes: number
}

export interface Gantt {
  readonly rows: readonly GanttRow[]
  readonly bars: readonly GanttBar[]
}

export type Grouping = 'schedule' | 'instance'

const LANES_MOST = 4
const GHOST_MS = 1_000

/** Rows by schedule or instance; what is to come has no instance, so it is shown by schedule only. */
export function layOut(runs: readonly Run[], coming: readonly Coming[], by: Grouping, now: number): Gantt {
  const usual = usualDurations(runs)
  const ghosts = by === 'instance' ? [] : coming
  const names = [...new Set([...runs.map((run) => groupOf(run, by)), ...ghosts.map(({ schedule }) => schedule)])].sort()
  const rowOf = new Map(names.map((name, index) => [name, index]))
  const ends: number[][] = names.map(() => [])
  const bars: GanttBar[] = []
  for (const run of runs.toSorted((one, other) => one.startedAt - other.startedAt)) {
    const row = rowOf.get(groupOf(run, by))!
    const to = run.endedAt ?? now
    bars.push({
      ...{ row, lane: takeLane(ends[row]!, run.startedAt, to), from: run.startedAt, to },
      readyAt: run.startedAt - run.latenessMs,
      tone: run.endedAt === null ? 'open' : run.state,
      isGhost: false,
      title: `${run.schedule}, attempt ${run.attempt}: ${run.state}${run.instance === '' ? '' : ` on ${run.instance}`}`,
      fire: run,
    })
  }
  for (const { schedule, dueAt } of ghosts) {
    const row = rowOf.get(schedule)!
    const to = dueAt + Math.max(GHOST_MS, usual.get(schedule) ?? 0)
    const lane = takeLane(ends[row]!, dueAt, to)
    bars.push({
      row,
      lane,
      readyAt: dueAt,
      from: dueAt,
      to,
      tone: 'open',
      isGhost: true,
      title: `${schedule}, to come`,
      fire: null,
    })
  }
  return { rows: names.map((name, index) => ({ name, lanes: Math.max(1, ends[index]!.length) })), bars }
}

function groupOf({ schedule, instance }: Run, by: Grouping): string {
  return by === 'schedule' ? schedule : instance === '' ? 'no instance' : instance
}

function takeLane(ends: number[], from: number, to: number): number {
  const free = ends.findIndex((end) => end <= from)
  const lane = free >= 0 ? free : Math.min(ends.length, LANES_MOST - 1)
  ends[lane] = Math.max(to, ends[lane] ?? 0)
  return lane
}

/** The median, by schedule. */
function usualDurations(runs: readonly Run[]): ReadonlyMap<string, number> {
  const durations = new Map<string, number[]>()
  for (const { schedule, durationMs } of runs) {
    if (durationMs !== null) durations.set(schedule, [...(durations.get(schedule) ?? []), durationMs])
  }
  return new Map([...durations].map(([name, some]) => [name, some.sort((a, b) => a - b)[Math.floor(some.length / 2)]!]))
}
