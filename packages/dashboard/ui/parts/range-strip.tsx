import { get, part } from '../core/api.ts'
import { serverNow } from '../core/clock.ts'
import { counted, DAY_MS, formatDuration, formatWall } from '../core/format.ts'
import { useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { shownZone } from '../core/preferences.ts'
import { link, setQuery } from '../core/router.ts'
import type { Bucket, Buckets, Counts } from '../core/types.ts'
import { TimeAxis } from './axis.tsx'
import { Show } from './feedback.tsx'
import { barPath } from './strip.tsx'
import { When } from './when.tsx'

const RANGES: Readonly<Record<string, number>> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
}
const BUCKETS = 90
const REFRESH_MS = 10_000
const SIZE = { step: 10, bar: 8, height: 64 } as const

/** The latest fires, or those of a stretch of time. It is part of the address. */
export function RangeChoice({ range }: { range: string }) {
  return (
    <fieldset class="choice">
      <legend class="hidden">Range</legend>
      {['', ...Object.keys(RANGES)].map((one) => (
        <button
          type="button"
          key={one}
          data-range={one}
          aria-pressed={one === range}
          onClick={() => setQuery({ range: one === '' ? undefined : one })}
        >
          {one === '' ? 'latest' : one}
        </button>
      ))}
    </fieldset>
  )
}

interface RangeStripProps {
  readonly name: string
  readonly range: string
  readonly tz: string
  /** How long its records are kept. */
  readonly keepMs: number
}

/** A bar for each part of the stretch. Its color and shape are those of the worst fire in it. */
export function RangeStrip({ name, range, tz, keepMs }: RangeStripProps) {
  const loaded = useLoad<Buckets>(`${name} ${range}`, (signal) => {
    const to = serverNow() + 1
    const query = { from: to - (RANGES[range] ?? DAY_MS), to, buckets: BUCKETS }
    return get(`schedules/${part(name)}/buckets`, query, signal)
  })
  useLive(useThrottled(REFRESH_MS, loaded.reload))
  return (
    <Show from={loaded}>
      {(data) => (
        <>
          <Bars data={data} tz={shownZone(tz)} />
          {data.to - data.from > keepMs ? (
            <p class="muted">Its records are kept for {formatDuration(keepMs)}: what was due before is not shown.</p>
          ) : null}
          {data.cut ? (
            <p class="notice">
              There are too many fires to read all of them: those before <When at={data.readFrom} tz={tz} /> are not
              shown.
            </p>
          ) : null}
        </>
      )}
    </Show>
  )
}

function Bars({ data: { items, to, schedule }, tz }: { data: Buckets; tz: string }) {
  const width = items.length * SIZE.step
  const most = Math.max(1, ...items.map(({ counts }) => sumOf(counts)))
  return (
    <div class="range-strip">
      <svg
        viewBox={`0 0 ${width} ${SIZE.height}`}
        preserveAspectRatio="none"
        aria-label="Fires, the latest on the right"
      >
        <path class="ground" d={`M0 ${SIZE.height - 0.5}H${width}`} />
        {items.map((bucket, index) => {
          const end = items[index + 1]?.at ?? to
          return (
            <a key={bucket.at} href={link(['fires'], { schedule, from: String(bucket.at), to: String(end) })}>
              <title>{bucketWords(bucket, end, tz)}</title>
              <rect class="target" x={index * SIZE.step} y={0} width={SIZE.step} height={SIZE.height} />
              {bucket.worst === null ? null : (
                <path
                  class={`bar is-${bucket.worst}`}
                  d={barPath(
                    bucket.worst,
                    index * SIZE.step,
                    SIZE.bar,
                    SIZE.height,
                    0.2 + (0.8 * sumOf(bucket.counts)) / most,
                  )}
                />
              )}
            </a>
          )
        })}
      </svg>
      <TimeAxis from={items[0]!.at} to={to} zone={tz} />
    </div>
  )
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function bucketWords({ at, counts }: Bucket, end: number, tz: string): string {
  const parts = Object.entries(counts).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]))
  const words = parts.length === 0 ? counted(0, 'fire') : parts.join(', ')
  return `${formatWall(at, tz)} to ${formatWall(end, tz)} ${tz}: ${words}`
}
