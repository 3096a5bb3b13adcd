import type { Access, History, Line } from './history.ts'

/** What a history proves to be wrong, in sentences. */
export function judge(history: History): string[] {
  return [...judgeSections(history), ...judgeCounter(history), ...judgeTerms(history), ...judgeKeys(history)]
}

interface Section {
  readonly process: string
  readonly token: bigint
  readonly enteredAt: number
  /** By itself. */
  leftAt: number | null
  /** `lock()` returned. */
  isKept: boolean
}

/**
 * A section that `lock()` completed held the lock throughout: no process with a higher token entered before it left. A
 * section that reported a lost lock may have been overtaken; one whose process was killed may be followed from then on.
 */
export function judgeSections({ lines, killedAt, stops }: History): string[] {
  const wrong: string[] = []
  const sections = new Map<string, Section>()
  for (const line of lines) {
    if (!('token' in line)) continue
    const known = sections.get(line.token)
    if (line.what === 'entered') {
      if (known !== undefined) wrong.push(`token ${line.token} was had by ${known.process} and ${line.process}`)
      const { process, token, at } = line
      sections.set(token, { process, token: BigInt(token), enteredAt: at, leftAt: null, isKept: false })
    } else if (known === undefined) wrong.push(`token ${line.token} ${line.what} without having entered`)
    else if (line.what === 'left') known.leftAt = line.at
    else if (line.what === 'locked') known.isKept = true
  }
  let next = Number.POSITIVE_INFINITY
  let follower: Section | null = null
  for (const section of [...sections.values()].sort((a, b) => (a.token > b.token ? -1 : 1))) {
    const { process, enteredAt } = section
    // A process that was stopped in its section may have been overtaken long before it was killed.
    const wasStopped = stops.some((stop) => stop.process === process && stop.at >= enteredAt)
    const diedAt = section.leftAt === null && !wasStopped ? killedAt.get(process) : undefined
    const endsAt = section.isKept ? section.leftAt! : diedAt
    if (endsAt !== undefined && next < endsAt) {
      const others = `${follower!.process} with token ${follower!.token}`
      wrong.push(
        `${others} entered ${(endsAt - next).toFixed(1)} ms before ${section.process} with ${section.token} left`,
      )
    }
    if (section.enteredAt < next) {
      next = section.enteredAt
      follower = section
    }
  }
  return wrong
}

/** Every accepted write adds one to what was there; what `lock()` returned from was written. */
export function judgeCounter({ lines, accesses }: History): string[] {
  const wrong: string[] = []
  let value = 0
  let highest = 0n
  const written = new Map<string, number>()
  for (const access of accesses) {
    if (access.what === 'term' || !access.isAccepted) continue
    if (BigInt(access.token) < highest) wrong.push(`an access with ${access.token} was accepted after ${highest}`)
    highest = max(highest, BigInt(access.token))
    if (access.what === 'read') continue
    if (access.value !== value + 1)
      wrong.push(`${access.process} wrote ${access.value} over ${value}: an update is lost`)
    value = access.value
    written.set(access.token, (written.get(access.token) ?? 0) + 1)
  }
  for (const line of lines) {
    if (line.what === 'locked' && written.get(line.token) !== 1)
      wrong.push(`${line.process} kept ${line.token} and wrote ${written.get(line.token) ?? 0} times`)
  }
  return wrong
}

/**
 * A term has one leader. No process reports that it leads after a higher term was elected, or after it learned that it
 * lost. The resource accepts writes only from the leader of that term.
 */
export function judgeTerms({ lines, accesses }: History): string[] {
  const wrong: string[] = []
  const terms = new Map<string, { readonly leader: string; readonly at: number }>()
  for (const line of lines) {
    if (line.what !== 'elected') continue
    const other = terms.get(line.term)
    if (other !== undefined) wrong.push(`term ${line.term} is of ${other.leader} and of ${line.process}`)
    terms.set(line.term, { leader: line.process, at: line.at })
  }
  for (const access of accesses) {
    if (access.what !== 'term' || !access.isAccepted) continue
    const leader = terms.get(access.token)?.leader
    if (leader !== access.process)
      wrong.push(`${access.process} wrote with term ${access.token} of ${leader ?? 'nobody'}`)
  }
  const accepted = accesses.filter(({ what, isAccepted }) => what === 'term' && isAccepted)
  for (const [index, access] of accepted.entries()) {
    const before = accepted[index - 1]
    if (before !== undefined && BigInt(before.token) > BigInt(access.token))
      wrong.push(`term ${access.token} was accepted after ${before.token}`)
  }
  return [...wrong, ...judgeClaims(lines, terms)]
}

function judgeClaims(
  lines: readonly Line[],
  terms: ReadonlyMap<string, { readonly leader: string; readonly at: number }>,
): string[] {
  const wrong: string[] = []
  const last = new Map<string, number>()
  for (const line of lines) {
    if (line.what !== 'leads') continue
    last.set(line.term, Math.max(last.get(line.term) ?? 0, line.at))
    if (terms.get(line.term)?.leader !== line.process)
      wrong.push(`${line.process} says that it leads in term ${line.term}`)
  }
  for (const line of lines) {
    const saidAt = line.what === 'lost' ? (last.get(line.term) ?? 0) : 0
    if (line.what === 'lost' && saidAt > line.at) wrong.push(`${line.process} leads after it lost term ${line.term}`)
  }
  let next = Number.POSITIVE_INFINITY
  let successor = ''
  for (const [term, { leader, at }] of [...terms].sort(([a], [b]) => (BigInt(a) > BigInt(b) ? -1 : 1))) {
    const saidAt = last.get(term) ?? 0
    if (saidAt > next)
      wrong.push(
        `${leader} says that it leads in ${term}, ${(saidAt - next).toFixed(1)} ms after ${successor} was elected`,
      )
    if (at < next) {
      next = at
      successor = `${leader} (${term})`
    }
  }
  return wrong
}

/**
 * The effect of a key happens once and every caller gets its result; or the result is unknown, and that is reported.
 */
export function judgeKeys(history: History): string[] {
  const { lines, survivors, keys } = history
  const wrong: string[] = []
  const effects = new Map<string, string>()
  for (const line of lines) {
    if (line.what !== 'effect') continue
    if (effects.has(line.key)) wrong.push(`${line.key} was done twice`)
    effects.set(line.key, line.value)
  }
  const told = new Set<string>()
  for (const line of lines) {
    if (line.what === 'result' || line.what === 'unknown') told.add(`${line.process} ${line.key}`)
    if (line.what === 'result' && effects.get(line.key) !== line.value)
      wrong.push(`${line.process} got ${line.value} for ${line.key}, which was ${effects.get(line.key) ?? 'not done'}`)
  }
  wrong.push(...judgeUnknown(history))
  for (const process of survivors) {
    for (const key of keys) if (!told.has(`${process} ${key}`)) wrong.push(`${process} was told nothing of ${key}`)
  }
  return wrong
}

/**
 * "Unknown" is allowed only if a process died or hung, and not once the process that did the work has its result, which
 * is stored by then.
 */
function judgeUnknown({ lines, killedAt, stops }: History): string[] {
  const wrong: string[] = []
  const isHale = (process: string): boolean => !killedAt.has(process) && stops.every((stop) => stop.process !== process)
  for (const unknown of lines) {
    if (unknown.what !== 'unknown') continue
    const { key, process, at } = unknown
    if (killedAt.size === 0 && stops.length === 0) wrong.push(`${process} got an unknown result for ${key}`)
    const doer = lines.find((line) => line.what === 'effect' && line.key === key)?.process
    if (doer === undefined || !isHale(doer)) continue
    const isDone = lines.some(
      (line) => line.what === 'result' && line.key === key && line.process === doer && line.at < at,
    )
    if (isDone) wrong.push(`${process} got an unknown result for ${key}, which ${doer} has done`)
  }
  return wrong
}

/** Whether enough happened for a verdict. */
export interface Tally {
  readonly kept: number
  readonly overtaken: number
  readonly refused: number
  readonly terms: number
  readonly leaders: number
  readonly keys: number
  readonly unknown: number
}

export function tally({ lines, accesses }: History): Tally {
  const count = (what: Line['what']): number => lines.filter((line) => line.what === what).length
  const elected = lines.flatMap((line) => (line.what === 'elected' ? [line] : []))
  const keys = lines.flatMap((line) => (line.what === 'effect' ? [line.key] : []))
  return {
    kept: count('locked'),
    overtaken: count('refused'),
    refused: accesses.filter((access: Access) => !access.isAccepted).length,
    terms: elected.length,
    leaders: new Set(elected.map(({ process }) => process)).size,
    keys: new Set(keys).size,
    unknown: new Set(lines.flatMap((line) => (line.what === 'unknown' ? [line.key] : []))).size,
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
