import { counted, formatWall } from '../core/format.ts'
import { shownZone } from '../core/preferences.ts'
import { link } from '../core/router.ts'
import type { Overview } from '../core/types.ts'
import { TimeAxis } from './axis.tsx'

const STATES = ['succeeded', 'open', 'skipped', 'cancelled', 'missed', 'abandoned', 'failed'] as const
const SIZE = { step: 14, bar: 12, height: 72 } as const
const SLOT_MS = 1_800_000
/** The least height of what went wrong: one failure among thousands must be seen. */
const LEAST = 3

/** All fires of a day, stacked by outcome. */
export function Slots({ slots }: { slots: Overview['slots'] }) {
  const width = slots.length * SIZE.step
  const most = Math.max(1, ...slots.map((slot) => STATES.reduce((sum, state) => sum + slot[state], 0)))
  return (
    <div class="slots">
      <svg
        viewBox={`0 0 ${width} ${SIZE.height}`}
        preserveAspectRatio="none"
        aria-label="Fires of the last 24 hours by half hour"
      >
        <path class="ground" d={`M0 ${SIZE.height - 0.5}H${width}`} />
        {slots.map((slot, index) => (
          <a key={slot.at} href={link(['fires'], { from: String(slot.at), to: String(slot.at + SLOT_MS) })}>
            <title>{slotWords(slot)}</title>
            <rect class="target" x={index * SIZE.step} y={0} width={SIZE.step} height={SIZE.height} />
            <SlotBars slot={slot} x={index * SIZE.step} most={most} />
          </a>
        ))}
      </svg>
      <TimeAxis from={slots[0]!.at} to={slots.at(-1)!.at + SLOT_MS} zone={shownZone(undefined)} />
    </div>
  )
}

function SlotBars({ slot, x, most }: { slot: Overview['slots'][number]; x: number; most: number }) {
  let y = SIZE.height
  return (
    <>
      {STATES.filter((state) => slot[state] > 0).map((state) => {
        const height = Math.max(LEAST, (slot[state] / most) * (SIZE.height - LEAST * STATES.length))
        y -= height
        return <rect key={state} class={`bar is-${state}`} x={x} y={y} width={SIZE.bar} height={height} />
      })}
    </>
  )
}

function slotWords(slot: Overview['slots'][number]): string {
  const parts = STATES.filter((state) => slot[state] > 0).map((state) => `${slot[state]} ${state}`)
  const zone = shownZone(undefined)
  return `${formatWall(slot.at, zone)} ${zone}: ${parts.length === 0 ? counted(0, 'fire') : parts.join(', ')}`
}
