import { timeTicks } from '../core/ticks.ts'

interface AxisProps {
  readonly from: number
  readonly to: number
  readonly zone: string
  readonly most?: number
}

/** Round times below a picture, in the zone that its title or the header names. */
export function TimeAxis({ from, to, zone, most = 8 }: AxisProps) {
  return (
    <div class="axis" aria-hidden="true">
      {timeTicks(from, to, zone, most).map(({ at, label }) => (
        <span key={at} style={{ left: `${((at - from) / (to - from)) * 100}%` }}>
          {label}
        </span>
      ))}
    </div>
  )
}
