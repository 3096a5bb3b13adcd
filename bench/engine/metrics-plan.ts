import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runFresh } from '../shared/processes.ts'
import { median } from '../shared/statistics.ts'

/** `control`: not measured either. How far it is from `without` is the error of the measurement. */
export type Kind = 'without' | 'control' | 'measured'

/** CPU microseconds of the main thread per fire, of three rounds that followed each other. */
export type Round = Readonly<Record<Kind, number>>

/** What metrics cost, on the memory store: a fire costs least there, so this is the largest share. */
export interface Overhead {
  /** One app, measured in every third round. */
  readonly rounds: readonly Round[]
  /** Instructions per fire, of apps that do nothing else; `null`: valgrind is not installed. */
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
/** Fires of an app are those of the longer run less those of the shorter one, which has compiled its code and filled its store. */
const COUNTED = { schedules: 200, short: 60, long: 180 } as const

export async function measureOverhead(triples: number): Promise<Overhead> {
  const script = new URL('./metrics-child.ts', import.meta.url)
  const rounds = await runFresh<Round[]>(script, [SCHEDULES, triples].map(String), 4_000)
  return { rounds, instructions: await countInstructions() }
}

/**
 * By the ratios of rounds that followed each other, because other work on the machine slows down neighbors alike. Their median has an
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

/** How many more instructions a fire takes, in percent. */
export function moreInstructions({ instructions }: Pick<Overhead, 'instructions'>): number | null {
  return instructions === null ? null : (instructions.measured / instructions.without - 1) * 100
}

/** No other work on the machine changes these counts. */
async function countInstructions(): Promise<Overhead['instructions']> {
  const perFire = async (isMeasured: boolean): Promise<number> => {
    const [long, short] = await Promise.all([
      instructionsOf(COUNTED.long, isMeasured),
      instructionsOf(COUNTED.short, isMeasured),
    ])
    return (long - short) / ((COUNTED.long - COUNTED.short) * COUNTED.schedules)
  }
  try {
    return { without: await perFire(false), measured: await perFire(true) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const VALGRIND = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null', '--smc-check=all-non-file']
/** One thread and no chance, so that every run compiles and collects at the same places. */
const NODE = ['--single-threaded', '--hash-seed=1', '--random-seed=1']

async function instructionsOf(rounds: number, isMeasured: boolean): Promise<number> {
  const script = fileURLToPath(new URL('./instructions-child.ts', import.meta.url))
  const args = [
    '--schedules',
    String(COUNTED.schedules),
    '--rounds',
    String(rounds),
    ...(isMeasured ? ['--measured'] : []),
  ]
  const { stderr } = await promisify(execFile)('valgrind', [...VALGRIND, process.execPath, ...NODE, script, ...args])
  const [, count] = /I\s+refs:\s+([\d,]+)/.exec(stderr) ?? []
  if (count === undefined) throw new Error(`valgrind counted nothing: ${stderr.slice(-500)}`)
  return Number(count.replaceAll(',', ''))
}
