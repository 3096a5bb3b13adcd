import { distinctExpressions, freshCopy, repeatedExpressions } from './expressions.ts'
import type { Library } from './library.ts'
import type { Timed } from './measure.ts'
import { PARSE_COUNT, type ParseWorkload } from './workloads.ts'

/** Far from zone changes and from the current date. */
const PROBE = Date.UTC(2027, 4, 5, 6, 7, 8)

/**
 * Parses the strings of one round. Every round has its own strings, so that a library which remembers expressions
 * gets no help it would not get in life: with `different: 'all'` hardly any expression comes back in a later round.
 */
export function parseRound(library: Library, workload: ParseWorkload, round: number, count: number): Timed {
  const strings = stringsOf(workload, round, count)
  const schedules: unknown[] = new Array(count).fill(undefined)
  globalThis.gc?.()
  const start = process.hrtime.bigint()
  for (let i = 0; i < count; i++) schedules[i] = library.parse(strings[i]!, 'UTC')
  const ns = Number(process.hrtime.bigint() - start)
  return { ns, checksum: probe(library, schedules) }
}

export function parsedAnswers(library: Library, workload: ParseWorkload, count: number): number[] {
  return stringsOf(workload, 0, count).map((expression) => library.next(library.parse(expression, 'UTC'), PROBE))
}

/** Asks some of the schedules one question: parsed means usable, also for libraries that defer half of the work. */
function probe(library: Library, schedules: readonly unknown[]): number {
  let checksum = 0
  for (let i = 0; i < Math.min(schedules.length, 100); i++) checksum += library.next(schedules[i], PROBE)
  return checksum
}

function stringsOf(workload: ParseWorkload, round: number, count: number): string[] {
  const seed = 1000 + round
  const drawn =
    workload.different === 'all'
      ? distinctExpressions(count, seed)
      : repeatedExpressions(count, workload.different, 1000)
  return drawn.map(freshCopy)
}

/** How many expressions take `roundMs`, after a warm-up on strings which no round will use. */
export function calibrateParse(library: Library, workload: ParseWorkload, roundMs: number, warmMs: number): number {
  let count = 100
  let spent = 0
  for (let round = -1; ; round--) {
    const { ns } = parseRound(library, workload, round, count)
    spent += ns
    const fitting = Math.round((count * roundMs * 1e6) / ns)
    if (spent >= warmMs * 1e6) return Math.min(Math.max(fitting, 100), PARSE_COUNT)
    count = Math.min(Math.max(fitting, 100), count * 4, PARSE_COUNT)
  }
}
