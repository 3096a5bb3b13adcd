import type { JobOptions } from 'cronce'
import { declarationOf } from 'cronce/internal'
import { createFleet, type Fleet, NEW_YEAR } from '../../cronce/test/engine/fleet.ts'
import { seededRandom } from '../../cronce/test/oracle/generate-case.ts'
import type { StoreCopy } from '../src/plan/copy-store.ts'
import { rehearse } from '../src/plan/rehearse.ts'
import { VirtualFleet, type Watcher } from '../src/simulate/virtual-fleet.ts'

// Random schedules: what `cronce simulate` says of them, and what the engine does with them in virtual time.

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const ZONE_DATA = '2027a'

export interface SimulatedJob {
  readonly options: JobOptions
  readonly durationMs: number
}

export interface SimulatedWorld {
  readonly seed: number
  readonly jobs: Readonly<Record<string, SimulatedJob>>
  /** Before, of and after the outage. */
  readonly beforeMs: number
  readonly outageMs: number
  readonly afterMs: number
}

/** What is on record in the end, in words: one line for each fire or range, and one for each run. */
export interface Told {
  readonly fires: readonly string[]
  /** By its words, when a run began. */
  readonly runs: ReadonlyMap<string, number>
}

const OVERLAPS = ['skip', 'queue', 'replace', { kind: 'allow', limit: 2 }, { kind: 'queue-all', limit: 3 }] as const
const MISFIRES = ['skip', 'latest', 'all'] as const

export function drawWorld(seed: number): SimulatedWorld {
  const random = seededRandom(seed)
  const whole = (below: number): number => Math.floor(random() * below)
  const of = <T>(list: readonly T[]): T => list[whole(list.length)]!
  const jobs: Record<string, SimulatedJob> = {}
  for (const name of ['ant', 'bee', 'cat', 'dog'].slice(0, 1 + whole(4))) {
    const every = of([
      { cron: '*/7 * * * *' },
      { cron: '5,35 * * * *' },
      { cron: '12 */3 * * *' },
      { every: '11m' },
      { cron: '30 1 * * *' },
    ])
    const given: Record<string, unknown> = { ...every, misfire: of(MISFIRES), overlap: of(OVERLAPS) }
    if (random() < 0.25) given['timeout'] = of(['3m', '20m'])
    if (random() < 0.25) given['guarantee'] = 'at-most-once'
    if (random() < 0.2) given['jitter'] = '2m'
    if (random() < 0.2) given['limit'] = 5 + whole(30)
    // Not whole seconds: what ends and what is due at one millisecond may come in either order.
    const durationMs = of([1_337, 61_013, 4 * MINUTE_MS + 17, 25 * MINUTE_MS + 7, 3 * HOUR_MS + 3])
    jobs[name] = { options: given as JobOptions, durationMs }
  }
  return {
    ...{ seed, jobs, beforeMs: (3 + whole(20)) * HOUR_MS + whole(HOUR_MS) },
    ...{ outageMs: (1 + whole(5)) * HOUR_MS + whole(1_000), afterMs: 8 * HOUR_MS },
  }
}

/** The engine: one process that is killed, and another one that is started later. */
export async function playWorld({ seed, jobs, beforeMs, outageMs, afterMs }: SimulatedWorld): Promise<Told> {
  const fleet = await createFleet({ seed, probes: true })
  const add = () =>
    fleet.add(
      (app, { clock }) => {
        for (const [name, { options, durationMs }] of Object.entries(jobs)) {
          app.job(name, options, async ({ signal }) => {
            await clock.sleep(durationMs, signal)
            signal.throwIfAborted()
          })
        }
      },
      // The store notices dead processes; renewing is most of what would happen.
      { settings: { leaseMs: 6 * HOUR_MS } },
    )
  const first = await add()
  await fleet.advance(beforeMs)
  first.crash()
  await fleet.advance(outageMs)
  await add()
  await fleet.advance(afterMs)
  const told = await toldOf(fleet)
  fleet.end()
  return told
}

async function toldOf(fleet: Fleet): Promise<Told> {
  const fires: string[] = []
  for await (const { schedule, dueAt, state, reason, attempt, range } of fleet.operator.fires.all({})) {
    if (state === 'open') continue
    fires.push(fireWords(schedule, Number(dueAt), range?.count ?? 1, String(reason), attempt))
  }
  return { fires: fires.sort(), runs: new Map(fleet.handled.map((run) => [runWords(run), run.startedAt])) }
}

/** The same, as the simulation has it. */
export async function simulateWorld({ jobs, beforeMs, outageMs, afterMs }: SimulatedWorld): Promise<Told> {
  const { app } = (await createFleet()).make((declared) => {
    for (const [name, { options }] of Object.entries(jobs)) declared.job(name, options, () => {})
  })
  const declaration = await declarationOf(app)!()
  const nothing: StoreCopy = { now: NEW_YEAR, app: 'shop', apps: new Map(), schedules: new Map(), instances: [] }
  const { deployed } = await rehearse([declaration], nothing, undefined)
  const fires: string[] = []
  const runs = new Map<string, number>()
  const watcher: Watcher = {
    started: ({ record }, startedAt) => void runs.set(runWords(record), startedAt),
    ended({ isFinal, schedule, dueAt, range, ending, attempt }) {
      if (isFinal) fires.push(fireWords(schedule, dueAt, range?.count ?? 1, ending.reason, attempt))
    },
  }
  const fleet = new VirtualFleet(deployed.values(), {
    ...{ now: NEW_YEAR, room: 20, zoneData: ZONE_DATA, random: () => 0.5 },
    durationOf: (schedule) => jobs[schedule]!.durationMs,
  })
  fleet.begin(watcher)
  fleet.advance(NEW_YEAR + beforeMs, watcher)
  fleet.outage(NEW_YEAR + beforeMs + outageMs, watcher)
  fleet.advance(NEW_YEAR + beforeMs + outageMs + afterMs, watcher)
  return { fires: fires.sort(), runs }
}

function fireWords(schedule: string, dueAt: number, count: number, reason: string, attempts: number): string {
  return `${schedule} ${new Date(dueAt).toISOString()} ×${count} ${reason} after ${attempts} runs`
}

function runWords({ schedule, dueAt, attempt }: { schedule: string; dueAt: number; attempt: number }): string {
  return `${schedule} ${new Date(dueAt).toISOString()} attempt ${attempt}`
}
