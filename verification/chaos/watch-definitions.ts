import { setTimeout as sleep } from 'node:timers/promises'
import { fleetOf } from '../../packages/checker/src/fleet.ts'
import type { History, NodeEntry, Operation, Spec, Time } from '../../packages/checker/src/history.ts'
import type { ScheduleView } from '../../packages/cronce/src/client/views.ts'
import type { ChaosJob } from './jobs.ts'
import type { World } from './world.ts'

/** What a schedule may be: as some release declares it, or retired (`null`). */
export type Defined = Spec | null

/** A schedule as the store showed it, at some time between two. */
export interface Look {
  readonly from: Time
  readonly to: Time
  readonly value: Defined
  /** How often it had been defined, retired and brought back by then. */
  readonly changes: number
}

/** A schedule became this, at some time between two. */
export interface Turn {
  readonly schedule: string
  readonly from: Time
  readonly to: Time
  readonly value: Defined
}

const LOOK_MS = 60
/** How long before it is written a definition may be decided: as long as a call of the store may take. */
const DECIDED_MS = 5_000

/**
 * Records what the schedules are that differ between releases. A deploy alone does not tell: while the processes of the newest release
 * are down for longer than the hold-down, the release before it counts again.
 */
export function watchDefinitions(world: World, releases: readonly (readonly ChaosJob[])[], signal: AbortSignal) {
  const turns: Turn[] = []
  const follow = async (schedule: string): Promise<void> => {
    const values = releases.map((jobs) => specIn(jobs, schedule))
    let settledAt = 0
    let last: Look = { from: 0, to: 0, value: values[0]!, changes: 0 }
    for (let isFirst = true; !signal.aborted; ) {
      const look = await lookAt(world, schedule, values)
      if (look !== null && !isFirst) {
        const seen = turnsBetween(schedule, last, look, values)
        turns.push(...seen)
        for (const turn of seen) world.recorder.add(operationOf(turn, settledAt))
        settledAt = seen.at(-1)?.to ?? settledAt
      }
      if (look !== null && isFirst) settledAt = look.to
      if (look !== null) [last, isFirst] = [look, false]
      await sleep(LOOK_MS)
    }
  }
  const following = Promise.all(differing(releases).map(follow))
  return { turns, ended: () => following }
}

/** Schedules that are not the same in all releases. */
export function differing(releases: readonly (readonly ChaosJob[])[]): readonly string[] {
  const names = new Set(releases.flatMap((jobs) => jobs.map(({ name }) => name)))
  const words = (name: string): string[] => releases.map((jobs) => JSON.stringify(specIn(jobs, name)))
  return [...names].filter((name) => new Set(words(name)).size > 1)
}

function specIn(jobs: readonly ChaosJob[], schedule: string): Defined {
  return jobs.find(({ name }) => name === schedule)?.spec ?? null
}

async function lookAt({ client, recorder }: World, schedule: string, values: readonly Defined[]): Promise<Look | null> {
  const from = recorder.now()
  // The store is not well at times.
  const found = await client.schedules.find(schedule).catch(() => null)
  if (found === null) return null
  const value = found.state === 'retired' ? null : values.find((spec) => spec !== null && isDefinedBy(found, spec))
  if (value === undefined) return null
  return { from, to: recorder.now(), value, changes: found.revision + 2 * found.retirements.length }
}

export function isDefinedBy({ trigger: found }: Pick<ScheduleView, 'trigger'>, { trigger }: Spec): boolean {
  if (found?.kind !== trigger?.kind) return false
  return found?.kind !== 'cron' || trigger?.kind !== 'cron' || found.expression === trigger.expression
}

/** What the schedule was in between is not known if it changed more than once: it may have been anything. */
export function turnsBetween(schedule: string, before: Look, look: Look, values: readonly Defined[]): readonly Turn[] {
  const between = { schedule, from: before.from, to: look.to }
  if (look.value !== before.value) return [{ ...between, value: look.value }]
  if (look.changes <= before.changes) return []
  const others = [...new Set([...values, null])].filter((value) => value !== look.value)
  return [...others.map((value) => ({ ...between, value })), { ...between, from: look.to, value: look.value }]
}

/** A definition counts from when it was decided; `settledAt`: the one before was there. */
export function operationOf({ schedule, from, to, value }: Turn, settledAt: Time): Operation {
  const at = from === to ? from : Math.max(settledAt, from - DECIDED_MS)
  const frame = { kind: 'operation', at, endedAt: to, result: 'ok', schedule } as const
  return value === null ? { ...frame, verb: 'retire' } : { ...frame, verb: 'define', spec: value }
}

/**
 * Turns that no rule allows: the schedule became as a release has it although a process of a newer release, which has it otherwise, was
 * ready, and nothing was done to that process.
 */
export function withoutCause(
  turns: readonly Turn[],
  history: Pick<History, 'entries' | 'bounds' | 'reads'>,
  releaseOf: (node: string) => number,
  valueIn: (release: number, schedule: string) => Defined,
): readonly string[] {
  const { entries, bounds, reads } = history
  const fleet = fleetOf(entries, bounds, reads.at(-1)!.at, undefined)
  const nodes = entries.filter((entry): entry is NodeEntry => entry.kind === 'node')
  return turns.flatMap(({ schedule, from, to, value }) => {
    const started = nodes.filter(({ what, at }) => what === 'started' && at <= to).map(({ node }) => releaseOf(node))
    const release = Math.max(...started.filter((one) => valueIn(one, schedule) === value))
    const rival = nodes.find(({ what, at, node }) => {
      const isNewer = what === 'ready' && at <= from && releaseOf(node) > release
      const since = Math.max(at, from - bounds.recoveryMs)
      return isNewer && valueIn(releaseOf(node), schedule) !== value && !fleet.wasHit(node, since, to)
    })
    if (rival === undefined) return []
    const old = value === null ? 'was retired' : `became as release ${release} has it`
    return [`${schedule} ${old} by ${to.toFixed(0)} ms, although ${rival.node} of a newer release was there`]
  })
}
