/** Whether what should stay flat stays flat: by its slope over the last two thirds of the samples, not by elapsed time. */
import { median } from '../../bench/shared/statistics.ts'
import type { Sample, SizeSample } from './order.ts'

export interface Allowance {
  readonly of: keyof Sample
  readonly name: string
  readonly unit: string
  /** Growth that the slope may add up to over the judged stretch. */
  readonly most: number
}

const MEBIBYTE = 2 ** 20

/**
 * Caches of compiled code and of statements fill up slowly, and a fault that is under way holds some timers and connections. A leak of
 * a hundred bytes per fire would add up to more than any of these within an hour.
 */
export const ALLOWANCES: readonly Allowance[] = [
  { of: 'heap', name: 'heap after a collection', unit: 'MiB', most: 4 * MEBIBYTE },
  { of: 'external', name: 'buffers outside of the heap', unit: 'MiB', most: 4 * MEBIBYTE },
  { of: 'rss', name: 'resident memory', unit: 'MiB', most: 24 * MEBIBYTE },
  { of: 'handles', name: 'handles', unit: '', most: 4 },
  { of: 'files', name: 'open files', unit: '', most: 3 },
  { of: 'connections', name: 'connections', unit: '', most: 2 },
]

/**
 * What the store keeps for a due time, index entries and the log included. Each record is kept for two days at least, so that a store
 * grows with due times; it must not grow with anything else.
 */
export const BYTES_PER_DUE_TIME = 4_000

/** Fewer samples than this say nothing. */
export const LEAST_SAMPLES = 9

export interface Judged {
  readonly what: string
  readonly unit: string
  readonly from: number
  readonly to: number
  /** Slope times the length of the judged stretch. */
  readonly growth: number
  readonly allowed: number
  readonly verdict: 'flat' | 'grows' | 'too few samples'
}

export function judgeProcess(node: string, samples: readonly Sample[]): readonly Judged[] {
  return ALLOWANCES.flatMap(({ of, name, unit, most }) => {
    const points = samples.flatMap((sample) => (sample[of] === null ? [] : [[sample.at, sample[of]] as const]))
    return points.length === 0 ? [] : [{ what: `${node}: ${name}`, unit, ...judgeSeries(points, most) }]
  })
}

export function judgeSeries(
  points: readonly (readonly [at: number, value: number])[],
  most: number,
): Omit<Judged, 'what' | 'unit'> {
  const judged = points.slice(Math.floor(points.length / 3))
  const length = judged.length === 0 ? 0 : judged.at(-1)![0] - judged[0]![0]
  const growth = slopeOf(judged) * length
  const isEnough = points.length >= LEAST_SAMPLES
  return {
    from: judged[0]?.[1] ?? Number.NaN,
    to: judged.at(-1)?.[1] ?? Number.NaN,
    growth,
    allowed: most,
    verdict: !isEnough ? 'too few samples' : growth <= most ? 'flat' : 'grows',
  }
}

/** By due times instead of by time. */
export function judgeSize(sizes: readonly SizeSample[]): Judged {
  const judged = sizes.slice(Math.floor(sizes.length / 3))
  const each = slopeOf(judged.map(({ due, bytes }) => [due, bytes] as const))
  return {
    ...{ what: 'store: bytes per due time', unit: 'bytes', from: judged[0]?.bytes ?? Number.NaN },
    ...{ to: judged.at(-1)?.bytes ?? Number.NaN, growth: each, allowed: BYTES_PER_DUE_TIME },
    verdict: sizes.length < LEAST_SAMPLES ? 'too few samples' : each <= BYTES_PER_DUE_TIME ? 'flat' : 'grows',
  }
}

/** The median of the slopes between all pairs (Theil and Sen), which a few spikes do not move. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).flatMap(([otherX, otherY]) => (otherX === x ? [] : [(otherY - y) / (otherX - x)])),
  )
  return slopes.length === 0 ? 0 : median(slopes)
}
