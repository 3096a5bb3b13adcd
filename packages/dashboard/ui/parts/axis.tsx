import { timeTicks } from '../core/ticks.ts'

/** Behind this part of the width a label would be cut off. */
const LABELED_MOST = matchMedia('(max-width: 720px)').matches ? 0.8 : 0.95

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
      {timeTicks(from, to, zone, most).map(({ at, label }) => {
        const part = (at - from) / (to - from)
        return (
          <span key={at} style={{ left: `${part * 100}%` }}>
            {part > LABELED_MOST ? '' : label}
          </span>
        )
      })}
    </div>
  )
}
