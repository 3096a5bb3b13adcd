import { median } from '../shared/statistics.ts'
import type { Child } from './children.ts'
import { alone, type Comparison, compareAnswers } from './cross-check.ts'
import { type LibraryName, OURS, shortName } from './library.ts'
import type { Prepared } from './protocol.ts'
import { PARSE_WORKLOADS, type ParseWorkload, WORKLOADS, type Workload } from './workloads.ts'

interface Effort {
  readonly rounds: number
  readonly roundMs: number
  readonly warmMs: number
}

/** Everything known about one workload after its rounds. */
export interface TimingRow {
  readonly name: string
  readonly bars: Workload['bars'] | 'parse'
  /** Best round of each library that took part. */
  readonly bestNs: ReadonlyMap<LibraryName, number>
  readonly leftOut: ReadonlyMap<LibraryName, string>
  readonly checksums: ReadonlyMap<LibraryName, number>
  /** Differences from our answers, of libraries that have any. */
  readonly differing: readonly Comparison[]
  /** How many times faster ours is, as the median over the rounds; undefined without a peer. */
  readonly overZonePeer: number | undefined
  readonly overCronSchedule: number | undefined
  /** Against the fastest peer of each round. */
  readonly overAnyPeer: number | undefined
  /** What makes the run as a whole a failure. */
  readonly faults: readonly string[]
}

/** Workload after workload; within one, round after round, each round visiting every library in turn. */
export async function timeWorkloads(
  children: readonly Child[],
  effort: Effort,
  progress: (row: TimingRow) => void,
): Promise<TimingRow[]> {
  const rows: TimingRow[] = []
  for (const workload of [...PARSE_WORKLOADS, ...WORKLOADS]) {
    const row = await timeWorkload(children, workload, effort)
    progress(row)
    rows.push(row)
  }
  return rows
}

async function timeWorkload(
  children: readonly Child[],
  workload: Workload | ParseWorkload,
  effort: Effort,
): Promise<TimingRow> {
  const prepared = new Map<LibraryName, Prepared>()
  for (const child of children) {
    prepared.set(child.library, await child.prepare(workload.name, effort.roundMs, effort.warmMs))
  }
  const check = crossCheck(workload, prepared)
  const running = children.filter((child) => !check.leftOut.has(child.library))
  const { times, checksums, faults } = await interleave(running, effort.rounds, 'different' in workload)
  return {
    name: workload.name,
    bars: 'bars' in workload ? workload.bars : 'parse',
    bestNs: new Map(Array.from(times, ([library, ns]) => [library, Math.min(...ns)])),
    leftOut: check.leftOut,
    checksums,
    differing: check.differing,
    overZonePeer: speedup(times, (library) => library !== 'cron-schedule'),
    overCronSchedule: speedup(times, (library) => library === 'cron-schedule'),
    overAnyPeer: speedup(times, () => true),
    faults: [...check.faults, ...faults.map((fault) => `${workload.name}: ${fault}`)],
  }
}

/** The share of differing answers up to which a library is still timed. */
const MISTAKES = 0.02

interface CrossCheck {
  readonly leftOut: Map<LibraryName, string>
  readonly differing: readonly Comparison[]
  readonly faults: readonly string[]
}

/** Compares the answers before timing, so that only libraries that compute the same are timed. */
function crossCheck(workload: Workload | ParseWorkload, prepared: ReadonlyMap<LibraryName, Prepared>): CrossCheck {
  const leftOut = new Map<LibraryName, string>()
  const taking: [LibraryName, readonly number[]][] = []
  for (const [library, { cannot, answers }] of prepared) {
    if (cannot === undefined) taking.push([library, answers])
    else leftOut.set(library, cannot)
  }
  const [reference, ...others] = taking
  const comparisons = others.map(([library, answers]) => compareAnswers(reference![1], library, answers))
  const differing = comparisons.filter((comparison) => comparison.differing > 0)
  const policy = 'differing' in workload ? workload.differing : 'error'
  const faults: string[] = []
  const fault = (text: string) => faults.push(`${workload.name}: ${text}`)

  if (policy === 'error') for (const { example } of differing) fault(`answers differ, ${example}`)
  if (policy === 'leave out') {
    const otherwise = differing.filter((comparison) => comparison.differing > comparison.compared * MISTAKES)
    for (const { library } of otherwise) leftOut.set(library, 'reads it differently')
    if (others.length > 0 && otherwise.length === others.length) fault('no library agrees with the first one')
  }
  if (policy === 'count') {
    const lonely = alone(
      reference![1],
      others.map(([, answers]) => answers),
    )
    // In a thousand questions a few may be ones on which rules differ; many are a bug.
    const compared = Math.min(...taking.map(([, answers]) => answers.length))
    if (lonely.length > compared / 100)
      fault(`${lonely.length} of ${compared} answers are ours alone, first ${lonely[0]}`)
  }
  return { leftOut, differing, faults }
}

async function interleave(running: readonly Child[], rounds: number, fresh: boolean) {
  const times = new Map<LibraryName, number[]>(running.map((child) => [child.library, []]))
  const checksums = new Map<LibraryName, number>()
  const faults: string[] = []
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < running.length; turn++) {
      // Rotates the order each round, so that no library always runs after the same neighbor.
      const child = running[(round + turn) % running.length]!
      const { nsPerOp, checksum } = await child.round(round + 1)
      times.get(child.library)!.push(nsPerOp)
      const known = checksums.get(child.library)
      // Rounds of parsing have strings of their own, everything else is the same work again.
      if (known !== undefined && known !== checksum && !fresh) {
        faults.push(`${shortName(child.library)} answered differently in round ${round}`)
      }
      checksums.set(child.library, checksum)
    }
  }
  if (fresh && new Set(checksums.values()).size > 1) faults.push('the last round parsed into different schedules')
  return { times, checksums, faults }
}

/** Per round: how many times faster ours was than the fastest of the peers. The neighbours' load hits both. */
function speedup(
  times: ReadonlyMap<LibraryName, readonly number[]>,
  counts: (library: LibraryName) => boolean,
): number | undefined {
  const ours = times.get(OURS)
  const peers = [...times].filter(([library]) => library !== OURS && counts(library)).map(([, ns]) => ns)
  if (ours === undefined || peers.length === 0) return undefined
  return median(ours.map((ns, round) => Math.min(...peers.map((peer) => peer[round]!)) / ns))
}
