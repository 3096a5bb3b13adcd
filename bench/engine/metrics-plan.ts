import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runFresh } from '../shared/processes.ts'
import { median } from '../shared/statistics.ts'

/** `control`: not measured either. How far it is from `without` is the error of the measurement. */
export type Kind = 'without' | 'control' | 'measured'

/** CPU microseconds of the main thread per fire, of three turns that followed each other. */
export type Round = Readonly<Record<Kind, number>>

/** What one process found out. */
export interface Measured {
  /** One app, measured in every third turn. */
  readonly rounds: readonly Round[]
  /** CPU nanoseconds of the calls alone that count a fire, in a loop. */
  readonly countingNs: number
}

/** What metrics cost, on the memory store: a fire costs least there, so this is the largest share. */
export interface Overhead extends Measured {
  /** Millions of them, of an app from its start to its end; `null`: valgrind is not installed. */
  readonly instructions: Readonly<Record<'without' | 'measured', number>> | null
}

/** How much more than without metrics, in percent: the median, and the interval that contains it with 95 % confidence. */
export interface Difference {
  readonly pairs: number
  readonly percent: number
  readonly from: number
  readonly to: number
}

const SCHEDULES = 500
/** Of an app whose instructions are counted: 140,000 fires. */
const COUNTED = { schedules: 200, rounds: 700 } as const

export async function measureOverhead(triples: number): Promise<Overhead> {
  const script = new URL('./metrics-child.ts', import.meta.url)
  const measured = await runFresh<Measured>(script, [SCHEDULES, triples].map(String), 4_000)
  return { ...measured, instructions: await countInstructions() }
}

/**
 * By the ratios of turns that followed each other, because other work on the machine slows down neighbors alike. Their median has an
 * interval by rank, which assumes nothing about how they are distributed.
 */
export function differenceOf({ rounds }: Pick<Overhead, 'rounds'>, kind: 'control' | 'measured'): Difference {
  const ratios = rounds.map(({ without, [kind]: other }) => other / without).sort((one, other) => one - other)
  const pairs = ratios.length
  const rank = Math.max(0, Math.floor(pairs / 2 - 0.98 * Math.sqrt(pairs)) - 1)
  const percent = (ratio: number | undefined): number => ((ratio ?? Number.NaN) - 1) * 100
  return {
    pairs,
    percent: percent(median(ratios)),
    from: percent(ratios[rank]),
    to: percent(ratios[pairs - 1 - rank]),
  }
}

/** How many more instructions an app takes, in percent. */
export function moreInstructions({ instructions }: Pick<Overhead, 'instructions'>): number | null {
  return instructions === null ? null : (instructions.measured / instructions.without - 1) * 100
}

/** No other work on the machine changes these counts; when code is compiled and memory collected does, by some percent. */
async function countInstructions(): Promise<Overhead['instructions']> {
  try {
    const [without, measured] = await Promise.all([instructionsOf(false), instructionsOf(true)])
    return { without, measured }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const VALGRIND = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null', '--smc-check=all-non-file']
/** One thread and no chance, so that every run compiles and collects at the same places. */
const NODE = ['--single-threaded', '--hash-seed=1', '--random-seed=1']

async function instructionsOf(isMeasured: boolean): Promise<number> {
  const script = fileURLToPath(new URL('./instructions-child.ts', import.meta.url))
  const args = [
    '--schedules',
    String(COUNTED.schedules),
    '--rounds',
    String(COUNTED.rounds),
    ...(isMeasured ? ['--measured'] : []),
  ]
  const { stderr } = await promisify(execFile)('valgrind', [...VALGRIND, process.execPath, ...NODE, script, ...args])
  const [, count] = /I\s+refs:\s+([\d,]+)/.exec(stderr) ?? []
  if (count === undefined) throw new Error(`valgrind counted nothing: ${stderr.slice(-500)}`)
  return Number(count.replaceAll(',', '')) / 1e6
}
