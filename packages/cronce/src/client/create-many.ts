import { CronceError } from '../errors.ts'
import type { Change } from '../model/change.ts'
import type { Definition } from '../model/schedule.ts'
import type { Decision } from '../policy/decision.ts'
import { type Act, changedDefinition, withActivity } from './activity.ts'
import { readStore, writeStore } from './ask-store.ts'
import { announce, refusalError } from './change-schedule.ts'
import { type ClientParts, contextAt } from './parts.ts'
import type { Authored, Operator } from './read-command.ts'
import type { NewSchedule } from './schedule-options.ts'
import { defineByClient, readSchedule, scheduleExists, writeSchedule } from './write-schedule.ts'

/** Options of `schedules.createMany()`. */
export interface CreateManyOptions extends Authored {
  /** Called for each schedule, batch by batch, in the given order. */
  readonly onResult?: ((result: CreateResult) => void) | undefined
}

/** The result for one schedule of `createMany()`. */
export type CreateResult =
  | { readonly name: string; readonly created: true; readonly warnings: readonly string[] }
  | { readonly name: string; readonly created: false; readonly error: CronceError }

/** The result of `createMany()`. */
export interface CreatedMany {
  readonly created: number
  readonly refused: number
  /** The first hundred refused schedules, with the reason. `onResult` gets all of them. */
  readonly problems: readonly Extract<CreateResult, { created: false }>[]
}

export type Entries = Iterable<readonly [string, NewSchedule]> | AsyncIterable<readonly [string, NewSchedule]>

const BATCH = 500
const PROBLEMS = 100

/** One batch in memory at a time, whatever the number. */
export async function createMany<Tx>(
  parts: ClientParts<Tx>,
  entries: Entries,
  onResult: CreateManyOptions['onResult'],
  by: Operator,
): Promise<CreatedMany> {
  let created = 0
  let refused = 0
  const problems: CreatedMany['problems'][number][] = []
  const flush = async (batch: readonly (readonly [string, NewSchedule])[]): Promise<void> => {
    for (const result of await createBatch(parts, batch, by)) {
      if (result.created) created++
      else if (++refused <= PROBLEMS) problems.push(result)
      onResult?.(result)
    }
  }
  let batch: (readonly [string, NewSchedule])[] = []
  for await (const entry of entries) {
    if (batch.push(entry) < BATCH) continue
    await flush(batch)
    batch = []
  }
  if (batch.length > 0) await flush(batch)
  return { created, refused, problems }
}

interface Candidate {
  readonly name: string
  readonly options: NewSchedule
  readonly definition: Definition
  readonly warnings: readonly string[]
}

async function createBatch<Tx>(
  parts: ClientParts<Tx>,
  batch: readonly (readonly [string, NewSchedule])[],
  by: Operator,
): Promise<CreateResult[]> {
  const results: CreateResult[] = []
  const candidates = new Map<number, Candidate>()
  const seen = new Set<string>()
  const later: number[] = []
  for (const [index, [name, options]] of batch.entries()) {
    try {
      candidates.set(index, { name, options, ...(await readSchedule(parts, name, options)) })
      // A name that comes twice is decided once the first has been written: no store is asked to write one twice at once.
      if (seen.has(name)) later.push(index)
      seen.add(name)
    } catch (error) {
      results[index] = refused(name, error)
    }
  }
  const first = [...candidates].filter(([index]) => !later.includes(index))
  for (const index of [...(await createFresh(parts, first, results, by)), ...later]) {
    const { name, options } = candidates.get(index)!
    try {
      const { warnings } = await writeSchedule(parts, 'create', name, options, { by })
      results[index] = { name, created: true, warnings }
    } catch (error) {
      results[index] = refused(name, error)
    }
  }
  return results
}

/** One load and one write. Returns the schedules that a peer changed meanwhile, to be created one by one. */
async function createFresh<Tx>(
  parts: ClientParts<Tx>,
  candidates: readonly (readonly [number, Candidate])[],
  results: CreateResult[],
  by: Operator,
): Promise<number[]> {
  if (candidates.length === 0) return []
  const names = candidates.map(([, { name }]) => name)
  const loaded = await readStore('load schedules', () => parts.store.load(names))
  const existing = new Map(loaded.schedules.map((state) => [state.id, state]))
  const context = contextAt(parts, loaded)
  const act: Act = { action: 'create', by, changed: changedDefinition }
  const decided: { readonly index: number; readonly candidate: Candidate; readonly decision: Decision }[] = []
  for (const [index, candidate] of candidates) {
    const { name, definition } = candidate
    const state = existing.get(name)
    const decision = state === undefined ? defineByClient(null, name, definition, context) : scheduleExists(state)
    if (decision instanceof CronceError) results[index] = refused(name, decision)
    else if (decision === null) throw new Error('A schedule that is not there is created or refused.')
    else if ('refused' in decision) results[index] = refused(name, refusalError(decision))
    else decided.push({ index, candidate, decision: withActivity(parts, act, null, decision, context.now) })
  }
  const changes: Change[] = decided.map(({ decision }) => decision.change)
  const applied = await writeStore('create schedules', () => parts.store.apply(changes, { wake: true }))
  const again: number[] = []
  for (const [position, { index, candidate, decision }] of decided.entries()) {
    if (applied.results[position]!.kind !== 'applied') {
      again.push(index)
      continue
    }
    announce(parts, decision, undefined)
    results[index] = { name: candidate.name, created: true, warnings: candidate.warnings }
  }
  return again
}

/** What is wrong with one does not concern the others; what is wrong with the store concerns all. */
function refused(name: string, error: unknown): CreateResult {
  // Whatever comes from a store says whether it was applied.
  if (!(error instanceof CronceError) || 'notApplied' in error) throw error
  return { name, created: false, error }
}
