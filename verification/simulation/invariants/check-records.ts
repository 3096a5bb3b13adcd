import { keepAtLeastMs, policyOf } from '../../../packages/cronce/src/model/policy.ts'
import type { FireRecord } from '../../../packages/cronce/src/model/record.ts'
import type { ScheduleState } from '../../../packages/cronce/src/model/schedule.ts'
import { fireKeyText } from '../../../packages/cronce/src/store/memory/data.ts'
import { instantsIn, isInstant } from './instants.ts'
import type { Mirror, Step, Touched } from './mirror.ts'
import { instantText, type Report } from './report.ts'

/** What is on record: every instant once, nothing else, and what has ended stays so. */
export function checkRecords(step: Step, mirror: Mirror, report: Report): void {
  for (const fire of step.fires) {
    if (fire.after !== fire.wanted) report('S12 durability', `${label(fire.wanted)} was written, and is not on record`)
    if (fire.before === undefined) checkCreated(step, fire.wanted, mirror, report)
    else checkChanged(fire, fire.before, report)
  }
  checkVersion(step, report)
  if (step.after === undefined) checkRemoved(step, mirror, report)
  else checkOpen(step, step.after, mirror, report)
  if (step.before !== undefined && step.after !== undefined) checkMark(step.before, step.after, step, mirror, report)
}

function checkCreated({ before, now, change }: Step, fire: FireRecord, mirror: Mirror, report: Report): void {
  if (fire.nonce !== '') {
    const known = mirror.nonces.get(fire.schedule)?.get(fire.nonce)
    if (known !== undefined) report('S8 identity', `${label(fire)} is on record as ${known} already`)
    return
  }
  // Part of a range that is being split.
  if (coveredBy(mirror, fire) !== undefined) return
  const { definition } = before ?? change.state!
  const { dueAt, range } = fire
  const last = range?.untilAt ?? dueAt
  const count = range === null ? 1 : instantsIn(definition, dueAt, last + 1).length
  if (!isInstant(definition, dueAt) || !isInstant(definition, last)) {
    report('S8 identity', `${label(fire)} is no instant of its schedule`)
  } else if (count !== (range?.count ?? 1))
    report('S8 identity', `${label(fire)} stands for ${range?.count} of ${count}`)
  const isPlanned = fire.kind === 'scheduled' && fire.round === 1 && range === null
  if (isPlanned && fire.readyAt > dueAt && instantsIn(definition, dueAt + 1, fire.readyAt + 1).length > 0) {
    report('S8 identity', `${label(fire)} is ready at ${instantText(fire.readyAt)}, after the next one is due`)
  }
  // What is filled in had come before the clock was set back; it starts when it comes again.
  if (last > now && fire.kind !== 'backfill' && fire.ending?.reason !== 'skipped-by-operator') {
    report('S7 not early', `${label(fire)} is on record at ${instantText(now)} already`)
  }
}

function checkChanged({ wanted }: Touched<FireRecord>, before: FireRecord, report: Report): void {
  if (before.ending === null || before === wanted) return
  const isSplit = before.range !== null && wanted.ending?.reason === before.ending.reason
  const isRound = wanted.round === before.round + 1 && wanted.ending === null
  // Opened and ended in one step: by whoever removes it.
  const isBoth = wanted.round === before.round + 1
  if (!isSplit && !isRound && !isBoth) {
    report(
      'S5 single settle',
      `${label(wanted)} had ended (${before.ending.reason}), and is now ${wanted.ending?.reason}`,
    )
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

function checkRemoved({ change }: Step, mirror: Mirror, report: Report): void {
  const ended = change.updates.filter(({ ending }) => ending !== null).length
  const open = mirror.openFires.get(change.id) ?? 0
  const opened = change.creates.filter(({ ending }) => ending === null).length
  if (open + opened > ended) report('S13 conservation', `${change.id} was removed with ${open} open, ${ended} ended`)
}

/** The open fires of the state are the open records, with the same numbers, and within their budgets. */
function checkOpen(step: Step, after: ScheduleState, mirror: Mirror, report: Report): void {
  const fires = mirror.data().fires
  const known = new Set(step.before?.open)
  for (const fire of after.open) {
    if (known.has(fire) && step.before?.definition === after.definition) continue
    const record = fires.get(fireKeyText({ schedule: after.id, dueAt: fire.dueAt, nonce: fire.nonce }))
    const isAlike = record?.ending === null && record.round === fire.round && record.attempt === fire.attempt
    if (!isAlike)
      report('S13 conservation', `${after.id} ${instantText(fire.dueAt)} is open, and not on record as that`)
    const { retry, guarantee } = policyOf(fire.own?.policy ?? after.definition.policy)
    const isOnce = guarantee === 'at-most-once'
    if (fire.failures > (isOnce ? 0 : retry.attempts) || fire.crashes > (isOnce ? 0 : retry.crashes)) {
      const spent = `${fire.failures} failures, ${fire.crashes} crashes`
      report('S11 attempts', `${after.id} ${instantText(fire.dueAt)} is to be run again after ${spent}`)
    }
  }
  let open = mirror.openFires.get(after.id) ?? 0
  for (const { before, after: record } of step.fires) {
    open += Number(record?.ending === null) - Number(before?.ending === null)
  }
  if (open !== after.open.length) {
    report('S13 conservation', `${after.id} has ${after.open.length} open fires, and ${open} open records`)
  }
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
  for (const at of instantsIn(before.definition, before.nextAt, to)) {
    if (before.definition.limit !== null) return
    if (!isOnRecord(mirror, step, at)) report('S13 conservation', `${after.id} ${instantText(at)} was passed over`)
  }
}

function isOnRecord(mirror: Mirror, { change, fires }: Step, dueAt: number): boolean {
  if (mirror.data().fires.has(fireKeyText({ schedule: change.id, dueAt, nonce: '' }))) return true
  const covers = (fire: FireRecord): boolean =>
    fire.range !== null && fire.dueAt <= dueAt && dueAt <= fire.range.untilAt
  return fires.some(({ wanted }) => covers(wanted)) || [...(mirror.ranges.get(change.id)?.values() ?? [])].some(covers)
}

function coveredBy(mirror: Mirror, { schedule, dueAt }: FireRecord): FireRecord | undefined {
  for (const range of mirror.ranges.get(schedule)?.values() ?? []) {
    if (range.dueAt < dueAt && dueAt <= range.range!.untilAt) return range
  }
  return undefined
}

/** Records go when their time is up, and not before. Called when there are fewer than there should be. */
export function checkGone(mirror: Mirror, now: number, report: Report, count: (what: string) => void): void {
  const { fires, schedules } = mirror.data()
  for (const [key, fire] of mirror.fires) {
    if (fires.has(key)) continue
    mirror.fires.delete(key)
    mirror.ranges.get(fire.schedule)?.delete(key)
    mirror.nonces.get(fire.schedule)?.delete(fire.nonce)
    count('pruned record')
    const policy = schedules.get(fire.schedule)?.definition.policy
    const leastMs = policy === undefined ? 0 : keepAtLeastMs(policyOf(policy))
    const isDue = fire.expiresAt !== null && fire.expiresAt <= now
    const isOld = fire.endedAt !== null && fire.endedAt < now - leastMs
    if (fire.ending === null || !(isDue || isOld)) report('S12 durability', `${label(fire)} is gone before its time`)
  }
}

function label({ schedule, dueAt, nonce, range }: FireRecord): string {
  const until = range === null ? '' : ` to ${instantText(range.untilAt)}`
  return `${schedule} ${instantText(dueAt)}${until}${nonce === '' ? '' : ` ${nonce}`}`
}
