import { formatDuration } from '../core/format.ts'
import type { StripData, StripFire } from '../core/types.ts'

const SIZE = { width: 900, height: 90 } as const

/** Duration and lateness of the latest fires, as two small charts. */
export function Trend({ strip }: { strip: StripData }) {
  const run = strip.fires.filter(({ durationMs }) => durationMs !== null).toReversed()
  if (run.length < 2) return null
  return (
    <div class="columns two trends">
      <Chart title="Duration" fires={run} value={({ durationMs }) => durationMs!} />
      <Chart title="Late by" fires={run} value={({ latenessMs }) => latenessMs ?? 0} />
    </div>
  )
}

interface ChartProps {
  readonly title: string
  readonly fires: readonly StripFire[]
  readonly value: (fire: StripFire) => number
}

function Chart({ title, fires, value }: ChartProps) {
  const values = fires.map(value)
  const sorted = values.toSorted((one, other) => one - other)
  const most = Math.max(1, sorted.at(-1)!)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
  const x = (index: number): number => (index / (fires.length - 1)) * SIZE.width
  const y = (one: number): number => SIZE.height - (one / most) * (SIZE.height - 6) - 2
  const line = values
    .map((one, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(one).toFixed(1)}`)
    .join('')
  const words = `${title}: half of them at most ${formatDuration(at(0.5))}, 95 % at most ${formatDuration(at(0.95))}`
  return (
    <figure class="trend">
      <figcaption>
        {title}{' '}
        <span class="muted">
          p50 {formatDuration(at(0.5))} · p95 {formatDuration(at(0.95))} · longest {formatDuration(sorted.at(-1)!)}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <path class="level" d={`M0 ${y(at(0.95))}H${SIZE.width}`} />
        <path class="line" d={line} />
      </svg>
    </figure>
  )
}
