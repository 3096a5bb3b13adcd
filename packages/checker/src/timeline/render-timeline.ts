import type { History, Time } from '../history.ts'
import type { Verdict } from '../verdict.ts'
import { drawHead } from './draw-head.ts'
import { drawLanes } from './draw-lanes.ts'
import { drawBalloons, drawFaults, drawNotes } from './draw-notes.ts'
import { drawSchedules } from './draw-schedules.ts'
import { createFrame, drawAxis, drawGrid, MARGIN } from './frame.ts'
import { createScene, endOf } from './scene.ts'
import { styleSheet } from './style.ts'
import { element, title } from './svg.ts'

export interface TimelineOptions {
  readonly title?: string
  /** The stretch to show. @default all of it */
  readonly from?: Time
  readonly to?: Time
  /** In pixels. @default 1600 */
  readonly width?: number
  /** Processes of the same slot share a lane. @default the name without a number behind a dot, `#`, `/`, `:` or `~` */
  readonly slotOf?: (node: string) => string
}

/** A picture of a history and what is wrong with it: one SVG that needs nothing else, the same for the same history. */
export function renderTimeline(history: History, verdict: Verdict, options: TimelineOptions = {}): string {
  const { title: name = 'What was due, what ran, and what happened meanwhile', width = 1600 } = options
  const { from = 0, to = endOf(history), slotOf = slotByName } = options
  const scene = createScene(history, verdict, { from, to, slotOf })
  const frame = createFrame(width, from, to)

  const head = drawHead(frame, scene, history, verdict, name)
  let y = head.height
  const faults = drawFaults(frame, scene.faults, y)
  y += faults.height
  const balloons = drawBalloons(frame, scene.accusations, y)
  y += balloons.height
  const plotTop = y
  const axis = drawAxis(frame, y)
  y += axis.height
  const schedules = drawSchedules(frame, scene.schedules, y)
  y += schedules.height
  const lanes = drawLanes(frame, scene.lanes, y)
  y += lanes.height
  const bottomAxis = drawAxis(frame, y)
  const plotBottom = y
  y += bottomAxis.height
  const notes = drawNotes(frame, scene.accusations, y)
  const height = y + notes.height + MARGIN / 2

  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${Math.ceil(height)}`,
      width,
      height: Math.ceil(height),
      role: 'img',
    },
    title(name),
    styleSheet(),
    element('rect', { class: 'ground', width: '100%', height: '100%' }),
    ...drawGrid(frame, plotTop + axis.height, plotBottom),
    ...[head, faults, axis, schedules, lanes, bottomAxis].flatMap(({ svg }) => svg),
    ...faults.shade(plotBottom),
    ...balloons.lines(plotBottom),
    ...balloons.svg,
    ...notes.svg,
  )
}

function slotByName(node: string): string {
  return node.replace(/[.#/:~]\d+$/, '')
}
