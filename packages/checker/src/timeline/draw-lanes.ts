import type { Fault, NodeEntry, Time } from '../history.ts'
import { type Block, box, drawHeading, drawName, type Frame, line } from './frame.ts'
import type { Bar, Lane } from './scene.ts'
import { element, fit, packRows, type Svg, text, title, widthOf } from './svg.ts'
import { describeInstant, describeTime } from './words.ts'

const HEADING_HEIGHT = 24
/** Above the bars of a lane: what happened to the node. */
const HEAD_HEIGHT = 14
const BAR_HEIGHT = 12
const BAR_GAP = 2
const LANE_GAP = 8
const NARROWEST = 1.5
/** Runs beside each other that are drawn apart. */
const MOST_ROWS = 8

/** A lane for each place where processes ran: when they were there, what was done to them, and what they ran. */
export function drawLanes(frame: Frame, lanes: readonly Lane[], top: number): Block {
  const svg = [drawHeading('Nodes', top + 15)]
  let y = top + HEADING_HEIGHT
  for (const lane of lanes) {
    const block = drawLane(frame, lane, y)
    svg.push(...block.svg)
    y += block.height + LANE_GAP
  }
  return { svg, height: y - top }
}

function drawLane(frame: Frame, lane: Lane, y: number): Block {
  const spans = lane.bars.map((bar) => spanOf(frame, bar))
  const rows = packRows(
    spans.map(({ from, to }) => ({ from, to: to + 1 })),
    MOST_ROWS,
  )
  const rowCount = Math.max(1, ...rows.map((row) => row + 1))
  const height = HEAD_HEIGHT + rowCount * (BAR_HEIGHT + BAR_GAP) + 2
  const bars = lane.bars.map((bar, index) => {
    const barY = y + HEAD_HEIGHT + rows[index]! * (BAR_HEIGHT + BAR_GAP)
    return drawBar(bar, spans[index]!, barY)
  })
  return {
    svg: [
      drawName(lane.slot, y + height / 2 + 4),
      box('band', frame.left, y, frame.right - frame.left, height),
      ...drawLives(frame, lane.nodes, y, height),
      ...bars,
      ...drawNodeFaults(frame, lane.faults, y, height),
    ],
    height,
  }
}

function spanOf(frame: Frame, bar: Bar): { from: number; to: number } {
  const from = frame.x(bar.start.at)
  return { from, to: Math.max(frame.x(bar.to), from + NARROWEST) }
}

/** From ready to its end. While it starts up there is only a line. */
function drawLives(frame: Frame, nodes: readonly NodeEntry[], y: number, height: number): Svg[] {
  return [...Map.groupBy(nodes, ({ node }) => node)].flatMap(([node, entries]) => {
    const at = (what: NodeEntry['what']): Time | undefined => entries.find((entry) => entry.what === what)?.at
    const end = at('ended') ?? frame.to
    const began = at('started') ?? at('ready') ?? frame.from
    const ready = at('ready') ?? end
    if (end < frame.from || began > frame.to) return []
    const [x0, x1, x2] = [frame.x(began), frame.x(ready), frame.x(end)] as const
    const stopping = at('stopping')
    const words = `${node}: ready from ${describeTime(ready, 1)} to ${describeTime(end, 1)}`
    return [
      line('line-muted dashed', x0, y + height / 2, x1, y + height / 2),
      box('alive', x1, y, Math.max(0, x2 - x1), height, title(words)),
      ...(stopping === undefined
        ? []
        : [box('muted', frame.x(stopping), y, 2, height, title(`${node} is asked to stop`))]),
    ]
  })
}

function drawBar(bar: Bar, { from, to }: { from: number; to: number }, y: number): Svg {
  const width = to - from
  const { schedule, attempt } = bar.start
  const label = attempt > 1 ? `${schedule} #${attempt}` : schedule
  const shown = bar.ending === 'succeeded' && width > 30 ? fit(label, width - 6, 9) : ''
  const path = `M${round(to)} ${round(y)}H${round(from)}v${BAR_HEIGHT}H${round(to)}`
  const shape = {
    succeeded: [box('succeeded', from, y, width, BAR_HEIGHT)],
    threw: [
      box('threw', from, y, width, BAR_HEIGHT),
      box('threw-edge', Math.max(from, to - 2.5), y, Math.min(width, 2.5), BAR_HEIGHT),
    ],
    fenced: [box('fenced', from, y, width, BAR_HEIGHT), box('outline line-fenced', from, y, width, BAR_HEIGHT)],
    // Open to the right: its end was not seen.
    'cut-short': [element('path', { class: 'ground line-muted', d: path, 'stroke-width': 1.4 })],
    running: [element('path', { class: 'outline line-muted dashed', d: path })],
  }[bar.ending]
  return element(
    'g',
    { class: `bar bar-${bar.ending}` },
    title(describeBar(bar)),
    ...shape,
    ...(bar.isAccused ? [box('outline line-accent accused', from - 1.5, y - 1.5, width + 3, BAR_HEIGHT + 3)] : []),
    ...(shown === '' ? [] : [text({ class: 'on-bar small', x: from + 3, y: y + 9 }, shown)]),
  )
}

function describeBar({ start, to, ending }: Bar): string {
  const times = `${describeTime(start.at, 1)} to ${describeTime(to, 1)} on ${start.node}`
  return `${start.schedule}, due ${describeInstant(start.dueAt)}\nattempt ${start.attempt}, token ${start.token}, ${ending}\n${times}`
}

/** Named if there is room; the others show their name on hovering. */
function drawNodeFaults(frame: Frame, faults: readonly Fault[], y: number, height: number): Svg[] {
  let freeFrom = frame.left
  return faults
    .toSorted((one, other) => one.at - other.at)
    .map((fault, index, sorted) => {
      const next = sorted[index + 1]
      const x = frame.x(fault.at)
      const isMoment = isMomentary(fault)
      const named = x + (isMoment ? 6 : 2)
      const end = named + widthOf(fault.fault, 9)
      const hasRoom = named >= freeFrom && end <= (next === undefined ? frame.right : frame.x(next.at) - 4)
      if (hasRoom) freeFrom = end + 4
      return element(
        'g',
        { class: 'fault' },
        title(`${fault.fault} of ${fault.node}, ${describeTime(fault.at, 1)} to ${describeTime(fault.until, 1)}`),
        ...(isMoment ? drawMoment(x, y, height) : drawStretch(x, frame.x(fault.until) - x, fault.fault, y, height)),
        ...(hasRoom ? [text({ class: 'ink small', x: named, y: y + 10 }, fault.fault)] : []),
      )
    })
}

/** A kill is over at once, even if the controller waited for the process to end. */
export function isMomentary({ at, until, fault }: Fault): boolean {
  return at === until || /^(kill|crash)/.test(fault)
}

function drawMoment(x: number, y: number, height: number): Svg[] {
  const cross = `M${round(x - 4)} ${round(y + 3)}l8 8m0 -8l-8 8`
  return [
    line('line-shade', x, y + 11, x, y + height),
    element('path', { class: 'outline line-shade', d: cross, 'stroke-width': 2 }),
  ]
}

function drawStretch(x: number, width: number, fault: string, y: number, height: number): Svg[] {
  const isPause = /pause|stop|freeze|block/.test(fault)
  return [
    box(isPause ? 'pause' : 'shade', x, y, Math.max(width, 1.5), height),
    box('outline line-shade', x, y, Math.max(width, 1.5), height),
  ]
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
