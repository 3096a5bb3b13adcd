import { setTimeout as sleep } from 'node:timers/promises'
import type { Bounds } from '../../packages/checker/src/history.ts'
import type { Verdict } from '../../packages/checker/src/verdict.ts'
import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import { NEXT_CALL } from './ambush.ts'
import { struckIn } from './build-history.ts'
import { declared } from './deploy.ts'
import { CELL_JOBS } from './jobs.ts'
import type { Blow } from './order.ts'
import type { ChaosStore } from './stores/store.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

/** One thing that goes wrong at one place: two processes, of which the first is struck there, and the other one is well. */
export interface Cell {
  readonly point: SyncPoint
  readonly blow: Exclude<Blow, 'block'>
}

export interface CellResult {
  readonly cell: Cell
  readonly violations: Verdict['violations']
  readonly surprises: readonly string[]
  readonly starts: number
}

const BLOWS: readonly Cell['blow'][] = ['kill', 'stop', 'answer-lost', 'request-lost']
const POINTS: readonly SyncPoint[] = [
  'declare:sent',
  'beat:sent',
  'due:sent',
  'claim:sent',
  'claim:answered',
  'run:starting',
  'step:sent',
  'step:answered',
  'transaction:sent',
  'run:returned',
  'settle:sent',
  'settle:answered',
  'recover:sent',
]

/** A request can be lost, and an answer, where one is about to be sent. */
export const CELLS: readonly Cell[] = POINTS.flatMap((point) =>
  BLOWS.filter((blow) => blow === 'kill' || blow === 'stop' || NEXT_CALL[point] !== undefined).map((blow) => ({
    point,
    blow,
  })),
)

const BOUNDS: Bounds = { leaseMs: 1_000, recoveryMs: 10_000, lateMs: 3_000, clockErrorMs: 25 }
const LOOK_MS = 20
/** Far beyond anything that a busy machine explains: whoever waits so long waits in vain. */
const DEADLINE_MS = 60_000

export async function runCell(
  store: ChaosStore,
  cell: Cell,
  mutant: Pick<WorldOptions, 'nodeOptions' | 'environment'> = {},
): Promise<CellResult> {
  const isLate = cell.point !== 'declare:sent' && cell.point !== 'recover:sent'
  const world = await startWorld({
    ...mutant,
    store,
    seed: 1,
    slots: ['struck', 'well'],
    bounds: BOUNDS,
    names: CELL_JOBS.map(({ name }) => name),
    jobsOf: () => CELL_JOBS,
    setsClock: false,
    // Not the first time: then the process knows nobody yet, and runs nothing.
    ambush: (node) => (node === 'struck.1' ? { ...cell, nth: isLate ? 3 : 1, ms: 0 } : null),
  })
  try {
    await play(world, cell)
    const { history, verdict } = await world.judge([])
    const starts = history.entries.filter(({ kind }) => kind === 'start').length
    return { cell, violations: verdict.violations, surprises: world.fleet.surprises, starts }
  } finally {
    await world.end()
    world.removeFolder()
  }
}

async function play(world: World, { point, blow }: Cell): Promise<void> {
  const { fleet, counters, folder, store } = world
  const [struck, well] = fleet.slots
  await Promise.all(CELL_JOBS.map(({ name, spec }) => declared(world, 0, name, { verb: 'define', spec })))
  if (point === 'recover:sent') {
    // Somebody has to die, for others to look after what it ran.
    await fleet.ready()
    await until('it has something to lose', () => counters.of('runs begun') > 5)
    const over = world.recorder.fault('kill', well!.node)
    well!.signal('SIGKILL')
    over()
  }
  await until(`${blow} at ${point}`, () => struckIn(folder).length > 0)
  if (blow === 'stop') {
    await until('it is stopped', () => struck!.isStopped())
    await until('it is declared dead', () => counters.of('found dead by its lease') > 0)
    struck!.signal('SIGCONT')
  }
  await fleet.ready()
  const now = await store.now()
  await until('everything that was due is over', () => isSettled(world, now))
}

async function isSettled({ client }: World, now: number): Promise<boolean> {
  const { items } = await client.schedules.list({ limit: 100 })
  return items.every(({ nextAt, open }) => nextAt! > now && open.every(({ dueAt }) => dueAt > now))
}

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + DEADLINE_MS
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`Waited in vain until ${what}.`)
    await sleep(LOOK_MS)
  }
}

/** Several at a time, since each mostly waits. A cell in which something never happens is one that failed. */
export async function runMatrix(
  store: ChaosStore,
  cells: readonly Cell[],
  atATime: number,
  onResult: (result: CellResult | { readonly cell: Cell; readonly error: Error }) => void,
): Promise<void> {
  const left = [...cells]
  const work = async (): Promise<void> => {
    for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
      const now = cell
      onResult(await runCell(store, now).catch((error: Error) => ({ cell: now, error })))
    }
  }
  await Promise.all(Array.from({ length: atATime }, work))
}
