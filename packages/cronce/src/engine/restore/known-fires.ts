import { NOBODY, type OpenFire, type ScheduleState } from '../../model/schedule.ts'
import type { KnownFire } from '../../policy/end/restore.ts'
import type { Core } from '../core.ts'
import type { LocalRun } from '../run/run-table.ts'
import { fireText, type Remembered } from './recent-changes.ts'

/**
 * Everything this instance knows about fires of which a run began or ended, by schedule: its recent writes, what it executes, and
 * what it saw peers execute. `instances`: those that the store knows; a run of any other would have no owner, and never end.
 */
export function knownFires(core: Core, instances: ReadonlySet<string>): ReadonlyMap<string, readonly KnownFire[]> {
  const fires = new Map<string, KnownFire>()
  const latest = new Map<string, Remembered>()
  for (const remembered of core.recent.all()) {
    const { schedule } = remembered.fire
    const known = knownBy(core, remembered, instances)
    if (known !== null) fires.set(fireText(remembered.fire), known)
    if (isLater(remembered, latest.get(schedule))) latest.set(schedule, remembered)
  }
  for (const run of core.runs.all()) {
    const known = fires.get(fireText(run.started.record))
    if (known?.token !== run.started.record.token) add(fires, runningHere(core, run))
  }
  for (const { state, fire } of latest.values()) {
    for (const open of state?.open ?? []) {
      const isTheirs =
        open.run !== null &&
        open.run.instance !== core.fleet.instance &&
        (open.run.instance === NOBODY || instances.has(open.run.instance))
      if (isTheirs) add(fires, runningElsewhere(fire.schedule, open, open.run!.token))
    }
  }
  return Map.groupBy(fires.values(), ({ fire }) => fire.schedule)
}

/** Peers that this instance knows to have held runs. */
export function holdersOf(core: Core): readonly string[] {
  const holders = new Set<string>()
  for (const { open, state } of core.recent.all()) {
    for (const { run } of [...(open === null ? [] : [open]), ...(state?.open ?? [])]) {
      if (run !== null && run.instance !== NOBODY) holders.add(run.instance)
    }
  }
  return [...holders]
}

/** Each schedule, as this instance wrote it last. */
export function knownStates(core: Core): ReadonlyMap<string, ScheduleState> {
  const latest = new Map<string, Remembered>()
  for (const remembered of core.recent.all()) {
    const { schedule } = remembered.fire
    if (isLater(remembered, latest.get(schedule))) latest.set(schedule, remembered)
  }
  return new Map([...latest].flatMap(([id, { state }]) => (state === null ? [] : [[id, state]])))
}

/** `null`: a run that was overtaken here, or whose instance the store does not know. */
function knownBy(core: Core, known: Remembered, instances: ReadonlySet<string>): KnownFire | null {
  const { instance } = known.open?.run ?? {}
  if (instance === undefined || core.runs.find(known.fire.schedule, known.token) !== undefined) return known
  // A parked run: the call-back must find it again.
  if (instance === NOBODY) return known
  if (instance === core.fleet.instance || !instances.has(instance)) return null
  return { ...known, isElsewhere: true }
}

/** A write about a fire has more information than an observation of it. */
function add(fires: Map<string, KnownFire>, known: KnownFire): void {
  const key = fireText(known.fire)
  if (!fires.has(key)) fires.set(key, known)
}

function isLater(one: Remembered, other: Remembered | undefined): boolean {
  if (other === undefined || one.epoch !== other.epoch) return other === undefined || one.epoch > other.epoch
  return (one.state?.version ?? Infinity) > (other.state?.version ?? Infinity)
}

function runningHere(core: Core, { started }: LocalRun): KnownFire {
  const { record } = started
  const { schedule, dueAt, nonce, token } = record
  const seen = core.known.find(schedule)?.state.open.find(({ run }) => run?.token === token)
  return {
    fire: { schedule, dueAt, nonce },
    token,
    open: seen ?? started.fire,
    history: [],
    isElsewhere: false,
  }
}

function runningElsewhere(schedule: string, open: OpenFire, token: string): KnownFire {
  const { dueAt, nonce } = open
  return { fire: { schedule, dueAt, nonce }, token, open, history: [], isElsewhere: true }
}
