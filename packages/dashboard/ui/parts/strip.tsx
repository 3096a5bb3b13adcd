import { formatDuration, formatWall } from '../core/format.ts'
import { fireLink } from '../core/router.ts'
import type { State, StripData, StripFire } from '../core/types.ts'

export const STRIP_LENGTH = 60
const STEP = 4
const BAR = 3
const HEIGHT = 24
/** A run that took as long as usual reaches this part of the height; twice as long reaches the top. */
const USUAL = 0.55
const LEAST = 0.2

/** How high a bar is: its duration against the usual one. */
export function barHeight(durationMs: number | null, usualMs: number | null): number {
  if (durationMs === null || usualMs === null || usualMs <= 0) return USUAL
  const ratio = durationMs / usualMs
  return Math.min(1, Math.max(LEAST, ratio <= 1 ? LEAST + (USUAL - LEAST) * ratio : USUAL + (1 - USUAL) * (ratio - 1)))
}

/** The outline of one bar: its shape tells the outcome where colours do not. */
export function barPath(state: State, x: number, width: number, height: number, part: number): string {
  const top = height - Math.max(3, Math.round(height * part))
  const box = (from: number, to: number): string => `M${x} ${from}h${width}V${to}h${-width}z`
  switch (state) {
    case 'failed':
      // Full height, with a notch at the top.
      return `M${x} 0l${width / 2} ${width}l${width / 2} ${-width}V${height}h${-width}z`
    case 'abandoned':
      return box(0, height * 0.4) + box(height * 0.6, height)
    case 'missed':
      // A gap; the dot says that something was expected.
      return box(height - 3, height)
    case 'cancelled':
      return box(height * 0.45, height * 0.6) + box(height - 3, height)
    case 'skipped':
      return box(height * 0.35, height)
    default:
      return box(top, height)
  }
}

/** For screen readers, and on hover. */
export function stripWords({ fires }: StripData): string {
  if (fires.length === 0) return 'No fires on record'
  const counts = new Map<string, number>()
  for (const { state, count } of fires) counts.set(state, (counts.get(state) ?? 0) + count)
  return `Latest fires: ${[...counts].map(([state, count]) => `${count} ${state}`).join(', ')}`
}

/** The latest on the right. A record that stands for many due times is as many bars as there is room for. */
function expand(fires: readonly StripFire[], length: number): readonly StripFire[] {
  const bars: StripFire[] = []
  for (const fire of fires) {
    for (let index = 0; index < fire.count && bars.length < length; index++) bars.push(fire)
  }
  return bars
}

/** One path per outcome: a list shows thousands of bars. */
export function Strip({ strip, length = STRIP_LENGTH }: { strip: StripData | undefined; length?: number }) {
  const width = length * STEP
  const paths = new Map<string, string>()
  for (const [index, fire] of expand(strip?.fires ?? [], length).entries()) {
    const part = barHeight(fire.durationMs, strip!.usualMs)
    const path = barPath(fire.state, width - (index + 1) * STEP, BAR, HEIGHT, part)
    paths.set(fire.state, (paths.get(fire.state) ?? '') + path)
  }
  const words = strip === undefined ? 'Loading' : stripWords(strip)
  return (
    <svg class="strip" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words}>
      <title>{words}</title>
      <path class="ground" d={`M0 ${HEIGHT - 0.5}H${width}`} />
      {[...paths].map(([state, path]) => (
        <path key={state} class={`bar is-${state}`} d={path} />
      ))}
    </svg>
  )
}

const LARGE = { step: 10, bar: 8, height: 64 } as const

/** The same with a link for each fire. */
export function LargeStrip({ strip, tz, length = 90 }: { strip: StripData; tz: string; length?: number }) {
  const bars = expand(strip.fires, length)
  const width = Math.max(bars.length, 30) * LARGE.step
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class="large-strip" tabIndex={0}>
      <svg width={width} height={LARGE.height} viewBox={`0 0 ${width} ${LARGE.height}`} aria-label={stripWords(strip)}>
        <path class="ground" d={`M0 ${LARGE.height - 0.5}H${width}`} />
        {bars.map((fire, index) => {
          const x = width - (index + 1) * LARGE.step
          const part = barHeight(fire.durationMs, strip.usualMs)
          return (
            <a key={`${fire.dueAt} ${fire.nonce} ${index}`} href={fireLink({ ...fire, schedule: strip.schedule })}>
              <title>{barWords(fire, tz)}</title>
              <rect class="target" x={x} y={0} width={LARGE.step} height={LARGE.height} />
              <path class={`bar is-${fire.state}`} d={barPath(fire.state, x, LARGE.bar, LARGE.height, part)} />
            </a>
          )
        })}
      </svg>
    </div>
  )
}

function barWords({ dueAt, state, reason, durationMs, attempt, count }: StripFire, tz: string): string {
  const parts = [
    `Due ${formatWall(dueAt, tz)} ${tz}`,
    reason === null || reason === 'completed' ? state : `${state} (${reason})`,
    durationMs === null ? '' : `took ${formatDuration(durationMs)}`,
    attempt > 1 ? `${attempt} attempts` : '',
    count > 1 ? `one record of ${count} due times` : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

/** The hatching that all pictures of the page use. */
export function Patterns() {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="3" height="3" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="hatch" width="1.5" height="3" />
        </pattern>
      </defs>
    </svg>
  )
}

export function Legend() {
  const states = ['succeeded', 'failed', 'missed', 'skipped', 'abandoned', 'cancelled', 'open'] as const
  return (
    <ul class="legend">
      {states.map((state) => (
        <li key={state}>
          <svg viewBox="0 0 8 16" aria-hidden="true">
            <path class={`bar is-${state}`} d={barPath(state, 0, 8, 16, 0.7)} />
          </svg>
          {state}
        </li>
      ))}
    </ul>
  )
}
