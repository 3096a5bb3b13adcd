import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Fault, marksOf } from '../core/faults.ts'
import type { Gantt, GanttBar, Grouping } from '../core/gantt.ts'
import { shownZone } from '../core/preferences.ts'
import { fireLink, go, link, scheduleLink } from '../core/router.ts'
import { timeTicks } from '../core/ticks.ts'
import { TimeAxis } from './axis.tsx'

/** Above this many bars a canvas is drawn: that many elements are slow. */
const SVG_MOST = 2_000
const SIZE = { lane: 14, gap: 8, width: 1_000, least: 2 } as const
const TICKS = 8
/** Marks that are nearer to each other, as a part of the picture, are one. */
const MARK_PART = 0.008
/** A ghost that is narrower has no room for dashes. */
const DASHED = 8

interface GanttViewProps {
  readonly gantt: Gantt
  readonly from: number
  readonly to: number
  readonly now: number
  readonly by: Grouping
  readonly faults: readonly Fault[]
}

interface Placed {
  readonly bar: GanttBar
  readonly x: number
  readonly y: number
  readonly width: number
  /** Where its wait begins. */
  readonly wait: number
}

/** Where each row begins, and the height of all. */
function topsOf({ rows }: Gantt): { readonly tops: readonly number[]; readonly height: number } {
  let y = 0
  const tops = rows.map(({ lanes }) => {
    const top = y
    y += lanes * SIZE.lane + SIZE.gap
    return top
  })
  return { tops, height: y }
}

function placeBars({ gantt, from, to }: GanttViewProps, tops: readonly number[]): readonly Placed[] {
  const x = (at: number): number => ((Math.min(to, Math.max(from, at)) - from) / (to - from)) * SIZE.width
  return gantt.bars
    .filter((bar) => bar.to >= from && bar.readyAt <= to)
    .map((bar) => ({
      bar,
      x: x(bar.from),
      y: tops[bar.row]! + bar.lane * SIZE.lane + SIZE.gap / 2,
      width: Math.max(SIZE.least, x(bar.to) - x(bar.from)),
      wait: x(bar.readyAt),
    }))
}

export function GanttView(props: GanttViewProps) {
  const { gantt, from, to, now, by, faults } = props
  const { tops, height } = topsOf(gantt)
  const placed = placeBars(props, tops)
  const Drawing = placed.length > SVG_MOST ? CanvasBars : SvgBars
  const zone = shownZone(undefined)
  const nowX = now > from && now < to ? ((now - from) / (to - from)) * SIZE.width : null
  return (
    <div class="gantt">
      <ul class="names">
        {gantt.rows.map(({ name, lanes }) => (
          <li key={name} style={{ height: `${lanes * SIZE.lane + SIZE.gap}px` }}>
            <a href={by === 'schedule' ? scheduleLink(name) : link(['fleet'])} title={name}>
              {name}
            </a>
          </li>
        ))}
      </ul>
      <div class="chart">
        <div class="lines" aria-hidden="true">
          {tops.map((top) => (
            <i key={top} style={{ top: `${top}px` }} />
          ))}
          {timeTicks(from, to, zone, TICKS).map(({ at }) => (
            <b key={at} style={{ left: `${((at - from) / (to - from)) * 100}%`, height: `${height}px` }} />
          ))}
        </div>
        <Drawing placed={placed} height={height} />
        {marksOf(faults, (to - from) * MARK_PART).map(({ at, text }) => (
          <i
            key={at}
            class="fault"
            style={{ left: `${((at - from) / (to - from)) * 100}%`, height: `${height}px` }}
            title={text}
          />
        ))}
        {nowX === null ? null : (
          <i class="now" style={{ left: `${(nowX / SIZE.width) * 100}%`, height: `${height}px` }} />
        )}
        <TimeAxis from={from} to={to} zone={zone} most={TICKS} />
      </div>
    </div>
  )
}

function SvgBars({ placed, height }: { placed: readonly Placed[]; height: number }) {
  return (
    <svg
      viewBox={`0 0 ${SIZE.width} ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-label={`${placed.length} bars`}
    >
      {placed.map((one) => (
        <SvgBar key={`${one.bar.row} ${one.bar.lane} ${one.bar.from} ${one.bar.title}`} {...one} />
      ))}
    </svg>
  )
}

function SvgBar({ bar, x, y, width, wait }: Placed) {
  const shape = (
    <>
      <title>{bar.title}</title>
      {wait < x ? <rect class="wait" x={wait} y={y + 4} width={x - wait} height={SIZE.lane - 10} /> : null}
      <rect
        class={`bar is-${bar.tone} ${bar.isGhost ? (width < DASHED ? 'ghost narrow' : 'ghost') : ''}`}
        x={x}
        y={y}
        width={width}
        height={SIZE.lane - 2}
      />
    </>
  )
  return bar.fire === null ? <g>{shape}</g> : <a href={fireLink(bar.fire)}>{shape}</a>
}

/** The same for very many. A click opens the fire below the pointer. */
function CanvasBars({ placed, height }: { placed: readonly Placed[]; height: number }) {
  const own = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const canvas = own.current!
    const draw = (): void => drawBars(canvas, placed, height)
    const watch = new ResizeObserver(draw)
    watch.observe(canvas.parentElement!)
    draw()
    return () => watch.disconnect()
  }, [placed, height])
  const open = (event: MouseEvent): void => {
    const x = (event.offsetX / own.current!.clientWidth) * SIZE.width
    const hit = placed.find(
      (one) => x >= one.x && x <= one.x + one.width && event.offsetY >= one.y && event.offsetY <= one.y + SIZE.lane,
    )
    if (hit?.bar.fire != null) go(fireLink(hit.bar.fire))
  }
  return <canvas ref={own} height={height} onClick={open} role="img" aria-label={`${placed.length} bars`} />
}

function drawBars(canvas: HTMLCanvasElement, placed: readonly Placed[], height: number): void {
  const scale = devicePixelRatio
  const width = canvas.parentElement!.clientWidth
  canvas.width = width * scale
  canvas.height = height * scale
  const style = getComputedStyle(canvas)
  const context = canvas.getContext('2d')!
  context.scale((width * scale) / SIZE.width, scale)
  for (const { bar, x, y, width: size } of placed) {
    context.globalAlpha = bar.isGhost ? 0.35 : 1
    context.fillStyle = style.getPropertyValue(`--${bar.tone}`)
    context.fillRect(x, y, size, SIZE.lane - 2)
  }
}
