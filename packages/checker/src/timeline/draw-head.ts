import type { History } from '../history.ts'
import type { Verdict } from '../verdict.ts'
import { isMomentary } from './draw-lanes.ts'
import { type Block, box, type Frame, MARGIN } from './frame.ts'
import type { DueState, Ending, Scene } from './scene.ts'
import { FONT_SIZE } from './style.ts'
import { element, fit, type Svg, text, widthOf } from './svg.ts'
import { countOf, describeInstant, describeTime } from './words.ts'

const SWATCH = 22
const LINE_HEIGHT = 20

/** Title, numbers of the whole history, and what the shapes mean. */
export function drawHead(frame: Frame, scene: Scene, history: History, verdict: Verdict, name: string): Block {
  const { length } = verdict.violations
  const judged = length === 0 ? '✓ no violations' : `✗ ${countOf(length, 'violation')}`
  const badgeWidth = widthOf(judged, 13) + 24
  const legend = drawLegend(frame, scene, 84)
  return {
    svg: [
      text({ class: 'ink title', x: MARGIN, y: 36 }, fit(name, frame.right - MARGIN - badgeWidth - 20, 20)),
      text({ class: 'muted sub', x: MARGIN, y: 58 }, describeNumbers(scene, history)),
      element('rect', {
        class: length === 0 ? 'succeeded' : 'accent',
        x: frame.right - badgeWidth,
        y: 18,
        width: badgeWidth,
        height: 26,
        rx: 13,
      }),
      text({ class: 'on-accent sub strong middle', x: frame.right - badgeWidth / 2, y: 36 }, judged),
      ...legend.svg,
    ],
    height: 84 + legend.height + 14,
  }
}

function describeNumbers(scene: Scene, { entries, epoch }: History): string {
  const starts = entries.filter((entry) => entry.kind === 'start')
  const fires = new Set(starts.map(({ schedule, dueAt, nonce }) => `${schedule} ${dueAt} ${nonce}`)).size
  const faults = entries.filter(({ kind }) => kind === 'fault' || kind === 'clock').length
  const shown = `${describeTime(scene.from, 1000)} to ${describeTime(scene.to, 1000)} after ${describeInstant(epoch)} UTC`
  return [countOf(fires, 'fire'), countOf(starts.length, 'run'), countOf(faults, 'fault'), shown].join('  ·  ')
}

const ENDINGS: readonly (readonly [Ending, string])[] = [
  ['succeeded', 'ran to its end'],
  ['threw', 'threw'],
  ['cut-short', 'cut short'],
  ['fenced', 'overtaken and refused'],
  ['running', 'still running'],
]
const DUES: readonly (readonly [DueState, string])[] = [
  ['let-go', 'skipped, missed or cancelled'],
  ['violated', 'violated'],
]

/** Only for what the picture contains. */
function drawLegend(frame: Frame, scene: Scene, top: number): Block {
  const endings = new Set(scene.lanes.flatMap(({ bars }) => bars.map(({ ending }) => ending)))
  const states = new Set(scene.schedules.flatMap(({ dues }) => dues.map(({ state }) => state)))
  const faults = [...scene.faults, ...scene.lanes.flatMap((lane) => lane.faults)]
  const entries: (readonly [string, string])[] = [
    ...ENDINGS.filter(([ending]) => endings.has(ending)),
    ...DUES.filter(([state]) => states.has(state)),
    ...(!faults.every(isMomentary) ? [['fault', 'fault, while it lasted'] as const] : []),
    ...(faults.some(isMomentary) ? [['moment', 'kill, or another fault of a moment'] as const] : []),
    ...(scene.schedules.some(({ operations }) => operations.length > 0)
      ? [['operation', 'an operator, or a deploy'] as const]
      : []),
  ]
  const svg: Svg[] = []
  let x = MARGIN
  let y = top
  for (const [shape, words] of entries) {
    const width = SWATCH + 8 + widthOf(words, FONT_SIZE) + 18
    if (x + width > frame.right) {
      x = MARGIN
      y += LINE_HEIGHT
    }
    svg.push(...drawSwatch(shape, x, y - 10), text({ class: 'muted', x: x + SWATCH + 8, y }, words))
    x += width
  }
  return { svg, height: y - top }
}

function drawSwatch(shape: string, x: number, y: number): Svg[] {
  const whole = (className: string) => box(className, x, y, SWATCH, 12)
  switch (shape) {
    case 'threw':
      return [whole('threw'), box('threw-edge', x + SWATCH - 2.5, y, 2.5, 12)]
    case 'cut-short':
      return [
        element('path', {
          class: 'outline line-muted',
          d: `M${x + SWATCH} ${y}H${x}v12H${x + SWATCH}`,
          'stroke-width': 1.4,
        }),
      ]
    case 'running':
      return [whole('outline line-muted dashed')]
    case 'fenced':
    case 'let-go':
      return [whole(shape), whole(`outline line-${shape === 'fenced' ? 'fenced' : 'muted'}`)]
    case 'violated':
      return [whole('accent')]
    case 'fault':
      return [whole('shade'), box('pause', x + SWATCH / 2, y, SWATCH / 2, 12), whole('outline line-shade')]
    case 'moment':
      return [
        element('path', { class: 'outline line-shade', d: `M${x + 7} ${y + 2}l8 8m0 -8l-8 8`, 'stroke-width': 2 }),
      ]
    case 'operation':
      return [element('path', { class: 'operator', d: `M${x + 11} ${y + 9}l-4 -6h8z` })]
    default:
      return [whole('succeeded')]
  }
}
