import { bucketOf } from '../../model/bucket.ts'
import type { FireKey, HistoryRecord } from '../../model/record.ts'
import type { Instant } from '../../model/schedule.ts'
import type { KeyRange } from './driver.ts'

/** Separates the parts of a key. It sorts before every character of a name, so a name comes before those that it begins. */
const END = '\0'
const AFTER_END = '\x01'

/**
 * What each key is, by its first part. Numbers are written so that their texts are in the order of the numbers.
 *
 * | key | value |
 * | --- | --- |
 * | `meta`, `term`, `floor`, `wake` | identity and epoch; the server's term; see `Change`; the bell that wakes the fleet |
 * | `s id`, `d id` | state of a schedule; its definition, with the version that wrote it |
 * | `q job wakeAt bucket+id` | when it wants attention |
 * | `j job id`, `jt tenant id`, `ja app id` | schedules by what they are found by |
 * | `f id due nonce number` | a line of the history; `f` alone: written with every line |
 * | `n id number` | the fire of a line |
 * | `l … due id nonce number` | lists of lines: see `listsOf` |
 * | `x expiresAt id due nonce number` | when the fire of a final line may be deleted |
 * | `k id nonce` | due time of the fire that has this nonce |
 * | `o due id nonce` | an open fire |
 * | `r instance id token` | an open run |
 * | `c slot id token` | an open run that counts against a limit |
 * | `u hour outcome …`, `us hour outcome`, `ur hour outcome id number` | counts of fires: see `counts.ts` |
 * | `t id token`, `p id due nonce step` | what a run reported; a step |
 * | `i id`, `iv id`, `ie id`, `id id` | an instance: as it describes itself; written at each renewal; its lease; to be drained |
 * | `g id`, `gt endedAt id`, `go id` | an instance that is over; by its end; one that may have open runs |
 * | `a app` | record of an app |
 * | `y at id`, `ys schedule at id`, `yx expiresAt at id` | a line of the operator log: by time, by schedule, by when it may be deleted |
 */
export class Keys {
  readonly root: string

  constructor(prefix: string, namespace: string) {
    this.root = `${encodeName(prefix)}${END}${encodeName(namespace)}${END}`
  }

  key(...parts: readonly string[]): string {
    return this.root + parts.join(END)
  }

  /** All keys that have these parts and more. */
  below(...parts: readonly string[]): KeyRange {
    const from = this.key(...parts)
    return { from: from + END, to: from + AFTER_END }
  }

  /** The parts of a key, without the root. */
  parts(key: string): string[] {
    return key.slice(this.root.length).split(END)
  }

  get meta(): string {
    return this.key('meta')
  }

  get floor(): string {
    return this.key('floor')
  }

  get wake(): string {
    return this.key('wake')
  }

  /** Before all lines, and in one range with them. */
  get lineBell(): string {
    return this.key('f')
  }

  state(id: string): string {
    return this.key('s', encodeName(id))
  }

  definition(id: string): string {
    return this.key('d', encodeName(id))
  }

  queued(job: string, wakeAt: Instant, id: string): string {
    return this.key('q', encodeName(job), encodeNumber(wakeAt), HEX[bucketOf(id)]! + encodeName(id))
  }

  /** The fire's lines are below. */
  fire({ schedule, dueAt, nonce }: FireKey): readonly string[] {
    return ['f', encodeName(schedule), encodeNumber(dueAt), encodeName(nonce)]
  }

  linesOf(fire: FireKey): KeyRange {
    return this.below(...this.fire(fire))
  }

  line(line: FireKey & { readonly number: number }): string {
    return this.key(...this.fire(line), encodeNumber(line.number))
  }

  numbered(schedule: string, number: number): string {
    return this.key('n', encodeName(schedule), encodeNumber(number))
  }

  listed(list: readonly string[], { dueAt, schedule, nonce, number }: HistoryRecord): string {
    return this.key(...list, encodeNumber(dueAt), encodeName(schedule), encodeName(nonce), encodeNumber(number))
  }

  expiring({ expiresAt, schedule, dueAt, nonce, number }: HistoryRecord): string {
    const fire = [encodeName(schedule), encodeNumber(dueAt), encodeName(nonce)]
    return this.key('x', encodeNumber(expiresAt), ...fire, encodeNumber(number))
  }

  nonce(schedule: string, nonce: string): string {
    return this.key('k', encodeName(schedule), encodeName(nonce))
  }

  openFire({ schedule, dueAt, nonce }: FireKey): string {
    return this.key('o', encodeNumber(dueAt), encodeName(schedule), encodeName(nonce))
  }

  held(instance: string, schedule: string, token: string): string {
    return this.key('r', encodeName(instance), encodeName(schedule), encodeToken(token))
  }

  slot(slot: string, schedule: string, token: string): string {
    return this.key('c', encodeName(slot), encodeName(schedule), encodeToken(token))
  }

  notes(schedule: string, token: string): string {
    return this.key('t', encodeName(schedule), encodeToken(token))
  }

  stepsOf({ schedule, dueAt, nonce }: FireKey): readonly string[] {
    return ['p', encodeName(schedule), encodeNumber(dueAt), encodeName(nonce)]
  }

  step(fire: FireKey, step: string): string {
    return this.key(...this.stepsOf(fire), encodeName(step))
  }

  app(name: string): string {
    return this.key('a', encodeName(name))
  }
}

const HEX = Array.from({ length: 256 }, (_, bucket) => bucket.toString(16).padStart(2, '0'))

/** Lists that a line is in. That of a job holds only what is not found by a schedule of the same name. */
export function listsOf({ schedule, job, tenant, ending, range }: HistoryRecord): (readonly string[])[] {
  const lists: (readonly string[])[] = [LIST_ALL]
  if (job !== schedule) lists.push(listOfJob(job))
  if (tenant !== null) lists.push(listOfTenant(tenant))
  // Almost all succeed: these are found in the list of all.
  if (ending.outcome !== 'succeeded') lists.push(listOfOutcome(ending.outcome))
  if (range !== null) lists.push(LIST_RANGES, rangesOf(schedule))
  return lists
}

export const LIST_ALL = ['l', 'a'] as const
export const LIST_RANGES = ['l', 'r'] as const

export function listOfJob(job: string): readonly string[] {
  return ['l', 'j', encodeName(job)]
}

export function listOfTenant(tenant: string): readonly string[] {
  return ['l', 't', encodeName(tenant)]
}

export function listOfOutcome(outcome: string): readonly string[] {
  return ['l', 'o', outcome]
}

export function rangesOf(schedule: string): readonly string[] {
  return ['l', 's', encodeName(schedule)]
}

const OFFSET = 9e15
const NUMBER_DIGITS = 17
/** A signed 64-bit number. */
const TOKEN_DIGITS = 19

/** `Infinity`: after all. */
export function encodeNumber(value: number): string {
  const shifted = Math.min(Math.max(value, -OFFSET), OFFSET)
  // Beyond 2^53 a sum is not exact.
  return shifted >= 0
    ? `1${String(shifted).padStart(NUMBER_DIGITS, '0')}`
    : `0${String(OFFSET + shifted).padStart(NUMBER_DIGITS, '0')}`
}

export function decodeNumber(text: string): number {
  return text[0] === '1' ? Number(text.slice(1)) : Number(text.slice(1)) - OFFSET
}

export function encodeToken(token: string): string {
  return token.padStart(TOKEN_DIGITS, '0')
}

export function decodeToken(text: string): string {
  return text.replace(/^0+(?=.)/, '')
}

/** Without the separator, in the order of the names. Unpaired surrogates are escaped: UTF-8 would make all of them the same character. */
export function encodeName(name: string): string {
  if (!SPECIAL.test(name) && name.isWellFormed()) return name
  return [...name].map(encodeCharacter).join('')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what separates the parts of keys
const SPECIAL = /[\0\x01]/

function encodeCharacter(character: string): string {
  if (!SPECIAL.test(character) && character.isWellFormed()) return character
  return `\x01${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function decodeName(text: string): string {
  if (!text.includes('\x01')) return text
  return text
    .split('\x01')
    .map((part, index) =>
      index === 0 ? part : String.fromCharCode(Number.parseInt(part.slice(0, 4), 16)) + part.slice(4),
    )
    .join('')
}
