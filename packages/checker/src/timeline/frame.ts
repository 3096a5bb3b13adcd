import type { Time } from '../history.ts'
import { FONT_SIZE } from './style.ts'
import { element, fit, type Svg, text, title } from './svg.ts'
import { chooseTicks, describeTime } from './words.ts'

/** Where things are: names on the left, time to the right. */
export interface Frame {
  readonly width: number
  readonly left: number
  readonly right: number
  /** Clamped to the window. */
  x(time: Time): number
  readonly from: Time
  readonly to: Time
}

/** Something drawn, and how much room it took below where it began. */
export interface Block {
  readonly svg: readonly Svg[]
  readonly height: number
}

export const NAME_WIDTH = 170
export const MARGIN = 24
const TICK_WIDTH = 90
export const AXIS_HEIGHT = 20

export function createFrame(width: number, from: Time, to: Time): Frame {
  const left = MARGIN + NAME_WIDTH
  const right = width - MARGIN
  const perMs = (right - left) / Math.max(1, to - from)
  const x = (time: Time) => left + (Math.min(to, Math.max(from, time)) - from) * perMs
  return { width, left, right, x, from, to }
}

export function drawAxis(frame: Frame, y: number): Block {
  const { stepMs, ticks } = chooseTicks(frame.from, frame.to, Math.floor((frame.right - frame.left) / TICK_WIDTH))
  const svg = ticks.map((tick) => {
    const x = frame.x(tick)
    const isAtEdge = x > frame.right - TICK_WIDTH / 3
    return text({ class: `muted ${isAtEdge ? 'end' : 'middle'}`, x, y: y + 13 }, describeTime(tick, stepMs))
  })
  return { svg, height: AXIS_HEIGHT }
}

export function drawGrid(frame: Frame, top: number, bottom: number): Svg[] {
  const { ticks } = chooseTicks(frame.from, frame.to, Math.floor((frame.right - frame.left) / TICK_WIDTH))
  return ticks.map((tick) => line('grid', frame.x(tick), top, frame.x(tick), bottom))
}

export function line(className: string, x1: number, y1: number, x2: number, y2: number): Svg {
  return element('line', { class: className, x1, y1, x2, y2 })
}

export function box(className: string, x: number, y: number, width: number, height: number, ...children: Svg[]): Svg {
  return element('rect', { class: className, x, y, width, height }, ...children)
}

export function drawName(name: string, y: number): Svg {
  const shown = fit(name, NAME_WIDTH - 12, FONT_SIZE)
  return element(
    'g',
    {},
    text({ class: 'ink end', x: MARGIN + NAME_WIDTH - 10, y }, shown),
    ...(shown === name ? [] : [title(name)]),
  )
}

export function drawHeading(words: string, y: number): Svg {
  return text({ class: 'muted strong', x: MARGIN, y }, words)
}
