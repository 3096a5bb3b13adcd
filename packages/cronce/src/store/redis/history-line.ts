import { ending, REASONS, type Reason } from '../../model/outcome.ts'
import type { EndedRun, HistoryRecord } from '../../model/record.ts'
import { decodeName, encodeName, packToken, readToken, whole } from './keys.ts'
import { KINDS } from './state-line.ts'

/*
 * A line of a schedule's history; its number is its place in the list:
 *   flag dueAt endedAt expiresAt token startedAt plannedAt readyAt reason [kind round attempt [count]] TAB nonce TAB instance TAB job
 *     [TAB tenant] [LF JSON]
 * flag: F (the fire ended with it), R (a range ended with it), L (neither, or no longer); scripts write f, r, l if the line is indexed. A line
 * that was deleted is empty. count: the instants of a range.
 * endedAt, startedAt and readyAt are offsets to dueAt, expiresAt is one to endedAt, plannedAt one to startedAt. A line without a run has the
 * token '-'. JSON: what is uncommon. `+` in its place: it is long, and stands by itself (`:b:` in lua/keys.lua).
 */

type Optional<Model> = { [Name in keyof Model]-?: object extends Pick<Model, Name> ? Name : never }[keyof Model]
true satisfies Optional<HistoryRecord> extends 'asked' | 'givenNull' ? true : never
true satisfies Optional<EndedRun> extends 'cause' ? true : never

type Mutable<Model> = { -readonly [Name in keyof Model]: Model[Name] }

/** Fields that most lines do not have. */
type Uncommon = {
  detail?: string
  range?: HistoryRecord['range']
} & Partial<
  Mutable<
    Pick<HistoryRecord, 'input' | 'asked' | 'givenNull'> & Pick<EndedRun, 'cause' | 'cancel' | 'error' | 'result'>
  >
>

/** Longer texts are stored separately, so that a list of lines stays short. Roughly in bytes. */
const LONG = 1_000

export interface PackedLine {
  readonly line: string
  /** Empty, unless the line says `+`. */
  readonly body: string
}

/** A reason is stored as its index here. Append new ones at the end. */
const REASON_LIST: readonly Reason[] = Object.values(REASONS).flat()
const REASON_CODES: ReadonlyMap<Reason, string> = new Map(
  REASON_LIST.map((reason, index) => [reason, index.toString(36)]),
)

export function reasonCodeOf(reason: Reason): string {
  return REASON_CODES.get(reason)!
}

/** Hours since 1970. */
export function hourNumberOf(at: number): number {
  return Math.floor(at / HOUR_MS)
}

const HOUR_MS = 3_600_000

export function reasonOf(code: string): Reason {
  return REASON_LIST[Number.parseInt(code, 36)]!
}

export function writeLine(record: HistoryRecord): PackedLine {
  const { dueAt, endedAt, run, kind, round, attempt, tenant } = record
  const startedAt = run === null ? dueAt : run.startedAt
  const numbers = [
    flagOf(record) + whole(dueAt),
    whole(endedAt - dueAt),
    whole(record.expiresAt - endedAt),
    run === null ? '-' : packToken(run.token),
    whole(startedAt - dueAt),
    whole(record.plannedAt - startedAt),
    whole(record.readyAt - dueAt),
    REASON_CODES.get(record.ending.reason)!,
  ]
  const { range } = record
  if (kind !== 'scheduled' || round !== 1 || attempt !== 1 || range !== null) {
    numbers.push(String(KINDS.indexOf(kind)), whole(round), whole(attempt))
  }
  if (range !== null) numbers.push(whole(range.count))
  const nonce = record.nonce === '' ? '' : encodeName(record.nonce)
  let line = `${numbers.join(' ')}\t${nonce}\t${run === null ? '' : encodeName(run.instance)}\t${encodeName(record.job)}`
  if (tenant !== null) line += `\t${encodeName(tenant)}`
  const uncommon = uncommonOf(record)
  if (uncommon === null) return { line, body: '' }
  const text = JSON.stringify(uncommon)
  return text.length > LONG ? { line: `${line}\n+`, body: text } : { line: `${line}\n${text}`, body: '' }
}

function flagOf({ isFinal, range }: HistoryRecord): string {
  if (!isFinal) return 'L'
  return range === null ? 'F' : 'R'
}

function uncommonOf({ ending, range, input, givenNull, asked, run }: HistoryRecord): Uncommon | null {
  const uncommon: Uncommon = {}
  if (ending.detail !== null) uncommon.detail = ending.detail
  if (range !== null) uncommon.range = range
  if (input !== null) uncommon.input = input
  if (givenNull !== undefined) uncommon.givenNull = givenNull
  if (asked !== undefined) uncommon.asked = asked
  if (run !== null) {
    if (run.cause !== undefined) uncommon.cause = run.cause
    if (run.cancel !== null) uncommon.cancel = run.cancel
    if (run.error !== null) uncommon.error = run.error
    if (run.result !== null) uncommon.result = run.result
  }
  for (const _ in uncommon) return uncommon
  return null
}

/** The lines of a range, or of a fire that is open again, have the same JSON, whatever their flag says. */
export function readLine(schedule: string, number: number, { line, body }: PackedLine): HistoryRecord {
  const end = line.indexOf('\n')
  const short = end < 0 ? line : line.slice(0, end)
  const uncommon: Uncommon = end < 0 ? {} : readUncommon(body === '' ? line.slice(end + 1) : body)
  const [head, nonce, instance, job, tenant] = short.slice(1).split('\t') as [string, string, string, string, string?]
  const numbers = head.split(' ')
  const isPlain = numbers.length === 8
  const dueAt = Number(numbers[0])
  const endedAt = dueAt + Number(numbers[1])
  const startedAt = dueAt + Number(numbers[4])
  const { input = null, detail = null, range = null } = uncommon
  return {
    schedule,
    dueAt,
    nonce: decodeName(nonce),
    number,
    isFinal: line[0] !== 'L' && line[0] !== 'l',
    job: decodeName(job),
    tenant: tenant === undefined ? null : decodeName(tenant),
    kind: isPlain ? 'scheduled' : KINDS[Number(numbers[8])]!,
    round: isPlain ? 1 : Number(numbers[9]),
    plannedAt: startedAt + Number(numbers[5]),
    readyAt: dueAt + Number(numbers[6]),
    attempt: isPlain ? 1 : Number(numbers[10]),
    input,
    ...(uncommon.givenNull === undefined ? {} : { givenNull: uncommon.givenNull }),
    ...(uncommon.asked === undefined ? {} : { asked: uncommon.asked }),
    run: numbers[3] === '-' ? null : runOf(readToken(numbers[3]!), decodeName(instance), startedAt, uncommon),
    ending: ending(reasonOf(numbers[7]!), detail),
    endedAt,
    expiresAt: endedAt + Number(numbers[2]),
    range,
  }
}

function readUncommon(json: string): Uncommon {
  return json === '' ? {} : (JSON.parse(json) as Uncommon)
}

function runOf(token: string, instance: string, startedAt: number, uncommon: Uncommon): EndedRun {
  const { cause, cancel = null, error = null, result = null } = uncommon
  return { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error, result }
}
