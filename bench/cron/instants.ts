import { seeded } from './random.ts'

const DAY_MS = 86_400_000
const FIRST = Date.UTC(2020, 0, 1)
const LAST = Date.UTC(2035, 0, 1)
const NOW = Date.UTC(2026, 9, 20)

/** Whole seconds: libraries differ in what they make of a fraction, and that is not what is measured. */
export function randomInstants(count: number, seed: number): Float64Array {
  const random = seeded(seed)
  return Float64Array.from({ length: count }, () => random.int(FIRST / 1000, LAST / 1000) * 1000)
}

/** Within a week of one moment: where a server's schedules stand. */
export function instantsAroundNow(count: number, seed: number): Float64Array {
  const random = seeded(seed)
  return Float64Array.from({ length: count }, () => NOW + random.int(0, (7 * DAY_MS) / 1000) * 1000)
}

/** Instants within three days of a zone's offset changes. */
export function instantsNearTransitions(count: number, zone: string, seed: number): Float64Array {
  const random = seeded(seed)
  const changes = transitions(zone)
  if (changes.length === 0) throw new Error(`${zone} never changes its offset.`)
  const within = (3 * DAY_MS) / 1000
  return Float64Array.from({ length: count }, () => random.pick(changes) + random.int(-within, within) * 1000)
}

/** To the hour, which is near enough to draw instants around them. */
function transitions(zone: string): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (at: number) => format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value
  const found: number[] = []
  for (let day = FIRST; day < LAST; day += DAY_MS) {
    if (offset(day) === offset(day + DAY_MS)) continue
    let hour = day
    while (offset(hour) === offset(day)) hour += DAY_MS / 24
    found.push(hour)
  }
  return found
}
