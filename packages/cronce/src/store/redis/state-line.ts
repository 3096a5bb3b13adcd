import type { FireKind, OpenFire, OpenRun, ScheduleState } from '../../model/schedule.ts'
import type { Settings } from './definitions.ts'
import { decodeName, encodeName, packToken, readToken, whole } from './keys.ts'

/*
 * The line of a schedule, in its shard:
 *   version edition first mark expires tokens ended nextAt plannedTo wakeAt fired failedInRow lastDue succeededDue succeededAt trimmedBefore
 *   one line for each open fire
 *   JSON of what is uncommon, if there is any
 * The first seven are the scripts' own: see lua/line.lua. Times after nextAt are offsets to it. Absent: '-'.
 * An open fire: dueAt token claim startedAt plannedAt readyAt [kind round attempt failures crashes overlap] TAB nonce TAB instance (TAB slot)*
 * A fire that waits has the token '-'. Times after dueAt are offsets to it.
 */

// A field that is added to the model and not read here does not compile; for optional fields, this check does the same.
type Optional<Model> = { [Name in keyof Model]-?: object extends Pick<Model, Name> ? Name : never }[keyof Model]
true satisfies Optional<ScheduleState> extends 'plannedTo' | 'skipped' | 'retirements' ? true : never
true satisfies Optional<OpenFire> extends 'giveUp' | 'wait' | 'asked' | 'tenant' ? true : never
true satisfies Optional<OpenRun> extends 'cause' | 'parkedUntil' | 'slots' ? true : never

type Mutable<Model> = { -readonly [Name in keyof Model]: Model[Name] }

/** Fields that most schedules do not have. */
interface Uncommon {
  pause?: ScheduleState['pause']
  retiredAt?: number
  retirements?: ScheduleState['retirements']
  skipped?: ScheduleState['skipped']
  backfills?: ScheduleState['backfills']
  /** By their index among the open fires. */
  open?: Record<number, UncommonFire>
}

type UncommonFire = Partial<
  Pick<OpenFire, 'giveUp' | 'wait' | 'asked' | 'own' | 'tenant'> & Pick<OpenRun, 'cause' | 'cancel' | 'parkedUntil'>
>

/** What is known about the line of a schedule, as last read or written. The next change of the schedule builds on it. */
export interface KnownLine {
  /** The schedule as scripts know it. */
  readonly member: string
  readonly settings: Settings & { readonly edition: number }
  readonly version: number
  /** The scripts' own part: see lua/line.lua. */
  readonly first: string
  readonly mark: string
  readonly expires: string
  readonly state: ScheduleState
}

/** From `nextAt` on: only the script knows the part before it, or it is sent separately. */
export function writeState(state: ScheduleState): string {
  const { nextAt, last } = state
  const base = nextAt ?? 0
  // Joined: when texts are appended one by one, each step stays in memory until the whole is sent.
  let text = [
    nextAt === null ? '-' : whole(nextAt),
    offset(state.plannedTo, base),
    offset(state.wakeAt, base),
    whole(state.fired),
    whole(state.failedInRow),
    offset(last.dueAt, base),
    offset(last.succeededDueAt, base),
    offset(last.succeededAt, base),
    offset(state.trimmedBefore, base),
  ].join(' ')
  for (const fire of state.open) text += writeOpen(fire)
  const uncommon = uncommonOf(state)
  return uncommon === null ? text : `${text}\n${JSON.stringify(uncommon)}`
}

function offset(at: number | null | undefined, base: number): string {
  return at == null ? '-' : whole(at - base)
}

function writeOpen(fire: OpenFire): string {
  const { dueAt, run } = fire
  const numbers = [
    whole(dueAt),
    run === null ? '-' : packToken(run.token),
    run === null ? '0' : whole(run.claim),
    run === null ? '0' : whole(run.startedAt - dueAt),
    whole(fire.plannedAt - dueAt),
    whole(fire.readyAt - dueAt),
  ]
  if (!isFirstRun(fire)) {
    const { round, attempt, failures, crashes, ignoresOverlap } = fire
    numbers.push(String(KINDS.indexOf(fire.kind)), whole(round), whole(attempt), whole(failures), whole(crashes))
    numbers.push(ignoresOverlap ? '1' : '0')
  }
  const nonce = fire.nonce === '' ? '' : encodeName(fire.nonce)
  let text = `\n${numbers.join(' ')}\t${nonce}\t${run === null ? '' : encodeName(run.instance)}`
  for (const slot of run?.slots ?? []) text += `\t${encodeName(slot)}`
  return text
}

export const KINDS: readonly FireKind[] = ['scheduled', 'backfill', 'manual']

function isFirstRun({ kind, round, attempt, failures, crashes, ignoresOverlap }: OpenFire): boolean {
  return kind === 'scheduled' && round === 1 && attempt === 1 && failures === 0 && crashes === 0 && !ignoresOverlap
}

function uncommonOf(state: ScheduleState): Uncommon | null {
  if (isCommon(state)) return null
  const uncommon: Uncommon = {}
  if (state.pause !== null) uncommon.pause = state.pause
  if (state.retiredAt !== null) uncommon.retiredAt = state.retiredAt
  if (state.retirements !== undefined) uncommon.retirements = state.retirements
  if (state.skipped !== undefined) uncommon.skipped = state.skipped
  if (state.backfills.length > 0) uncommon.backfills = state.backfills
  for (const [index, fire] of state.open.entries()) {
    const own = uncommonOfFire(fire)
    if (own !== null) uncommon.open = { ...uncommon.open, [index]: own }
  }
  for (const _ in uncommon) return uncommon
  return null
}

/** Whether its line has no JSON. Most have none and are written often, so nothing is allocated for them. */
export function isCommon({ pause, retiredAt, retirements, skipped, backfills, open }: ScheduleState): boolean {
  const isPlain = pause === null && retiredAt === null && retirements === undefined && skipped === undefined
  return (
    isPlain && backfills.length === 0 && (open.length === 0 || (open.length === 1 && uncommonOfFire(open[0]!) === null))
  )
}

function uncommonOfFire(fire: OpenFire): UncommonFire | null {
  if (isCommonFire(fire)) return null
  const { giveUp, wait, asked, own, tenant, run } = fire
  return {
    ...(giveUp === undefined ? {} : { giveUp }),
    ...(wait === undefined ? {} : { wait }),
    ...(asked === undefined ? {} : { asked }),
    ...(own === null ? {} : { own }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(run === null ? {} : uncommonOfRun(run)),
  }
}

function uncommonOfRun({ cause, cancel, parkedUntil }: OpenRun): UncommonFire {
  return {
    ...(cause === undefined ? {} : { cause }),
    ...(cancel === null ? {} : { cancel }),
    ...(parkedUntil === undefined ? {} : { parkedUntil }),
  }
}

function isCommonFire({ giveUp, wait, asked, own, tenant, run }: OpenFire): boolean {
  const isPlain =
    giveUp === undefined && wait === undefined && asked === undefined && own === null && tenant === undefined
  return isPlain && (run === null || isCommonRun(run))
}

function isCommonRun({ cause, cancel, parkedUntil }: OpenRun): boolean {
  return cause === undefined && cancel === null && parkedUntil === undefined
}

/** The scripts' own part, as far as a reader needs it. */
export function editionOf(line: string): number {
  const from = line.indexOf(' ') + 1
  return Number(line.slice(from, line.indexOf(' ', from)))
}

export function readState(id: string, line: string, settings: Settings): ScheduleState {
  const end = line.indexOf('\n')
  const head = end < 0 ? line : line.slice(0, end)
  return stateIn(id, head.split(' '), end < 0 ? NOTHING : line.slice(end + 1).split('\n'), settings)
}

/** The same, with everything that the next change needs. */
export function readKnown(id: string, member: string, line: string, settings: KnownLine['settings']): KnownLine {
  const end = line.indexOf('\n')
  const numbers = (end < 0 ? line : line.slice(0, end)).split(' ')
  const state = stateIn(id, numbers, end < 0 ? NOTHING : line.slice(end + 1).split('\n'), settings)
  return knownOf(member, numbers, state, settings)
}

/** `head`: the line, or its beginning as far as it is the scripts' own. */
export function knownOf(
  member: string,
  head: readonly string[],
  state: ScheduleState,
  settings: KnownLine['settings'],
): KnownLine {
  const [version, , first, mark, expires] = head as readonly [string, string, string, string, string]
  return { member, settings, version: Number(version), first, mark, expires, state }
}

const NOTHING: readonly never[] = []

function stateIn(
  id: string,
  numbers: readonly string[],
  sections: readonly string[],
  settings: Settings,
): ScheduleState {
  const nextAt = numbers[7] === '-' ? null : Number(numbers[7])
  const base = nextAt ?? 0
  const time = (index: number): number | null => (numbers[index] === '-' ? null : base + Number(numbers[index]))
  const uncommon = uncommonIn(sections)
  const { definition, revision, source, createdAt, updatedAt, zoneData } = settings
  const state: Mutable<ScheduleState> = {
    id,
    version: Number(numbers[0]),
    definition,
    revision,
    source,
    createdAt,
    updatedAt,
    pause: uncommon?.pause ?? null,
    retiredAt: uncommon?.retiredAt ?? null,
    nextAt,
    zoneData,
    wakeAt: time(9),
    tokens: Number(numbers[5]),
    fired: Number(numbers[10]),
    ended: Number(numbers[6]),
    trimmedBefore: time(15),
    failedInRow: Number(numbers[11]),
    last: { dueAt: time(12), succeededDueAt: time(13), succeededAt: time(14) },
    open: sections.length === 0 ? NOTHING : openIn(sections, uncommon),
    backfills: uncommon?.backfills ?? NOTHING,
  }
  const plannedTo = time(8)
  if (plannedTo !== null) state.plannedTo = plannedTo
  if (uncommon?.skipped !== undefined) state.skipped = uncommon.skipped
  if (uncommon?.retirements !== undefined) state.retirements = uncommon.retirements
  return state
}

/** The open fires of a line, for readers that do not need the rest. */
export function readOpen(line: string): OpenFire[] {
  const [, ...sections] = line.split('\n')
  return openIn(sections, uncommonIn(sections))
}

function uncommonIn(sections: readonly string[]): Uncommon | null {
  const last = sections.at(-1)
  return last?.[0] === '{' ? (JSON.parse(last) as Uncommon) : null
}

function openIn(sections: readonly string[], uncommon: Uncommon | null): OpenFire[] {
  const fires = uncommon === null ? sections : sections.slice(0, -1)
  return fires.map((section, index) => readFire(section, uncommon?.open?.[index]))
}

function readFire(section: string, uncommon: UncommonFire | undefined): OpenFire {
  const [head, nonce, instance, ...slots] = section.split('\t') as [string, string, string, ...string[]]
  const numbers = head.split(' ')
  const isFirst = numbers.length === 6
  const dueAt = Number(numbers[0])
  const fire: Mutable<OpenFire> = {
    dueAt,
    nonce: decodeName(nonce),
    kind: isFirst ? 'scheduled' : KINDS[Number(numbers[6])]!,
    round: isFirst ? 1 : Number(numbers[7]),
    plannedAt: dueAt + Number(numbers[4]),
    readyAt: dueAt + Number(numbers[5]),
    ignoresOverlap: !isFirst && numbers[11] === '1',
    attempt: isFirst ? 1 : Number(numbers[8]),
    failures: isFirst ? 0 : Number(numbers[9]),
    crashes: isFirst ? 0 : Number(numbers[10]),
    run: numbers[1] === '-' ? null : readRun(numbers, decodeName(instance), slots, uncommon),
    own: uncommon?.own ?? null,
  }
  if (uncommon?.giveUp !== undefined) fire.giveUp = uncommon.giveUp
  if (uncommon?.wait !== undefined) fire.wait = uncommon.wait
  if (uncommon?.asked !== undefined) fire.asked = uncommon.asked
  if (uncommon?.tenant !== undefined) fire.tenant = uncommon.tenant
  return fire
}

function readRun(
  [dueAt, token, claim, startedAt]: readonly string[],
  instance: string,
  slots: readonly string[],
  uncommon: UncommonFire | undefined,
): OpenRun {
  const run: Mutable<OpenRun> = {
    token: readToken(token!),
    instance,
    claim: Number(claim),
    startedAt: Number(dueAt) + Number(startedAt),
    cancel: uncommon?.cancel ?? null,
  }
  if (uncommon?.cause !== undefined) run.cause = uncommon.cause
  if (slots.length > 0) run.slots = slots.map(decodeName)
  if (uncommon?.parkedUntil !== undefined) run.parkedUntil = uncommon.parkedUntil
  return run
}
