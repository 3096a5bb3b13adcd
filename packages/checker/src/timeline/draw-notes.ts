import type { Fault } from '../history.ts'
import { PROPERTIES } from '../verdict.ts'
import { type Block, box, drawHeading, type Frame, line, MARGIN } from './frame.ts'
import type { Accusation } from './scene.ts'
import { FONT_SIZE } from './style.ts'
import { element, packRows, type Svg, text, title, widthOf, wrap } from './svg.ts'
import { describeTime } from './words.ts'

const LABEL_HEIGHT = 15
const BALLOON = 9
const MOST_LABEL_ROWS = 4
/** Beyond this they are counted only. */
const MOST_NOTES = 12

/** What concerned all nodes: names above, shade over everything down to the bottom. */
export function drawFaults(
  frame: Frame,
  faults: readonly Fault[],
  top: number,
): Block & { shade(bottom: number): Svg[] } {
  const sorted = faults.toSorted((one, other) => one.at - other.at)
  const spans = sorted.map(({ at, fault }) => {
    const width = widthOf(fault, FONT_SIZE) + 8
    const from = Math.min(frame.x(at), frame.right - width)
    return { from, to: from + width }
  })
  const rows = packRows(spans, MOST_LABEL_ROWS)
  const last: number[] = []
  const svg = sorted.flatMap((fault, index) => {
    const { from, to } = spans[index]!
    const row = rows[index]!
    if ((last[row] ?? 0) > from) return []
    last[row] = to
    return [text({ class: 'ink', x: from + 3, y: top + row * LABEL_HEIGHT + 11 }, fault.fault)]
  })
  const rowCount = Math.max(0, ...rows.map((row) => row + 1))
  const shade = (bottom: number) =>
    sorted.map((fault, index) => {
      const y = top + rows[index]! * LABEL_HEIGHT
      const width = Math.max(1.5, frame.x(fault.until) - frame.x(fault.at))
      const words = `${fault.fault}, ${describeTime(fault.at, 1)} to ${describeTime(fault.until, 1)}`
      const edge = line('line-shade dashed', frame.x(fault.at), y, frame.x(fault.at), bottom)
      const area = box('shade', frame.x(fault.at), y, width, bottom - y)
      return element('g', { class: 'fault' }, title(words), area, edge)
    })
  return { svg, height: rowCount * LABEL_HEIGHT, shade }
}

/** Numbered balloons above, a line through everything, and what is wrong in words below. */
export function drawBalloons(
  frame: Frame,
  accusations: readonly Accusation[],
  top: number,
): Block & { lines(bottom: number): Svg[] } {
  const placed = accusations
    .slice(0, MOST_NOTES)
    .flatMap(({ at, ...rest }) =>
      at === null || at < frame.from || at > frame.to ? [] : [{ ...rest, x: frame.x(at) }],
    )
    .toSorted((one, other) => one.x - other.x)
  const rows = packRows(
    placed.map(({ x }) => ({ from: x - BALLOON - 1, to: x + BALLOON + 1 })),
    MOST_LABEL_ROWS,
  )
  const yOf = (index: number) => top + BALLOON + 1 + rows[index]! * (2 * BALLOON + 2)
  const svg = placed.map(({ x, number, violation }, index) =>
    element(
      'g',
      { class: 'violation' },
      title(`${violation.property}: ${violation.message}`),
      element('circle', { class: 'accent', cx: x, cy: yOf(index), r: BALLOON }),
      text({ class: 'on-accent strong middle', x, y: yOf(index) + 4 }, String(number)),
    ),
  )
  const rowCount = Math.max(0, ...rows.map((row) => row + 1))
  return {
    svg,
    height: rowCount * (2 * BALLOON + 2) + (rowCount > 0 ? 4 : 0),
    lines: (bottom) => placed.map(({ x }, index) => line('line-accent', x, yOf(index) + BALLOON, x, bottom)),
  }
}

export function drawNotes(frame: Frame, accusations: readonly Accusation[], top: number): Block {
  if (accusations.length === 0) return { svg: [], height: 0 }
  const svg = [drawHeading('Violations', top + 18)]
  let y = top + 38
  const left = MARGIN + 26
  for (const { number, violation } of accusations.slice(0, MOST_NOTES)) {
    svg.push(
      element('circle', { class: 'accent', cx: MARGIN + 10, cy: y, r: BALLOON }),
      text({ class: 'on-accent strong middle', x: MARGIN + 10, y: y + 4 }, String(number)),
      text({ class: 'ink strong', x: left, y: y + 4 }, `${violation.property}  ${PROPERTIES[violation.property]}`),
    )
    for (const words of wrap(violation.message, frame.right - left, FONT_SIZE)) {
      y += LABEL_HEIGHT
      svg.push(text({ class: 'ink', x: left, y: y + 4 }, words))
    }
    y += 24
  }
  const rest = accusations.length - MOST_NOTES
  if (rest > 0) svg.push(text({ class: 'ink', x: left, y: y + 4 }, `and ${rest} more`))
  return { svg, height: y - top + (rest > 0 ? 16 : 0) }
}
