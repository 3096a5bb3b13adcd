import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Property } from '../../packages/checker/src/verdict.ts'
import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import { SYNC_POINTS } from '../sync-points.ts'
import { NEXT_CALL } from './ambush.ts'
import { fireKey, isRunning, restartedIn, struckIn } from './build-history.ts'
import { declared } from './deploy.ts'
import { killSlot } from './faults.ts'
import { CELL_JOBS, type ChaosJob } from './jobs.ts'
import type { Blow } from './order.ts'
import type { ChaosStore } from './stores/store.ts'
import { type Judgement, startWorld, type WitnessedBounds, type World } from './world.ts'

/** One fault at one point: two processes, of which the first is struck and the other is healthy. */
export interface Cell {
  readonly point: SyncPoint
  readonly blow: Exclude<Blow, 'block'>
}

export interface CellResult {
  readonly cell: Cell
  /** Everything that was wrong, in words. */
  readonly problems: readonly string[]
  readonly properties: readonly Property[]
  /** All violations concern elapsed time. Repeat the run before reporting a failure. */
  readonly isSlow: boolean
}

const BLOWS: readonly Cell['blow'][] = ['kill', 'stop', 'answer-lost', 'request-lost', 'request-late']

/** A request can be lost, and an answer, where one is about to be sent. */
const CELLS: readonly Cell[] = SYNC_POINTS.flatMap((point) =>
  BLOWS.filter((blow) => blow === 'kill' || blow === 'stop' || NEXT_CALL[point] !== undefined).map((blow) => ({
    point,
    blow,
  })),
)

/** The cells that apply to such a store. */
function cellsOf({ transacts }: ChaosStore): readonly Cell[] {
  return CELLS.filter(({ point }) => transacts || point !== 'transaction:sent')
}

export const BOUNDS: WitnessedBounds = {
  ...{ leaseMs: 2_000, recoveryMs: 10_000, lateMs: 3_000 },
  ...{ claimAheadMs: 300, clockErrorMs: 25, starvedMs: 500 },
}
const LOOK_MS = 20
/** The first process in the slot of the struck one. */
const STRUCK = 'struck.1'
const LOAD_MUTANT = join(import.meta.dirname, '../mutants/load-mutant.ts')
/** How long the healthy process stays idle in cells where the struck process has to act. */
const AWAY_MS = 2_000
const PATIENCE_MS = 3_000
/** Far beyond any delay of a busy machine: if a wait takes this long, the cell has failed. */
const DEADLINE_MS = 180_000
/** For a wait that the mistake of a mutant may keep from ever ending: such a cell is tried again. */
const ENOUGH_MS = 60_000

export interface CellOptions {
  /** The mutant that is loaded, and the process that loads it. */
  readonly mutant?: string
  readonly mutator?: string
  readonly jobs?: readonly ChaosJob[]
  /** The stopped process resumes only after a peer has started its run again. */
  readonly isOvertaken?: boolean
  /** Where what went wrong is kept. */
  readonly keep?: string | undefined
}

export async function runCell(
  store: ChaosStore,
  cell: Cell,
  { mutant, mutator = LOAD_MUTANT, keep, jobs = CELL_JOBS, isOvertaken = false }: CellOptions = {},
): Promise<CellResult> {
  /** Runs that the struck process reports as ended or refused. */
  const concluded = new Set<string>()
  const isLate = cell.point !== 'declare:sent' && cell.point !== 'recover:sent'
  const world = await startWorld({
    store,
    seed: 1,
    slots: ['struck', 'well'],
    bounds: BOUNDS,
    names: jobs.map(({ name }) => name),
    jobsOf: () => jobs,
    setsClock: false,
    onEvent(event, node) {
      const isEnd = event.type === 'run.ended' || event.type === 'run.fenced'
      if (isEnd && node === STRUCK) concluded.add(fireKey(event))
    },
    // Not at the first occurrence: at that time the process knows no peers and runs nothing.
    ambush: (node) => (node === STRUCK ? { ...cell, nth: isLate ? 3 : 1, ms: 0 } : null),
    ...(mutant === undefined ? {} : { nodeOptions: ['--import', mutator], environment: { MUTANT: mutant } }),
  })
  try {
    await play(world, cell, isOvertaken, mutant === undefined ? DEADLINE_MS : ENOUGH_MS)
    // A mutant may keep the other conditions from ever holding. If both processes have run the fire, both having
    // reported is enough.
    const isEnough = (): boolean => restartedIn(world.folder).some((fire) => concluded.has(fire))
    const over =
      mutant !== undefined && isOvertaken
        ? until('the overtaken process has noticed', isEnough, ENOUGH_MS)
        : settled(world)
    const waited = await over.catch(vainly)
    const judged = await world.judge([])
    const { history, verdict } = judged
    const { properties, ...found } = problemsIn(judged)
    const problems = [...(waited ?? []), ...found.problems]
    const isSlow = found.isSlow && problems.length === found.problems.length
    if (keep !== undefined && problems.length > 0) {
      world.keep(join(keep, `${cell.blow} at ${cell.point}`), history, verdict)
    }
    return { cell, problems, properties, isSlow }
  } catch (error) {
    return { cell, problems: [(error as Error).message], properties: [], isSlow: false }
  } finally {
    await world.end()
    world.removeFolder()
  }
}

export function problemsIn({ verdict, surprises }: Judgement): Omit<CellResult, 'cell'> {
  const { violations } = verdict
  return {
    problems: violations.map(({ property, message }) => `${property}: ${message}`).concat(surprises),
    properties: [...new Set(violations.map(({ property }) => property))],
    isSlow: violations.length > 0 && surprises.length === 0 && violations.every(({ basis }) => basis === 'time'),
  }
}

/** What was wrong with a cell; with the second run of it, if the first one was only slow. */
export async function problemsOfCell(store: ChaosStore, cell: Cell, options: CellOptions): Promise<readonly string[]> {
  const first = await runCell(store, cell, options)
  return first.isSlow ? (await runCell(store, cell, options)).problems : first.problems
}

async function play(world: World, { point, blow }: Cell, isOvertaken: boolean, deadlineMs: number): Promise<void> {
  const { fleet, counters, folder } = world
  const [struck, well] = fleet.slots
  await Promise.all(world.jobsOf(0).map(({ name, spec }) => declared(world, 0, name, { verb: 'define', spec })))
  fleet.restartMs = () => AWAY_MS
  let nudgedAt = world.recorder.now()
  await until(
    `${blow} at ${point}`,
    () => {
      const isPatient = world.recorder.now() - nudgedAt < PATIENCE_MS
      // Peers recover runs only after a death; otherwise all runs may be on the healthy process.
      const isWanted = point === 'recover:sent' ? isRunning(folder, well!.node) || !isPatient : !isPatient
      if (isWanted && well!.isReady) {
        nudgedAt = world.recorder.now()
        if (point === 'recover:sent') killSlot(world, well!)
        else well!.signal('SIGTERM')
      }
      return struckIn(folder).length > 0
    },
    deadlineMs,
  )
  fleet.restartMs = () => 0
  if (blow === 'stop' || blow === 'request-late') {
    await until('it is stopped', () => struck!.isStopped(), deadlineMs)
    await until('it is declared dead', () => counters.of('found dead by its lease') > 0, deadlineMs)
    if (isOvertaken) await until('a peer runs it again', () => restartedIn(folder).length > 0, deadlineMs)
    struck!.signal('SIGCONT')
  }
  await fleet.ready()
}

function vainly(error: Error): string[] {
  return [error.message]
}

/** Everything that was due is over. */
export async function settled(world: World): Promise<void> {
  const now = await world.store.now()
  await until('everything that was due is over', () => isSettled(world, now))
}

async function isSettled({ client }: World, now: number): Promise<boolean> {
  const { items } = await client.schedules.list({ internal: true, limit: 100 })
  return items.every(({ nextAt, open }) => nextAt! > now && open.every(({ dueAt }) => dueAt > now))
}

export async function until(
  what: string,
  look: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`Waited in vain until ${what}.`)
    await sleep(LOOK_MS)
  }
}

/** Several at a time, since each mostly waits. */
export async function runMatrix(
  store: ChaosStore,
  atATime: number,
  keep: string | undefined,
  onResult: (result: CellResult) => void,
): Promise<void> {
  const left = [...cellsOf(store)]
  const work = async (): Promise<void> => {
    for (let cell = left.shift(); cell !== undefined; cell = left.shift())
      onResult(await runCell(store, cell, { keep }))
  }
  await Promise.all(Array.from({ length: atATime }, work))
}
