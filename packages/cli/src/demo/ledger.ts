import type { FireView, RunView } from 'cronce'
import type { Line } from './witness.ts'

/** All that is known about what had to run and what ran, from sources that do not know each other. */
export interface Evidence {
  /** By arithmetic: what was due, by schedule. */
  readonly due: ReadonlyMap<string, readonly number[]>
  /** By the store. */
  readonly fires: readonly FireView[]
  readonly runs: readonly RunView[]
  /** By the handlers. */
  readonly lines: readonly Line[]
  /** By the user's own table. */
  readonly payments: readonly { readonly schedule: string; readonly dueAt: number }[]
  /** The schedule whose every fire has to pay once. */
  readonly paying: string
  /** Everything has had its time: what is not there by now is lost. */
  readonly isFinal: boolean
}

export interface Ledger {
  readonly due: number
  readonly ran: number
  readonly failed: number
  /** By reason. */
  readonly skipped: ReadonlyMap<string, number>
  readonly missed: ReadonlyMap<string, number>
  /** Not ended yet. */
  readonly open: number
  /** Runs that were not the first of their fire, by how the one before had ended. */
  readonly again: ReadonlyMap<string, number>
  /** Runs whose handler came to its end, which was not recorded: a zombie's, or a killed one's. */
  readonly overtaken: number
  /** In words; all of them empty if the promises were kept. */
  readonly duplicates: readonly string[]
  readonly lost: readonly string[]
  readonly early: readonly string[]
}

/** Compares both witnesses with what was due. Every difference is a fault. */
export function audit(evidence: Evidence): Ledger {
  const fires = byFire(evidence.fires.flatMap(instantsOf(evidence.due)))
  const runs = byFire(evidence.runs)
  const lines = byFire(evidence.lines)
  const payments = byFire(evidence.payments)
  const duplicates: string[] = []
  const lost: string[] = []
  const due = new Set([...evidence.due].flatMap(([schedule, instants]) => instants.map((at) => nameOf(schedule, at))))
  for (const name of fires.keys()) if (!due.has(name)) duplicates.push(`${name} is on record, and was never due`)
  for (const name of due) {
    const [fire, ...more] = fires.get(name) ?? []
    if (more.length > 0) duplicates.push(`${name} is on record ${more.length + 1} times`)
    if (fire === undefined) {
      if (evidence.isFinal) lost.push(`${name} was due, and is not on record`)
      continue
    }
    const about = { name, fire, runs: inOrder(runs.get(name)), lines: lines.get(name) ?? [] }
    const paid = payments.get(name)?.length ?? 0
    duplicates.push(...doubled(about, evidence.isFinal), ...paidTwice(about, paid))
    // The record may be there a moment before the witness has written its line.
    if (evidence.isFinal) lost.push(...neverEnded(about), ...unseen(about), ...unpaid(about, evidence.paying, paid))
  }
  const ended = [...fires].filter(([name]) => due.has(name)).map(([, [fire]]) => fire!)
  return {
    due: due.size,
    ...countEnds(ended),
    again: countAgain(runs),
    overtaken: countOvertaken(evidence),
    duplicates,
    lost,
    early: evidence.runs.filter(({ startedAt, dueAt }) => startedAt < dueAt).map((run) => `${keyOf(run)} began early`),
  }
}

function countEnds(fires: readonly FireView[]): Pick<Ledger, 'ran' | 'failed' | 'skipped' | 'missed' | 'open'> {
  const of = (...states: readonly FireView['state'][]) => fires.filter(({ state }) => states.includes(state))
  return {
    ran: of('succeeded').length,
    failed: of('failed', 'abandoned', 'cancelled').length,
    skipped: count(of('skipped').map(({ reason }) => reason!)),
    missed: count(of('missed').map(({ reason }) => reason!)),
    open: of('open').length,
  }
}

function countAgain(runs: ReadonlyMap<string, readonly RunView[]>): ReadonlyMap<string, number> {
  return count([...runs.values()].flatMap((all) => inOrder(all).slice(0, -1)).map(({ reason }) => reason ?? 'running'))
}

function countOvertaken({ runs, lines }: Evidence): number {
  const succeeded = new Set(
    runs.filter(({ state }) => state === 'succeeded').map((run) => `${keyOf(run)} ${run.token}`),
  )
  return lines.filter((line) => line.what === 'ended' && !succeeded.has(`${keyOf(line)} ${line.token}`)).length
}

interface About {
  readonly name: string
  readonly fire: FireView
  readonly runs: readonly RunView[]
  readonly lines: readonly Line[]
}

/** A run again is not a duplicate if the one before was on record as over when it began. Everything else is one. */
function doubled({ name, fire, runs, lines }: About, isFinal: boolean): string[] {
  const found: string[] = []
  if (runs.filter(({ state }) => state === 'succeeded').length > 1) found.push(`${name} succeeded twice`)
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1]
    if (before !== undefined && (before.endedAt === null || before.endedAt > run.startedAt)) {
      found.push(`${name} was begun again while run ${before.token} went on`)
    }
  }
  const started = lines.filter(({ what }) => what === 'started').map(({ token }) => token)
  if (new Set(started).size < started.length) found.push(`${name} was started twice under one token`)
  const known = new Set(runs.map(({ token }) => token))
  if (isFinal && started.some((token) => !known.has(token))) found.push(`${name} was started without a record`)
  const isRun = fire.state !== 'skipped' && fire.state !== 'missed'
  if (!isRun && started.length > 0) found.push(`${name} is on record as ${fire.state}, and was started`)
  return found
}

function neverEnded({ name, fire }: About): string[] {
  return fire.state === 'open' ? [`${name} never ended`] : []
}

function unseen({ name, fire, runs, lines }: About): string[] {
  if (fire.state !== 'succeeded') return []
  const succeeded = new Set(runs.filter(({ state }) => state === 'succeeded').map(({ token }) => token))
  const isSeen = lines.some(({ what, token }) => what === 'ended' && succeeded.has(token))
  return isSeen ? [] : [`${name} is on record as run, and no witness saw it end`]
}

function paidTwice({ name }: About, payments: number): string[] {
  return payments > 1 ? [`${name} paid ${payments} times`] : []
}

function unpaid({ name, fire }: About, paying: string, payments: number): string[] {
  return fire.schedule === paying && fire.state === 'succeeded' && payments === 0
    ? [`${name} was run, and not paid`]
    : []
}

/** Many missed instants are one record: taken apart, by the same arithmetic. */
function instantsOf(due: Evidence['due']): (fire: FireView) => FireView[] {
  return (fire) => {
    const { range } = fire
    if (range === null) return [fire]
    const within = (due.get(fire.schedule) ?? []).filter((at) => at >= fire.dueAt && at <= range.untilAt)
    return within.map((dueAt) => ({ ...fire, dueAt, range: null }))
  }
}

function inOrder(runs: readonly RunView[] = []): RunView[] {
  return runs.toSorted((a, b) => a.attempt - b.attempt)
}

interface Named {
  readonly schedule: string
  readonly dueAt: number
}

function byFire<Item extends Named>(items: readonly Item[]): Map<string, Item[]> {
  return Map.groupBy(items, keyOf)
}

function keyOf({ schedule, dueAt }: Named): string {
  return nameOf(schedule, dueAt)
}

function nameOf(schedule: string, dueAt: number): string {
  return `${schedule} ${new Date(dueAt).toISOString().slice(11, 19)}`
}

function count(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
