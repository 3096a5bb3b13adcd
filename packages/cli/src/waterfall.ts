import type { FireView, RunView } from 'cronce'
import { formatDuration } from './format.ts'
import { stateColor } from './outcome-words.ts'
import type { Paint } from './terminal.ts'

const LEAST = 20
const LABEL = 12

/** The legend of the bars. */
export const BAR_WORDS = '· not ready yet  - waiting for a start  █ running  ▸ still running'

/**
 * When a fire was due, ready, started and ended, as bars under each other. Time is to scale within a line, but for what is too short to be seen, which is one character.
 */
export function waterfall(
  fire: Pick<FireView, 'dueAt' | 'readyAt' | 'endedAt'>,
  runs: readonly RunView[],
  { now, width, paint }: { readonly now: number; readonly width: number; readonly paint: Paint },
): string[] {
  const room = Math.max(LEAST, width - LABEL - 24)
  const sorted = [...runs].sort((a, b) => a.startedAt - b.startedAt)
  const ends = sorted.map(({ endedAt }) => endedAt ?? now)
  const begin = Math.min(fire.dueAt, ...sorted.map(({ startedAt }) => startedAt))
  const end = Math.max(fire.endedAt ?? now, begin + 1, ...ends)
  const column = (at: number): number =>
    Math.min(room - 1, Math.max(0, Math.floor(((at - begin) / (end - begin)) * room)))
  const line = (label: string, bar: string, words: string): string =>
    `${label.padEnd(LABEL)}${bar.padEnd(room)}  ${words}`.trimEnd()
  const lines = [line('due', `${' '.repeat(column(fire.dueAt))}│`, '')]
  let free = fire.dueAt
  for (const [index, run] of sorted.entries()) {
    const readyAt = Math.max(free, run.startedAt - run.latenessMs)
    const endedAt = ends[index]!
    const blanks = column(free)
    const delay = Math.max(0, column(readyAt) - blanks)
    const wait = Math.max(0, column(run.startedAt) - blanks - delay)
    const length = Math.max(1, column(endedAt) - column(run.startedAt) + 1)
    const bar = ' '.repeat(blanks) + '·'.repeat(delay) + '-'.repeat(wait)
    const isOpen = run.endedAt === null
    const words = `${formatDuration(endedAt - run.startedAt)}${isOpen ? ' so far' : ''}`
    const painted = paint(
      stateColor(run.state),
      isOpen ? `${'█'.repeat(Math.max(0, length - 1))}▸` : '█'.repeat(length),
    )
    const tail = ' '.repeat(Math.max(0, room - bar.length - length))
    lines.push(`${`attempt ${run.attempt}`.padEnd(LABEL)}${bar}${painted}${tail}  ${words}`.trimEnd())
    free = endedAt
  }
  const total = formatDuration(end - begin)
  lines.push(
    line('', `${' '.repeat(column(end))}│`, fire.endedAt === null ? `open for ${total}` : `ended after ${total}`),
  )
  return lines
}
