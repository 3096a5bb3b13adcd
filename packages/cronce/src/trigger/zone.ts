import { didYouMean } from '../did-you-mean.ts'
import { DAY_MS } from './calendar.ts'
import { CronError } from './cron-error.ts'
import { Recent } from './recent.ts'

/**
 * A stretch of constant offset, [start, end) in epoch milliseconds. A table of segments makes zone changes ordinary:
 * inside a segment, local time is UTC plus a number.
 */
export interface Segment {
  readonly start: number
  readonly end: number
  readonly offset: number
  /** How far the local clock jumped at `start`: positive leaves a gap, negative repeats local times. */
  readonly shift: number
  /** The same at `end`. */
  readonly nextShift: number
  /**
   * Instants in [calmFrom, calmTo) are further from either change than that change is long, so their local time exists
   * once and every gap and overlap rule gives the same answer.
   */
  readonly calmFrom: number
  readonly calmTo: number
}

const SECOND = 1_000
const MINUTE = 60_000

/** Beyond what any local date of the years 1970 to 2199 can reach, whatever the offset. */
export const ZONE_START = -2 * DAY_MS
export const ZONE_END = Date.UTC(2200, 0, 3)

/** Tables are built about two years at a time, when first needed: a whole zone would take 25 ms, a chunk half of one. */
const CHUNK = 780 * DAY_MS
/** Less than the distance between any two changes since 1970, an hour under 7 days (Boa Vista, October 2000). */
const PROBE_STEP = 6 * DAY_MS

export class Zone {
  readonly id: string
  readonly #formatter: Intl.DateTimeFormat | null
  readonly #chunks: Segment[][] = []
  /** The segment of the last answer. Questions come in clusters around now, so it is mostly the next answer, too. */
  #hint: Segment
  readonly #chunkStarts: number[] = []

  private constructor(id: string, formatter: Intl.DateTimeFormat | null, hint: Segment) {
    this.id = id
    this.#formatter = formatter
    this.#hint = hint
    Object.freeze(this)
  }

  static fixed(id: string, offset: number): Zone {
    return new Zone(id, null, segment(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, offset, 0, 0))
  }

  /** Throws the RangeError of Intl when there is no such zone. */
  static named(id: string): Zone {
    const formatter = new Intl.DateTimeFormat('en-US', { timeZone: id, hour: 'numeric', timeZoneName: 'longOffset' })
    return new Zone(id, formatter, segment(0, 0, 0, 0, 0))
  }

  /** The segment that holds this instant, which must be within [ZONE_START, ZONE_END). */
  at(ms: number): Segment {
    const hint = this.#hint
    return ms >= hint.start && ms < hint.end ? hint : this.#find(ms)
  }

  #find(ms: number): Segment {
    const nominal = Math.floor((ms - ZONE_START) / CHUNK)
    this.#chunkStarts[nominal] ??= this.#findChunkStart(nominal)
    const index = ms < this.#chunkStarts[nominal] ? nominal - 1 : nominal
    this.#chunks[index] ??= this.#buildChunk(index)
    const chunk = this.#chunks[index]
    let i = chunk.length - 1
    while (i > 0 && ms < chunk[i]!.start) i--
    this.#hint = chunk[i]!
    return this.#hint
  }

  #buildChunk(index: number): Segment[] {
    const chunkEnd = this.#findChunkStart(index + 1)
    const starts = [this.#findChunkStart(index)]
    const offsets = [this.#offsetAt(starts[0]!)]
    for (let from = starts[0]!; from < chunkEnd; from += PROBE_STEP) {
      const to = Math.min(from + PROBE_STEP, chunkEnd)
      const offset = this.#offsetAt(to)
      if (offset === offsets.at(-1)) continue
      starts.push(this.#changeBetween(from, to))
      offsets.push(offset)
    }
    return starts.map((start, i) => {
      const offset = offsets[i]!
      const shift = offset - (offsets[i - 1] ?? offset)
      const nextShift = (offsets[i + 1] ?? offset) - offset
      return segment(start, starts[i + 1] ?? chunkEnd, offset, shift, nextShift)
    })
  }

  /**
   * A chunk must not begin while local times are being skipped or repeated, since a segment knows only the changes at
   * its own ends. Changes are nearly a week apart, so if one is within two days, half a week later is quiet.
   */
  #findChunkStart(index: number): number {
    const nominal = ZONE_START + index * CHUNK
    const isQuiet = this.#offsetAt(nominal - 2 * DAY_MS) === this.#offsetAt(nominal + 2 * DAY_MS)
    return isQuiet ? nominal : nominal + 3.5 * DAY_MS
  }

  #changeBetween(from: number, to: number): number {
    const before = this.#offsetAt(from)
    let low = from
    let high = to
    while (high - low > SECOND) {
      const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND
      if (this.#offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  #offsetAt(ms: number): number {
    // "7 PM GMT-05:00"; with seconds where a zone had them ("GMT-00:44:30"); plain "GMT" in some ICU versions.
    const text = this.#formatter!.format(ms)
    const at = text.indexOf('GMT') + 3
    if (at === text.length) return 0
    const digits = (index: number): number => Number(text.slice(at + index, at + index + 2))
    const size = (digits(1) * 60 + digits(4)) * MINUTE + digits(7) * SECOND
    return text[at] === '+' ? size : -size
  }
}

function segment(start: number, end: number, offset: number, shift: number, nextShift: number): Segment {
  const calmFrom = start + Math.abs(shift)
  const calmTo = end - Math.abs(nextShift)
  return Object.freeze({ start, end, offset, shift, nextShift, calmFrom, calmTo })
}

/** More than there are zones; the names of one can be spelled in many ways. */
const ZONE_LIMIT = 1_000
const zones = new Recent<Zone>(ZONE_LIMIT)
/** Hints for unknown zone names. Finding one takes milliseconds, and an old runtime may meet the same name in many schedules. */
const hints = new Recent<string>(100)
const utc = Zone.fixed('UTC', 0)

/** The zone of this name, shared by all triggers in it. `source` is the text to point at when there is none. */
export function zoneOf(id: string, source: { expression: string; position: number }): Zone {
  return id === 'UTC' ? utc : (zones.get(id) ?? zones.add(id, makeZone(id, source)))
}

function makeZone(id: string, source: { expression: string; position: number }): Zone {
  const fixed = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/.exec(id)
  if (fixed !== null) {
    const size = (Number(fixed[2]) * 60 + Number(fixed[3] ?? 0)) * MINUTE
    return Zone.fixed(id, fixed[1] === '-' ? -size : size)
  }
  try {
    return Zone.named(id)
  } catch (cause) {
    const hint = hints.get(id) ?? hints.add(id, hintFor(id))
    const expected = 'an IANA time zone name, UTC, or a fixed offset'
    throw new CronError('ZONE_UNKNOWN', `There is no time zone ${JSON.stringify(id.slice(0, 80))}.`, {
      ...source,
      length: Math.max(1, id.length),
      expected,
      hint,
      cause,
    })
  }
}

/** Abbreviations and other names of zones that have no entry of their own in the IANA database. */
const ZONE_WORDS: Readonly<Record<string, string>> = {
  EDT: 'America/New_York',
  CDT: 'America/Chicago',
  MDT: 'America/Denver',
  PDT: 'America/Los_Angeles',
  EASTERN: 'America/New_York',
  CENTRAL: 'America/Chicago',
  MOUNTAIN: 'America/Denver',
  PACIFIC: 'America/Los_Angeles',
  CEST: 'Europe/Paris',
  EEST: 'Europe/Athens',
  WEST: 'Europe/Lisbon',
  MSK: 'Europe/Moscow',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  NZDT: 'Pacific/Auckland',
  SGT: 'Asia/Singapore',
  HKT: 'Asia/Hong_Kong',
  KST: 'Asia/Seoul',
  Z: 'UTC',
  'COORDINATED UNIVERSAL TIME': 'UTC',
  'EASTERN STANDARD TIME': 'America/New_York',
  'CENTRAL STANDARD TIME': 'America/Chicago',
  'MOUNTAIN STANDARD TIME': 'America/Denver',
  'PACIFIC STANDARD TIME': 'America/Los_Angeles',
  'GMT STANDARD TIME': 'Europe/London',
  'W. EUROPE STANDARD TIME': 'Europe/Berlin',
  'ROMANCE STANDARD TIME': 'Europe/Paris',
  'INDIA STANDARD TIME': 'Asia/Kolkata',
  'TOKYO STANDARD TIME': 'Asia/Tokyo',
  'CHINA STANDARD TIME': 'Asia/Shanghai',
}

/** Of `New York` and `berlin`: the zone whose city it is. */
function zoneOfCity(id: string): string | undefined {
  const city = id.trim().replaceAll(/\s+/g, '_').toLowerCase()
  return Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().endsWith(`/${city}`))
}

function hintFor(id: string): string {
  const word = id.trim().toUpperCase()
  if (Object.hasOwn(ZONE_WORDS, word)) return `Use ${ZONE_WORDS[word]}.`
  const offset = /^(?:UTC|GMT)\s*([+-])(\d{1,2})(?::?(\d\d))?$/.exec(word)
  if (offset !== null)
    return `Use ${offset[1]}${offset[2]!.padStart(2, '0')}:${offset[3] ?? '00'}, or an IANA name such as Europe/London.`
  if (word === 'LOCAL' || word === 'SYSTEM')
    return 'Name the zone, such as Europe/London: instances may run in different zones.'
  const city = zoneOfCity(id)
  if (city !== undefined) return `Use ${city}.`
  const meant = didYouMean(id, Intl.supportedValuesOf('timeZone'))
  if (meant !== undefined) return `Did you mean ${meant}?`
  return 'Use an IANA name such as Europe/London, UTC, or an offset such as +05:30.'
}
