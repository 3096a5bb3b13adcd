import { keepAtLeastMs, policyOf } from '../../../packages/cronce/src/model/policy.ts'
import type { FireKey, HistoryRecord, Range } from '../../../packages/cronce/src/model/record.ts'
import type { OpenFire, ScheduleState } from '../../../packages/cronce/src/model/schedule.ts'
import { fireKeyText, lineKeyText } from '../../../packages/cronce/src/store/memory/data.ts'
import { excludedIn, instantsIn } from './instants.ts'
import { type Mirror, openIn, type Step, type TouchedFire } from './mirror.ts'
import { instantText, type Report } from './report.ts'

/** What is on record: every instant once, nothing else, and what has ended stays so. */
export function checkRecords(step: Step, mirror: Mirror, report: Report): void {
  for (const fire of step.fires) {
    const isNew = step.change.creates.some((key) => fireKeyText(key) === fire.key)
    if (isNew) checkCreated(step, fire, mirror, report)
    else checkChanged(fire, report)
    checkFinal(step, fire, report)
  }
  checkLines(step, report)
  checkVersion(step, report)
  checkOpen(step, report)
  if (step.before !== undefined && step.after !== undefined) checkMark(step.before, step.after, step, mirror, report)
}

function checkCreated(
  step: Step,
  { key, fire, after, linesBefore }: TouchedFire,
  mirror: Mirror,
  report: Report,
): void {
  const { before, now, change } = step
  if (linesBefore.length > 0 || openIn(before, fire) !== undefined) {
    report('S8 identity', `${label(fire)} is on record already, and was made again`)
  }
  if (fire.nonce !== '') {
    const known = mirror.nonces.get(fire.schedule)?.get(fire.nonce)
    if (known !== undefined) report('S8 identity', `${label(fire)} is on record as ${known} already`)
    return
  }
  if (after === undefined) {
    report('S12 durability', `${label(fire)} was made, and is not on record as ${key}`)
    return
  }
  // Part of a range that is being split.
  if (coveredBy(mirror, fire) !== undefined) return
  const { definition } = before ?? change.state!
  const { dueAt, range } = after
  const last = range?.untilAt ?? dueAt
  const own = (after.ending?.reason === 'calendar' ? excludedIn : instantsIn)(definition, dueAt, last + 1)
  const count = range === null ? 1 : own.length
  if (own[0] !== dueAt || own.at(-1) !== last) {
    report('S8 identity', `${label(after)} is not an instant of its schedule`)
  } else if (count !== (range?.count ?? 1))
    report('S8 identity', `${label(after)} stands for ${range?.count} of ${count}`)
  const isPlanned = after.kind === 'scheduled' && after.round === 1 && range === null
  if (isPlanned && after.readyAt > dueAt && instantsIn(definition, dueAt + 1, after.readyAt + 1).length > 0) {
    report('S8 identity', `${label(after)} is ready at ${instantText(after.readyAt)}, after the next one is due`)
  }
  // What is filled in had come before the clock was set back; it starts when it comes again.
  const aheadMs = openIn(step.after, after)?.run === null ? 0 : mirror.claimAheadMs
  if (last > now + aheadMs && after.kind !== 'backfill' && after.ending?.reason !== 'skipped-by-operator') {
    report('S7 not early', `${label(after)} is on record at ${instantText(now)} already`)
  }
}

/** What has ended changes only by another round, or by the split of a range. */
function checkChanged({ fire, before, after, linesAfter }: TouchedFire, report: Report): void {
  if (before === undefined || before.ending === null) return
  // All of it went with a trim.
  if (after === undefined && linesAfter.length === 0) return
  const isSplit = before.range !== null && after?.ending?.reason === before.ending.reason
  const isSame = before.range === null && after?.number === before.number
  // Opened and ended in one step, by the removal of the schedule.
  const isRound = after?.round === before.round + 1
  if (!isSplit && !isSame && !isRound) {
    report(
      'S5 single settle',
      `${label(fire)} had ended (${before.ending.reason}), and is now ${after?.ending?.reason}`,
    )
  }
}

/** A fire has one line that ends it, and none while it is open. */
function checkFinal({ after: state }: Step, { fire, linesAfter }: TouchedFire, report: Report): void {
  const isOpen = openIn(state, fire) !== undefined
  const final = linesAfter.filter(({ isFinal }) => isFinal)
  if (final.length > (isOpen ? 0 : 1)) {
    const numbers = final.map(({ number }) => number).join()
    report('S5 single settle', `${label(fire)} is ${isOpen ? 'open' : 'over'}, and ended with lines ${numbers}`)
  }
}

/** The history is appended to, without gaps; only a range is written again. */
function checkLines({ change, before, after, fires }: Step, report: Report): void {
  const written = new Set(fires.flatMap(({ linesAfter }) => linesAfter))
  const isTrimmed = (line: HistoryRecord): boolean => change.trim !== null && line.number < change.trim.belowNumber
  for (const line of [...change.history, ...change.rewrites]) {
    if (!written.has(line) && !isTrimmed(line)) {
      report('S12 durability', `line ${line.number} (${label(line)}) was written, and is not on record`)
    }
  }
  const known = new Map(fires.flatMap(({ linesBefore }) => linesBefore).map((line) => [line.number, line]))
  for (const [index, line] of change.history.entries()) {
    if (line.number !== (before?.ended ?? 0) + index + 1 || known.has(line.number)) {
      report('S5 single settle', `line ${line.number} (${label(line)}) follows ${before?.ended} lines`)
    }
  }
  for (const line of change.rewrites) {
    if (known.get(line.number)?.range == null) {
      report('S5 single settle', `line ${line.number} (${label(line)}) was written again, and is not a range`)
    }
  }
  if (before !== undefined && after !== undefined && after.ended !== before.ended + change.history.length) {
    report('S5 single settle', `${change.id} has ${after.ended} lines after ${before.ended}`)
  }
}

/** Compare and set: each change moves the version by one, from the one it was decided on. */
function checkVersion({ before, after, change, who }: Step, report: Report): void {
  const was = before?.version ?? 0
  if (change.version !== was)
    report('S9 lost update', `${who} wrote ${change.id} on version ${change.version} of ${was}`)
  if (after === undefined) return
  if (before !== undefined && after.version !== was + 1) {
    report('S9 lost update', `${change.id} went from version ${was} to ${after.version}`)
  }
  if (before !== undefined && after.revision === before.revision && after.definition !== before.definition) {
    report('S9 lost update', `${change.id} has another definition under revision ${after.revision}`)
  }
  if (before !== undefined && after.tokens < before.tokens) report('S2 token', `${change.id} counts tokens backwards`)
}

/** Every fire that is open was made or opened again, within its budgets; and one that is open no more has ended. */
function checkOpen({ before, after, change, fires }: Step, report: Report): void {
  const keys = after?.open.map((fire) => fireKeyText({ ...fire, schedule: change.id })) ?? []
  if (new Set(keys).size !== keys.length) report('S13 conservation', `${change.id} has a fire open twice`)
  const isMade = (key: string): boolean => change.creates.some((fire) => fireKeyText(fire) === key)
  for (const { key, fire, before: was, after: is, linesBefore, linesAfter } of fires) {
    const [earlier, open] = [openIn(before, fire), openIn(after, fire)]
    if (open !== undefined && earlier === undefined && !isMade(key) && was?.ending == null) {
      report('S13 conservation', `${label(fire)} is open, and was neither made nor opened again`)
    }
    if (open === undefined && earlier !== undefined && is === undefined) {
      report('S13 conservation', `${label(fire)} was open, and is gone without an end`)
    }
    const isAdded = linesAfter.length > linesBefore.length
    if (isAdded && earlier === undefined && !isMade(key) && was?.ending == null) {
      report('S13 conservation', `${label(fire)} has another line, and was not open`)
    }
    if (open !== undefined && earlier !== undefined && open.round !== earlier.round) {
      report('S5 single settle', `${label(fire)} went from round ${earlier.round} to ${open.round} while it was open`)
    }
    if (after !== undefined && open !== undefined) checkBudget(after, open, report)
  }
}

function checkBudget(state: ScheduleState, fire: OpenFire, report: Report): void {
  const { retry, guarantee } = policyOf(fire.own?.policy ?? state.definition.policy)
  const isOnce = guarantee === 'at-most-once'
  if (fire.failures <= (isOnce ? 0 : retry.attempts) && fire.crashes <= (isOnce ? 0 : retry.crashes)) return
  const spent = `${fire.failures} failures, ${fire.crashes} crashes`
  report('S11 attempts', `${state.id} ${instantText(fire.dueAt)} is to be run again after ${spent}`)
}

/** The mark moves only past instants that are on record. */
function checkMark(before: ScheduleState, after: ScheduleState, step: Step, mirror: Mirror, report: Report): void {
  if (before.nextAt === null || after.nextAt === before.nextAt) return
  const isSame = after.revision === before.revision && before.zoneData === after.zoneData
  if (after.nextAt !== null && after.nextAt < before.nextAt && isSame) {
    const [from, to] = [instantText(before.nextAt), instantText(after.nextAt)]
    report('S13 conservation', `${after.id} went back from ${from} to ${to}`)
    return
  }
  // Under a new rule all that was due under the old one when it was decided is settled.
  const to = isSame ? after.nextAt : after.updatedAt + 1
  if (to === null || before.retiredAt !== null) return
  const isPaused = before.pause !== null && after.pause !== null
  if (!isSame && isPaused) return
  if (before.definition.limit !== null) return
  for (const at of instantsIn(before.definition, before.nextAt, to)) {
    if (!isSettled(mirror, step, at)) report('S13 conservation', `${after.id} ${instantText(at)} was passed over`)
  }
  checkExcluded(before, after, step, mirror, report)
}

/** What a calendar excludes is on record as far as the schedule is settled. */
function checkExcluded(before: ScheduleState, after: ScheduleState, step: Step, mirror: Mirror, report: Report): void {
  const [from, to] = [before.plannedTo, after.plannedTo]
  if (from === undefined || to === undefined || before.revision !== after.revision) return
  for (const at of excludedIn(before.definition, from + 1, to + 1)) {
    if (!isSettled(mirror, step, at)) report('S13 conservation', `${after.id} ${instantText(at)} was excluded silently`)
  }
}

function isSettled(mirror: Mirror, step: Step, dueAt: number): boolean {
  return isOnRecord(mirror, step, dueAt) || namesBefore(step).some((name) => isOnRecordAs(mirror, name, dueAt))
}

function isOnRecord(mirror: Mirror, { change, after, fires }: Step, dueAt: number): boolean {
  const key = fireKeyText({ schedule: change.id, dueAt, nonce: '' })
  if (openIn(after, { dueAt, nonce: '' }) !== undefined || mirror.lines.has(key)) return true
  const covers = (line: HistoryRecord): boolean => line.dueAt <= dueAt && dueAt <= (line.range?.untilAt ?? line.dueAt)
  const isWritten = fires.some(({ fire, linesAfter }) => fire.nonce === '' && linesAfter.some(covers))
  return isWritten || [...(mirror.ranges.get(change.id)?.values() ?? [])].some(covers)
}

/** Names that the job has gone under: what it did under one of them, it does not do again under another. */
function namesBefore({ before, after, change }: Step): readonly string[] {
  const stretches = [...(before?.retirements ?? []), ...(after?.retirements ?? [])]
  const names = stretches.flatMap(({ renamedTo }) => (renamedTo === undefined ? [] : [renamedTo]))
  return [...new Set(names)].filter((name) => name !== change.id)
}

/** Or it will be planned under that name. */
function isOnRecordAs(mirror: Mirror, schedule: string, dueAt: number): boolean {
  const fire = { schedule, dueAt, nonce: '' }
  const state = mirror.data().schedules.get(schedule)
  return (
    isToCome(state, dueAt) ||
    openIn(state, fire) !== undefined ||
    mirror.lines.has(fireKeyText(fire)) ||
    coveredBy(mirror, fire) !== undefined
  )
}

function isToCome(state: ScheduleState | undefined, dueAt: number): boolean {
  if (state === undefined || state.retiredAt !== null || (state.plannedTo ?? dueAt) >= dueAt) return false
  const [from, to] = [dueAt, dueAt + 1]
  return instantsIn(state.definition, from, to).length > 0 || excludedIn(state.definition, from, to).length > 0
}

function coveredBy(mirror: Mirror, { schedule, dueAt }: FireKey): HistoryRecord | undefined {
  for (const line of mirror.ranges.get(schedule)?.values() ?? []) {
    if (line.dueAt < dueAt && dueAt <= line.range!.untilAt) return line
  }
  return undefined
}

/** Fires go when their time is up, and not before, with all their lines. Called when there are fewer lines than there should be. */
export function checkGone(mirror: Mirror, now: number, report: Report, count: (what: string) => void): void {
  const { history, schedules } = mirror.data()
  for (const [key, lines] of mirror.lines) {
    const all = [...lines.values()]
    const gone = all.filter((line) => !history.has(lineKeyText(line.schedule, line.number)))
    if (gone.length === 0) continue
    const final = all.find(({ isFinal }) => isFinal)
    const fire = final ?? all[0]!
    mirror.lines.delete(key)
    mirror.lineCount -= lines.size
    mirror.ranges.get(fire.schedule)?.delete(key)
    mirror.nonces.get(fire.schedule)?.delete(fire.nonce)
    count('pruned record')
    if (gone.length < all.length) report('S12 durability', `${label(fire)} lost ${gone.length} of ${all.length} lines`)
    const policy = schedules.get(fire.schedule)?.definition.policy
    const leastMs = policy === undefined ? 0 : keepAtLeastMs(policyOf(policy))
    const isDue = final !== undefined && (final.expiresAt <= now || final.endedAt < now - leastMs)
    const isOpen = openIn(schedules.get(fire.schedule), fire) !== undefined
    if (isOpen || !isDue) report('S12 durability', `${label(fire)} is gone before its time`)
  }
}

function label({ schedule, dueAt, nonce, range = null }: FireKey & { readonly range?: Range | null }): string {
  const until = range === null ? '' : ` to ${instantText(range.untilAt)}`
  return `${schedule} ${instantText(dueAt)}${until}${nonce === '' ? '' : ` ${nonce}`}`
}
