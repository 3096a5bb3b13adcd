import type { Operation } from '../history.ts'
import { type Block, box, drawHeading, drawName, type Frame } from './frame.ts'
import type { Due, ScheduleRow } from './scene.ts'
import { element, type Svg, text, title, widthOf } from './svg.ts'
import { describeTime } from './words.ts'

const ROW_HEIGHT = 22
const BOX_HEIGHT = 12
const HEADING_HEIGHT = 20
const NARROWEST = 3
const MARK_WIDTH = 9
/** More rows than a person reads. Schedules with violations come first then. */
const MOST_ROWS = 40

/** A row for each schedule: when it was due, how long until that was dealt with, and how. */
export function drawSchedules(frame: Frame, rows: readonly ScheduleRow[], top: number): Block {
  const shown =
    rows.length <= MOST_ROWS ? rows : rows.toSorted((one, other) => wrongs(other) - wrongs(one)).slice(0, MOST_ROWS)
  const hidden = rows.length - shown.length
  const svg = [drawHeading(hidden === 0 ? 'Schedules' : `Schedules (${hidden} more are not shown)`, top + 13)]
  let y = top + HEADING_HEIGHT
  for (const row of shown) {
    svg.push(drawName(row.schedule, y + BOX_HEIGHT))
    svg.push(box('band', frame.left, y + 1, frame.right - frame.left, BOX_HEIGHT + 4))
    svg.push(...row.dues.map((due, index) => drawDue(frame, due, row.dues[index + 1], y + 3)))
    svg.push(...row.operations.map((operation) => drawOperation(frame, operation, y)))
    y += ROW_HEIGHT
  }
  return { svg, height: y - top }
}

function wrongs({ dues }: ScheduleRow): number {
  return dues.filter(({ state }) => state === 'violated').length
}

/** Ends where the next one begins, so that neighbors can be distinguished. */
function drawDue(frame: Frame, due: Due, next: Due | undefined, y: number): Svg {
  const x = frame.x(due.from)
  const room = next === undefined ? Number.POSITIVE_INFINITY : frame.x(next.from) - x - 1
  const width = Math.max(Math.min(frame.x(due.to) - x, room), Math.min(NARROWEST, Math.max(1, room)))
  const words = `× ${due.count}`
  return element(
    'g',
    { class: `due due-${due.state}` },
    title(due.words),
    ...drawState(due, x, y, width),
    ...(due.count > 1 && width > widthOf(words, 9) + 8 ? [drawCount(words, x + width / 2, y)] : []),
  )
}

function drawState({ state }: Due, x: number, y: number, width: number): Svg[] {
  switch (state) {
    case 'succeeded':
    case 'failed':
      return [
        box(state, x, y, width, BOX_HEIGHT),
        ...(state === 'failed' ? [box('threw-edge', x, y + BOX_HEIGHT - 3, width, 3)] : []),
      ]
    case 'let-go':
      return [box('let-go', x, y, width, BOX_HEIGHT), box('outline line-muted', x, y, width, BOX_HEIGHT)]
    case 'open':
      return [box('outline line-muted dashed', x, y, width, BOX_HEIGHT)]
    case 'violated':
      return [
        box('accent', x, y - 4, Math.max(width, MARK_WIDTH), BOX_HEIGHT + 8),
        drawCross(x + MARK_WIDTH / 2, y + 6),
      ]
  }
}

/** A cross, for readers who do not see red. */
function drawCross(x: number, y: number): Svg {
  const path = `M${round(x - 2.5)} ${round(y - 2.5)}l5 5m0 -5l-5 5`
  return element('path', { class: 'outline line-on-accent', d: path, 'stroke-width': 1.8 })
}

function drawCount(words: string, x: number, y: number): Svg {
  const width = widthOf(words, 9) + 4
  const label = text({ class: 'ink small middle', x, y: y + 9 }, words)
  return box('ground', x - width / 2, y + 1, width, BOX_HEIGHT - 2) + label
}

function drawOperation(frame: Frame, operation: Operation, y: number): Svg {
  const x = frame.x(operation.at)
  const words = `${operation.verb} ${operation.schedule}, ${operation.result}, at ${describeTime(operation.at, 1)}`
  const path = `M${round(x)} ${round(y + 3)}l-4 -6h8z`
  return element('path', { class: 'operator', d: path }, title(words))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
