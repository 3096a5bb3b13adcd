import { now } from '../core/clock.ts'
import { formatDuration } from '../core/format.ts'
import type { Proof } from '../core/proof.ts'
import { durationTicks } from '../core/ticks.ts'
import type { Run, StepView } from '../core/types.ts'
import { Scroll } from './scroll.tsx'

const SIZE = { row: 24, top: 22, foot: 20 } as const
const WIDE = { label: 150, width: 760, behind: 90, ticks: 6 } as const
/** Drawn at its own size, so that its texts can be read. */
const SMALL = { label: 74, width: 170, behind: 62, ticks: 2 } as const
const NARROW = matchMedia('(max-width: 720px)')
/** About the width of one, in a label. */
const CHARACTER = 7
/** A bar that is shorter could not be seen. */
const LEAST = 2

interface Bar {
  readonly label: string
  readonly from: number
  readonly to: number
  /** From when it could have started. */
  readonly readyAt: number
  readonly tone: string
  readonly isStep: boolean
  readonly words: string
}

/** Due → claimed → started → steps → ended, to scale; attempts below each other. */
export function Waterfall({ proof }: { proof: Proof }) {
  const { fire, runs, steps } = proof
  const bars = runs.flatMap((run) => [barOf(run), ...steps.filter(({ token }) => token === run.token).map(stepBar)])
  const start = Math.min(fire.dueAt, ...bars.map(({ readyAt }) => readyAt))
  const end = Math.max(fire.endedAt ?? now.value, start + 1, ...bars.map(({ to }) => to))
  const shape = NARROW.matches ? SMALL : WIDE
  const x = (at: number): number => shape.label + ((at - start) / (end - start)) * shape.width
  const height = SIZE.top + Math.max(1, bars.length) * SIZE.row + SIZE.foot
  const total = shape.label + shape.width + shape.behind
  return (
    <Scroll>
      <svg class="waterfall" viewBox={`0 0 ${total} ${height}`} role="img" aria-label={wordsOf(proof)}>
        <Ticks start={start} end={end} x={x} height={height} most={shape.ticks} />
        <path class="due" d={`M${x(fire.dueAt)} ${SIZE.top - 8}V${height - SIZE.foot}`} />
        <text class="small" x={x(fire.dueAt) + 4} y={SIZE.top - 8}>
          due
        </text>
        {bars.map((bar, index) => (
          <BarRow
            key={`${bar.label} ${bar.from}`}
            bar={bar}
            x={x}
            y={SIZE.top + index * SIZE.row}
            most={Math.floor(shape.label / CHARACTER)}
          />
        ))}
      </svg>
    </Scroll>
  )
}

function barOf(run: Run): Bar {
  const { attempt, startedAt, latenessMs, endedAt, state } = run
  const to = endedAt ?? now.value
  return {
    label: `attempt ${attempt}`,
    readyAt: startedAt - latenessMs,
    from: startedAt,
    to,
    tone: endedAt === null ? 'open' : state,
    isStep: false,
    words: `${formatDuration(to - startedAt)}${endedAt === null ? ' so far' : ''}`,
  }
}

function stepBar({ step, begunAt, endedAt, state }: StepView): Bar {
  const to = endedAt ?? begunAt
  return {
    label: step,
    readyAt: begunAt,
    from: begunAt,
    to,
    tone: state === 'failed' ? 'failed' : state === 'done' ? 'succeeded' : 'open',
    isStep: true,
    words: endedAt === null ? 'end unknown' : formatDuration(to - begunAt),
  }
}

interface BarRowProps {
  readonly bar: Bar
  readonly x: (at: number) => number
  readonly y: number
  /** Characters of its label. */
  readonly most: number
}

function BarRow({ bar, x, y, most }: BarRowProps) {
  const { label, from, to, readyAt, tone, isStep, words } = bar
  const width = Math.max(LEAST, x(to) - x(from))
  const inset = isStep ? 8 : 4
  return (
    <g>
      <text x={isStep ? 14 : 0} y={y + 16} class={isStep ? 'small' : ''}>
        {label.length > most ? `${label.slice(0, most - 1)}…` : label}
      </text>
      {readyAt < from ? <path class="wait" d={`M${x(readyAt)} ${y + 12}H${x(from)}`} /> : null}
      <rect class={`bar is-${tone}`} x={x(from)} y={y + inset} width={width} height={SIZE.row - 2 * inset} rx={2} />
      <text class="small" x={x(from) + width + 6} y={y + 16}>
        {words}
      </text>
    </g>
  )
}

interface TicksProps {
  readonly start: number
  readonly end: number
  readonly x: (at: number) => number
  readonly height: number
  readonly most: number
}

function Ticks({ start, end, x, height, most }: TicksProps) {
  return (
    <>
      {durationTicks(end - start, most).map((ms) => {
        const at = x(start + ms)
        return (
          <g key={ms}>
            <path class="tick" d={`M${at} ${SIZE.top}V${height - SIZE.foot}`} />
            <text class="small middle" x={at} y={height - 5}>
              {ms === 0 ? '0' : `+${formatDuration(ms)}`}
            </text>
          </g>
        )
      })}
    </>
  )
}

function wordsOf({ fire, runs }: Proof): string {
  const attempts = runs.map(
    ({ attempt, state, durationMs }) =>
      `attempt ${attempt} ${state}${durationMs === null ? '' : ` in ${formatDuration(durationMs)}`}`,
  )
  return `Due, then ${attempts.length === 0 ? 'never started' : attempts.join(', ')}; ${fire.state}`
}
